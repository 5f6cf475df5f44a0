"""Commands in messages work as they are printed: the program is named as it was called."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from demotape.commands.hints import called_program, install_command
from tests.support.samples.recording_fixtures import write_recording

COMMAND = Path(sys.executable).parent / "demotape"
ELSEWHERE = os.environ | {"PATH": "/usr/bin:/bin"}


@pytest.mark.parametrize("way", ["a path from here", "a whole path", "on the path", "a module"])
def test_a_hint_works_as_it_is_printed(tmp_path, way):
    recording = tmp_path / "rec"
    write_recording(recording)
    (recording / "network.jsonl").touch()
    words, environment = {
        "a path from here": ([os.path.relpath(COMMAND, tmp_path)], ELSEWHERE),
        "a whole path": ([str(COMMAND)], ELSEWHERE),
        "on the path": (["demotape"], os.environ | {"PATH": f"{COMMAND.parent}:/usr/bin:/bin"}),
        "a module": ([sys.executable, "-m", "demotape"], ELSEWHERE)}[way]
    done = subprocess.run([*words, "env", "mcp", recording], capture_output=True, text=True, cwd=tmp_path,
                          env=environment)
    assert done.returncode == 2 and "no outcome checks" in done.stderr, done
    hint = re.search(r"with: (.*?demotape outcome)", done.stderr)[1]
    assert hint.startswith(" ".join(words)), (hint, words)
    again = subprocess.run(f"{hint} '{recording}' --propose --without-run", shell=True, capture_output=True, text=True,
                           cwd=tmp_path, env=environment)
    assert again.returncode == 2 and "no check distinguishes" in again.stderr, again  # it has run


def test_another_program_of_the_name_on_the_path_is_not_meant(tmp_path, monkeypatch):
    other = tmp_path / "demotape"
    shutil.copy("/bin/true", other)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert called_program(".venv/bin/demotape") == ".venv/bin/demotape"
    assert called_program(str(other)) == "demotape"
    assert called_program("/a b/demotape") == "'/a b/demotape'"
    assert called_program("/usr/bin/pytest") == "demotape"


@pytest.mark.parametrize("made_by, command", [
    ("uv-receipt.toml", "uv pip install --python '{python}' 'mcp<3,>=2.3'"),
    ("pipx_metadata.json", "pipx inject demotape 'mcp<3,>=2.3'"),
    ("pyvenv.cfg", "'{python}' -m pip install 'demotape[mcp]'")])
def test_an_extra_is_installed_where_the_program_is(tmp_path, made_by, command):
    python = tmp_path / "a b" / "python"
    (tmp_path / made_by).touch()
    assert install_command("mcp", tmp_path, str(python)) == command.format(python=python)


def test_the_environment_of_the_path_needs_no_path(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "pip").touch(mode=0o755)
    assert install_command("mcp", tmp_path, str(tmp_path / "python")) == "pip install 'demotape[mcp]'"
