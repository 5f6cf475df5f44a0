"""Does a demonstration run again offline as it was recorded, and is that told rightly?

    python -m benchmarks.replay [--seed N] [--actions N] [--pages N] [--faults N] [--only NAME] [--keep DIR]

A seeded random driver acts on MiniWoB pages, scripts act in third-party applications from PyPI and npm; each session
is recorded with --replayable, and by Playwright as HAR. All are run again without the sites. Printed: the share of
turns that end in the same or an equivalent state, of sessions whose last state is the same, requests that were not
recorded, the time beside the recorded one; the same with Playwright's `route_from_har` and, where a session only asks
by GET, with pywb instead of our server, in the same run; demonstrations with one injected fault (another target, a
turn less, two turns swapped, another text) that are called the same; and the time of a request beside Playwright's
`route`.
"""

import argparse
import asyncio
import copy
import json
import random
import shutil
import statistics
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, BrowserContext, async_playwright
from playwright.async_api import Error as PlaywrightError

from benchmarks.applications import install, started
from demotape.site import miniwob_folder, serve
from pipeline import refresh
from pipeline.pages.targets import candidates, element_of
from recorder import Recording
from recorder.browser import launch
from replay.archive.reading import read_recording
from replay.running import running
from replay.running.offline import open_context
from schemas import InputError

from . import pywb as replay_pywb
from . import serving as replay_serving
from .applications import SCRIPTS
from .sessions import PAGES, on_miniwob, record

GOOD = ("same", "equivalent")


@dataclass(frozen=True)
class Session:
    """A recorded session: its folder, and the HAR that Playwright made of it."""

    kind: str
    path: Path
    har: Path


async def record_all(folder: Path, options: argparse.Namespace) -> list[Session]:
    """Record every session once."""
    made = []
    async with async_playwright() as playwright:
        browser = await launch(playwright, headless=True)
        with serve(miniwob_folder()) as site:
            for number, name in enumerate(PAGES[:options.pages] if options.only in "miniwob" else ()):
                chance = random.Random(options.seed * 1000 + number)
                made.append(await _record(browser, folder / name, on_miniwob(site, name, chance, options.actions),
                                          "miniwob"))
        for name, (application, use) in SCRIPTS.items():
            if options.only in name:
                with started(application, install(application, options.installed / name)) as origin:
                    made.append(await _record(browser, folder / name, lambda page, use=use, at=origin: use(page, at),
                                              name))
        await browser.close()
    return made


async def _record(browser: Browser, path: Path, act: Any, kind: str) -> Session:
    har = path.with_suffix(".har")
    await record(browser, path, act, har)
    return Session(kind, path, har)


async def run_by_har(session: Session, out: Path) -> running.Result:
    """The same run, with Playwright's own replay of its own HAR as the network."""
    return await _run_by(session, out, lambda context: context.route_from_har(session.har, not_found="abort"))


async def run_by_pywb(session: Session, out: Path, installed: Path) -> running.Result:
    """The same run, with pywb as the network."""
    with replay_pywb.served(Recording(session.path), installed) as arguments:
        return await _run_by(session, out, lambda _: asyncio.sleep(0), arguments)


async def _run_by(session: Session, out: Path, route: Callable[[BrowserContext], Awaitable[None]],
                  arguments: Sequence[str] = ()) -> running.Result:
    recording = Recording(session.path)
    turns = _turns(refresh(session.path)[0])
    async with async_playwright() as playwright:
        browser = await launch(playwright, headless=True, arguments=arguments)
        try:
            first = next((turn["state"] for turn in turns if turn["state"]), None)
            context = await open_context(browser, recording, first)
            await route(context)
            return await running.Runner(recording, turns, context, None,
                                        archive=read_recording(recording)).run(out, "", lambda done, of: None)
        finally:
            await browser.close()


def _turns(demonstration: Any) -> list[Any]:
    return [turn for turn in demonstration["turns"] if turn["type"] == "browser" and not turn["dropped"]]


