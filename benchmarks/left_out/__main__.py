"""Is what was taken out of a demonstration out of every exported byte, and is what is kept still there?

    python -m benchmarks.left_out [--sessions N] [--pages N] [--seed N]

A seeded navigator visits pages, each with an individual word in its address, title, text, attributes, style sheet,
requests, answers, headers, storage, console, dialog, in what is typed and in what is said. The session is recorded
with its network, page archives and console, and imported. Then the turns of some pages are dropped, and the session is
split in two. One part is exported from the app in all formats, and each word is looked for in every byte, unpacked and
decoded. Printed: words of pages that were taken out and occur (should be none), with their files; words of kept pages
that do not occur in the archives (should be none).
"""

import argparse
import asyncio
import json
import random
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.async_api import Page, async_playwright

from curator_web import default_db_url
from curator_web.db.database import Database, open_database
from curator_web.db.models.core import LEAD
from curator_web.demonstrations.library.export_sources import exportable
from curator_web.demonstrations.library.library import import_recording, listed, review
from curator_web.demonstrations.workflow import workflow
from curator_web.storage.recordings import RecordingStore
from curator_web.users import LOCAL, Account
from pipeline import process
from pipeline.export import FORMATS, export
from recorder import Recorder
from recorder.browser import launch
from schemas import InputError

from .search import words_in
from .site import serve

LOCAL_USER = Account(LOCAL, LEAD, alone=True)


@dataclass
class Session:
    """A recorded session: `visits`: for each page in order, the times between which it was visited."""

    path: Path
    words: tuple[str, ...]
    visits: list[tuple[float, float]]


async def record(path: Path, words: tuple[str, ...], rng: random.Random) -> Session:
    """Visit each page once, in this order."""
    session = Session(path, words, [])
    with serve(words) as origin:
        async with async_playwright() as playwright:
            browser = await launch(playwright, headless=True)
            context = await browser.new_context(viewport={"width": 800, "height": 600})
            page = await context.new_page()
            page.on("dialog", lambda dialog: asyncio.ensure_future(dialog.accept()))
            async with Recorder(context, path, task="Compare the offers", har=True, replayable=True, console=True,
                                mhtml=True) as recorder:
                await page.goto(origin)
                for number, word in enumerate(words):
                    begin = recorder.elapsed
                    await visit(page, recorder, number, word, rng)
                    session.visits.append((begin, recorder.elapsed))
            await browser.close()
    return session


async def visit(page: Page, recorder: Recorder, number: int, word: str, rng: random.Random) -> None:
    """Open a page, act in it in random order, and go back home by its link."""
    await page.click(f"#to{number}")
    await page.wait_for_selector("#send")
    recorder.say("instructor", f"said {word}")
    acts = ["name", "send", "ask"]
    rng.shuffle(acts)
    for act in acts:
        if act == "name":
            await page.click("#name")
            await page.keyboard.type(f"typed {word}", delay=10)
        elif act == "ask":
            await page.click("#ask")
        else:
            async with page.expect_response("**/api"):
                await page.click("#send")
    await page.wait_for_load_state("networkidle")
    await page.click("#home")
    await page.wait_for_selector("#to0")
    await page.wait_for_load_state("networkidle")


def take_out(database: Database, store: RecordingStore, session: Session, rng: random.Random) -> tuple[list[int], str]:
    """Drop the turns of a random third of the pages, split the session, and choose one part for export.

    Returns the numbers of the pages that are kept, and the id of that part.
    """
    name = import_recording(database, store, session.path).id
    turns = review(database, name).turns
    cut = rng.randrange(1, len(session.visits))
    dropped = {number for number in range(len(session.visits)) if rng.random() < 1 / 3}
    for begin, end in (session.visits[number] for number in sorted(dropped)):
        ids = [turn["id"] for turn in turns if begin <= turn["timestamp"] <= end]
        change(database, store, name, {"op": "drop", "turns": ids})
    first = next(turn["id"] for turn in turns
                 if turn["type"] == "browser" and turn["timestamp"] >= session.visits[cut][0])
    second = change(database, store, name, {"op": "end_before", "turn": first, "task": "The rest"})
    chosen, numbers = rng.choice(((name, range(cut)), (second, range(cut, len(session.visits)))))
    return [number for number in numbers if number not in dropped], chosen


def change(database: Database, store: RecordingStore, name: str, edit: Mapping[str, Any]) -> str:
    """Make an edit as the app does; returns the id of the part that it makes, else that of the demonstration."""
    return workflow.edit(database, store, name, edit, listed(database, name).version, LOCAL_USER).part or name


def measure(folder: Path, words: tuple[str, ...], rng: random.Random) -> tuple[list[str], list[str]]:
    """Record, take out, export and search one session; returns what occurs although it was taken out, and what of the
    kept pages the archives lack."""
    session = asyncio.run(record(folder / "recording", words, rng))
    process(session.path)
    data = folder / "data"
    database, store = open_database(default_db_url(data)), RecordingStore(data)
    kept, chosen = take_out(database, store, session, rng)
    for format in FORMATS:
        sources = [source for source in exportable(database, store) if source.id == chosen]
        with suppress(InputError):  # all turns of the part were dropped
            export(sources, folder / "exports" / format, format)
    database.close()
    hits = words_in(folder / "exports", words)
    kept_words = {words[number] for number in kept}
    leaked = [f"{path}: {word}" for path, found in hits.items() for word in sorted(found - kept_words)]
    archives = [found for path, found in hits.items() if path.endswith("session.har")]
    return leaked, sorted(kept_words - set().union(*archives))


def main() -> None:
    """Measure each session and print the sums."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.left_out", description=__doc__.partition("\n")[0])
    parser.add_argument("--sessions", type=int, default=5)
    parser.add_argument("--pages", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    leaked, missing = 0, 0
    for number in range(options.sessions):
        rng = random.Random(f"{options.seed} {number}")
        words = tuple(f"canary{rng.getrandbits(40):010x}" for _ in range(options.pages))
        with tempfile.TemporaryDirectory() as folder:
            leaks, lacks = measure(Path(folder), words, rng)
        print(json.dumps({"session": number, "pages": options.pages, "occur": leaks, "missing": lacks}), flush=True)
        leaked, missing = leaked + len(leaks), missing + len(lacks)
    print(json.dumps({"sessions": options.sessions, "formats": len(FORMATS), "occurrences": leaked,
                      "missing": missing}))


if __name__ == "__main__":
    main()
