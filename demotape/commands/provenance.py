"""Consent and licence of a recording: asked once in a terminal, and stored for the next recordings."""

import json
import sys
from pathlib import Path
from typing import Any

import click
from marshmallow import ValidationError

from schemas import InputError
from schemas.files import read_named, validated
from schemas.formats.recording import PLAIN_NAME, ProvenanceSchema

_LONGEST = 10_000  # bytes of the file


def answers_file() -> Path:
    """Where the answers are kept."""
    return Path(click.get_app_dir("demotape")) / "provenance.json"


def with_answers(answers: dict[str, Any]) -> dict[str, Any]:
    """What is told of a recording, without what is not known. A person at a terminal who told nothing of consent is
    asked, once; what was answered counts for later recordings too. Raises InputError for a damaged file of answers."""
    known = {name: value for name, value in answers.items() if value is not None}
    if known.get("actor") != "person" or "consent" in known or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return known
    return _answers() | known


def _answers() -> dict[str, Any]:
    path = answers_file()
    if path.exists():
        try:
            return validated(json.loads(read_named(path, _LONGEST)), ProvenanceSchema(), str(path))
        except ValueError as error:
            raise InputError(f"{path}: not JSON; remove the file to be asked again") from error
        except InputError as error:
            raise InputError(f"{error}; remove the file to be asked again") from error
    answers: dict[str, Any] = {"consent": click.confirm("May your recordings be published?")}
    if license_ := click.prompt("Under which licence, such as CC-BY-4.0? (Enter: none)", default="",
                                show_default=False, value_proc=_license):
        answers["license"] = license_
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(answers) + "\n", encoding="utf-8")
    click.echo(f"Saved in {path}; --consent, --no-consent and --license override it.")
    return answers


def _license(text: str) -> str:
    try:
        return text.strip() and str(PLAIN_NAME(text.strip()))
    except ValidationError as error:
        raise click.BadParameter(str(error)) from None