def spoil(demonstration: Any, recording: Recording, chance: random.Random) -> tuple[str, Any] | None:
    """A demonstration with one fault, and which; None when this one cannot have it."""
    spoiled = copy.deepcopy(demonstration)
    turns = _turns(spoiled)
    fault = chance.choice(("another target", "a turn less", "two turns swapped", "another text"))
    if fault == "another target":
        chosen = chance.choice([turn for turn in turns if turn["element"]])
        with suppress(InputError, IndexError):
            rows = [row for row in candidates(recording, chosen["state"]) if row["uid"] != chosen["element"]["uid"]
                    and row["clickable"] and row["frame"] == chosen["element"]["frame"]]
            chosen["element"] = element_of(recording, chosen["state"], chance.choice(rows)["uid"])
            return fault, spoiled
    elif fault == "a turn less" and len(turns) > 1:
        chance.choice(turns[1:])["dropped"] = True
        return fault, spoiled
    elif fault == "two turns swapped" and len(turns) > 2:
        at = chance.randrange(1, len(turns) - 1)
        if (turns[at]["intent"], turns[at]["element"]) != (turns[at + 1]["intent"], turns[at + 1]["element"]):
            one, other = spoiled["turns"].index(turns[at]), spoiled["turns"].index(turns[at + 1])
            spoiled["turns"][one], spoiled["turns"][other] = turns[at + 1], turns[at]
            return fault, spoiled
    elif typed := [turn for turn in turns if turn["intent"] == "textInput" and "[" not in turn["arguments"]["text"]]:
        chance.choice(typed)["arguments"]["text"] += chance.choice(("x", " again", "?"))
        return "another text", spoiled
    return None


async def run_all(sessions: list[Session], runs: Path, installed: Path) -> tuple[dict[str, Any], dict[Path, str]]:
    """Figures of all sessions, by ours, by Playwright's HAR and, of those that only ask by GET, by pywb; and the
    verdict on each."""
    figures: dict[str, Any] = {}
    verdicts: dict[Path, str] = {}
    for kind in sorted({session.kind for session in sessions}):
        ours, by_har, by_pywb = [], [], []
        for session in (each for each in sessions if each.kind == kind):
            demonstration, _ = refresh(session.path)
            result = await running.run(Recording(session.path), demonstration, runs / f"ours-{session.path.name}")
            verdicts[session.path] = result.verdict
            ours.append(result)
            with suppress(PlaywrightError):
                by_har.append(await run_by_har(session, runs / f"har-{session.path.name}"))
            if replay_pywb.only_gets(Recording(session.path)):
                with suppress(PlaywrightError):
                    by_pywb.append(await run_by_pywb(session, runs / f"pywb-{session.path.name}", installed))
            for outcome in result.outcomes:
                if outcome.verdict not in GOOD and "not reached" not in outcome.reason:
                    print(f"  {session.path.name} {outcome.turn} {outcome.intent}: {outcome.verdict}, {outcome.reason}")
            for (method, url), times in result.missing.items():
                print(f"  {session.path.name} not recorded: {method} {url[:200]}, {times} times")
        for how, results in (("", ours), (", route_from_har", by_har), (", pywb", by_pywb)):
            if results:
                figures[f"{kind}{how}"] = _figures(results)
                print(f"  {kind}{how}: {json.dumps(figures[f'{kind}{how}'])}", flush=True)
    return figures, verdicts


