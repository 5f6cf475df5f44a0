"""`demotape demo`: the whole way on a bundled site: record, process, import, export."""

import asyncio
import shlex
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from playwright.async_api import ViewportSize, async_playwright

from curator_web import default_db_url
from curator_web.db.database import open_database
from curator_web.demonstrations.library.export_sources import exportable
from curator_web.demonstrations.library.library import import_recording
from curator_web.storage.recordings import RecordingStore
from pipeline import process
from pipeline.export import FORMATS, export
from pipeline.isolation import allowance_for, run_isolated
from recorder import Recorder
from recorder.browser import has_display, launch
from schemas import InputError, RecordingLayout
from schemas.types.origin import Provenance
from schemas.types.recordings import Demonstration

from .navigator import TASK, book_flight
from .site import serve_airline

VIEWPORT: ViewportSize = {"width": 960, "height": 720}
PROVENANCE: Provenance = {"actor": "script", "agent": "demotape demo"}
_DATA = Path(__file__).parent / "data"
_MARK = ".demotape-demo"


@dataclass(frozen=True)
class DemoResult:
    """What the demo made, and where it lies."""

    recording: Path
    chat: Path
    data: Path
    exports: dict[str, Path]
    demonstration: Demonstration
    chat_lines: int
    problems: list[str]

    @property
    def chat_placed(self) -> int:
        """Utterances that became turns."""
        return sum(1 for turn in self.demonstration["turns"] if turn["type"] == "chat")

    @property
    def next_commands(self) -> list[tuple[str, str]]:
        """Commands to go on with, each after its purpose."""
        recording, runs, data = (shlex.quote(str(path)) for path in (self.recording, self.recording.parent / "runs",
                                                                     self.data))
        return [("Book the flight again, without the site", f"demotape replay run {recording}"),
                ("Have an agent do it, here the recorded person", f"demotape agents run recorded {recording} "
                                                                  f"--runs {runs}"),
                ("Review it in the browser", f"demotape review --data {data}")]


def run(folder: Path, step: Callable[[str], None]) -> DemoResult:
    """Record, process, import and export below `folder`, replacing an earlier demo there. The chat file and the outcome
    checks are written beside the recording, as people have them.

    `step` is told each part as it begins. Raises InputError when the folder holds something else.
    """
    _clear(folder)
    recording, chat, data = folder / "book-a-flight", folder / "zoom-chat.txt", folder / "review"
    exports = {format: folder / f"export-{format}" for format in FORMATS}
    step("recording a flight being booked")
    recorder = asyncio.run(record_demo(recording))
    shutil.copyfile(_DATA / "flight-outcome.json", RecordingLayout(recording).outcome)
    shutil.copyfile(_DATA / "zoom-chat.txt", chat)
    step("processing it with the instructor's chat")
    demonstration = run_isolated(allowance_for(recording), str(recording), partial(process, chat=chat), recording)
    step("importing it into the review app")
    database, store = open_database(default_db_url(data)), RecordingStore(data)
    import_recording(database, store, recording)
    for format, destination in exports.items():
        step(f"exporting it as {format}")
        export(list(exportable(database, store)), destination, format, jobs=1)
    database.close()
    lines = chat.read_text(encoding="utf-8").count("\n")
    return DemoResult(recording, chat, data, exports, demonstration, lines, recorder.problems)


def _clear(folder: Path) -> None:
    """Make the folder an empty one of the demo's own."""
    if folder.exists() and any(folder.iterdir()) and not (folder / _MARK).exists():
        raise InputError(f"{folder}: contains files that are not a demo; choose another folder with --out")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / _MARK).touch()


async def record_demo(directory: Path) -> Recorder:
    """Record the scripted navigator on the bundled site."""
    with serve_airline() as site:
        async with async_playwright() as playwright:
            browser = await launch(playwright, headless=not has_display())
            context = await browser.new_context(viewport=VIEWPORT)
            page = await context.new_page()
            async with Recorder(context, directory, task=TASK, replayable=True, provenance=PROVENANCE) as recorder:
                await book_flight(page, site)
            await browser.close()
    return recorder
