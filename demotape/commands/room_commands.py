"""Commands for live rooms: a language model as the instructor."""

import os
from pathlib import Path

import click

from schemas import InputError, limits
from schemas.files import read_named

from .terminal import PATH, console

_URL, _MODEL, _KEY = "DEMOTAPE_MODEL_URL", "DEMOTAPE_MODEL", "DEMOTAPE_MODEL_KEY"


@click.group()
def room() -> None:
    """Take part in live rooms."""


@room.command()
@click.argument("address", metavar="ROOM")
@click.option("--endpoint", metavar="URL", envvar=_URL, show_envvar=True,
              help="OpenAI-compatible endpoint; /chat/completions follows the address.")
@click.option("--model", metavar="NAME", envvar=_MODEL, show_envvar=True, help="Name of the model at the endpoint.")
@click.option("--persona", type=PATH, help="Text file: who the model is, and how it writes.")
@click.option("--hints", type=PATH, help="Text file: what the model knows of the task and the website.")
@click.option("--screen", is_flag=True, help="Send the model the newest picture of the navigator's screen.")
@click.option("--token", metavar="TOKEN", envvar="DEMOTAPE_TOKEN", show_envvar=True,
              help="Access token of the member who is the room's instructor.")
def instruct(address: str, endpoint: str | None, model: str | None, persona: Path | None, hints: Path | None,
             screen: bool, token: str | None) -> None:
    """Let a language model instruct in the room with the address ROOM, until the session or the task is over.

    The key of the endpoint is in the variable DEMOTAPE_MODEL_KEY.
    """
    from demotape.model_instructor import Assignment, ModelInstructor
    from pipeline.judging.model_endpoint import model_settings

    from .live_room import existing_room

    if not endpoint or not model:
        raise InputError(f"pass --endpoint and --model, or set {_URL} and {_MODEL}")
    settings = model_settings(endpoint, model, os.environ.get(_KEY, ""), ("--endpoint", "--model", _KEY))
    entered = existing_room(address, token)
    assignment = Assignment(entered.task, _text(persona), _text(hints))
    replies = ModelInstructor(entered.url, entered.token, settings, assignment, sees_screen=screen).run()
    console.print(f"The session is over; answers of the model: {replies}")


def _text(path: Path | None) -> str:
    return read_named(path, limits.LINE).decode("utf-8", "replace").strip() if path else ""