def _figures(results: list[running.Result]) -> dict[str, Any]:
    outcomes = [outcome for result in results for outcome in result.outcomes]
    counts = Counter(outcome.verdict for outcome in outcomes)
    return {
        "sessions": len(results), "turns": len(outcomes),
        "turns_good": round(sum(counts[each] for each in GOOD) / max(1, len(outcomes)), 4),
        "turns_same": round(counts["same"] / max(1, len(outcomes)), 4),
        "last_same": round(sum(result.last == "same" for result in results) / max(1, len(results)), 4),
        "last_good": round(sum(result.last in GOOD for result in results) / max(1, len(results)), 4),
        "failed": sum(result.verdict == "failed" for result in results),
        "not_recorded": sum(sum(result.missing.values()) for result in results),
        "time_ratio": round(sum(result.seconds for result in results)
                            / max(0.001, sum(result.recorded_seconds for result in results)), 3),
    }


async def run_faults(sessions: list[Session], runs: Path, options: argparse.Namespace) -> dict[str, Any]:
    """How many demonstrations with a fault are called the same, by kind of fault."""
    chance, tried, called = random.Random(options.seed), Counter[str](), Counter[str]()
    while sessions and tried.total() < options.faults:
        session = chance.choice(sessions)
        demonstration, _ = refresh(session.path)
        found = spoil(demonstration, Recording(session.path), chance)
        if found:
            fault, spoiled = found
            result = await running.run(Recording(session.path), spoiled, runs / f"fault-{tried.total()}")
            tried[fault] += 1
            called[fault] += result.verdict == "same"
            if result.verdict == "same":
                print(f"  called the same: {session.path.name}, {fault}", flush=True)
            shutil.rmtree(runs / f"fault-{tried.total() - 1}", ignore_errors=True)
    return {"faults": tried.total(), "not_called_same": round(1 - called.total() / max(1, tried.total()), 4),
            "by_fault": {fault: f"{tried[fault] - called[fault]} of {tried[fault]}" for fault in sorted(tried)}}


async def run(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """All figures."""
    sessions = await record_all(folder, options)
    runs = folder / "runs"
    figures, verdicts = await run_all(sessions, runs, options.installed)
    faults = await run_faults([each for each in sessions if verdicts[each.path] in GOOD], runs, options)
    print(f"  faults: {json.dumps(faults)}", flush=True)
    serving = await replay_serving.measure()
    print(f"  serving: {json.dumps(serving)}", flush=True)
    ours = [figures[each] for each in figures if not each.endswith((", route_from_har", ", pywb"))]
    turns = sum(each["turns"] for each in ours)
    return {"benchmark": "replay", "seed": options.seed, "turns": turns,
            "turns_good": round(sum(each["turns_good"] * each["turns"] for each in ours) / max(1, turns), 4),
            "last_same": round(statistics.fmean(verdict for each in ours
                                                for verdict in [each["last_same"]] * each["sessions"]), 4),
            "not_recorded": sum(each["not_recorded"] for each in ours),
            "untouched_called_failed": sum(each["failed"] for each in ours), **faults, **serving}


def of_sessions(description: str) -> argparse.ArgumentParser:
    """The options that say which sessions are recorded, and where."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--actions", type=int, default=5, help="actions on each page")
    parser.add_argument("--pages", type=int, default=len(PAGES), help="MiniWoB pages")
    parser.add_argument("--only", default="", help="only what has this in its name: miniwob, or an application")
    parser.add_argument("--installed", type=Path, default=Path.home() / ".cache" / "demotape-applications",
                        help="folder of the installed applications")
    parser.add_argument("--keep", type=Path, help="keep the recordings in this folder")
    return parser


def in_folder(options: argparse.Namespace, work: Callable[[Path], dict[str, Any]]) -> None:
    """Print the figures of work in the folder that is kept, or in one that is not."""
    folder = options.keep or Path(tempfile.mkdtemp(prefix="demotape-benchmark-"))
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        figures = work(folder)
    finally:
        if not options.keep:
            shutil.rmtree(folder)
    print(json.dumps(figures))


def main() -> None:
    parser = of_sessions(__doc__.splitlines()[0])
    parser.add_argument("--faults", type=int, default=200, help="demonstrations with an injected fault")
    options = parser.parse_args()
    in_folder(options, lambda folder: asyncio.run(run(options, folder)))
