"""Consent and licence, as a person at a real terminal is asked for them."""

import json
import os
import pty
import subprocess
import sys

import pytest

ASK = ("import json; from demotape.commands.provenance import with_answers; "
       "import sys; answers = json.dumps(with_answers("
       "{'actor': 'person', 'agent': None, 'consent': None}, sys.argv[1] or None, sys.argv[2] or None)); "
       "print(); print('told', answers)")


def at_terminal(home, *lines: str, person: str = "", consent_prompt: str = "") -> tuple[str, dict | None]:
    """What is shown while these lines are typed, and what is told of the recording."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([sys.executable, "-c", ASK, person, consent_prompt], stdin=theirs, stdout=theirs,
                               stderr=theirs,
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


def test_it_is_asked_before_each_session(tmp_path):
    shown, told = at_terminal(tmp_path, "y", "<b>", "CC-BY-4.0")
    assert told == {"actor": "person", "consent": True, "license": "CC-BY-4.0"}
    assert "published?" in shown and "At most 100 letters" in shown
    shown, told = at_terminal(tmp_path, "n", "")
    assert told == {"actor": "person", "consent": False} and "published?" in shown
    assert not [*tmp_path.rglob("consent.json")]


def test_a_named_person_is_asked_once_and_for_nobody_else(tmp_path):
    assert at_terminal(tmp_path, "y", "CC-BY-4.0", person="Ann")[1] == {
        "actor": "person", "consent": True, "license": "CC-BY-4.0"}
    shown, told = at_terminal(tmp_path, person="Ann")
    assert told == {"actor": "person", "consent": True, "license": "CC-BY-4.0"} and "published?" not in shown
    assert at_terminal(tmp_path, "n", "", person="Bob")[1] == {"actor": "person", "consent": False}
    assert at_terminal(tmp_path, person="Ann")[1]["consent"] is True
    (path,) = tmp_path.rglob("consent.json")
    assert path.stat().st_mode & 0o077 == 0


def test_a_project_has_it_asked_before_each_session(tmp_path):
    at_terminal(tmp_path, "y", "CC-BY-4.0", person="Ann")
    shown, told = at_terminal(tmp_path, "n", "", person="Ann", consent_prompt="session")
    assert told == {"actor": "person", "consent": False} and "published?" in shown
    assert at_terminal(tmp_path, person="Ann")[1]["consent"] is True  # what was stored for the name stays


def test_a_project_has_it_asked_once_for_each_name(tmp_path):
    shown, told = at_terminal(tmp_path, " ", "Ann", "y", "CC-BY-4.0", consent_prompt="person")
    assert told == {"actor": "person", "consent": True, "license": "CC-BY-4.0"} and "1 to 100 printable" in shown
    shown, told = at_terminal(tmp_path, "Ann", consent_prompt="person")
    assert told["consent"] is True and "published?" not in shown
    assert at_terminal(tmp_path, person="Ann", consent_prompt="person")[1]["license"] == "CC-BY-4.0"
    assert at_terminal(tmp_path, "Bob", "n", "", consent_prompt="person")[1] == {"actor": "person", "consent": False}


def test_without_a_licence_and_without_a_terminal(tmp_path):
    assert at_terminal(tmp_path, "n", "")[1] == {"actor": "person", "consent": False}
    answer = subprocess.run([sys.executable, "-c", ASK, "", ""], stdin=subprocess.DEVNULL, capture_output=True,
                            text=True, check=True, env={**os.environ, "XDG_CONFIG_HOME": str(tmp_path / "config")})
    assert answer.stdout == '\ntold {"actor": "person"}\n'


@pytest.mark.parametrize("content", ["{", '{"Ann": {"consent": "maybe"}}', "[]", '{"Ann": 1}'])
def test_a_damaged_file_of_answers_is_named(tmp_path, content):
    at_terminal(tmp_path, "n", "", person="Ann")
    (path,) = (tmp_path / "config").rglob("consent.json")
    path.write_text(content)
    shown, told = at_terminal(tmp_path, person="Ann")
    assert told is None and "consent.json" in shown and "remove the file to be asked again" in shown
