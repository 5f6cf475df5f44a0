"""The attacks: each kind of hostile input against what takes it."""

import json
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import SkipTest

import requests
import schemathesis
from hypothesis.errors import Unsatisfiable
from playwright.sync_api import Browser, BrowserContext, Dialog, sync_playwright
from playwright.sync_api import Error as PlaywrightError
from schemathesis import GenerationMode
from sqlalchemy import select

from curator_web.db.models.job_models import Job
from recorder.writer import RecordingWriter
from schemas.chromium import find_chromium, sandbox_arguments
from tests.support.curator.curator_fixtures import STARTED, action, element, manifest, pointer
from tests.support.samples.packages import pack

from . import corpus as hostile_corpus
from . import files as hostile_files
from . import pages as hostile_pages
from . import requests as hostile_requests
from .commands import fault_in

if TYPE_CHECKING:
    from .run import Target

PAGES_IN_ONE = 40  # of a recording
_DRAWN = 200  # values that no rule names
SENT_AT_ONCE = 40  # packages
OWNED = "document.documentElement && document.documentElement.hasAttribute('data-owned')"


def _values(target: "Target", kind: str) -> list[Any]:
    return hostile_corpus.drawn(hostile_corpus.JSON, hash((target.seed, len(kind))) % 2**32, _DRAWN)


def send_package(target: "Target", session: requests.Session) -> None:
    """One that is right, so that all that imports is there."""
    _sent(target, session, [pack(target.box / "inputs" / "right.zip")])


def packages(target: "Target", count: dict[str, int]) -> None:
    """Packages, dropped on the page many at a time; each job's outcome."""
    values, session = _values(target, "packages"), target.session()
    folder = target.box / "inputs" / "packages"
    folder.mkdir()
    made = [
        hostile_corpus.package(target.random("package", number), values, folder / f"{number}.zip", number)
        for number in range(count["packages"])
    ]
    for first in range(0, len(made), SENT_AT_ONCE):
        _sent(target, session, made[first : first + SENT_AT_ONCE])
    target.inputs["packages"] = len(made)


def _sent(target: "Target", session: requests.Session, paths: list[Path]) -> None:
    """Send packages and wait for their jobs."""
    for path in paths:  # one a request, as one that is no zip file refuses all that come with it
        with path.open("rb") as file:
            target.ask(session, "POST", "import", files={"package": (path.name, file)})
    before = 0.0
    for job in _ended(target):
        if job.id in target.jobs:
            continue
        target.jobs.add(job.id)
        ended, begun = job.ended_at.timestamp(), job.made_at.timestamp()
        target.took(ended - max(begun, before), f"job {job.id}: {job.note[:100]}")
        before = ended
        if "log" in job.note or fault_in(job.note):
            target.faults.append(f"job {job.id} ({job.arguments.get('name')}): {job.note}")


def _ended(target: "Target") -> list[Job]:
    """All jobs, once they have ended."""
    while True:
        with target.db.reading() as session:
            jobs = list(session.scalars(select(Job).order_by(Job.id)))
        if all(job.ended_at for job in jobs):
            return jobs
        time.sleep(0.05)


def files(target: "Target", count: dict[str, int]) -> None:
    """Recordings and demonstrations in WebLINX's layout, by commands."""
    values, box = _values(target, "files"), target.box
    base, outside = box / "inputs" / "typed", box / "outside"
    paths = [
        hostile_files.recording(
            target.random("recording", number), values, base, box / "inputs" / f"recording-{number}", outside
        )
        for number in range(count["recordings"])
    ]
    paths += [
        hostile_files.weblinx(target.random("weblinx", number), values, box / "inputs" / f"weblinx-{number}", outside)
        for number in range(count["weblinx"])
    ]
    wanted: list[tuple[str, ...]] = []
    for number, path in enumerate(paths):
        if path.name.startswith("recording"):
            wanted += [("check", str(path)), ("process", str(path))]
            if number % 4 == 0:
                wanted.append(_import(target, path, box / "imports" / "app"))
        else:
            wanted.append(_import(target, path, box / "imports" / "app"))
    _command(target, wanted)
    target.inputs |= {"recordings": count["recordings"], "weblinx": count["weblinx"]}


def _import(target: "Target", path: Path, data: Path | None = None) -> tuple[str, ...]:
    """Into the app that is served, or another."""
    db = f"sqlite:///{target.box / 'app.db'}" if data is None else f"sqlite:///{data}.db"
    if data is not None:
        data.parent.mkdir(exist_ok=True)
    return ("import", "--create", str(path), "--db", db, "--data", str(data or target.box / "data"))


