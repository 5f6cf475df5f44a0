"""Does a recorded task run in BrowserGym, in an environment of its own, and how long does a step take there?

    python -m benchmarks.browsergym [--times N]

A person's session on a MiniWoB page is recorded and served by `demotape replay serve --cdp`. In an environment in which
demotape cannot be imported, with browsergym-core and browsergym-miniwob 0.14.3 and examples/environments, that task is
reset and done again and again with BrowserGym's own actions, and so is MiniWoB's own task of the same page, in turns.
Prints rewards and the seconds of a step beside each other; exit code 1 where a reward is not 1.
"""

import argparse
import asyncio
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.async_api import Page, async_playwright

from demotape.site import miniwob_folder, serve
from recorder import Recorder
from recorder.browser import launch
from schemas import VERSIONS
from schemas.chromium import find_chromium
from schemas.files import dump_json
from schemas.formats.outcome import FORMAT

from .loaders import environment

_ROOT = Path(__file__).parents[1]
_PACKAGES = ("browsergym-core==0.14.3", "browsergym-miniwob==0.14.3")
_PAGE, _COVER, _PRESSED = "click-button-sequence", "#sync-task-cover", ("#subbtn", "#subbtn2")
_CHECKS = [{"kind": "text", "css": "#reward-last", "match": {"numbers": [["> 0"]]}}]  # what the site itself says
_ROUNDS = 4  # in which both take turns
_PATIENCE = 600  # seconds


async def record(directory: Path, site: str) -> None:
    """Record a person who does the task."""
    async with async_playwright() as playwright:
        browser = await launch(playwright, headless=True)
        context = await browser.new_context(viewport={"width": 1280, "height": 720})
        page: Page = await context.new_page()
        async with Recorder(context, directory, "Click button ONE, then click button TWO.", replayable=True):
            await page.goto(f"{site}/miniwob/{_PAGE}.html")
            for selector in (_COVER, *_PRESSED):
                await page.locator(selector).click()
            await page.wait_for_function("document.querySelector('#reward-last').textContent !== '-'")
        await browser.close()
    (directory / "outcome.json").write_bytes(dump_json({"format": FORMAT, "version": VERSIONS[FORMAT],
                                                        "checks": _CHECKS}))


def browsers_for(python: Path, folder: Path) -> Path:
    """A folder in which the environment's Playwright finds our Chromium under the revision that it asks for."""
    listed = next(python.parents[1].glob("lib/python*/site-packages/playwright/driver/package/browsers.json"))
    revision = next(each["revision"] for each in json.loads(listed.read_text())["browsers"]
                    if each["name"] == "chromium")
    program = folder / f"chromium-{revision}" / "chrome-linux" / "chrome"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec "{find_chromium("chromium")}" --no-sandbox "$@"\n')
    program.chmod(0o755)
    return folder


@contextmanager
def served(recording: Path, runs: Path) -> Iterator[str]:
    """Serve a recording as an environment; gives the address of its API."""
    command: list[str | Path] = [Path(sys.executable).parent / "demotape", "replay", "serve", recording, "--cdp", "0",
                                 "--runs", runs]
    serving = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"})
    try:
        assert serving.stdout
        yield next(line for line in serving.stdout if line.startswith("API")).split()[1]
    finally:
        serving.terminate()
        serving.communicate(timeout=_PATIENCE)


def done(python: Path, words: list[str], surroundings: dict[str, str]) -> dict[str, Any]:
    """What the program in the environment prints."""
    program = _ROOT / "benchmarks" / "environment_programs" / "browsergym_steps.py"
    ran = subprocess.run([python, program, *words], env=surroundings, capture_output=True, text=True,
                         timeout=_PATIENCE)
    if ran.returncode:
        sys.exit(f"browsergym_steps {' '.join(words)}: {ran.stderr.strip()[-2000:]}")
    found: dict[str, Any] = json.loads(re.findall(r"^\{.*\}$", ran.stdout, re.M)[-1])
    return found


def run(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """All figures."""
    python = environment(options.installed / "browsergym", _PACKAGES)
    with serve(miniwob_folder()) as site:
        asyncio.run(record(folder / "recorded", site))
        surroundings = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8",
                        "PYTHONPATH": str(_ROOT / "examples" / "environments"),
                        "MINIWOB_URL": f"{site}/miniwob/",
                        "PLAYWRIGHT_BROWSERS_PATH": str(browsers_for(python, folder / "browsers"))}
        times = str(max(1, options.times // _ROUNDS))
        ours: list[dict[str, Any]] = []
        theirs: list[dict[str, Any]] = []
        with served(folder / "recorded", folder / "runs") as address:
            for _ in range(_ROUNDS):
                ours.append(done(python, [times, "--recorded", address, _COVER, *_PRESSED], surroundings))
                theirs.append(done(python, [times, "--miniwob", _PAGE, *_PRESSED], surroundings))
    steps, others = ([second for each in part for second in each["steps"]] for part in (ours, theirs))
    resets = [second for each in ours for second in each["resets"]]
    rewards = [reward for each in ours for reward in each["rewards"]]
    return {"benchmark": "browsergym", "times": len(rewards), "rewards_1": sum(reward == 1 for reward in rewards),
            "miniwob_rewards_1": sum(reward == 1 for each in theirs for reward in each["rewards"]),
            "step_seconds": round(statistics.fmean(steps), 3),
            "miniwob_step_seconds": round(statistics.fmean(others), 3),
            "step_ratio": round(statistics.fmean(steps) / statistics.fmean(others), 3),
            "reset_seconds": round(statistics.fmean(resets), 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=20, help="how often the task is reset and done")
    parser.add_argument("--installed", type=Path, default=Path.home() / ".cache" / "demotape-applications",
                        help="folder of the installed environment")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="demotape-benchmark-", ignore_cleanup_errors=True) as folder:
        figures = run(options, Path(folder))
    print(json.dumps(figures))
    sys.exit(figures["rewards_1"] != figures["times"])


if __name__ == "__main__":
    main()
