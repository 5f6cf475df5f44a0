"""Playwright scripts: they run, and what was captured stays text in them."""

import ast
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import unquote

import pytest

from pipeline import process
from pipeline.export import Source, export
from pipeline.export.formats.script.playwright_locators import ways
from pipeline.export.formats.script.playwright_script import samples
from pipeline.export.source import Options, Tally
from pipeline.verify import verify
from recorder import Recording
from schemas.chromium import find_chromium
from tests.support import kept
from tests.support.samples.recording_fixtures import element, make_demonstration, write_recording
from tests.support.services.site import Site

HOSTILE = '\'"""\n\\\u2028__import__("os").system("touch PWNED")\r\n#</s>{TASK}\0'
TELLS = """this.href = '/done?' + [...['name', 'lamp', 'password'].map(id => document.getElementById(id).value),
frames[0].document.body.innerText.trim()]"""  # what was done, in the address at last


@pytest.fixture(scope="module")
def recording(tmp_path_factory) -> Recording:
    return write_recording(tmp_path_factory.mktemp("recordings") / "rec-a")


def script(folder: Path, *sources: Source) -> str:
    export(list(sources), folder, "playwright")
    assert verify(folder) == []
    [path] = (folder / "train").glob("*.py")
    return path.read_text(encoding="ascii")


def test_a_kept_recording_is_done_again(tmp_path):
    shutil.copytree(kept.DATA / "v1" / "kept", tmp_path / "kept")
    source = Source(process(tmp_path / "kept"), Recording(tmp_path / "kept"))
    text = script(tmp_path / "out", source)
    assert "'DEMOTAPE_VALUE_1': '[REDACTED]',  # 6: Typing\n" in text and "VALUES['DEMOTAPE_VALUE_1'])" in text
    assert "frame = page.frame_locator('css=iframe#frame')\n    find(frame.get_by_role('button', name='Two'" in text
    [path] = (tmp_path / "out" / "train").glob("*.py")
    site = Site(kept.PAGES | {"/": kept.PAGES["/"].replace('<a id="on"', f'<a id="on" onclick="{TELLS}"')})
    try:
        env = os.environ | {"DEMOTAPE_ORIGIN": site.origin, "DEMOTAPE_VALUE_1": "pass-9",
                            "DEMOTAPE_CHROMIUM": find_chromium()}
        done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=90, env=env,
                              cwd=tmp_path)
    finally:
        site.close()
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["instructor: Two floor lamps, please", "navigator: Done",
                                        f"done: {site.origin}/done?Ada,floor,pass-9,Two%20lamps"]


