"""Scripts that solve MiniWoB tasks as a person would, by mouse and keyboard, so that the page itself gives a reward.

MiniWoB takes from the reward what somebody was slow: the pages are served with a limit that nobody reaches, so that it
says only whether the task was done.
"""

import re
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

from playwright.async_api import Locator, Page

from benchmarks.replay.hand import choose, click, rest, type_in
from demotape.site import miniwob_folder

Solver = Callable[[Page, str], Awaitable[None]]
_LIMIT, _LONG = "EPISODE_MAX_TIME = 10000;", "EPISODE_MAX_TIME = 100000000;"
_SUBMIT = "#subbtn, button:has-text('Submit')"


def unhurried(folder: Path) -> Path:
    """MiniWoB's files with a time limit that nobody reaches."""
    shutil.copytree(miniwob_folder(), folder)
    core = folder / "core" / "core.js"
    text = core.read_text(encoding="utf-8")
    if _LIMIT not in text:
        raise SystemExit(f"outcome: {core} has no {_LIMIT}")
    core.write_text(text.replace(_LIMIT, _LONG), encoding="utf-8")
    return folder


async def solve(page: Page, site: str, name: str) -> str:
    """Open a page, begin an episode and solve it; returns the reward that the page shows."""
    await page.goto(f"{site}/miniwob/{name}.html")
    await rest(page)
    await click(page.locator("#sync-task-cover"))
    await SOLVERS[name](page, " ".join((await page.locator("#query").inner_text()).split()))
    await page.wait_for_function("document.querySelector('#reward-last').textContent !== '-'")
    await rest(page)
    return await page.locator("#reward-last").inner_text()


def _quoted(text: str) -> list[str]:
    return re.findall(r'"([^"]*)"', text)


def _between(text: str, before: str, after: str) -> str:
    return text.split(before, 1)[1].split(after, 1)[0].strip()


def _exactly(page: Page, css: str, text: str) -> Locator:
    return page.locator(f"#area {css}").filter(has_text=re.compile(rf"^\s*{re.escape(text)}\s*$")).first


async def _submit(page: Page) -> None:
    await click(page.locator(_SUBMIT).first)


async def _press(page: Page, text: str) -> None:
    await click(page.locator("#subbtn, #area button").first)


async def _named_button(page: Page, text: str) -> None:
    await click(_exactly(page, "button", (_quoted(text) or ["ONE"])[0]))


async def _two_buttons(page: Page, text: str) -> None:
    await click(page.locator("#subbtn"))
    await click(page.locator("#subbtn2"))


async def _link(page: Page, text: str) -> None:
    await click(_exactly(page, ".alink", _quoted(text)[0]))


async def _option(page: Page, text: str) -> None:
    await click(_exactly(page, "label", _between(text, "Select ", " and click")).locator("input"))
    await _submit(page)


async def _checkboxes(page: Page, text: str) -> None:
    wanted = _between(text, "Select ", " and click")
    for name in wanted.split(", ") if wanted != "nothing" else ():
        await click(_exactly(page, "label", name).locator("input"))
    await _submit(page)


async def _dialog(page: Page, text: str) -> None:
    await click(page.locator(".ui-dialog-titlebar-close"))


async def _tab(page: Page, text: str) -> None:
    number = re.search(r"#(\d+)", text)
    assert number
    await click(page.locator(f"#area a[href='#tabs-{number[1]}']"))


async def _typed(page: Page, text: str) -> None:
    await type_in(page.locator("#tt"), _quoted(text)[0])
    await _submit(page)


async def _login(page: Page, text: str) -> None:
    name, password = _quoted(text)
    await type_in(page.locator("#username"), name)
    await type_in(page.locator("#password"), password)
    await _submit(page)


async def _focus(page: Page, text: str) -> None:
    number = re.search(r"(\d)", text)
    await click(page.locator("#area input").nth(int(number[1]) - 1 if number else 0))


async def _list(page: Page, text: str) -> None:
    await choose(page.locator("#options"), _between(text, "Select ", " from the list"))
    await _submit(page)


async def _collapsible(page: Page, text: str) -> None:
    await click(page.locator("#area h3").first)
    await page.locator("#subbtn").wait_for(state="visible")
    await _submit(page)


async def _word(page: Page, text: str) -> None:
    number = re.search(r"(\d+)", text)
    assert number
    words = (await page.locator("#area p").first.inner_text()).split()
    await type_in(page.locator("#answer-input"), words[int(number[1]) - 1].rstrip(",."))
    await _submit(page)


async def _sum(page: Page, text: str) -> None:
    told = re.search(r"(\d+) ?([-+x*]) ?(\d+)", await page.locator("#math-problem").inner_text())
    assert told
    one, other = int(told[1]), int(told[3])
    found = {"+": one + other, "-": one - other}.get(told[2], one * other)
    await type_in(page.locator("#math-answer"), str(found))
    await _submit(page)


async def _color(page: Page, text: str) -> None:
    shown = page.locator("#query-color")  # the colour is named, or shown
    color = (re.search(r"background-color: ([a-z]+)", await shown.get_attribute("style") or "")
             if await shown.count() else re.search(r"Click on the (\w+)", text))
    assert color
    await click(page.locator(f"#area [data-color='{color[1]}']"))


async def _cell(page: Page, text: str) -> None:
    row = page.locator("#area tr").filter(
        has=page.locator("td").filter(has_text=re.compile(rf"^{re.escape(_between(text, 'value of ', ' into'))}$")))
    await type_in(page.locator("#tt"), (await row.locator("td").nth(1).inner_text()).strip())
    await _submit(page)


async def _spinner(page: Page, text: str) -> None:
    wanted = int(_between(text, "Select ", " with"))
    for _ in range(abs(wanted)):
        await click(page.locator(".ui-spinner-up" if wanted > 0 else ".ui-spinner-down"))
    await _submit(page)


SOLVERS: dict[str, Solver] = {
    "click-test": _press, "click-test-2": _named_button, "click-button": _named_button,
    "click-button-sequence": _two_buttons, "click-link": _link, "click-option": _option,
    "click-checkboxes": _checkboxes, "click-dialog": _dialog, "click-tab": _tab, "enter-text": _typed,
    "login-user": _login, "focus-text": _focus, "focus-text-2": _focus, "choose-list": _list,
    "click-collapsible": _collapsible, "find-word": _word, "simple-arithmetic": _sum, "click-color": _color,
    "read-table": _cell, "use-spinner": _spinner,
}
