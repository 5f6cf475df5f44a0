"""Commands run with packages of plug-ins, some of them written by the test."""

import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.checkout import ROOT

from .warm import Warm, warm

MAIN = "from demotape.cli import main; main()"


def run(*arguments, path: tuple[Path, ...] = (), program: str = MAIN) -> subprocess.CompletedProcess:
    """A command in a process that has the packages in these folders."""
    places = os.pathsep.join(map(str, (*path, ROOT)))
    return subprocess.run([sys.executable, "-c", program, *map(str, arguments)], text=True, capture_output=True,
                          stdin=subprocess.DEVNULL, timeout=120, env=os.environ | {"CI": "1", "PYTHONPATH": places})


@pytest.fixture(scope="module")
def warmed() -> Iterator[Warm]:
    with warm() as one:
        yield one


@pytest.fixture
def tried(warmed):
    """Runs a command as `run` does, at less cost: where it matters what it says, and not that bytes are the same."""
    def run_warm(*arguments, path: tuple[Path, ...] = (), program: str = MAIN) -> subprocess.CompletedProcess:
        return warmed.run(program, list(map(str, arguments)), path=(*path, ROOT), environment=os.environ | {"CI": "1"},
                          timeout=120)
    return run_warm


def well(done: subprocess.CompletedProcess) -> str:
    """What a command that went well printed; warnings are no part of it."""
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stdout + done.stderr
    return done.stdout


def package(root: Path, name: str, points: dict[str, dict[str, str]], code: str = "") -> Path:
    """A folder with an installed package of one module, made by hand."""
    folder, module = root / name, name.replace("-", "_")
    info = folder / f"{module}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("".join(
        f"[demotape.{group}]\n" + "".join(f"{key} = {value}\n" for key, value in entries.items())
        for group, entries in points.items()))
    (folder / f"{module}.py").write_text(textwrap.dedent(code))
    return folder
