"""Hints that can be copied: commands in messages name the program as it was called."""

import re
import shlex
import shutil
import sys
from pathlib import Path

import click

PROGRAM = "demotape"


def with_called_program(text: str) -> str:
    """A message in which each `demotape COMMAND` begins with the program as it was called, such as
    `.venv/bin/demotape`."""
    name = called_program(sys.argv[0])
    context = click.get_current_context(silent=True)
    root = context.find_root().command if context else None
    if name == PROGRAM or not isinstance(root, click.Group):
        return text
    commands = "|".join(map(re.escape, root.commands))
    return re.sub(rf"(?<![\w./-]){PROGRAM}(?= (?:{commands})\b)", lambda _: name, text)


def called_program(argument: str) -> str:
    """How a shell finds the program that was started as `argument` (sys.argv[0])."""
    path = Path(argument)
    if path.name == "__main__.py":
        return f"{shlex.quote(sys.executable)} -m {PROGRAM}"
    if path.stem != PROGRAM:
        return PROGRAM
    on_path = shutil.which(PROGRAM)
    if on_path and Path(on_path).resolve() == path.resolve():
        return PROGRAM
    return shlex.quote(argument)