def _command(target: "Target", wanted: list[tuple[str, ...]]) -> list[str]:
    said = []
    for done in target.commands.each(wanted):
        target.took(done.seconds, " ".join(done.arguments[:2]))
        if done.fault:
            target.faults.append(f"{' '.join(done.arguments[:2])}: {done.fault[-1200:]}")
        said.append(done.said)
    return said


def pages(target: "Target", count: dict[str, int]) -> None:
    """Pages and style sheets: imported, exported, and asked for in the review app."""
    made = [hostile_pages.page(target.random("page", number), target.canary.origin) for number in range(count["pages"])]
    made += [
        hostile_pages.sheet(target.random("sheet", number), target.canary.origin) for number in range(count["sheets"])
    ]
    target.random("order", 0).shuffle(made)
    recordings = [
        _recorded(target, f"pages-{first // PAGES_IN_ONE}", made[first : first + PAGES_IN_ONE])
        for first in range(0, len(made), PAGES_IN_ONE)
    ]
    _command(target, [_import(target, path) for path in recordings])
    session = target.session()
    asked: list[str] = []
    for path in recordings:
        answer = target.ask(session, "GET", f"api/demonstrations/{path.name}/turns")
        if answer is None or not answer.ok:
            target.faults.append(f"{path.name}: its pages were not imported")
            continue
        for turn in answer.json()["turns"]:
            asked.append(f"snapshot/{path.name}/{turn['state']['dom']}?width=800&uid=9")
        asked += [f"demonstrations/{path.name}?turn=t3&view={view}" for view in ("dom", "tree", "targets")]
    hostile_pages.SHOWN[:] = [each for each in asked if each.startswith("snapshot")]

    def ask(number: int) -> None:
        target.ask(session, "GET", asked[number])

    target.at_once("pages and sheets", ask, len(asked))
    target.inputs["pages and sheets"] = len(made)
    _exports(target, recordings)


def _recorded(target: "Target", name: str, texts: list[str]) -> Path:
    """A recording whose turns stand on these pages."""
    path = target.box / "inputs" / name
    writer = RecordingWriter(path, manifest(name))
    turns: list[dict] = []
    for number, text in enumerate(texts, 2):
        turns.append(
            action(writer, number, "click", pointer(), "<p>x</p>", element=element())
            if not turns
            else turns[0] | {"id": f"t{number}", "timestamp": float(number), "state": dict(turns[0]["state"])}
        )
        turns[-1]["state"]["dom"] = writer.blob(text.encode("utf-8", "replace"))
        turns[-1]["events"] = []
    writer.close(STARTED.replace(minute=31))
    (path / "demonstration.json").write_text(
        json.dumps(
            {
                "format": "demotape/demonstration",
                "version": 1,
                "id": name,
                "recording": name,
                "task": "x",
                "turns": turns,
            }
        )
    )
    return path


