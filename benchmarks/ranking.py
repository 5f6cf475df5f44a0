"""Does a trained ranker find the right element on tasks that it has not seen, beside the lexical scorer?

    python -m benchmarks.ranking [--sessions N] [--seed N] [--keep FOLDER]

Records sessions of ten tasks of MiniWoB++ (Liu et al. 2018), whose pages and instructions nobody here wrote: what a
page asks for is what the instructor says, and a driver that reads it does the task. Then two tasks at a time are held
out; a ranker is trained on the others and ranks the candidates of the turns of those two. Prints recall@10 and MRR of
both scorers over all turns, and those of each pair of tasks.
"""

import argparse
import asyncio
import json
import re
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from playwright.async_api import Browser, Locator, Page, async_playwright

from demotape.site import miniwob_folder, serve
from pipeline import process
from pipeline.export import Rule, Source, export
from pipeline.ranker import Trained, train
from recorder import Recorder, Recording
from recorder.browser import launch

_QUOTED = re.compile(r'"([^"]+)"')
_SUBMIT = "#subbtn"
_PAUSE = 150  # ms between two actions
Act = tuple[Locator, str]  # what is clicked, and what is typed then


async def _named(page: Page, selector: str, name: str) -> Locator:
    """The element of that text."""
    for each in await page.locator(selector).all():
        text = (await each.inner_text()).strip() or (await each.get_attribute("value") or "").strip()
        if text.lower() == name.lower() and await each.is_visible():
            return each
    raise LookupError(name)


async def _button(page: Page, said: str) -> list[Act]:
    return [(await _named(page, "#area button, #area input[type=button]", _QUOTED.findall(said)[0]), "")]


async def _link(page: Page, said: str) -> list[Act]:
    return [(await _named(page, ".alink", _QUOTED.findall(said)[0]), "")]


async def _test_button(page: Page, said: str) -> list[Act]:
    return [(await _named(page, "#area button", said.split("button ")[1].strip(".")), "")]


async def _tab(page: Page, said: str) -> list[Act]:
    return [(page.locator(f"a[href='#tabs-{re.findall('#([0-9]+)', said)[0]}']").first, "")]


async def _choices(page: Page, said: str) -> list[Act]:
    wanted = said.removeprefix("Select ").split(" and click")[0].split(", ")
    labels = [(await _named(page, "#area label", name), "") for name in wanted if name != "nothing"]
    return [*labels, (page.locator(_SUBMIT), "")]


async def _text(page: Page, said: str) -> list[Act]:
    return [(page.locator("#tt"), _QUOTED.findall(said)[0]), (page.locator(_SUBMIT), "")]


async def _login(page: Page, said: str) -> list[Act]:
    name, word = _QUOTED.findall(said)[:2]
    return [(page.locator("#username"), name), (page.locator("#password"), word), (page.locator(_SUBMIT), "")]


async def _dialog(page: Page, said: str) -> list[Act]:
    name = _QUOTED.findall(said)[0]
    if name == "x":
        return [(page.locator("button.ui-dialog-titlebar-close"), "")]
    return [(await _named(page, ".ui-dialog button", name), "")]


async def _field(page: Page, said: str) -> list[Act]:
    return [(page.locator("#area input").nth(int(re.findall("[0-9]", said)[0]) - 1), "")]


TASKS: dict[str, Callable[[Page, str], Awaitable[list[Act]]]] = {
    "click-button": _button, "click-link": _link, "click-test-2": _test_button, "click-tab": _tab,
    "click-option": _choices, "click-checkboxes": _choices, "enter-text": _text, "login-user": _login,
    "click-dialog-2": _dialog, "focus-text-2": _field}


async def record(browser: Browser, url: str, seed: int, folder: Path) -> None:
    """One session of a task."""
    context = await browser.new_context(viewport={"width": 800, "height": 600})
    page = await context.new_page()
    await page.goto(url)
    await page.evaluate("seed => { Math.seedrandom(seed); core.EPISODE_MAX_TIME = 1e6; core.startEpisodeReal() }",
                        str(seed))
    said = " ".join((await page.locator("#query").inner_text()).split())
    async with Recorder(context, folder) as recorder:
        recorder.say("instructor", said)
        for target, typed in await TASKS[folder.name.rpartition("-")[0]](page, said):
            await page.wait_for_timeout(_PAUSE)
            await target.click(force=True)
            if typed:
                await page.keyboard.type(typed)
        await page.wait_for_timeout(_PAUSE)
    await context.close()


async def record_all(folder: Path, sessions: int, seed: int) -> None:
    """So many sessions of each task."""
    with serve(miniwob_folder()) as origin:
        async with async_playwright() as playwright:
            browser = await launch(playwright, headless=True)
            for task in TASKS:
                for number in range(sessions):
                    await record(browser, f"{origin}/miniwob/{task}.html", seed + number, folder / f"{task}-{number}")
            await browser.close()


def trained_without(held: list[str], recordings: list[Path], folder: Path) -> Trained:
    """A ranker that has learned from all tasks but those, measured on them."""
    rule = Rule(held_out={"test_cat": held}, valid=0.1,
                demonstrations={path.name: {"category": path.name.rpartition("-")[0]} for path in recordings})
    sources = []
    for path in recordings:
        recording = Recording(path)
        demonstration = json.loads(recording.layout.demonstration.read_bytes())
        sources.append(Source(demonstration | {"id": path.name}, recording))
    export(sources, folder, "weblinx", rule=rule)
    return train(folder, folder.with_suffix(".json"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=8, help="sessions of each task")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="folder in which the sessions are kept and found again")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="demotape-ranking-") as temporary:
        folder = options.keep or Path(temporary, "sessions")
        if not folder.is_dir():
            asyncio.run(record_all(folder, options.sessions, options.seed))
            for path in folder.iterdir():
                process(path)
        recordings, tasks = sorted(folder.iterdir()), sorted(TASKS)
        measured, pairs = [], {}
        for number in range(0, len(tasks), 2):
            held = tasks[number:number + 2]
            told = trained_without(held, recordings, Path(temporary, f"export-{number}"))
            measured.append(told.splits["test_cat"])
            pairs[" ".join(held)] = [[round(each.recall, 3), round(each.mrr, 3)] for each in measured[-1]]
        turns = sum(ranker.turns for ranker, _ in measured)
        figures = {}
        for name, of in zip(("", "lexical_"), zip(*measured, strict=True), strict=True):
            figures[f"{name}recall@10"] = round(sum(each.turns * each.recall for each in of) / turns, 4)
            figures[f"{name}mrr"] = round(sum(each.turns * each.mrr for each in of) / turns, 4)
        print(json.dumps({"benchmark": "ranking", "turns": turns, **figures, "held_out": pairs}))


if __name__ == "__main__":
    main()