def shape(text: str) -> str:
    """What a script does, whatever its texts say."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = ""
    return ast.dump(tree)


def hostile(value: object, by: str) -> object:
    """The same with every captured text replaced, but those by which it is decided what is done."""
    if isinstance(value, dict):
        return {key: each if key in ("id", "type", "intent", "tag", "frame", "uid", "dom", "elements", "screenshot",
                                     "kind", "modifiers", "screenshot_status", "recording", "format")
                else hostile(each, by) for key, each in value.items()}
    if isinstance(value, list):
        return [hostile(each, by) for each in value]
    return by if isinstance(value, str) else value


def test_what_was_captured_stays_text(recording):
    demonstration = make_demonstration(recording)
    for turn in demonstration["turns"]:
        if turn.get("element"):
            turn["element"] |= {"role": "button", "name": "n", "text": "t", "attributes": {
                "id": "i", "name": "n", "data-testid": "d", "placeholder": "p"}}
    def made(by: str) -> str:
        told = hostile(demonstration, by)
        for turn in told["turns"]:
            if turn.get("element"):
                turn["element"]["role"] = "button"
            if turn.get("intent") == "load":
                turn["arguments"]["url"] = f"https://shop.example/{by}"
        file, *_ = samples(Source(told, recording), Options(), Tally())
        return file.content.decode("ascii")

    text = made(HOSTILE)
    assert shape(text) == shape(made("harmless")) and "\n__import__" not in text
    strings = {node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)}
    assert {HOSTILE, f"xpath={HOSTILE}", f"css={HOSTILE}"} <= strings


def test_every_intent_is_redone_or_counted(tmp_path, recording):
    demonstration = make_demonstration(recording)
    summary = export([Source(demonstration, recording)], tmp_path / "out", "playwright")
    assert summary.samples == 23 and not summary.left_out
    text = (tmp_path / "out" / "train" / "rec-a.py").read_text()
    for line in ("page.goto(ORIGIN + '/')", "answer(page, (True, None))", "set_input_files([FILES / 'a.pdf'])",
                 "pages[2] = context.new_page()", "page = pages[2]", "close(pages.pop(2))", "page.reload()",
                 "tick(find(frame.locator('css=input'), frame.locator('xpath=//input')), True)",
                 "frame = page.locator('css=iframe, frame').nth(0).content_frame\n", "page.mouse.click(50.0, 50.0)"):
        assert line in text, line
    for turn in demonstration["turns"]:
        if turn.get("element"):
            turn["element"] = None
    summary = export([Source(demonstration, recording)], tmp_path / "out", "playwright")
    assert summary.left_out["textInput: no element"] == 1
    assert summary.left_out["dialog: what made the page ask is not in the script"] == 1


def test_nothing_to_redo_is_no_script(tmp_path, recording):
    demonstration = make_demonstration(recording)
    demonstration["turns"] = demonstration["turns"][:1]
    summary = export([Source(demonstration, recording)], tmp_path / "out", "playwright")
    assert (summary.samples, list((tmp_path / "out").glob("*/*"))) == (0, [])
    assert summary.notes == {"demonstration without an action that can be redone": 1}


def test_ways_begin_with_what_a_person_sees_and_leave_out_what_was_taken_out():
    field = element("1", "input", role="textbox", name="Mail", attributes={"id": "a b", "name": "m\"\n"}, css="#x")
    assert ways("page", field) == [
        "page.get_by_role('textbox', name='Mail', exact=True)", "page.get_by_label('Mail', exact=True)",
        "page.locator('css=input[name=\"m\\\\22 \\\\a \"]')", "page.locator('css=[id=\"a b\"]')",
        "page.locator('css=#x')", "page.locator('xpath=//input')"]
    taken = element("1", "a", role="link", name="Mail to [REDACTED]", text="[REDACTED]", css="a")
    assert ways("page", taken) == ["page.locator('css=a')", "page.locator('xpath=//a')"]
    assert ways("page", element("1", "li", text="New York", css="li"))[0] == "page.get_by_text('New York', exact=True)"
    assert "role" not in str(ways("page", element("1", "a", role='x"]', name="n")))


PAGE = """<!DOCTYPE html><title>Shop</title><style>#hide { display: none }</style>
<button id=ask onclick="told.textContent += ' ' + confirm('Sure?') + ' ' + prompt('Name?')">Ask</button>
<label>Fast <input type=checkbox id=fast onchange="told.textContent += ' fast'"></label>
<input type=checkbox id=hide onchange="told.textContent += ' hidden'"><label for=hide>Gift wrap</label>
<button ondblclick="told.textContent += ' double'">Twice</button>
<input aria-label=Search onkeydown="if (event.key == 'ArrowDown') told.textContent += ' down'">
<div id=box style="height: 60px; width: 90px; overflow: auto" onscroll="told.dataset.y = this.scrollTop"><p
style="margin-top: 300px">low</div>
<a rel=opener id=two href="/two" target=_blank>Two</a><p id=told>told:</p>"""
TWO = """<!DOCTYPE html><title>Two</title><button onclick="location = '/end?' + encodeURIComponent(
opener.told.textContent + ' ' + (opener.told.dataset.y > 50))">End</button>"""


def test_dialogs_tabs_and_controls_are_done_again(tmp_path, recording_browser):
    async def user_actions(page):
        page.on("dialog", lambda dialog: dialog.accept("Ann") if dialog.type == "prompt" else dialog.dismiss())
        await page.locator("#ask").click()
        await page.locator("#fast").click()
        await page.get_by_text("Gift wrap").click()
        await page.get_by_text("Twice").dblclick()
        await page.get_by_label("Search").click()
        await page.keyboard.press("ArrowDown")
        await page.locator("#box").hover()
        await page.mouse.wheel(0, 120)
        await page.wait_for_function("told.dataset.y > 50")
        async with page.context.expect_page() as popup:
            await page.locator("#two").click()
        second = await popup.value
        await second.get_by_text("End").click()
        await second.wait_for_url("**/end*")

    site = Site({"/": PAGE, "/two": TWO, "/end": "<title>End</title>done"})
    try:
        session = recording_browser.record(user_actions, url=site.origin + "/")
        with ThreadPoolExecutor(1) as pool:  # no event loop runs there
            demonstration = pool.submit(process, session.recording.layout.root).result()
        text = script(tmp_path / "out", Source(demonstration, Recording(session.recording.layout.root)))
        [path] = (tmp_path / "out" / "train").glob("*.py")
        done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=90, cwd=tmp_path,
                              env=os.environ | {"DEMOTAPE_CHROMIUM": find_chromium()})
    finally:
        site.close()
    assert done.returncode == 0, (done.stderr, text)
    told = unquote(done.stdout).split("/end?")[1].strip()
    assert told == "told: false Ann fast hidden double down true", text
