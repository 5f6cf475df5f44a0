"""WARC and WACZ that any program made (browsertrix, wget, warcio …) as an archive.

What cannot be read of a record or a file costs that alone, and is told in the archive's notes.
"""

import hashlib
import json
import re
import zipfile
import zlib
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from pipeline import extras
from replay.archive.exchanges import Archive, Headers, Recorded, header, normalized_method
from schemas import InputError, limits
from schemas.files import open_named, read_all, reason
from schemas.formats.network import RESOURCE_KINDS

from .records import Record, Records
from .unpacking import Broken

RESOURCE_TYPE, JSON_METADATA = "WARC-Resource-Type", "WARC-JSON-Metadata"
_OF_THE_WIRE = ("content-encoding", "transfer-encoding", "content-length")
_METHOD = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,40}")
_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_BROKEN_ZIP = (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, KeyError, RuntimeError)
_WARCS = (".warc", ".warc.gz")
_PAGES = ("pages/pages.jsonl", "pages/extraPages.jsonl")
_PACKAGE = "datapackage.json"
_SLACK = 1 << 16  # packed bytes below which no ratio is looked at
_READ = 1 << 20
_MAX_PAIR_DISTANCE_S = 60.0  # between the dates of a request and its answer where nothing else pairs them
_MAX_PAIR_CANDIDATES = 100  # requests of one address that are compared by date
_DESTINATIONS = {"script": "script", "style": "stylesheet", "image": "image", "font": "font", "document": "document",
                 "iframe": "document", "frame": "document", "audio": "media", "video": "media", "track": "texttrack",
                 "manifest": "manifest", "empty": "fetch"}
_MEDIA = (("html", "document"), ("css", "stylesheet"), ("javascript", "script"), ("image/", "image"), ("font", "font"),
          ("json", "fetch"), ("video/", "media"), ("audio/", "media"))


def check_warcio() -> None:
    """Raises InputError where the package that WARCs are read and written with is missing."""
    with extras.importing("wacz"):
        import warcio.warcwriter  # noqa: F401


def read_warc(path: Path) -> Archive:
    """The network of a WARC, packed or not; raises InputError for a file that is none."""
    check_warcio()
    records = Records()
    with _opened(path) as file:
        if not records.read(file):
            raise InputError(f"{path}: not a WARC (no record was found in it)")
    return _archive(records, frozenset())


def read_wacz(path: Path) -> Archive:
    """The network of a WACZ; raises InputError for a file that is none."""
    check_warcio()
    records, has_records = Records(), False
    with ExitStack() as stack:
        file = stack.enter_context(_opened(path))
        try:
            packed = stack.enter_context(zipfile.ZipFile(file))
        except _BROKEN_ZIP as error:
            raise InputError(f"{path}: not a WACZ ({error})") from None
        entries = _entries(path, packed, records)
        for name, entry in entries.items():
            if name.startswith("archive/") and name.endswith(_WARCS):
                try:
                    with packed.open(entry) as warc:
                        has_records |= records.read(warc, f"{name[:200]}, ")
                except _BROKEN_ZIP as error:
                    records.note(name[:200], f"damaged ({error}); the rest of it is skipped")
        if not has_records and not records.answers:
            raise InputError(f"{path}: not a WACZ (no record was found in its folder archive)")
        _check(packed, entries, records)
        return _archive(records, _pages(packed, entries, records))


