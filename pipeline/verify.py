"""Verifies a recording, a demonstration or an export on disk, with one line for each problem."""

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from pipeline.export.manifest import FORMAT as EXPORT_FORMAT
from pipeline.export.manifest import MANIFEST, ManifestFile, extra_files, read_manifest, wrong_totals
from recorder import Recording
from schemas import DemonstrationSchema, InputError, RecordingLayout, limits
from schemas.files import open_inside, read_inside, read_json, reason
from schemas.formats.demonstration import FORMAT as DEMONSTRATION_FORMAT
from schemas.types.recordings import Event, State

_CHUNK = 1 << 20  # bytes
_STATE_BLOBS = ("dom", "elements", "screenshot", "axtree")
_PLACES_SHOWN = 20  # number of places that name a blob which is missing or damaged
_Named = dict[str, list[str]]  # blob -> where it is named


def verify(path: Path | str, endpoint_url: str | None = None) -> list[str]:
    """Problems of a recording's folder, a demonstration file or an export (a folder or `s3://bucket/prefix`).

    None when all is well. Raises InputError when the path is none of them.
    """
    if str(path).startswith("s3:"):
        from pipeline.export.destinations.s3_check import verify_s3  # here, as botocore is slow to import

        return list(verify_s3(str(path), endpoint_url))
    path = Path(path)
    if RecordingLayout(path).manifest.exists():
        return list(_recording(path))
    if path.is_dir() and _format_of(path / MANIFEST) == EXPORT_FORMAT:
        return list(_export(path))
    if path.is_file() and _format_of(path) == DEMONSTRATION_FORMAT:
        return list(_lone_demonstration(path))
    if not path.exists():
        raise InputError(f"{path}: no such file or folder")
    raise InputError(f"{path}: not a recording, a demonstration or an export")


def _recording(path: Path) -> Iterator[str]:
    try:
        recording = Recording(path)
    except InputError as error:
        yield str(error)
        return
    layout = recording.layout
    for journal in (layout.events, layout.chat, layout.resources):
        if not journal.exists():
            yield f"{journal}: missing"
    for journal in (layout.events, layout.chat, layout.resources, layout.network, layout.messages, layout.console,
                    layout.agent_steps):
        if journal.exists() and not recording.is_live() and _is_cut_off(journal):
            yield f"{journal}: the last line is cut off; it was being written when the recording was killed"
    blobs: _Named = {}
    numbers: set[int] = set()
    yield from _events(recording, blobs, numbers)
    yield from _resources(recording, blobs)
    yield from _chat(recording)
    yield from _console(recording)
    yield from _exchanges(recording, blobs)
    yield from _messages(recording, blobs)
    yield from _blobs(recording, blobs)
    if layout.demonstration.exists():
        yield from _demonstration(layout.demonstration, recording, set(blobs), numbers)


def _events(recording: Recording, blobs: _Named, numbers: set[int]) -> Iterator[str]:
    """Check the journal; notes which blobs it names and where, and the numbers of its events."""
    journal, broken = recording.layout.events, dict[int, str]()
    try:
        for event in recording.raw_events(broken):
            number = event["seq"]
            where = f"{journal}, line {number}"
            numbers.add(number)
            if event["time"] < 0:
                yield f"{where}: field time: {event['time']} is before the recording's start"
            for other in (event["gesture"], event["data"].get("event")):
                if other is not None and other not in numbers and other not in broken:
                    yield f"{where}: names event {other}, which is not before it"
            for field, name in _fields(event):
                if name is not None:
                    _note(blobs, name, f"{where}: field {field}")
    except InputError as error:
        yield str(error)
    yield from broken.values()
    numbers |= broken.keys()  # what names them has no fault of its own


def _note(blobs: _Named, name: str, where: str) -> None:
    """Note where a blob is named."""
    places = blobs.setdefault(name, [])
    if len(places) <= _PLACES_SHOWN:
        places.append(where)


def _fields(event: Event) -> Iterator[tuple[str, str | None]]:
    """The fields of an event that name blobs."""
    yield from ((f"state.{key}", name) for key, name in zip(_STATE_BLOBS, _named(event["state"]), strict=False))
    yield from (("data.screenshot", event["data"].get("screenshot")), ("data.blob", event["data"].get("blob")))


def _named(state: State | None) -> list[str | None]:
    """The blobs that a state names."""
    blobs: Mapping[str, Any] = state or {}
    return [blobs.get(key) for key in _STATE_BLOBS]


def _resources(recording: Recording, blobs: _Named) -> Iterator[str]:
    try:
        for number, resource in enumerate(recording.resources(), 1):
            _note(blobs, resource["blob"], f"{recording.layout.resources}, line {number}")
    except InputError as error:
        yield str(error)


def _chat(recording: Recording) -> Iterator[str]:
    try:
        recording.chat()
    except InputError as error:
        yield str(error)


def _console(recording: Recording) -> Iterator[str]:
    try:
        for number, line in enumerate(recording.console(), 1):
            if line["time"] < 0:
                yield (f"{recording.layout.console}, line {number}: field time: {line['time']} is before the "
                       "recording's start")
    except InputError as error:
        yield str(error)


