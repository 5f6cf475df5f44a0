"""Playwright's traces (trace.zip), versions 3 to 10: actions, pages before them, pictures of the screencast."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipeline.importing.contract import Action, Importer, Item, Observation, Session, Utterance
from pipeline.importing.sources import Archive, explained, head
from schemas import InputError, limits
from schemas.types.recordings import Box

from .playwright_actions import IGNORED, Call, translate
from .playwright_snapshots import DrawnPage, Snapshot, Snapshots

_OLDEST, _NEWEST = 3, 10  # versions of the format that are read
_PHASES = {"before": "before", "input": "action", "action": "action", "after": "after"}
_MAX_CLOCK_MS = 1e15


@dataclass
class _Trace:
    """The events of one trace: its options, its calls in order, its snapshots and pictures."""

    where: str
    options: dict[str, Any]
    calls: dict[str, Call]
    snapshots: Snapshots
    frames: dict[str, list[tuple[float, str]]] = field(default_factory=lambda: defaultdict(list))
    opened: list[tuple[float, str]] = field(default_factory=list)
    closed: list[tuple[float, str]] = field(default_factory=list)
    dialogs: list[tuple[float, dict[str, Any]]] = field(default_factory=list)


def _entries(archive: Archive) -> list[str]:
    """The traces in an archive; a test runner's own has no pages."""
    return sorted(name for name in archive.names if name.endswith(".trace") and name != "test.trace")


def _detect(path: Path) -> bool:
    if not head(path).startswith(b"PK"):
        return False
    try:
        with Archive(path) as archive:
            return bool(_entries(archive))
    except InputError:
        return False


def _items(path: Path) -> Iterator[Item]:
    with Archive(path) as archive:
        entries = _entries(archive)
        for entry in entries:
            options = next((event for _, event in archive.objects(entry) if event.get("type") == "context-options"), {})
            if options.get("origin") == "testRunner":
                continue
            suffix = f"-{entry.removesuffix('.trace')}" if len(entries) > 1 else ""
            stem = path.stem if path.stem != "trace" else f"{path.absolute().parent.name}-trace"
            yield Item(path, f"{stem}-{_number(options.get('wallTime')):.0f}{suffix}", (entry,))


def _read(item: Item) -> Session:
    entry = item.position[0]
    with Archive(item.path) as archive:
        trace = _events(archive, entry, f"{item.path}: {entry[:80]}")
    options = trace.options
    wall = _number(options.get("wallTime"))
    browser = f"{options.get('browserName') or ''} (Playwright {options.get('playwrightVersion') or 'unknown'})".strip()
    context = options.get("options")
    user_agent = context.get("userAgent") if isinstance(context, dict) else ""
    session = Session(
        str(options.get("title") or ""), (), version=str(options.get("version") or ""),
        started_at=datetime.fromtimestamp(wall / 1000, UTC) if wall else None, browser=browser,
        user_agent=str(user_agent or ""),
        provenance={"actor": "script", "agent": f"Playwright {_plain(options.get('playwrightVersion'))}".strip()})
    session.steps = _Steps(trace, session, item.path)
    return session


def _plain(value: Any) -> str:
    return "".join(sign for sign in str(value or "") if sign.isalnum() or sign in ".-")[:40]


