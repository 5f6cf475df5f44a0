"""The whole way on a real page that none of us wrote, from the wheel and as a person starts it; read back with others'
libraries."""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import urllib.request
from pathlib import Path
from urllib.parse import urljoin

import lxml.html
import pytest
import webdataset
import weblinx
from playwright.sync_api import expect, sync_playwright

from curator_web import create_app
from curator_web.demonstrations.library.library import current
from curator_web.users import add_user
from demotape.site import serve_airline
from pipeline.verify import verify
from recorder import Recording
from schemas.chromium import find_chromium
from tests.support.curator.curator_fixtures import serving
from tests.support.processes.wheel import checkout, installed, run, wheel

__all__ = ["checkout", "installed", "wheel"]

DEMOTAPE = Path(sys.executable).parent / "demotape"
VENDORED = {"htmx.min.js", "Sortable.min.js"}


@pytest.fixture(scope="module")
def demo(installed, tmp_path_factory):
    """Folder in which the wheel's `demotape demo` ran, and what it printed."""
    folder = tmp_path_factory.mktemp("demo")
    told = run(installed / "demotape", "demo", cwd=folder, CI="1")
    return folder / "demotape-demo", told


@pytest.fixture(scope="module")
def demonstration(demo):
    return json.loads((demo[0] / "book-a-flight" / "demonstration.json").read_text())


def test_it_says_what_it_did(demo):
    good = re.search(r"(\d+) good out of 15", demo[1])
    assert good and int(good[1]) >= 13, demo[1]  # beside other work, a frame may come too late to be proven
    for word in ("Turns", "click 12", "textInput 2", "7 of 7 utterances placed, from demotape-demo/zoom-chat.txt",
                 "demotape-demo/book-a-flight/outcome.json"):
        assert word in demo[1]


@pytest.fixture
def printed(demo):
    """The three commands to go on with, as they are printed."""
    commands = re.findall(r"^  (\S.*)$", demo[1], flags=re.M)
    assert len(commands) == 3
    return commands


def test_the_printed_commands_work(demo, printed, installed):
    replay, agent, review = printed
    folder = demo[0].parent
    replayed = run("sh", "-c", replay, cwd=folder)
    assert re.search("book-a-flight: (same|equivalent),", replayed)  # the page counts seconds, which may differ by one
    scored = run("sh", "-c", agent, cwd=folder)
    assert re.search(r"^book-a-flight  1  ", scored, re.M)
    imported = re.search("^Review the runs: (.*)$", scored, re.M)[1]
    assert ": imported (" in run("sh", "-c", imported, cwd=folder)
    served = subprocess.Popen(["sh", "-c", f"exec {review}"], cwd=folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, text=True,
                              env=os.environ | {"PYTHONUNBUFFERED": "1", "DEMOTAPE_REVIEW_PORT": "0"})
    try:
        assert "book-a-flight" in fetch(re.search(r"http://\S+", served.stdout.readline())[0])
    finally:
        served.terminate()
        served.communicate()


def test_the_task_is_done_at_the_end_only(demo):
    result = json.loads(run(DEMOTAPE, "outcome", demo[0] / "book-a-flight", "--json", cwd=demo[0]))
    assert result["score"] == 1 and result["reached"] == 1
    assert not any("refused" in check for check in result["checks"])


def test_the_turns_are_the_navigators(demonstration):
    turns = [turn for turn in demonstration["turns"] if turn["type"] == "browser"]
    assert [turn["intent"] for turn in turns] == [
        "load", "click", "click", "textInput", "click", "click", "textInput", *["click"] * 8]
    assert [turn["arguments"]["text"] for turn in turns if turn["intent"] == "textInput"] == ["new yo", "las ve"]
    assert turns[-1]["element"]["name"] == "Find Flights"
    assert all(len(turn["element"]["frame"]) == 1 for turn in turns[2:])


def test_the_chat_stands_between_them(demonstration):
    kinds = [turn["type"] for turn in demonstration["turns"]]
    assert kinds.count("chat") == 7
    assert kinds[0] == "chat" and "browser" in kinds[1:kinds.index("chat", 1)]
    assert {turn["speaker"] for turn in demonstration["turns"] if turn["type"] == "chat"} == {"instructor", "navigator"}