def _exchanges(recording: Recording, blobs: _Named) -> Iterator[str]:
    """Problems of the recorded network; adds the blobs that it names to `blobs`, with where they are named."""
    try:
        for number, line in enumerate(recording.exchanges(), 1):
            where = f"{recording.layout.network}, line {number}"
            if line["seq"] != number:
                yield f"{where}: field seq: {line['seq']} instead of {number}; lines are missing or in another order"
            for name in (line["body"], line["answer_body"]):
                if name is not None:
                    _note(blobs, name, where)
    except InputError as error:
        yield str(error)


def _messages(recording: Recording, blobs: _Named) -> Iterator[str]:
    """Check what connections carried; notes which blobs it names and where."""
    try:
        for number, line in enumerate(recording.channel_messages(), 1):
            if "blob" in line:
                _note(blobs, line["blob"], f"{recording.layout.messages}, line {number}")
    except InputError as error:
        yield str(error)


def _blobs(recording: Recording, blobs: _Named) -> Iterator[str]:
    """Every blob that is named exists and has the content that its name says."""
    for name, places in blobs.items():
        try:
            recording.blob(name)
        except InputError as error:
            more = ["and others"] if len(places) > _PLACES_SHOWN else []
            yield f"{error} (named by {'; '.join(places[:_PLACES_SHOWN] + more)})"


def _lone_demonstration(path: Path) -> Iterator[str]:
    """A demonstration by itself; its references are checked when it lies in its recording's folder."""
    try:
        recording = Recording(path.parent)
        events = list(recording.raw_events())
    except InputError:
        yield from _demonstration(path, None, None, None)
        return
    names = {name for event in events for name in _named(event["state"])}
    names |= {event["data"].get("screenshot") for event in events}
    yield from _demonstration(path, recording, names, {event["seq"] for event in events})


def _demonstration(path: Path, recording: Recording | None, blobs: Collection[str | None] | None,
                   numbers: set[int] | None) -> Iterator[str]:
    try:
        demonstration = read_json(path, DemonstrationSchema())
    except InputError as error:
        yield str(error)
        return
    counts = Counter(turn["id"] for turn in demonstration["turns"])
    for name, count in counts.items():
        if count > 1:
            yield f"{path}: turn {name!r} occurs {count} times; ids must be unique"
    said = {turn["id"] for turn in demonstration["turns"] if turn["type"] == "chat"}
    for turn in demonstration["turns"]:
        if turn["type"] == "chat" and (answered := turn.get("reply_to")) is not None and (
                answered not in said or answered == turn["id"]):
            yield f"{path}: turn {turn['id']!r}: field reply_to: no other chat turn {answered!r} in it"
    if recording is None or blobs is None or numbers is None:
        return
    if demonstration["recording"] != recording.id:
        yield f"{path}: field recording: {demonstration['recording']!r}, but it is in recording {recording.id!r}"
    for turn in demonstration["turns"]:
        if turn["type"] != "browser":
            continue
        where = f"{path}: turn {turn['id']!r}"
        if missing := [str(number) for number in turn["events"] if number not in numbers]:
            yield (f"{where}: event{'s' * (len(missing) > 1)} {', '.join(missing)} "
                   f"{'are' if len(missing) > 1 else 'is'} not in the recording")
        for key in (*_STATE_BLOBS, "screenshot_taken"):
            name = (turn["state"] or {}).get(key)
            if name is None or name in blobs:
                continue
            if not recording.layout.blob(name).exists():
                yield f"{where}: field state.{key}: blob {name} is not in the recording"
                continue
            try:
                recording.blob(name)
            except InputError as error:
                yield f"{error} (named by {where})"


def _export(path: Path) -> Iterator[str]:
    try:
        manifest = read_manifest(path)
    except InputError as error:
        yield str(error)
        return
    for entry in manifest["files"]:
        yield from _file(path, entry)
    for name in extra_files(path, manifest):
        yield f"{path / name}: not part of the export"
    yield from wrong_totals(manifest, str(path / MANIFEST))


def _file(root: Path, entry: ManifestFile) -> Iterator[str]:
    path = root / entry["path"]
    if Path(entry["path"]).is_absolute() or ".." in Path(entry["path"]).parts:
        yield f"{root / MANIFEST}: {entry['path']!r} is outside the export"
        return
    try:
        digest = hashlib.sha256()
        with open_inside(path, root) as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
            size = file.tell()
    except InputError as error:
        yield str(error)
        return
    except OSError as error:
        yield f"{path}: {'missing' if isinstance(error, FileNotFoundError) else reason(error)}"
        return
    if size != entry["size"]:
        yield f"{path}: {size} bytes instead of {entry['size']}"
    elif digest.hexdigest() != entry["sha256"]:
        yield f"{path}: damaged, its SHA-256 is not the manifest's"


def _format_of(path: Path) -> str | None:
    """The `format` field of a JSON file, if it is one."""
    try:
        content = json.loads(read_inside(path, limits.JSON))
    except (OSError, InputError, ValueError, RecursionError):
        return None
    return content.get("format") if isinstance(content, dict) else None


def _is_cut_off(journal: Path) -> bool:
    with open_inside(journal) as file:
        if not file.seek(0, 2):
            return False
        file.seek(-1, 2)
        return file.read(1) != b"\n"
