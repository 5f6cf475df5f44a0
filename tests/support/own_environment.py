"""Python environments of their own, made by uv, for libraries that do not go together with the project's."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

_INSTALL_TIMEOUT_S = 300


def find_python(version: str) -> str:
    """A Python of that version on this machine; skips the test where there is none."""
    pattern = f"versions/{version}.*/bin/python"
    installed = sorted(Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob(pattern))
    python = str(installed[-1]) if installed else shutil.which(f"python{version}")
    if python is None:
        pytest.skip(f"Python {version} is not installed")
    return python


def find_uv() -> str:
    """The program uv; skips the test where there is none."""
    uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    if uv is None:
        pytest.skip("uv is not installed")
    return uv


def index_variables() -> dict[str, str]:
    """Variables with which uv uses the package index that pip uses."""
    index = subprocess.run([sys.executable, "-m", "pip", "config", "get", "global.index-url"], capture_output=True,
                           text=True, check=False).stdout.strip()
    return {"UV_DEFAULT_INDEX": index} if index else {}


def make_environment(folder: Path, *requirements: str, python: str = sys.executable) -> Path:
    """The Python of a new environment in a folder, with these packages; skips the test where there is no uv. `python`:
    of which it is made."""
    uv = find_uv()
    outside = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    outside |= index_variables()
    installed = folder / "bin" / "python"
    for command in ([uv, "venv", "--quiet", "--python", python, folder],
                    [uv, "pip", "install", "--quiet", "--python", installed, *requirements]):
        done = subprocess.run(command, env=outside, capture_output=True, text=True, timeout=_INSTALL_TIMEOUT_S)
        assert done.returncode == 0, done.stderr
    return installed
