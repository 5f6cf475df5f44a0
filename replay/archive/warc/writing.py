"""Writes what was kept of a session's network as WARC 1.1 or WACZ 1.1.1, and reads those that other programs made.

A WACZ is written with zipfile and json, as the package `wacz` does no more than that and pulls in a hundred megabytes.
WebSockets and EventSources have no form in a WARC and are left out. What a WARC has no header for (tab, seed, failure)
stands in `WARC-JSON-Metadata`, where browsertrix writes such things, too.
"""

import gzip
import hashlib
import json
import os
import re
import tempfile
import zipfile
from dataclasses import dataclass
from datetime import UTC, datetime
from html import unescape
from http.client import responses
from io import BytesIO
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

from replay.archive.exchanges import Archive, Headers, Recorded, header, is_text, software
from schemas.addresses import split_address
from schemas.files import dump_json, dump_line, written_atomically

from . import cdxj
from .reading import JSON_METADATA, RESOURCE_TYPE, check_warcio

_WARC, _INDEX, _BLOCKS, _PAGES = ("archive/data.warc.gz", "indexes/index.idx", "indexes/index.cdx.gz",
                                  "pages/pages.jsonl")
_PACKAGE, _DIGEST = "datapackage.json", "datapackage-digest.json"
_LINES = 300  # of the index in a block, which programs read at once
_OF_THE_WIRE = ("content-encoding", "transfer-encoding", "content-length")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}")
_BREAKS = re.compile(r"[\r\n\0]+")
_NO_ADDRESS = re.compile(r"[\x00-\x20\x7f<>\"]")
_TITLE = re.compile(r"<title[^>]{0,200}>([^<]{0,500})", re.I)
_TITLE_SEARCH_BYTES = 1 << 16  # bytes of a document in which its title stands
_LATEST = 253_402_300_799  # seconds since 1970, of the last year that a date can tell


@dataclass(frozen=True)
class _Written:
    """An answer as it stands in the WARC. `has_content`: its content is there, too; `title`: of a document of a tab."""

    exchange: Recorded
    url: str
    sent_at: datetime
    offset: int
    length: int
    digest: str
    mime: str
    has_content: bool
    title: str


def write_warc(archive: Archive, path: Path) -> None:
    """Write a WARC, each record packed for itself; the file is whole or absent. Needs the package warcio."""
    check_warcio()
    with written_atomically(path) as file:
        _write(archive, file, path.name)


def write_wacz(archive: Archive, path: Path, title: str = "A recorded session") -> None:
    """Write a WACZ: the WARC with an index of it, and the list of documents; the file is whole or absent."""
    check_warcio()
    with written_atomically(path) as file, tempfile.TemporaryFile(dir=path.parent) as warc:
        written = _write(archive, warc, "data.warc.gz")
        blocks, index = _index(written)
        pages = [record for record in written if record.exchange.top and record.has_content
                 and not 300 <= record.exchange.status < 400]
        with zipfile.ZipFile(file, "w") as packed:
            resources = [_put(packed, _WARC, warc), _put(packed, _BLOCKS, BytesIO(blocks)),
                         _put(packed, _INDEX, BytesIO(index)), _put(packed, _PAGES, BytesIO(_page_list(pages)))]
            package = dump_json(_package(title, resources, pages))
            _put(packed, _PACKAGE, BytesIO(package))
            _put(packed, _DIGEST, BytesIO(dump_json({"path": _PACKAGE, "hash": _sha256(package)})))


# --- The WARC


def _write(archive: Archive, file: IO[bytes], name: str) -> list[_Written]:
    from warcio.warcwriter import WARCWriter
    writer = WARCWriter(file, gzip=True, warc_version="WARC/1.1")
    writer.write_record(writer.create_warcinfo_record(name, {
        "software": software(), "format": "WARC File Format 1.1",
        "conformsTo": "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"}))
    written = []
    for exchange in archive.exchanges:
        url = _address(exchange.url)
        sent_at = datetime.fromtimestamp(min(max(archive.started + exchange.time, 0), _LATEST), UTC)
        answer_id = None
        if exchange.status:
            answer_id = _id()
            written.append(_write_answer(writer, file, exchange, url, sent_at, answer_id))
        _write_record(writer, "request", exchange, url, sent_at, *_request(exchange, url), (
            [("WARC-Concurrent-To", answer_id)] if answer_id else [_metadata(exchange)]))
    return written


