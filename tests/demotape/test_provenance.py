"""Consent and licence, as a person at a real terminal is asked for them."""

import json
import os
import pty
import subprocess
import sys

import pytest

ASK = ("import json; from demotape.commands.provenance import with_answers; "
       "print('told', json.dumps(with_answers({'actor': 'person', 'agent': None, 'consent': None})))")


def at_terminal(home, *lines: str) -> tuple[str, dict | None]:
    """What is shown while these lines are typed, and what is told of the recording."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([sys.executable, "-c", ASK], stdin=theirs, stdout=theirs, stderr=theirs,
                               env={**os.environ, "HOME": str(home), "XDG_CONFIG_HOME": str(home / "config")})
    os.close(theirs)
    os.write(ours, "".join(f"{line}\n" for line in lines).encode())
    shown = ""
    try:
        while part := os.read(ours, 4096):
            shown += part.decode()
    except OSError:  # its end is closed
        pass
    finally:
        os.close(ours)
        process.wait()
    told = [line for line in shown.splitlines() if line.startswith("told ")]
    return shown, json.loads(told[0].removeprefix("told ")) if told else None


def test_it_is_asked_once(tmp_path):
    shown, told = at_terminal(tmp_path, "y", "<b>", "CC-BY-4.0")
    assert told == {"actor": "person", "consent": True, "license": "CC-BY-4.0"}
    assert "published?" in shown and "At most 100 letters" in shown
    shown, told = at_terminal(tmp_path)
    assert told == {"actor": "person", "consent": True, "license": "CC-BY-4.0"} and "published?" not in shown


def test_without_a_licence_and_without_a_terminal(tmp_path):
    assert at_terminal(tmp_path, "n", "")[1] == {"actor": "person", "consent": False}
    answer = subprocess.run([sys.executable, "-c", ASK], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                            check=True, env={**os.environ, "XDG_CONFIG_HOME": str(tmp_path / "config")})
    assert answer.stdout == 'told {"actor": "person"}\n'


@pytest.mark.parametrize("content", ["{", '{"consent": "maybe"}'])
def test_a_damaged_file_of_answers_is_named(tmp_path, content):
    at_terminal(tmp_path, "n", "")
    (path,) = (tmp_path / "config").rglob("provenance.json")
    path.write_text(content)
    shown, told = at_terminal(tmp_path)
    assert told is None and "provenance.json" in shown and "remove the file to be asked again" in shown