def _exports(target: "Target", recordings: list[Path]) -> None:
    """Some of them exported, in each format, from an app of their own: its folder holds a few pages."""
    few = recordings[: max(1, len(recordings) // 40)]
    imports = [_import(target, path, target.box / "imports" / path.name) for path in few]
    _command(target, imports)
    _command(
        target,
        [
            (
                "export",
                str(target.box / "imports" / f"{path.name}-{format_}"),
                "--format",
                format_,
                "--db",
                f"sqlite:///{target.box / 'imports' / path.name}.db",
                "--data",
                str(target.box / "imports" / path.name),
            )
            for path in few
            for format_ in ("weblinx", "mind2web", "multimodal-mind2web", "webdataset", "parquet", "chat", "playwright",
                            "trajectories", "label-studio", "atif", "adp", "agentnet")
        ],
    )


def edits(target: "Target", count: dict[str, int]) -> None:
    """Edits of a demonstration, which can be shown after them all."""
    values, session, version = _values(target, "edits"), target.session(), [1]
    turns = [turn["id"] for turn in session.get(f"{target.address}api/demonstrations/rec-1/turns").json()["turns"]]

    def edit(number: int) -> None:
        given = hostile_requests.edits(target.random("edit", number), values, turns)
        given["version"] = version[0]
        answer = target.ask(session, "POST", "api/demonstrations/rec-1/edits", **_json(given))
        if answer is not None and answer.status_code in (201, 409):
            version[0] = session.get(f"{target.address}api/demonstrations/rec-1").json()["version"]

    target.at_once("edits", edit, count["edits"])
    for path in ("demonstrations/rec-1", "api/demonstrations/rec-1/turns", "demonstrations/rec-1/history", "dashboard"):
        answer = target.ask(session, "GET", path)
        if answer is not None and answer.status_code not in (200, 404):
            target.faults.append(f"{path} after the edits: {answer.status_code}")


def _json(value: Any) -> dict[str, Any]:
    text = json.dumps(value)
    return {"data": text.encode("utf-8", "replace"), "headers": {"Content-Type": "application/json"}}


def bodies(target: "Target", count: dict[str, int]) -> None:
    """Bodies that are no JSON, or more than JSON should be, to everything that takes one."""
    values, session = _values(target, "bodies"), target.session()
    described = session.get(f"{target.address}api/openapi.json").json()
    asked = [
        (method.upper(), path.lstrip("/"))
        for path, ways in sorted(described["paths"].items())
        for method in ways
        if method in ("post", "put", "patch", "delete", "get")
    ]

    def send(number: int) -> None:
        random_ = target.random("body", number)
        method, path = random_.choice(asked)
        for name in ("demonstration_id", "upload_id", "number", "job_id", "comment_id", "name"):
            path = path.replace(
                f"{{{name}}}", random_.choice(("rec-1", "1", "0", "9" * 30, "..%2F..%2Fx", "%00", "x%0a"))
            )
        target.ask(
            session,
            method,
            path,
            data=hostile_requests.body(random_, values),
            headers={
                "Content-Type": random_.choice(
                    ("application/json", "application/json", "text/plain", "application/octet-stream")
                )
            },
        )

    target.at_once("bodies", send, count["bodies"])


def described(target: "Target", count: dict[str, int]) -> None:
    """The whole API as its description has it, and as it has it not, by schemathesis."""
    session = target.session()
    schema = schemathesis.openapi.from_dict(session.get(f"{target.address}api/openapi.json").json())
    found: list[Any] = list(schema.get_all_operations())
    operations = [each.ok() for each in found]  # one that is described wrongly ends the run
    operations = target.random("operations", 0).sample(operations, min(len(operations), count["described"] // 2 + 1))
    each = max(1, round(count["described"] / len(operations) / 2 * 1.2))  # some cannot be said in another way
    cases: list[Any] = []
    for place, operation in enumerate(operations):
        for mode in GenerationMode:
            with suppress(Unsatisfiable, SkipTest):  # nothing that does not fit can be said there
                cases += hostile_corpus.drawn(
                    operation.as_strategy(generation_mode=mode), target.seed * 1000 + place, each
                )

    def ask(number: int) -> None:
        case = cases[number]
        if case.method.upper() == "POST" and case.path.endswith("/exports"):
            return  # each would export all of the pages
        if "demonstration_id" in (case.path_parameters or {}) and number % 2:
            case.path_parameters["demonstration_id"] = "rec-1"
        given = case.as_transport_kwargs(base_url=target.address.rstrip("/"))
        path = given.pop("url").removeprefix(target.address)
        given["headers"] = {**dict(given.get("headers") or {}), "Authorization": f"Bearer {target.token}"}
        target.ask(
            session, given.pop("method"), path, **{key: value for key, value in given.items() if key != "timeout"}
        )

    target.at_once("described", ask, len(cases))


def show_in_browser(target: "Target", count: int) -> None:
    """Some pages in a Chromium: as the review app serves them, and the same text by itself, without its policy."""
    shown = hostile_pages.SHOWN[:]
    target.random("browser", 0).shuffle(shown)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_chromium(playwright.chromium.executable_path), args=sandbox_arguments()
        )
        for path in shown[:count]:
            text = target.session().get(target.address + path).text
            for way in ("served", "by itself"):
                _show(target, browser, path, text if way == "by itself" else None, way)
        browser.close()


def _show(target: "Target", browser: Browser, path: str, text: str | None, way: str) -> None:
    context: BrowserContext = browser.new_context()
    context.set_default_timeout(20_000)
    page, began = context.new_page(), time.perf_counter()

    def refuse(dialog: Dialog) -> None:
        target.ran.append(f"{path} {way}: a dialog")
        dialog.dismiss()

    page.on("dialog", refuse)
    page.on("popup", lambda _: target.ran.append(f"{path} {way}: a window"))
    try:
        if text is None:
            page.set_extra_http_headers({"Authorization": f"Bearer {target.token}"})
            page.goto(target.address + path, wait_until="load")
        else:
            page.set_content(text, wait_until="load")
        here = page.url
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        if page.url != here or any(frame.evaluate(OWNED) for frame in page.frames):
            target.ran.append(f"{path} {way}")
    except PlaywrightError as error:
        target.faults.append(f"{path} {way} in the browser: {error}")
    target.took(time.perf_counter() - began, f"{path} {way} in the browser")
    context.close()


ATTACKS = {
    "packages": packages,
    "files": files,
    "pages": pages,
    "edits": edits,
    "bodies": bodies,
    "described": described,
}