def _write_answer(writer: Any, file: IO[bytes], exchange: Recorded, url: str, sent_at: datetime, name: str) -> _Written:
    content = exchange.answer()
    headers = _answer_headers(exchange, content)
    status = f"HTTP/1.1 {exchange.status:03} {exchange.status_text or responses.get(exchange.status, '')}"
    more = [_metadata(exchange), *([] if content is not None else [("WARC-Truncated", "unspecified")])]
    offset = file.tell()
    digest = _write_record(writer, "response", exchange, url, sent_at, _head(status, headers), content or b"", more,
                           name)
    mime = header(headers, "content-type").partition(";")[0].strip() or "unk"
    title = _title(content) if content and exchange.top and "html" in mime else ""
    return _Written(exchange, url, sent_at, offset, file.tell() - offset, digest, mime,
                    content is not None, title)


def _write_record(writer: Any, kind: str, exchange: Recorded, url: str, sent_at: datetime, head: bytes, payload: bytes,
                  more: list[tuple[str, str]], name: str | None = None) -> str:
    """Write a record; returns the digest of its payload. warcio would encode what is not ASCII in headers of HTTP, so
    that they are not what they were: they are handed over as bytes."""
    from warcio.recordloader import ArcWarcRecord
    from warcio.statusandheaders import StatusAndHeaders
    digest = _sha256(payload)
    headers = StatusAndHeaders("", [
        ("WARC-Type", kind), ("WARC-Record-ID", name or _id()), ("WARC-Target-URI", url),
        ("WARC-Date", sent_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")), (RESOURCE_TYPE, exchange.kind), *more,
        ("WARC-Payload-Digest", digest), ("WARC-Block-Digest", _sha256(head + payload))], protocol="WARC/1.1")
    writer.write_record(ArcWarcRecord("warc", kind, headers, BytesIO(head + payload), None,
                                      f"application/http; msgtype={kind}", len(head) + len(payload)))
    return digest


def _metadata(exchange: Recorded) -> tuple[str, str]:
    metadata: dict[str, object] = {"tab": exchange.tab, "top": exchange.top}
    if exchange.seed is not None:
        metadata["seed"] = exchange.seed
    if exchange.failure:
        metadata["failure"] = exchange.failure[:1000]
    return JSON_METADATA, json.dumps({"demotape": metadata}, ensure_ascii=True)


def _answer_headers(exchange: Recorded, content: bytes | None) -> Headers:
    """Headers that fit the content as it is here: unpacked, and text in UTF-8 where the browser decoded it."""
    headers = tuple((name, value) for name, value in exchange.answer_headers if name.lower() not in _OF_THE_WIRE)
    if content is None:
        return headers
    if exchange.decoded and not content.isascii():
        headers = tuple((name, _in_utf8(value) if name.lower() == "content-type" and is_text(value) else value)
                        for name, value in headers)
    return (*headers, ("Content-Length", str(len(content))))


def _in_utf8(kind: str) -> str:
    parameters = [part for part in kind.split(";") if not part.strip().lower().startswith("charset")]
    return ";".join([*parameters, " charset=utf-8"])


def _request(exchange: Recorded, url: str) -> tuple[bytes, bytes]:
    """A request as it goes over HTTP/1.1: its head and its body."""
    parted = split_address(url)
    method = exchange.method if _TOKEN.fullmatch(exchange.method) else "GET"
    aim = (parted.path or "/") + (f"?{parted.query}" if parted.query else "")
    headers = tuple((name, value) for name, value in exchange.headers
                    if name.lower() not in ("content-length", "transfer-encoding"))
    if not header(headers, "host"):
        headers = (("Host", parted.netloc.rpartition("@")[2]), *headers)
    if exchange.body is not None:
        headers = (*headers, ("Content-Length", str(len(exchange.body))))
    return _head(f"{method} {aim} HTTP/1.1", headers), exchange.body or b""


def _head(first: str, headers: Headers) -> bytes:
    lines = [_BREAKS.sub(" ", first)]
    lines += [f"{name}: {_BREAKS.sub(' ', value).strip()}" for name, value in headers if _TOKEN.fullmatch(name)]
    return "".join(f"{line}\r\n" for line in (*lines, "")).encode("utf-8", "replace")


def _address(url: str) -> str:
    """An address without what would break a line."""
    return _NO_ADDRESS.sub(lambda character: f"%{ord(character[0]):02X}", url).encode("utf-8", "replace").decode()


def _id() -> str:
    return f"<urn:uuid:{uuid4()}>"


def _sha256(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _title(content: bytes) -> str:
    title = _TITLE.search(content[:_TITLE_SEARCH_BYTES].decode("utf-8", "replace"))
    return " ".join(unescape(title[1]).split()) if title else ""


# --- The WACZ


def _index(written: list[_Written]) -> tuple[bytes, bytes]:
    """The sorted lines of the index, packed in blocks, and where each block begins: replayweb.page reads the packed
    index by that alone."""
    lines = sorted(_index_line(record) for record in written if record.has_content)
    blocks, index = b"", '!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}\n'
    for start in range(0, len(lines), _LINES):
        block = gzip.compress("".join(lines[start:start + _LINES]).encode(), mtime=0)
        block_entry = {"offset": len(blocks), "length": len(block), "digest": _sha256(block),
                       "filename": "index.cdx.gz"}
        index += f"{lines[start].partition('{')[0].strip()} {json.dumps(block_entry)}\n"
        blocks += block
    return blocks or gzip.compress(b"", mtime=0), index.encode()


def _index_line(record: _Written) -> str:
    exchange = record.exchange
    fields = {"mime": record.mime, "status": str(exchange.status), "digest": record.digest,
              "length": str(record.length),
              "offset": str(record.offset), "filename": _WARC.rpartition("/")[2]}
    query = ""
    if exchange.method != "GET":
        fields["method"] = exchange.method
        query = cdxj.request_query(exchange.headers, exchange.body or b"")
    return cdxj.line(record.url, record.sent_at.strftime("%Y%m%d%H%M%S"), fields, query)


def _page_list(pages: list[_Written]) -> bytes:
    lines: list[dict[str, object]] = [{"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}]
    lines += [{"id": uuid4().hex, "url": record.url, "ts": _stamp(record.sent_at), "title": record.title or record.url}
              for record in pages]
    return b"".join(map(dump_line, lines))


def _package(title: str, resources: list[dict[str, object]], pages: list[_Written]) -> dict[str, object]:
    main = {"mainPageUrl": pages[0].url, "mainPageDate": _stamp(pages[0].sent_at)} if pages else {}
    return {"profile": "data-package", "wacz_version": "1.1.1", "title": title, "software": software(),
            "created": _stamp(datetime.now(UTC)), **main, "resources": resources}


def _stamp(sent_at: datetime) -> str:
    return sent_at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _put(packed: zipfile.ZipFile, name: str, content: IO[bytes]) -> dict[str, object]:
    """Put a file into the zip, as it is when it is packed already; returns what the package says of it."""
    content.seek(0, os.SEEK_END)
    size = content.tell()
    entry = zipfile.ZipInfo(name, datetime.now(UTC).timetuple()[:6])
    entry.compress_type = zipfile.ZIP_STORED if name.endswith(".gz") else zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    entry.file_size = size  # zipfile decides by it whether the entry is a large one
    content.seek(0)
    digest = hashlib.sha256()
    with packed.open(entry, "w") as file:
        while piece := content.read(1 << 20):
            digest.update(piece)
            file.write(piece)
    return {"name": name.rpartition("/")[2], "path": name, "hash": f"sha256:{digest.hexdigest()}", "bytes": size}
