"""Plug-ins as their authors meet them: the example package installed, the real commands, and packages that break."""

import json
import re
import shutil
import subprocess
import sys
import textwrap
from datetime import timedelta
from pathlib import Path

import pytest

from pipeline import plugins
from pipeline.chat import READERS
from pipeline.chat.parsers import plugged as plugged_chat
from pipeline.checks import CHECKS, KINDS
from pipeline.checks import plugged as plugged_checks
from pipeline.export import FORMATS, splits
from pipeline.export import plugged as plugged_formats
from tests.support.checkout import ROOT
from tests.support.processes.plugin_packages import package, run, tried, warmed, well
from tests.support.samples import recording_fixtures
from tests.support.samples.recording_fixtures import EVENTS, STARTED_AT, write_recording
from tests.support.samples.sounds import spoken, track, video_with

__all__ = ["tried", "warmed"]

IRC = """[14:30:02] <Ann> Find lamps please
[14:30:03] *** Bob has joined
[14:30:04] <Bob> Done, what next
"""
LIKE_CSV = "timestamp,speaker,utterance\n1.0,Ann,hello there\n2.0,Bob,good morning\n"


@pytest.fixture(scope="module")
def examples(tmp_path_factory) -> Path:
    """The example package, installed by pip."""
    folder = tmp_path_factory.mktemp("examples")
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation",
                    "--no-index", "--disable-pip-version-check", "--target", folder,
                    ROOT / "examples" / "plugins"], check=True)
    return folder


@pytest.fixture
def recordings(tmp_path) -> list[Path]:
    """Three recordings of 2024 and one of 2026, in each of which a button was clicked twice."""
    return written(tmp_path / "recordings")


def written(folder: Path) -> list[Path]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(recording_fixtures, "EVENTS", [*EVENTS[:3], EVENTS[2], EVENTS[3]])
        made = [write_recording(folder / name, task=f"Find {name}") for name in ("one", "two", "three")]
        made.append(write_recording(folder / "new", started_at=STARTED_AT + timedelta(days=730)))
    return [recording.layout.root for recording in made]


def kinds(recording: Path) -> list[str]:
    turns = json.loads((recording / "demonstration.json").read_bytes())["turns"]
    return [check["kind"] for turn in turns for check in turn["checks"]]


def said(recording: Path) -> list[str]:
    turns = json.loads((recording / "demonstration.json").read_bytes())["turns"]
    return [turn["utterance"] for turn in turns if turn["type"] == "chat"]


