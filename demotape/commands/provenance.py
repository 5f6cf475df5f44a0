"""Consent and licence of a recording: asked in a terminal before each session, or once for each named person."""

import json
import sys
from pathlib import Path
from typing import Any

import click
from marshmallow import ValidationError

from schemas import InputError
from schemas.files import dump_json, read_named, validated, write_atomically
from schemas.formats.origin import PLAIN_NAME, ProvenanceSchema

SESSION, PERSON = "session", "person"  # what a project requests consent for
_MAX_BYTES = 1 << 20  # of the file
_MAX_NAME_LENGTH = 100


def answers_file() -> Path:
    """Where the answers of named people are kept."""
    return Path(click.get_app_dir("demotape")) / "consent.json"


def with_answers(answers: dict[str, Any], person: str | None = None, consent_prompt: str | None = None
                 ) -> dict[str, Any]:
    """The provenance of a recording, without what is not known.

    A person at a terminal is asked for consent and licence where no option says them: before each session, as several
    people may use one account of a computer; or, with the name of the person, once, and the answers are stored for
    that name. The name itself is not recorded. `consent_prompt`: what the project decides instead: `session`,
    also with a name; `person`, so that who gave no name is asked for it. Raises InputError for a damaged file of
    answers.
    """
    known = {name: value for name, value in answers.items() if value is not None}
    if known.get("actor") != "person" or "consent" in known or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return known
    if consent_prompt == SESSION:
        person = None
    elif consent_prompt == PERSON and person is None:
        person = click.prompt("Your name, for which consent and licence are stored on this computer",
                              value_proc=_require_name)
    return (_answers_of(person) if person else _ask(known)) | known


def person_name(text: str | None) -> str | None:
    """The value of `--person`; raises InputError for one that is empty or too long."""
    if text is not None and not _is_name(text):
        raise InputError(f"--person: must have 1 to {_MAX_NAME_LENGTH} printable characters")
    return text and text.strip()


def _require_name(text: str) -> str:
    """A name that was typed; raises click.BadParameter, so that it is asked for again."""
    if not _is_name(text):
        raise click.BadParameter(f"must have 1 to {_MAX_NAME_LENGTH} printable characters")
    return text.strip()


def _is_name(text: str) -> bool:
    return 0 < len(text.strip()) <= _MAX_NAME_LENGTH and text.isprintable()


def _answers_of(person: str) -> dict[str, Any]:
    path, people = answers_file(), dict[str, Any]()
    if path.exists():
        try:
            content = json.loads(read_named(path, _MAX_BYTES))
            people = {name: validated(answer, ProvenanceSchema(), str(path)) for name, answer in content.items()}
        except (ValueError, AttributeError) as error:
            raise InputError(f"{path}: not JSON; remove the file to be asked again") from error
        except InputError as error:
            raise InputError(f"{error}; remove the file to be asked again") from error
    if person not in people:
        people[person] = _ask({})
        write_atomically(path, dump_json(people))
        click.echo(f"Saved for {person} in {path}; --consent, --no-consent and --license override it.")
    return people[person]


def _ask(known: dict[str, Any]) -> dict[str, Any]:
    """Consent, and the licence where it is not known."""
    answers: dict[str, Any] = {"consent": click.confirm("May this recording be published?")}
    if "license" not in known and (license_ := click.prompt(
            "Under which licence, such as CC-BY-4.0? (Enter: none)", default="", show_default=False,
            value_proc=_license)):
        answers["license"] = license_
    return answers


def _license(text: str) -> str:
    try:
        return text.strip() and str(PLAIN_NAME(text.strip()))
    except ValidationError as error:
        raise click.BadParameter(str(error)) from None
