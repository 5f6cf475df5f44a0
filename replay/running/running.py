"""Replay a demonstration offline, in a browser that is started for it."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from playwright.async_api import async_playwright

from pipeline.turns.first_state import first_state
from pipeline.turns.folding import fold
from recorder.reader import Recording
from replay.archive.reading import read_recording
from replay.serving.server import ReplayServer
from schemas import InputError
from schemas.types.recordings import Demonstration, State

from .edit_differences import edit_reasons
from .offline import open_browser, open_context
from .run_report import Result, downgrade_edited
from .runner import Runner

__all__ = ["Result", "Runner", "run"]


async def run(recording: Recording, demonstration: Demonstration, out: Path, *, live: bool = False,
              headless: bool = True, on_turn: Callable[[int, int], None] = lambda done, total: None,
              last: State | None = None, replayable: bool = False, fast: bool = False) -> Result:
    """Run a demonstration of a recording again; what happens is recorded into the new folder `out`.

    Offline it sees only what the recording kept; `live`: the real network. `on_turn` is told how many turns are done.
    `last`: the state that the last turn should end in, if not that of the recording. `replayable`: keep the network of
    the run, too. `fast`: without pictures, and each turn as soon as the page matches its state.
    Raises InputError when the recording's network was not kept, or there is nothing to run.
    """
    turns: list[Any] = [turn for turn in demonstration["turns"] if turn["type"] == "browser" and not turn["dropped"]]
    if not turns:
        raise InputError(f"{recording.layout.root}: the demonstration has no turn to replay")
    async with AsyncExitStack() as stack:
        archive = None if live else read_recording(recording)
        server = await stack.enter_async_context(ReplayServer(archive)) if archive else None
        playwright = await stack.enter_async_context(async_playwright())
        browser = await open_browser(playwright, server, headless=headless)
        stack.push_async_callback(browser.close)
        first = first_state(turn["state"] for turn in turns)
        context = await open_context(browser, recording, first)
        runner = Runner(recording, turns, context, server, last, archive, fast=fast)
        result = await runner.run(out, demonstration["task"], on_turn, replayable=replayable)
    return downgrade_edited(result, edit_reasons(fold(recording.events), demonstration["turns"]))