def _number(value: Any) -> float:
    """A number of milliseconds; 0 for anything else."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _MAX_CLOCK_MS
    return float(value) if is_number else 0.0


def _events(archive: Archive, entry: str, where: str) -> _Trace:
    trace = _Trace(where, {}, {}, Snapshots(where))
    for number, event in archive.objects(entry):
        with explained(f"{where}, line {number}", "an event of a trace"):
            _take(trace, event, f"{where}, line {number}")
    if not trace.options:
        raise InputError(f"{where}: not a trace of Playwright (its first line has no context-options)")
    return trace


def _take(trace: _Trace, event: dict[str, Any], where: str) -> None:
    """Add one event."""
    kind = event.get("type")
    if kind == "context-options":
        version = event.get("version")
        if not isinstance(version, int) or not _OLDEST <= version <= _NEWEST:
            raise InputError(f"{where}: version {str(version)[:20]} of Playwright's traces; read are {_OLDEST} to "
                             f"{_NEWEST}")
        trace.options = event
    elif kind in ("before", "action"):
        trace.calls[str(event["callId"])] = Call.of(event)
    elif kind in ("input", "after") and (call := trace.calls.get(str(event["callId"]))):
        call.add(event)
    elif kind == "frame-snapshot":
        trace.snapshots.add(_snapshot(event["snapshot"]))
    elif kind == "screencast-frame":
        file = event.get("file") or (f"resources/{event['sha1']}" if event.get("sha1") else "")
        trace.frames[str(event["pageId"])].append((float(event["timestamp"]), str(file)))
    elif kind == "event":
        _take_page_event(trace, event)


def _take_page_event(trace: _Trace, event: dict[str, Any]) -> None:
    parameters = event.get("params") or {}
    time, method = float(event.get("time") or 0), event.get("method")
    if method == "page" and parameters.get("pageId"):
        trace.opened.append((time, str(parameters["pageId"])))
    elif method == "pageClosed" and parameters.get("pageId"):
        trace.closed.append((time, str(parameters["pageId"])))
    elif method == "dialog":
        trace.dialogs.append((time, parameters))


def _snapshot(data: dict[str, Any]) -> Snapshot:
    name, _, call = str(data.get("snapshotName") or "").partition("@")
    viewport = data.get("viewport") or {}
    return Snapshot(
        str(data["frameId"]), str(data["pageId"]), str(data.get("callId") or call),
        _PHASES.get(str(data.get("phase") or name), ""), str(data.get("frameUrl") or ""),
        float(data.get("timestamp") or 0), (int(viewport.get("width") or 0), int(viewport.get("height") or 0)),
        bool(data.get("isMainFrame")), data["html"])


class _Steps:
    """The steps of a trace, made one after the other."""

    def __init__(self, trace: _Trace, session: Session, path: Path):
        self._trace, self._session, self._path = trace, session, path
        self._clock = float(trace.options.get("monotonicTime") or 0)
        if not self._clock:
            self._clock = min((call.start for call in trace.calls.values()), default=0.0)
        self._tabs: dict[str, int] = {}
        self._shown: str | None = None
        self._ratio = self._device_ratio()

    def _device_ratio(self) -> float:
        options = self._trace.options.get("options")
        return float((options if isinstance(options, dict) else {}).get("deviceScaleFactor") or 1)

    def __iter__(self) -> Iterator[Utterance | Action]:
        changes = sorted([*((time, "tabcreate", page) for time, page in self._trace.opened),
                          *((time, "tabremove", page) for time, page in self._trace.closed)])
        calls = sorted(self._trace.calls.values(), key=lambda call: call.start)
        with Archive(self._path) as archive:
            for call in calls:
                while changes and changes[0][0] <= call.start:
                    yield from self._change_tab(*changes.pop(0))
                yield from self._step(call, archive)
            for change in changes:
                yield from self._change_tab(*change)

    def _change_tab(self, time: float, intent: str, page: str) -> Iterator[Action]:
        is_new = page not in self._tabs
        tab = self._tabs.setdefault(page, len(self._tabs) + 1)
        if intent == "tabremove" or (is_new and len(self._tabs) > 1):
            yield Action(intent, {"tab": tab}, time=self._time(time), is_script=True)
        if self._shown is None:
            self._shown = page

    def _time(self, clock: float) -> float:
        """Seconds since the trace began."""
        return round((clock - self._clock) / 1000, 6)

    def _step(self, call: Call, archive: Archive) -> Iterator[Action]:
        name = f"{call.kind}.{call.method}"
        if call.method in IGNORED or call.method.startswith(("wait", "expect", "__")):
            return
        if call.failed:
            self._session.left_out["actions that failed"] += 1
            return
        page = call.page or self._trace.snapshots.page_of(call.id) or self._shown or ""
        main = self._main_before(call, page)
        drawn = self._trace.snapshots.draw(main) if main else None
        after = self._trace.snapshots.main_of(call.id, "after")
        act = translate(call, drawn, self._trace.snapshots.draw(after) if after else None)
        if act is None:
            self._session.left_out[f"{name[:60]}: no equal here"] += 1
            return
        if page and page not in self._tabs:
            self._tabs[page] = len(self._tabs) + 1
        if page and self._shown not in (None, page) and act[0] != "tabremove":
            yield Action("tabswitch", {"origin": self._tabs.get(self._shown or ""), "target": self._tabs[page]},
                         time=self._time(call.start), is_script=True)
        self._shown = page or self._shown
        state = self._state(main, drawn, page, call, archive) if main and drawn else None
        intent, arguments = act
        has_target = drawn is not None and drawn.target is not None and call.has_target
        yield Action(intent, arguments, drawn.target if drawn and has_target else None, box=_box(call.box), state=state,
                     time=self._time(call.start), id=call.id, is_script=True)

    def _main_before(self, call: Call, page: str) -> Snapshot | None:
        """The newest snapshot before a call took effect."""
        snapshots = self._trace.snapshots
        own = snapshots.main_of(call.id, "action") or snapshots.main_of(call.id, "before")
        return own or snapshots.last_before(page, call.start)

    def _state(self, main: Snapshot, drawn: DrawnPage, page: str, call: Call, archive: Archive) -> Observation:
        picture = self._picture(page, max(main.time, call.start), archive)
        return Observation(main.url, tab=self._tabs.get(page, 1), viewport=main.viewport, scroll=drawn.scroll,
                           device_pixel_ratio=self._ratio, page=drawn.html.encode("utf-8", "replace"),
                           screenshot=picture)

    def _picture(self, page: str, time: float, archive: Archive) -> bytes | None:
        """The newest picture of a page until a time."""
        frames = self._trace.frames.get(page, [])
        index = bisect_right(frames, time, key=lambda frame: frame[0])
        return archive.read(frames[index - 1][1], limits.BLOB) if index else None


def _box(box: dict[str, Any] | None) -> Box | None:
    if not box:
        return None
    return {"x": float(box["x"]), "y": float(box["y"]), "width": float(box["width"]), "height": float(box["height"])}


IMPORTER = Importer("traces of Playwright (.zip), of its newest version and those since 1.12", _detect, _read, _items)
