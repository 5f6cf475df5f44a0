"""The example programs run as they stand: an agent is recorded on a local page, exports are gone over."""

import json
import subprocess
import sys

import pytest

from pipeline import process
from pipeline.export import Source, export
from recorder import Recording
from tests.support.checkout import ROOT
from tests.support.samples.recording_fixtures import make_demonstration, write_recording

PAGE = """<!DOCTYPE html><title>Tables</title><form action="/found"><label>Search <input name="q"></label>
<button>Go</button></form>"""


def run(name: str, *arguments) -> str:
    """What an example program prints."""
    done = subprocess.run([sys.executable, ROOT / "examples" / name, *map(str, arguments)], cwd=ROOT, text=True,
                          capture_output=True, stdin=subprocess.DEVNULL, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_an_agent_is_recorded(tmp_path, site):
    site.pages = {"/": PAGE, "/found": "<!DOCTYPE html><title>Found</title><p>One table."}
    assert run("attach_to_agent.py", site.origin + "/", tmp_path / "agent") == f"{tmp_path / 'agent'}: recorded\n"
    turns = process(tmp_path / "agent")["turns"]
    done = [turn["intent"] for turn in turns]
    assert [intent for intent in done if intent in ("click", "textInput")] == ["click", "textInput", "click"]
    typed = next(turn for turn in turns if turn["intent"] == "textInput")
    # A picture there may not be yet: the agent is at work before the page is first painted on a busy machine.
    assert typed["arguments"] == {"text": "table for two"} and typed["state"]["dom"]
    assert Recording(tmp_path / "agent").task == "Search for a table for two"


@pytest.mark.parametrize("format", ["webdataset", "parquet"])
def test_a_training_goes_over_an_export(tmp_path, monkeypatch, format):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    recording = write_recording(tmp_path / "recording")
    demonstration = json.loads(json.dumps(make_demonstration(recording)))
    turns = export([Source(demonstration, recording)], tmp_path / "out", format).samples
    lines = run("training_loader.py", tmp_path / "out").splitlines()
    assert sum(int(line.split()[2]) for line in lines) == turns > 8
    assert lines[0] == "batch 0: 8 turns, screenshots [(400, 640, 3)], first: say(\"Find \\u201clamps\\u201d\")"