def test_everything_it_wrote_is_whole(demo):
    for name in ("book-a-flight", "export-weblinx", "export-webdataset"):
        assert verify(demo[0] / name) == []
    assert "| script demotape demo | 1 |" in (demo[0] / "export-parquet" / "README.md").read_text(encoding="utf-8")


def test_the_exported_script_books_the_flight_again(demo, monkeypatch):
    [script] = (demo[0] / "export-playwright" / "train").glob("*.py")
    with serve_airline() as site, sync_playwright() as playwright:
        monkeypatch.setenv("DEMOTAPE_ORIGIN", site)
        made = runpy.run_path(str(script))
        browser = playwright.chromium.launch(executable_path=find_chromium(playwright.chromium.executable_path))
        context = browser.new_context(viewport=made["VIEWPORT"])
        page = context.new_page()
        made["run"](context, page)
        expect(page.locator("#reward-reason")).to_have_text("GOOD")
        browser.close()


def test_states_show_the_page_before_the_effect(demo, demonstration):
    recording = Recording(demo[0] / "book-a-flight")
    typed = next(turn for turn in demonstration["turns"] if turn.get("intent") == "textInput")
    top = lxml.html.fromstring(recording.blob(typed["state"]["dom"]))
    inner = lxml.html.fromstring(top.xpath("//iframe/@srcdoc")[0])
    field = inner.xpath(f"//*[@data-demotape-uid='{typed['element']['uid']}']")[0]
    assert field.get("id") == "geo-from" and field.get("value") == ""


def test_weblinx_loads_the_export(demo):
    base = demo[0] / "export-weblinx" / "demonstrations"
    (name,) = [path.name for path in base.iterdir()]
    loaded = weblinx.Demonstration(name, base_dir=str(base))
    assert loaded.is_valid() and loaded.form["description"]
    replay = weblinx.Replay.from_demonstration(loaded)
    assert replay.validate_turns() is True
    assert len(replay) == 22
    targeted = replay.filter_by_intents("click", "textInput", "submit")
    assert len(targeted) == 14
    for turn in targeted:
        uid = turn.element["attributes"]["data-webtasks-id"]
        assert turn.has_screenshot() and turn["state"]["screenshot_status"] == "good"
        assert Path(turn.get_screenshot_path()).stat().st_size > 1000
        assert len(lxml.html.fromstring(turn.html).xpath(f"//*[@data-webtasks-id='{uid}']")) == 1
        assert turn.bboxes[uid]["width"] > 0


def test_webdataset_reads_the_export(demo):
    shards = sorted(str(path) for path in (demo[0] / "export-webdataset").rglob("*.tar"))
    samples = list(webdataset.WebDataset(shards, shardshuffle=False).decode("rgb8"))
    assert len(samples) == 22
    assert len({frozenset(sample) - {"__local_path__"} for sample in samples}) == 1
    assert all(sample["jpg"].shape[2] == 3 for sample in samples)