def content(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def filled_app(tmp_path_factory, examples) -> Path:
    folder = tmp_path_factory.mktemp("filled")
    recordings = written(folder / "recordings")
    well(run("process", *recordings, path=(examples,)))
    well(run("import", "--create", *recordings, "--data", folder / "app"))
    return folder / "app"


@pytest.fixture
def app(tmp_path, filled_app) -> Path:
    """The review app's data folder, with the recordings."""
    return shutil.copytree(filled_app, tmp_path / "app")


# ---- the example -----------------------------------------------------------------------------------------------------


def test_the_example_chat_parser_and_check_are_used(tmp_path, recordings, examples):
    (tmp_path / "chat.txt").write_text(IRC)
    well(run("process", recordings[0], "--chat", tmp_path / "chat.txt", path=(examples,)))
    assert {*said(recordings[0])} == {"Find lamps – please", "Find lamps please", "Done, what next", "Pay now?"}
    assert kinds(recordings[0]).count("repeated-click") == 1
    without = run("process", recordings[1], "--chat", tmp_path / "chat.txt")
    assert without.returncode == 2 and "not a chat log of any kind" in without.stderr


def test_the_example_recogniser_tells_when_something_was_said(tmp_path, recordings, examples, tried):
    video = video_with(tmp_path / "meeting.mp4", [track(4.0, {0.5: spoken("Find lamps"), 2.5: spoken("Yes")})])
    asked = (recordings[0], "--video", video, "--recogniser", "loudness")
    well(tried("process", *asked, path=(examples,)))
    assert said(recordings[0]).count("(Something was said.)") == 2
    assert ": unchanged" in well(tried("process", *asked, path=(examples,)))
    assert "unknown recogniser 'loudness'" in tried("process", *asked).stderr
    well(tried("process", recordings[0]))
    assert said(recordings[0]).count("(Something was said.)") == 2, "what was recognised needs no recogniser any more"


@pytest.mark.parametrize("how", ["here", "processes", "cluster"])
def test_processes_have_the_plugins_too(recordings, examples, monkeypatch, how):
    from distributed import LocalCluster

    if how == "cluster":
        monkeypatch.syspath_prepend(examples)  # the workers get this process's path
        with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
            well(run("process", *recordings, "--scheduler", cluster.scheduler_address, path=(examples,)))
    else:
        well(run("process", *recordings, "--jobs", 1 if how == "here" else 2, path=(examples,)))
    assert all("repeated-click" in kinds(path) for path in recordings)


def test_demonstrations_are_made_again_when_a_plugin_comes_changes_or_goes(tmp_path, recordings, tried):
    path = recordings[0]
    code = """
        from pipeline.checks import Check, Finding
        CHECK = Check(("first",), lambda material: [Finding(material.turns[0]["id"], "first", "REASON")])
    """
    folder = package(tmp_path, "changing", {"checks": {"first": "changing:CHECK"}}, code.replace("REASON", "One."))
    assert ": unchanged" not in well(tried("process", path))
    assert ": unchanged" not in well(tried("process", path, path=(folder,)))
    assert ": unchanged" in well(tried("process", path, path=(folder,))) and "first" in kinds(path)
    (folder / "changing.py").write_text(textwrap.dedent(code.replace("REASON", "Another.")))
    assert ": unchanged" not in well(tried("process", path, path=(folder,)))
    assert ": unchanged" not in well(tried("process", path)) and "first" not in kinds(path)


def test_the_example_format_and_split_rule(tmp_path, app, examples):
    (tmp_path / "rule.json").write_text(json.dumps({"by": "by-date", "valid": 0, "test_iid": 0}))
    for jobs in (1, 2):
        well(run("export", tmp_path / f"out-{jobs}", "--format", "steps", "--splits", tmp_path / "rule.json", "--jobs",
                 jobs, "--data", app, path=(examples,)))
    assert content(tmp_path / "out-1") == content(tmp_path / "out-2")
    manifest = json.loads((tmp_path / "out-1" / "manifest.json").read_bytes())
    assert manifest["layout"] == "steps" and manifest["split_rule"] == "by-date (demotape-example-plugins 0.1.0)"
    assert {entry["id"]: entry["split"] for entry in manifest["demonstrations"]} == {
        "one": "train", "two": "train", "three": "train", "new": "test_iid"}
    assert {entry["path"] for entry in manifest["files"]} == {
        "train/one.json", "train/two.json", "train/three.json", "test_iid/new.json"}
    assert manifest["samples"] == sum(entry["turns"] for entry in manifest["demonstrations"]) > 0
    steps = json.loads((tmp_path / "out-1" / "train" / "one.json").read_bytes())
    assert steps["task"] == "Find one" and "instructor: Find lamps – please" in steps["steps"]
    assert well(run("check", tmp_path / "out-1")) == f"{tmp_path / 'out-1'}: whole\n"


def test_the_card_names_the_rule(tmp_path, app, examples, tried):
    (tmp_path / "rule.json").write_text(json.dumps({"by": "by-date"}))
    well(tried("export", tmp_path / "out", "--format", "parquet", "--splits", tmp_path / "rule.json", "--data", app,
               path=(examples,)))
    assert "Split by the rule by-date ?demotape-example-plugins 0.1.0?." in (tmp_path / "out" / "README.md").read_text()


REVIEW_APP = """
import json, re, sys, time
from pathlib import Path
from curator_web import create_app
app = create_app(None, Path(sys.argv[1]))
client = app.test_client()
token = re.search(r'name="csrf_token" value="([^"]+)"', client.get("/exports").text)[1]
formats = client.get("/exports").text.partition('name="format">')[2].partition("</select>")[0]
options = re.findall("<option>(.*?)</option>", formats)
filters = "repeated-click" in client.get("/").text
begun = [client.post("/exports", data={"format": "steps", "status": "any", "csrf_token": token}).status_code]
answer = client.post("/api/exports", json={"format": "steps"}, headers={"X-CSRFToken": token})
begun += [answer.status_code, client.post("/exports", data={"format": "x", "csrf_token": token}).status_code]
deadline = time.monotonic() + 60
while (job := client.get(f"/api/jobs/{answer.json['id']}").json)["state"] not in ("done", "failed"):
    assert time.monotonic() < deadline
    time.sleep(0.05)
print(json.dumps([options, filters, begun, job["state"], client.get(f"/exports/{job['id']}.zip").status_code]))
app.extensions["demotape"].jobs.close()
"""


def test_the_example_importer(tmp_path, examples):
    file = tmp_path / "one.json"
    file.write_text(json.dumps({"task": "Find one", "steps": [
        "instructor: Find lamps", "load https://shop.example/", "click Go", "navigator: Done"]}, indent=1))
    assert "steps: files of the example format steps" in well(run("import", "--list", path=(examples,)))
    said = well(run("convert", file, "--format", "atif", tmp_path / "out", path=(examples,)))
    assert "1 × not imported: click: its element is not in the file" in said
    steps = json.loads(next((tmp_path / "out").glob("train/*.json")).read_text())["steps"]
    assert [step["message"] for step in steps if step["message"]] == ["Find lamps", "Done"]
    done = run("import", "--from", "steps", "--create", file, "--data", tmp_path / "data", path=(examples,))
    assert "imported (one)" in well(done)


def test_the_review_app_has_the_formats_and_kinds(app, examples, tried):
    options, filters, begun, state, zipped = json.loads(well(tried(app, path=(examples,), program=REVIEW_APP)))
    assert options == [*FORMATS, "steps"] and filters
    assert begun == [303, 202, 400] and state == "done" and zipped == 200


# ---- what breaks -----------------------------------------------------------------------------------------------------

BROKEN_CHECKS = """
    from pipeline.checks import Check, Finding

    def ends(material):
        material.turns.clear()
        raise RuntimeError("boom")

    RAISES = Check(("raises",), ends)
    UNNAMED = Check(("unnamed",), lambda material: [Finding(material.turns[0]["id"], "other", "Bad.")])
    NO_TURN = Check(("no-turn",), lambda material: [Finding("nowhere", "no-turn", "Bad.")])
    NO_FIX = Check(("no-fix",), lambda material: [Finding(material.turns[0]["id"], "no-fix", "Bad.", {"op": "?"})])
    TAKEN = Check(("typo",), ends)
    BARE = ends
    WELL = Check(("well",), lambda material: [Finding(material.turns[0]["id"], "well", "Well.")])
"""
BROKEN_NAMES = ("raises", "unnamed", "no-turn", "no-fix", "taken", "bare")


@pytest.mark.parametrize("jobs", [1, 2])
def test_checks_that_break_are_named_once_and_the_others_go_on(tmp_path, recordings, examples, jobs, tried):
    points = {name: f"broken-checks:{name.upper().replace('-', '_')}".replace("broken-checks", "broken_checks")
              for name in (*BROKEN_NAMES, "well")}
    points |= {"gone": "not_there:CHECK", "Bad.Name": "broken_checks:WELL", "exits": "exits:CHECK"}
    folder = package(tmp_path, "broken-checks", {"checks": points}, BROKEN_CHECKS)
    (folder / "exits.py").write_text("raise SystemExit(3)\n")
    done = tried("process", *recordings, "--jobs", jobs, path=(folder, examples))
    well(done)
    warnings = done.stderr.splitlines()
    named = [re.match(r"warning: plug-in '([^']+)' of broken-checks 1.0 \(demotape.checks, ", line)[1]
             for line in warnings]
    assert sorted(named) == sorted([*BROKEN_NAMES, "gone", "Bad.Name", "exits"]), done.stderr
    assert all(kinds(path).count("well") == 1 and kinds(path).count("repeated-click") == 1 for path in recordings)
    assert not {"raises", "unnamed", "no-turn", "no-fix", "taken"} & {kind for path in recordings
                                                                      for kind in kinds(path)}


BROKEN_CHAT = """
    from pipeline.chat import Message, Reader, Reading

    def breaks(document):
        raise RuntimeError("boom")

    RECOGNISES = Reader("recognises", breaks, breaks)
    READS = Reader("reads", lambda document: 1000 * document.text.startswith("!"), breaks)
    GIVES = Reader("gives", lambda document: 1000 * document.text.startswith("?"), lambda document: ["hello"])
    MISNAMED = Reader("other", lambda document: 1000, breaks)
    CSV = Reader("csv", lambda document: 1000, breaks)
"""


def test_chat_parsers_that_break(tmp_path, recordings, tried):
    points = {name: f"broken_chat:{name.upper()}" for name in ("recognises", "reads", "gives", "misnamed", "csv")}
    folder = package(tmp_path, "broken-chat", {"chat": points | {"gone": "not_there:READER"}}, BROKEN_CHAT)
    (tmp_path / "chat.csv").write_text(LIKE_CSV)
    done = tried("process", *recordings[:2], "--chat", tmp_path / "chat.csv", path=(folder,))
    well(done)
    assert len(said(recordings[0])) == 4
    assert sorted(re.findall(r"^warning: plug-in '([^']+)'", done.stderr, flags=re.M)) == [
        "csv", "gone", "misnamed", "recognises"]
    for text, reason in (("!", "plug-in 'reads' of broken-chat 1.0 (demotape.chat, broken_chat:READS) failed: "
                          "RuntimeError: boom"), ("?", "'gives' of broken-chat 1.0")):
        (tmp_path / "chat.txt").write_text(text)
        done = tried("process", recordings[0], "--chat", tmp_path / "chat.txt", path=(folder,))
        assert done.returncode == 2 and reason in done.stderr and "Traceback" not in done.stderr


BROKEN_FORMATS = """
    from pipeline.export import Files, Format

    def breaks(source, options, tally):
        raise RuntimeError("boom")

    class Half:
        def __init__(self, destination, options): ...

    WEBLINX = Format(breaks, Files)
    BREAKS = Format(breaks, Files)
    LOCAL = Format(lambda source, options, tally: (), Files)
    HALF = Format(breaks, Half)
    BARE = breaks
"""


def test_formats_that_break_are_told_when_they_are_asked_for(tmp_path, app, tried):
    points = {name: f"broken_formats:{name.upper()}" for name in ("weblinx", "breaks", "local", "half", "bare")}
    one = package(tmp_path, "broken-formats", {"formats": points | {"gone": "not_there:FORMAT"}}, BROKEN_FORMATS)
    other = package(tmp_path, "other-formats", {"formats": {"bare": "not_there:FORMAT"}})
    for name, code, reason in (
            ("breaks", 1, "failed: RuntimeError: boom"), ("local", 2, "its samples cannot go to another process"),
            ("half", 2, "its writer has no __enter__"), ("gone", 2, "it cannot be imported (ModuleNotFoundError"),
            ("bare", 2, "it is not a pipeline.export.Format")):
        for jobs in (1, 2) if name == "breaks" else (1,):
            done = tried("export", tmp_path / "out", "--format", name, "--jobs", jobs, "--data", app, path=(one,))
            assert done.returncode == code and "Traceback" not in done.stderr, done.stderr
            assert re.match(rf"error: plug-in '{name}' of broken-formats 1.0 \(demotape.formats, ", done.stderr)
            assert reason in done.stderr and done.stderr.count("\n") == 1 and not (tmp_path / "out").exists()
    both = tried("export", tmp_path / "out", "--format", "bare", "--data", app, path=(one, other))
    assert both.returncode == 2 and "other-formats 1.0 has a plug-in of the same name; uninstall one" in both.stderr
    unknown = tried("export", tmp_path / "out", "--format", "x", "--data", app, path=(one,))
    assert unknown.returncode == 2 and f"{[*FORMATS][-1]}, bare, breaks, gone, half, local" in unknown.stderr
    own = tried("export", tmp_path / "out", "--format", "weblinx", "--data", app, path=(one,))
    well(own)
    assert "plug-in 'weblinx' of broken-formats 1.0" in own.stderr and (tmp_path / "out" / "splits.json").exists()


SPLITS = """
    def breaks(source, facts):
        raise RuntimeError("boom")

    def unknown(source, facts):
        return "holdout"

    def leaks(source, facts):
        return "test_web" if source.id == "one" else "train"

    def tests_all(source, facts):
        return "test_web"

    BARE = "train"
"""


def test_split_rules_that_break_or_leak(tmp_path, app, tried):
    points = {name: f"broken_splits:{name}" for name in ("breaks", "unknown", "leaks", "tests_all")}
    folder = package(tmp_path, "broken-splits", {"splits": points | {"bare": "broken_splits:BARE"}}, SPLITS)

    def export(rule: dict) -> subprocess.CompletedProcess:
        (tmp_path / "rule.json").write_text(json.dumps(rule))
        return tried("export", tmp_path / "out", "--format", "weblinx", "--splits", tmp_path / "rule.json",
                     "--data", app, path=(folder,))

    for rule, reason in (
            ({"by": "breaks"}, "RuntimeError: boom"),
            ({"by": "unknown"}, "returned the unknown split 'holdout'; splits are train"),
            ({"by": "bare"}, "it is no function"), ({"by": "x"}, "rules: bare, breaks, leaks, tests_all, unknown"),
            ({"by": "leaks"}, "website 'shop.example' is in test_web by the rule 'leaks', but also occurs in train"),
            ({"by": "leaks", "test_web": ["shop.example"]}, "is held out, but also occurs in train")):
        done = export(rule)
        assert done.returncode == 2 and reason in done.stderr and "Traceback" not in done.stderr, done.stderr
        assert not (tmp_path / "out").exists()
    well(export({"by": "tests_all"}))


def test_metadata_that_nobody_can_read_stops_nothing(tmp_path, recordings, tried):
    folder = package(tmp_path, "unreadable", {})
    (folder / "unreadable-1.0.dist-info" / "entry_points.txt").write_text("[demotape.checks]\nno entry point\n")
    well(tried("process", recordings[0], path=(folder,)))


# ---- code and documents ----------------------------------------------------------------------------------------------


def test_the_table_of_checks_tells_all_kinds():
    earlier = {"coarse-time", "unused-intent"}  # the stage that places the chat notes it; the review app
    assert {kind for check in CHECKS.values() for kind in check.kinds} | earlier == set(KINDS)


def test_what_is_built_in_keeps_the_contracts():
    faults = [plugged_formats._fault_of_format(name, format) for name, format in FORMATS.items()]
    faults += [plugged_chat._fault(name, reader) for name, reader in READERS.items()]
    faults += [plugged_checks._fault(name, check) for name, check in CHECKS.items()]
    assert set(faults) == {""} and all(map(plugins.NAME.fullmatch, (*FORMATS, *READERS, *CHECKS, *KINDS)))


def test_the_document_names_every_group_and_split():
    text = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(demotape\.[a-z]+)` \|", text, flags=re.M) == list(plugins.GROUPS)
    written = (ROOT / "examples" / "plugins" / "pyproject.toml").read_text(encoding="utf-8")
    assert re.findall(r'entry-points."([^"]+)"', written) == list(plugins.GROUPS)
    shown = re.search(r"```toml\n(.*?)```", text, flags=re.S)[1]
    assert all(line in written.splitlines() for line in shown.splitlines())
    assert [name for name in (*splits.SPLITS, *plugged_chat.STAMPS) if f"`{name}`" not in text] == []


def test_help_imports_no_plugin(tmp_path):
    folder = package(tmp_path, "loud", {group.partition(".")[2]: {"loud": "loud:X"} for group in plugins.GROUPS},
                     "raise SystemExit('imported')")
    for command in ([], ["export"], ["process"]):
        assert "Usage" in well(run(*command, "--help", path=(folder,)))
    listed = run(path=(folder,), program="from pipeline.export import format_names; print(format_names())")
    assert "'loud'" in well(listed)
