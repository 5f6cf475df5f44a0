"""Hints that can be copied: they name the program as it was called, and install into its environment."""

import re
import shlex
import shutil
import sys
from importlib.metadata import requires
from pathlib import Path

import click
from packaging.requirements import Requirement

PROGRAM = "demotape"
_INSTALL = re.compile(rf"pip install '{PROGRAM}\[(\w+)\]'")


def copyable(text: str) -> str:
    """A message whose commands work as they are printed."""
    return _INSTALL.sub(lambda match: install_command(match[1], Path(sys.prefix), sys.executable),
                        with_called_program(text))


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


def install_command(extra: str, environment: Path, python: str) -> str:
    """The command that installs an extra into an environment with this `python`, with what has made it: uv, pipx or
    else pip. uv and pipx get the extra's packages, as they would look demotape up in a package index."""
    if (environment / "uv-receipt.toml").is_file():
        return shlex.join(["uv", "pip", "install", "--python", python, *_packages(extra)])
    if (environment / "pipx_metadata.json").is_file():
        return shlex.join(["pipx", "inject", PROGRAM, *_packages(extra)])
    pip = shutil.which("pip")
    its_own = pip is not None and Path(pip).parent == Path(python).parent
    return f"{'pip' if its_own else f'{shlex.quote(python)} -m pip'} install '{PROGRAM}[{extra}]'"


def _packages(extra: str) -> list[str]:
    """Packages of an extra, with the versions that are required."""
    packages = map(Requirement, requires(PROGRAM) or ())
    return [f"{package.name}{package.specifier}" for package in packages
            if package.marker and package.marker.evaluate({"extra": extra})
            and not package.marker.evaluate({"extra": ""})]
