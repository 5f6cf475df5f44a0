"""Captured pages are parsed in processes with limits only, whichever command reads them."""

import json
import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path

import lxml.etree
import lxml.html
import pytest
import tinycss2
import turbohtml

from pipeline.export import FORMATS
from pipeline.isolation import PAGE, run_isolated
from schemas import InputError
from tests.demotape.test_private_files import LEAVES
from tests.support.checkout import ROOT
from tests.support.processes import parse_trap
from tests.support.services.site import Site

START = """<!DOCTYPE html><title>Shop</title><style>h1 { color: green }</style><h1>Shop</h1>
<form method=post action=/orders><label>Lamp <input name=lamp></label><button>Order</button></form>"""
DONE = "<!DOCTYPE html><title>Thanks</title><h1>Thanks</h1><p id=told>You ordered a Floor lamp</p>"
PREDICTION = {"output_predicted": "click(uid='1')"}
# Commands that read no page, and why; a new command is here or in the test below.
WITHOUT_PAGES = {
    **dict.fromkeys(("record",), "the browser parses; the recorder joins texts"),
    **dict.fromkeys(("review", "demo"), "the app's tests cover its pages; the demo calls process and export"),
    **dict.fromkeys(("diff", "push"), "read manifests and hashes"),
    **dict.fromkeys(("setup",), "opens no page"),
    **dict.fromkeys(("judge",), "reads pictures and texts, in a process with limits"),
    **dict.fromkeys(("replay serve", "replay export"), "read the network of a recording"),
    **dict.fromkeys(("env serve", "env mcp"), "parse in processes with limits: tests/demotape/test_mcp_server.py"),
    **dict.fromkeys(("env pack",), "copies recordings"),
    **dict.fromkeys(("ranker train",), "parses trusted exports (docs/security.md)"),
}
NO_RECORDINGS = ("user", "project", "task", "admin", "room")  # groups of commands without recordings


@pytest.fixture(scope="module")
def recorded(recording_browser):
    async def order(page):
        await page.get_by_label("Lamp").click()
        await page.keyboard.type("Floor lamp")
        await page.get_by_role("button", name="Order").click()
        await page.get_by_text("You ordered").wait_for()

    site = Site({"/": START, "/orders": DONE})
    session = recording_browser.record(order, url=site.origin + "/", keep={"replayable": True, "axtree": True})
    site.close()
    return session.recording.layout.root


def run(folder: Path, *words: object) -> None:
    """Run a command that may parse nothing itself; fails with the place where it does."""
    trap = folder / "trap"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DEMOTAPE_")}
    result = subprocess.run([sys.executable, parse_trap.__file__, *map(str, words)], cwd=folder, capture_output=True,
                            text=True, timeout=300, stdin=subprocess.DEVNULL,
                            env=environment | {"CI": "1", "TRAP": str(trap), "PYTHONPATH": str(ROOT)})
    assert not trap.exists(), trap.read_text(encoding="utf-8")
    assert "Traceback" not in result.stderr, result.stderr
    assert result.returncode == 0, (words, result.stdout, result.stderr)


def test_the_trap_has_every_parser_in_use():
    """A library or function that is used to parse is also trapped."""
    for module, names in parse_trap._PARSERS.items():
        for name in names:
            assert callable(getattr(module, name)), (module, name)
    assert {lxml.etree, lxml.html, turbohtml, tinycss2} == set(parse_trap._PARSERS)
    for room in ("pipeline", "replay", "demotape", "curator_web"):
        for path in (ROOT / room).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            for other in ("html.parser", "html5lib", "bs4", "selectolax", "xml.dom", "xml.sax", "ElementTree"):
                assert f"import {other}" not in text and f"from {other}" not in text, (path, other)


def pressed(recording: Path) -> str:
    """The press of a demonstration as an agent would write it."""
    turns = json.loads((recording / "demonstration.json").read_bytes())["turns"]
    return f'click(uid="{next(turn["element"]["uid"] for turn in turns if turn.get("element"))}")'


@pytest.fixture(scope="module")
def work(tmp_path_factory, recorded) -> Path:
    """A folder with the recording `rec`, processed and imported, and the export `ranked` of it."""
    folder = tmp_path_factory.mktemp("work")
    shutil.copytree(recorded, folder / "rec")
    run(folder, "process", "rec")
    run(folder, "import", "rec", "--create")
    run(folder, "export", "ranked", "--format", "weblinx", "--status", "any", "--candidates", "--records")
    return folder


@pytest.mark.parametrize("name", FORMATS)
def test_no_export_parses_a_page_in_the_commands_process(work, name):
    run(work, "export", f"out-{name}", "--format", name, "--status", "any")


@pytest.mark.parametrize("words", [
    "export marked --format parquet --status any --set-of-marks --axtree --jobs 2", "check rec --rendered",
    "outcome rec", "replay run rec", "replay act rec PRESS --turn 2 --grammar weblinx",
    "agents run recorded rec --runs runs", "agents join-log rec history.json", "bundle rec runs.html",
    "convert rec --format chat converted", "convert ranked --format chat converted-again",
    "import ranked --create --data other", "evaluate predictions.jsonl ranked"])
def test_no_command_parses_a_page_in_its_own_process(work, words):
    if words.startswith(("outcome", "agents")) and not (work / "rec" / "outcome.json").exists():
        run(work, "outcome", "rec", "--propose")
    (name,) = (path.name for path in (work / "ranked" / "demonstrations").iterdir())
    turns = json.loads((work / "ranked" / "demonstrations" / name / "replay.json").read_bytes())["data"]
    index = next(number for number, turn in enumerate(turns) if turn["type"] == "browser"
                 and turn["action"]["intent"] == "click")
    (work / "history.json").write_text(json.dumps({"history": [{"model_output": {"thinking": "Go back", "action": [
        {"go_back": {}}]}, "result": [{}], "state": {"url": ""}}]}))
    (work / "predictions.jsonl").write_text(json.dumps(PREDICTION | {"demo_name": name, "turn_index": index}))
    run(work, *[pressed(work / "rec") if word == "PRESS" else word for word in words.split()])


def test_every_command_is_covered():
    covered = {"process", "import", "convert", "bundle", "export", "check", "outcome", "replay run", "replay act",
               "agents run", "agents join-log", "evaluate"}
    assert {words for words in set(LEAVES) - covered - set(WITHOUT_PAGES)
            if words.partition(" ")[0] not in NO_RECORDINGS} == set()


def test_warnings_of_the_work_reach_who_called_it(tmp_path, caplog):
    """Of this project only: what libraries log may contain what they read."""
    assert run_isolated(PAGE, "work", warn_and_return, 7) == 7
    assert [record.getMessage() for record in caplog.records] == ["chat.txt, line 3: no time"]
    caplog.clear()
    with pytest.raises(InputError, match="broken"):
        run_isolated(PAGE, "work", warn_and_raise)
    assert [(record.name, record.getMessage()) for record in caplog.records] == [("demotape.chat", "before it broke")]


def warn_and_return(value):
    logging.getLogger("demotape.chat").warning("%s, line %d: no time", "chat.txt", 3)
    logging.getLogger("demotape.chat").info("of no interest")
    logging.getLogger("lxml").warning("what a page contains")
    return value


def warn_and_raise():
    logging.getLogger("demotape.chat").warning("before it broke")
    raise InputError("broken")