def _opened(path: Path) -> IO[bytes]:
    try:
        return open_named(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({reason(error)})") from None


# --- Files of a WACZ


def _entries(path: Path, packed: zipfile.ZipFile, records: Records) -> dict[str, zipfile.ZipInfo]:
    """The files that can be read, by name; no name ever becomes a path."""
    listed = packed.infolist()
    if len(listed) > limits.ENTRIES:
        raise InputError(f"{path}: more than {limits.ENTRIES} files in it")
    entries: dict[str, zipfile.ZipInfo] = {}
    size = 0
    for entry in listed:
        name = entry.filename
        if entry.is_dir():
            continue
        wrong = ""
        if name.startswith(("/", "\\")) or re.search(r"[\\:\x00-\x1f]", name) or ".." in name.split("/"):
            wrong = "no plain name within the WACZ"
        elif name in entries:
            wrong = "it occurs twice; only the first is used, the other is"
        elif entry.compress_type not in _PACKINGS or entry.flag_bits & 1:
            wrong = "encrypted or compressed with an unknown method"
        elif entry.file_size > limits.RATIO * max(entry.compress_size, _SLACK):
            wrong = "its compression ratio is too high for a recording"
        elif size + entry.file_size > limits.PACKAGE:
            wrong = f"with it, the WACZ is larger than {limits.size(limits.PACKAGE)}"
        if wrong:
            records.note(repr(name[:200]), f"{wrong}; skipped" if not wrong.endswith(" is") else f"{wrong} skipped")
            continue
        size += entry.file_size
        entries[name] = entry
    return entries


def _file(packed: zipfile.ZipFile, entry: zipfile.ZipInfo, records: Records) -> bytes:
    """Content of a file of JSON; nothing where it cannot be read."""
    try:
        with packed.open(entry) as file:
            return read_all(file, limits.JSON, Path(entry.filename[:200]))
    except InputError as error:
        records.note(entry.filename[:200], f"{str(error).rpartition(': ')[2]}; skipped")
    except _BROKEN_ZIP as error:
        records.note(entry.filename[:200], f"damaged ({error}); skipped")
    return b""


def _pages(packed: zipfile.ZipFile, entries: dict[str, zipfile.ZipInfo], records: Records) -> frozenset[str]:
    """Addresses of the documents that are listed."""
    addresses = set()
    for name in _PAGES:
        lines = _file(packed, entries[name], records).splitlines() if name in entries else []
        for number, line in enumerate(lines, 1):
            page = _parsed_json(line, f"{name}, line {number}", records) if line.strip() else None
            if isinstance(page, dict) and isinstance(page.get("url"), str):
                addresses.add(page["url"].partition("#")[0])
    return frozenset(addresses)


def _check(packed: zipfile.ZipFile, entries: dict[str, zipfile.ZipInfo], records: Records) -> None:
    """Note which WARCs are not what the package says."""
    if _PACKAGE not in entries:
        records.note(_PACKAGE, "missing; the integrity of the files is unknown")
        return
    content = _file(packed, entries[_PACKAGE], records)
    package = _parsed_json(content, _PACKAGE, records) if content else None
    resources = package.get("resources") if isinstance(package, dict) else None
    visited = set()
    for resource in resources if isinstance(resources, list) else ():
        name, digest = (resource.get("path"), resource.get("hash")) if isinstance(resource, dict) else (None, None)
        if not isinstance(name, str) or not isinstance(digest,
                                                       str) or name in visited or not digest.startswith("sha256:"):
            continue
        visited.add(name)
        if name.startswith("archive/") and name not in entries:
            records.note(repr(name[:200]), f"named in {_PACKAGE}, but missing")
        elif name.startswith("archive/") and _digest(packed, entries[name]) != digest.lower():
            records.note(name[:200], f"its SHA-256 is not the one in {_PACKAGE}")


def _digest(packed: zipfile.ZipFile, entry: zipfile.ZipInfo) -> str:
    digest = hashlib.sha256()
    try:
        with packed.open(entry) as file:
            while piece := file.read(_READ):
                digest.update(piece)
    except _BROKEN_ZIP:
        return ""
    return f"sha256:{digest.hexdigest()}"


def _parsed_json(content: bytes, where: str, records: Records) -> Any:
    """The value that a JSON text has; None when it is none, which is noted in `records` with `where` it is."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        records.note(where, f"not JSON ({error}); skipped")
        return None


# --- What records tell together


def _archive(records: Records, pages: frozenset[str]) -> Archive:
    """All exchanges, by time. `pages`: addresses of documents of tabs."""
    _resolve(records)
    requests = _paired(records.answers, records.requests)
    paired_ids = {id(request) for request in requests if request}
    both: list[tuple[Record | None, Record | None]] = list(zip(records.answers, requests, strict=True))
    both += [(None, request) for request in records.requests if id(request) not in paired_ids]
    timed, time = [], 0.0
    for answer, request in both:
        if not (recorded_time := (request and request.time) or (answer and answer.time)):
            records.note(_either(answer, request).where, "field WARC-Date: missing or wrong; taken for the one before")
        time = recorded_time or time
        timed.append((time, answer, request))
    timed.sort(key=lambda timed_pair: timed_pair[0])
    started = next((time for time, *_ in timed if time), 0.0)
    exchanges: list[Recorded] = []
    for time, answer, request in timed:
        try:
            since = max(0.0, round(time - started, 6))
            exchanges.append(_exchange(len(exchanges) + 1, since, answer, request, pages))
        except Broken as error:
            records.note(_either(answer, request).where, f"{error}; skipped")
    return Archive(tuple(exchanges), (), started, records.all_notes())


def _either(answer: Record | None, request: Record | None) -> Record:
    """The answer, else the request."""
    record = answer or request
    assert record is not None
    return record


def _resolve(records: Records) -> None:
    """Give records that only say that an answer came again the answer that they mean."""
    complete = [record for record in records.answers if record.kind != "revisit"]
    by_id = {record.field("WARC-Record-ID"): record for record in complete}
    by_digest = {record.field("WARC-Payload-Digest"): record for record in reversed(complete)}
    by_location = {(record.address, record.time): record for record in complete}
    by_address = {record.address: record for record in complete}
    for record in records.answers:
        if record.kind != "revisit":
            continue
        target = record.field("WARC-Refers-To-Target-URI").strip("<>") or record.address
        meant = Record("", "", (("WARC-Date", record.field("WARC-Refers-To-Date")),))
        refers, digest = record.field("WARC-Refers-To"), record.field("WARC-Payload-Digest")
        original = ((by_id.get(refers) if refers else None) or (by_digest.get(digest) if digest else None)
                    or by_location.get((target, meant.time)) or by_address.get(target))
        if original is None:
            records.note(record.where, "the record with its content is missing; it is skipped")
            continue
        record.content = original.content
        record.head = record.head or original.head


def _paired(answers: list[Record], requests: list[Record]) -> list[Record | None]:
    """The request of each answer: by what the records say of each other, else by address and date."""
    paired: list[Record | None] = [None] * len(answers)
    free = {id(request): request for request in requests}
    by_id = {request.field("WARC-Record-ID"): request for request in requests}
    for request in requests:
        for concurrent_id in _concurrent(request):
            by_id.setdefault(f"of {concurrent_id}", request)
    for number, answer in enumerate(answers):
        name = answer.field("WARC-Record-ID")
        for key in (f"of {name}" if name else "", *_concurrent(answer)):
            concurrent = by_id.get(key) if key else None
            if concurrent and id(concurrent) in free:
                paired[number] = free.pop(id(concurrent))
                break
    by_address: dict[str, list[Record]] = {}
    for request in free.values():
        by_address.setdefault(request.address, []).append(request)
    for number, answer in enumerate(answers):
        candidates = by_address.get(answer.address)
        if paired[number] or not candidates:
            continue
        distances = [abs(request.time - answer.time) for request in candidates[:_MAX_PAIR_CANDIDATES]]
        nearest = min(range(len(distances)), key=distances.__getitem__)
        if distances[nearest] <= _MAX_PAIR_DISTANCE_S:
            paired[number] = candidates.pop(nearest)
    return paired


def _concurrent(record: Record) -> list[str]:
    return [value.strip() for name, value in record.fields if name.lower() == "warc-concurrent-to" and value.strip()]


def _exchange(number: int, time: float, answer: Record | None, request: Record | None, pages: frozenset[str]
              ) -> Recorded:
    metadata = _own_metadata(answer, request)
    method = normalized_method(request.head.first) if request and request.head else "GET"
    if not _METHOD.fullmatch(method):
        raise Broken("it has no HTTP method")
    headers = request.head.headers if request and request.head else ()
    status, text, answer_headers = _status(answer) if answer else (0, "", ())
    url = _either(answer, request).address.partition("#")[0]
    kind = _kind(_either(answer, request), headers, answer_headers)
    top = metadata.get("top")
    if not isinstance(top, bool):
        top = _is_top(url, method, kind, headers, pages)
    failure = str(metadata["failure"]) if isinstance(metadata.get("failure"), str) else ""
    return Recorded(
        number, time, method, url, status, answer.content if answer else _nothing, answer_headers, headers,
        request.body if request else None, "document" if top and kind == "other" else kind, top, text,
        failure if status else failure or "no answer", _bounded_integer(metadata.get("tab"), 1, 10**6) or 1,
        _bounded_integer(metadata.get("seed"), 0, 2**32 - 1), decoded=False, is_content_required=method != "HEAD")


def _nothing() -> bytes | None:
    return None


def _status(answer: Record) -> tuple[int, str, Headers]:
    """Status, the text beside it, and the headers that are true of the content as it is here."""
    if answer.head is None:
        if answer.kind != "resource":
            raise Broken("it has no HTTP headers")
        return 200, "", (("Content-Type", answer.field("Content-Type") or "application/octet-stream"),)
    status, _, text = answer.head.rest.partition(" ")
    if not answer.head.first.upper().startswith("HTTP") or not re.fullmatch(r"[0-9]{3}", status) or status == "000":
        raise Broken("it is not an HTTP response")
    headers = tuple((name, value) for name, value in answer.head.headers if name.lower() not in _OF_THE_WIRE)
    return int(status), text.strip(), headers


def _own_metadata(answer: Record | None, request: Record | None) -> dict[str, Any]:
    """What warc.py writes of an exchange beyond the WARC."""
    try:
        metadata = json.loads(_either(answer, request).field(JSON_METADATA) or "{}")
    except (ValueError, RecursionError):
        return {}
    ours = metadata.get("demotape") if isinstance(metadata, dict) else None
    return ours if isinstance(ours, dict) else {}


def _bounded_integer(value: Any, minimum: int, maximum: int) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and minimum <= value <= maximum else None


def _kind(record: Record, headers: Headers, answer_headers: Headers) -> str:
    """What asked, as Chrome calls it."""
    resource_type = record.field(RESOURCE_TYPE).lower()
    if resource_type in RESOURCE_KINDS:
        return resource_type
    if aim := header(headers, "sec-fetch-dest").lower():
        return _DESTINATIONS.get(aim, "other")
    media = header(answer_headers, "content-type").lower()
    return next((name for part, name in _MEDIA if part in media), "other")


def _is_top(url: str, method: str, kind: str, headers: Headers, pages: frozenset[str]) -> bool:
    """Whether it is a document of a tab: as its request says, else as the pages are listed."""
    if aim := header(headers, "sec-fetch-dest"):
        return aim.lower() == "document"
    if header(headers, "x-requested-with") or kind not in ("document", "other"):
        return False
    return method == "GET" and url in pages if pages else kind == "document"