def test_the_demo_is_reviewed_by_keyboard_alone_and_exported_as_it_was_left(demo, tmp_path):
    data = tmp_path / "data"
    shutil.copytree(demo[0] / "review", data)
    app = create_app(data_dir=data)
    services = app.extensions["demotape"]
    add_user(services.db, "ann", "annotator", "correct horse battery")
    name = services.store.recordings.joinpath(next(iter(os.listdir(services.store.recordings)))).name
    before = current(services.db, name)["turns"]
    chat = next(turn for turn in before if turn["type"] == "chat")
    with serving(app) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(playwright.chromium.executable_path),
                                             args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(url)
        expect(page.get_by_label("Name")).to_be_focused()
        page.keyboard.type("ann")
        page.keyboard.press("Tab")
        page.keyboard.type("correct horse battery")
        page.keyboard.press("Enter")
        expect(page).to_have_url(url)
        page.wait_for_load_state()  # nobody presses a key on a page that is not there yet
        page.keyboard.press("n")  # the next in the queue
        expect(page.locator("#turn")).to_have_attribute("data-turn", before[0]["id"])
        page.wait_for_load_state()

        def to(turn: dict) -> None:
            page.keyboard.press("Home")
            for _ in range(current(services.db, name)["turns"].index(turn)):
                page.keyboard.press("j")
            expect(page.locator("#turn")).to_have_attribute("data-turn", turn["id"])

        def saving(*keys: str) -> None:
            with page.expect_response(re.compile("/edits$")):
                for key in keys:
                    page.keyboard.press(key)

        dropped, moved, retargeted = [turn for turn in before if turn["type"] == "browser"][-4:-1]
        to(dropped)
        saving("d")
        to(moved)
        saving("Alt+ArrowUp")
        to(retargeted)
        page.keyboard.press("t")
        expect(page.locator("#target-search")).to_be_focused()
        page.keyboard.press("Tab")
        page.keyboard.press("ArrowDown")
        saving("Enter")
        to(chat)
        page.keyboard.press("e")
        page.keyboard.press("Control+a")
        page.keyboard.type("Mended by hand")
        saving("Enter")
        to(before[2])
        saving("d")
        saving("b" if before[2]["type"] == "browser" else "d")
        saving("u")
        saving("u")
        page.keyboard.press("s")
        expect(page).to_have_url(re.compile("done="))
        browser.close()
    after = current(services.db, name)["turns"]
    by_id = {turn["id"]: turn for turn in after}
    assert [turn["id"] for turn in after if turn["dropped"]] == [dropped["id"]]
    assert by_id[chat["id"]]["utterance"] == "Mended by hand"
    assert by_id[retargeted["id"]]["element"]["uid"] != retargeted["element"]["uid"]
    assert [turn["id"] for turn in after].index(moved["id"]) == before.index(moved) - 1
    assert by_id[before[2]["id"]] == before[2]
    out = tmp_path / "out"
    done = subprocess.run([DEMOTAPE, "export", out, "--format", "weblinx", "--status", "submitted", "--actor", "any",
                           "--data", data],
                          text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    (folder,) = (out / "demonstrations").iterdir()
    replay = json.loads((folder / "replay.json").read_text())["data"]
    assert len(replay) == len(after) - 1
    assert any(turn["type"] == "chat" and turn["utterance"] == "Mended by hand" for turn in replay)
    targets = [turn["action"]["arguments"].get("element", {}).get("attributes", {}).get("data-webtasks-id")
               for turn in replay if turn["type"] == "browser"]
    kept = [turn for turn in after if turn["type"] == "browser" and not turn["dropped"]]
    assert targets == [(turn["element"] or {}).get("uid") for turn in kept]


# ---- the wheel -------------------------------------------------------------------------------------------------------


def test_the_wheels_review_page_has_its_scripts(demo, installed):
    served = subprocess.Popen([installed / "demotape", "review", "--data", demo[0] / "review", "--port", "0"],
                              cwd=demo[0], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                              env=os.environ | {"PYTHONUNBUFFERED": "1"})
    try:
        address = re.search(r"http://\S+", served.stdout.readline())[0]
        review = urljoin(address, re.search(r'href="(/demonstrations/[^"]+)"', fetch(address))[1])
        scripts = re.findall(r'<script src="([^"]+)"', fetch(review))
        assert {script.rpartition("/")[2].partition("?")[0] for script in scripts} > VENDORED
        assert all(fetch(urljoin(review, script)).strip() for script in scripts)
    finally:
        served.terminate()
        served.communicate()


def fetch(address: str) -> str:
    """What is served there; raises HTTPError for any other status than 200."""
    with urllib.request.urlopen(address, timeout=30) as answer:
        return answer.read().decode()


def test_a_wheel_is_built_from_the_sdist_without_npm(checkout, wheel, tmp_path):
    run(sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--directory", tmp_path, cwd=checkout)
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as archive:
        archive.extractall(tmp_path, filter="data")
    unpacked = next(path for path in tmp_path.iterdir() if path.is_dir())
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir",
        tmp_path, unpacked, cwd=tmp_path, PATH="")
    assert not (unpacked / "node_modules").exists()
    assert next(tmp_path.glob("*.whl")).stat().st_size == wheel.stat().st_size


@pytest.mark.slow
def test_a_build_that_cannot_have_npm_says_so_in_one_line(checkout, tmp_path):
    broken = shutil.copytree(checkout, tmp_path / "broken", ignore=shutil.ignore_patterns("node_modules", "vendor"))
    (broken / "package-lock.json").write_text("{}")
    done = subprocess.run([sys.executable, "-m", "hatchling", "build", "--target", "wheel"], cwd=broken,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1 and "demotape: the front-end libraries cannot be brought" in done.stderr
