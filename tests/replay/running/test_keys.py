"""Text is typed by trusted keys, each letter in its turn, whatever a page does with them meanwhile."""

import asyncio
import string

import pytest
from playwright.async_api import async_playwright

from pipeline import refresh
from recorder import Recording
from recorder.browser import launch
from replay.running import running
from replay.running.keys import type_text

PAGE = """<!DOCTYPE html><title>Keys</title><textarea autofocus></textarea><input id=next><script>
const told = [], field = document.querySelector("textarea");
for (const type of ["keydown", "keyup", "beforeinput"])
  addEventListener(type, (event) => told.push([type, event.key ?? event.data, event.isTrusted]), true);
PLUS
</script>"""
SHOWN = """document.activeElement === field && document.hasFocus() &&
  new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(true))))"""
DIALOGS = 'field.oninput = () => field.value.endsWith("c") && alert(1)'
EACH = string.ascii_letters + string.digits + string.punctuation + " \nä€漢😀 é\n" * 3


async def typed(text: str, script: str, *, ahead: bool = True) -> tuple[str, str, list[list[object]], int]:
    asked = 0
    async with async_playwright() as playwright:
        browser = await launch(playwright, headless=True)
        page = await browser.new_page()

        async def answer(dialog):
            nonlocal asked
            asked += 1
            await asyncio.sleep(0.1)
            await dialog.accept()

        page.on("dialog", answer)
        await page.set_content(PAGE.replace("PLUS", script))
        await page.wait_for_function(SHOWN)  # what is typed before goes nowhere, in part
        await type_text(page.keyboard, text, ahead=ahead)
        found = await page.evaluate("[field.value, document.getElementById('next').value, told]")
        await browser.close()
    return *found, asked


@pytest.mark.parametrize("ahead", [True, False])
def test_each_letter_comes_once_and_in_its_turn(ahead):
    value, _, told, _ = asyncio.run(typed(EACH, "", ahead=ahead))
    assert value == EACH
    keys = [(type_, key) for type_, key, _ in told if type_ != "beforeinput"]
    assert keys[::2] == [("keydown", key) for _, key in keys[::2]] and {type_ for type_, _ in keys[1::2]} == {"keyup"}
    assert [key for _, key in keys[::2]] == [key for _, key in keys[1::2]]
    assert all(trusted for _, _, trusted in told)


@pytest.mark.parametrize("busy", [0, 30])
def test_a_page_may_move_the_focus_and_be_busy_while_it_is_typed(busy):
    value, moved, _, _ = asyncio.run(typed("abcdefghij" * 5, """field.oninput = () => {
        const until = performance.now() + BUSY; while (performance.now() < until);
        if (field.value.length === 7) document.getElementById("next").focus() }""".replace("BUSY", str(busy))))
    assert (value, moved) == ("abcdefg", ("abcdefghij" * 5)[7:])


def test_a_letter_that_opens_a_dialog_takes_none_of_those_after_it():
    value, _, _, asked = asyncio.run(typed("abcdefghij" * 3, DIALOGS, ahead=False))
    assert (value, asked) == ("abcdefghij" * 3, 3)


def test_letters_reach_a_frame_of_another_site_in_their_turn(site):
    site.pages["/"] = f"<iframe src={site.origin.replace('127.0.0.1', 'localhost')}/inner></iframe>"
    site.pages["/inner"] = "<textarea></textarea>"

    async def in_frame() -> str:
        async with async_playwright() as playwright:
            browser = await launch(playwright, headless=True)
            page = await browser.new_page()
            await page.goto(site.origin + "/")
            field = page.frame_locator("iframe").locator("textarea")
            await field.click()
            await type_text(page.keyboard, EACH, ahead=True)
            found = await field.input_value()
            await browser.close()
        return found

    assert asyncio.run(in_frame()) == EACH


@pytest.mark.parametrize("dropped", [False, True])
def test_a_session_is_typed_again_whole_though_letters_opened_dialogs(recording_browser, site, tmp_path, dropped):
    site.pages["/"] = PAGE.replace("PLUS", DIALOGS)

    async def act(page):
        page.on("dialog", lambda dialog: dialog.accept())
        await page.click("textarea")
        await page.keyboard.type("abcdefghij" * 3)
        await page.click("#next")

    root = recording_browser.record(act, url=site.origin + "/", keep={"replayable": True}).recording.layout.root
    demonstration, _ = refresh(root)
    dialogs = [turn for turn in demonstration["turns"] if turn["intent"] == "dialog"]
    assert len(dialogs) == 3
    for turn in dialogs if dropped else ():
        turn["dropped"] = True
    result = asyncio.run(running.run(Recording(root), demonstration, tmp_path / "run"))
    worse = [(each.intent, each.verdict, each.reason) for each in result.outcomes if each.verdict != "same"]
    assert [each for each in worse if not dropped or "is dropped" not in each[2]] == []
