"""WARCs that others write, however broken they are."""

import base64
import gzip
import hashlib
import sys
import zlib
from functools import partial

import pytest
import zstandard

from replay.archive.exchanges import Archive, header
from replay.archive.warc import records
from replay.archive.warc.reading import read_warc
from replay.archive.warc.unpacking import dechunked
from schemas import limits
from tests.replay.warcs import AT, LEFT, SITE, again, answers, asks, chunks, record

gzipped = partial(gzip.compress, mtime=0)  # the same whenever it is asked


@pytest.fixture
def read(tmp_path):
    """Reads a WARC of records, each packed for itself or none."""
    def of(*records: bytes, packed=True) -> Archive:
        path = tmp_path / "others.warc"
        path.write_bytes(b"".join(map(gzipped, records) if packed else records))
        return read_warc(path)
    return of


@pytest.mark.parametrize("packed", [True, False])
def test_a_warc_of_wget(read, packed):
    aim = f"<{SITE}/a>"
    found = read(record("warcinfo", None, "software: Wget\r\n"),
                 asks("POST /a HTTP/1.1", "b=c", url=aim, WARC_Record_ID="<1>"),
                 answers(url=aim, WARC_Concurrent_To="<1>", at="2024-05-01T10:00:01Z"),
                 record("metadata", "metadata://gnu.org/x", "x"), record("resource", "metadata://gnu.org/y", "x"),
                 packed=packed)
    [one] = found.exchanges
    assert (one.method, one.url, one.body, one.status, one.answer()) == ("POST", f"{SITE}/a", b"b=c", 200, b"it")
    assert not found.notes and found.started == 1_714_557_600


def test_a_warc_of_browsertrix(read):
    more = {"WARC_Resource_Type": "xhr", "WARC_JSON_Metadata": '{"ipType":"Public"}'}
    found = read(answers(at="2024-05-01T10:00:00.123456789Z", WARC_Record_ID="<1>", **more),
                 asks(at="2024-05-01T10:00:00.123456789Z", WARC_Concurrent_To="<1>", **more),
                 record("resource", "urn:pageinfo:x", "{}"),
                 record("resource", f"{SITE}/r", "css", "2024-05-01T10:00:01Z", Content_Type="text/css"))
    one, other = found.exchanges
    assert (one.kind, one.top, one.method, found.started) == ("xhr", False, "GET", 1_714_557_600.123456)
    assert other.kind == "stylesheet" and header(other.answer_headers, "content-type") == "text/css"


def test_several_records_in_one_gzip_member(read):
    assert len(read(asks() + answers() + answers(url=f"{SITE}/b")).exchanges) == 2


PAIRS = [  # records, the method of each answer
    ([asks("PUT / HTTP/1.1"), answers()], ["PUT"]), ([answers(), asks("PUT / HTTP/1.1")], ["PUT"]),
    ([asks("PUT / HTTP/1.1", at="2024-05-01T10:00:30Z"), answers()], ["PUT"]),
    ([answers()], ["GET"]),
    ([asks("PUT / HTTP/1.1", url=f"{SITE}/b"), answers()], ["GET", "PUT"]),
    ([asks("PUT / HTTP/1.1", at="2024-05-01T12:00:00Z"), answers()], ["GET", "PUT"]),
    ([asks("PUT / HTTP/1.1"), asks("POST / HTTP/1.1", at="2024-05-01T10:00:09Z"),
      answers(at="2024-05-01T10:00:10Z"), answers()], ["PUT", "POST"]),
    ([asks("PUT / HTTP/1.1", WARC_Concurrent_To="<2>"), asks("POST / HTTP/1.1", WARC_Concurrent_To="<1>"),
      answers("1", WARC_Record_ID="<1>"), answers("2", WARC_Record_ID="<2>")], ["POST", "PUT"]),
]


@pytest.mark.parametrize("records, methods", PAIRS)
def test_requests_and_answers_find_each_other(read, records, methods):
    assert [one.method for one in read(*records).exchanges] == methods


TEXT = b"it is what it was" * 9
RAW = zlib.compressobj(wbits=-15)
ENCODED = [  # headers, payload, what is read
    ("Content-Encoding: gzip", gzipped(TEXT), TEXT), ("Content-Encoding: x-gzip", gzipped(TEXT), TEXT),
    ("Content-Encoding: gzip", gzipped(TEXT[:9]) + gzipped(TEXT[9:]) + b"\0\0", TEXT),
    ("Content-Encoding: deflate", zlib.compress(TEXT), TEXT),
    ("Content-Encoding: deflate", RAW.compress(TEXT) + RAW.flush(), TEXT),
    ("Content-Encoding: zstd", zstandard.compress(TEXT), TEXT),
    ("Content-Encoding: gzip, zstd", zstandard.compress(gzipped(TEXT)), TEXT),
    ("Content-Encoding: identity", TEXT, TEXT), ("Content-Encoding: gzip", b"", b""),
    ("Content-Encoding: gzip", TEXT, TEXT), ("Content-Encoding: zstd", TEXT, TEXT),  # unpacked, with their headers
    ("Content-Encoding: gzip", gzipped(bytes(range(256)))[:-100], None),  # cut off
    ("Transfer-Encoding: chunked", chunks(TEXT), TEXT), ("Transfer-Encoding: chunked", TEXT, TEXT),
    ("Transfer-Encoding: chunked\r\nContent-Encoding: gzip", chunks(gzipped(TEXT)), TEXT),
]


@pytest.mark.parametrize("headers, payload, content", ENCODED)
def test_contents_are_unpacked(read, headers, payload, content):
    found = read(answers(payload, headers=f"{headers}\r\nContent-Length: 9\r\nX-A: b\r\n"))
    [one] = found.exchanges
    assert one.answer_headers == (("X-A", "b"),) and not found.notes
    assert one.answer() == content if content is not None else bytes(range(256)).startswith(one.answer()[:99])


@pytest.mark.parametrize("content, found", [
    (b"3\r\nabc\r\n0\r\n\r\n", b"abc"), (b"3\r\nabc\r\n0\r\nX: y\r\n\r\n", b"abc"), (b"3\r\nabc\r\n", b"abc"),
    (b"3\r\nab", b"ab"), (b"", None), (b"abc", None), (b"3\r\nabcd\r\n", None), (b"-1\r\nabc", None)])
def test_chunks(content, found):
    assert dechunked(content) == found


def test_br_needs_its_package(read, monkeypatch):
    monkeypatch.setitem(sys.modules, "brotli", None)
    found = read(answers(b"\x0b\x01\x80it\x03", headers="Content-Encoding: br\r\n"),
                 answers("it", headers="Content-Encoding: rot13\r\n"))
    assert [one.answer() for one in found.exchanges] == [None, None] and found.notes == (
        "record 1: its content has the encoding br, which requires the package brotli; it is skipped",
        "record 2: its content has the unknown encoding 'rot13'; it is skipped")


def test_br_where_its_package_is_there(read):
    brotli = pytest.importorskip("brotli")
    found = read(answers(brotli.compress(TEXT), headers="Content-Encoding: br\r\n"),
                 answers(TEXT, headers="Content-Encoding: br\r\n"),
                 answers(brotli.compress(bytes(1 << 26)), headers="Content-Encoding: br\r\n"))
    assert [one.answer() for one in found.exchanges] == [TEXT, TEXT, None] and len(found.notes) == 1


@pytest.mark.parametrize("revisit", [
    again(WARC_Refers_To="<1>"), again(WARC_Payload_Digest="sha1:A", url=f"{SITE}/other"),
    again(WARC_Refers_To_Target_URI=f"{SITE}/", WARC_Refers_To_Date=AT, url=f"{SITE}/other"), again(),
    again(WARC_Refers_To="<1>", block="HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")])
@pytest.mark.parametrize("first", [True, False])
def test_what_came_again_has_the_content_of_the_first(read, revisit, first):
    meant = answers(headers="Content-Type: text/html\r\n", WARC_Record_ID="<1>", WARC_Payload_Digest="sha1:A")
    found = read(*([meant, revisit] if first else [revisit, meant]))
    assert [(one.status, one.answer(), one.kind) for one in found.exchanges] == [(200, b"it", "document")] * 2
    assert not found.notes


def test_what_came_again_without_the_first(read):
    found = read(again(), again(block="HTTP/1.1 200 OK\r\n\r\n"), answers(url=f"{SITE}/b"))
    assert [one.answer() for one in found.exchanges] == [b"it", None]
    assert found.notes == ("record 1: the record with its content is missing; it is skipped",
                           "record 2: the record with its content is missing; it is skipped",
                           "record 1: it has no HTTP headers; skipped")


BROKEN = [  # what stands before an answer that is whole, what is told of it
    (b"nonsense\r\n\r\n", "record 1: not a record; skipped"),
    (answers(length="x"), "record 1: field Content-Length: missing or wrong; skipped"),
    (answers(length="-1"), "record 1: field Content-Length: missing or wrong; skipped"),
    (record(length=""), "record 1: field Content-Length: missing or wrong; skipped"),
    (answers(length=10), "record 1: field Content-Length: wrong, as no record follows; skipped"),
    (answers(status="x"), "record 1: it is not an HTTP response; skipped"),
    (record(block="it is no HTTP"), "record 1: it is not an HTTP response; skipped"),
    (record(block=""), "record 1: it is empty; skipped"),
    (record("continuation"), "record 1: a segment of another record; segments are not supported; skipped"),
    (asks("G(T / HTTP/1.1"), "record 1: it has no HTTP method; skipped"),
    (answers(headers="X-A: " + "b" * (1 << 19)), "record 1: its headers are larger than 256 KiB; skipped"),
    (answers(X_A="b" * (1 << 19)), "record 1: its headers are larger than 256 KiB; skipped"),
    (answers(headers="X: y\r\n" * 60_000), "record 1: its headers are larger than 256 KiB; skipped"),
]


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("broken, note", BROKEN, ids=lambda told: repr(told)[:30])
def test_a_broken_record_costs_only_itself(read, packed, broken, note):
    found = read(broken, LEFT, packed=packed)
    assert [one.url for one in found.exchanges] == [f"{SITE}/left"]
    assert note in found.notes and len(found.notes) == 1


def test_a_length_that_swallows_the_next_records(read):
    for packed, note in ((True, "record 1: cut off; skipped"), (False, "record 1: cut off; skipped")):
        found = read(answers(length=10**6), LEFT, LEFT, packed=packed)
        assert len(found.exchanges) == 2 and found.notes == (note,)
    found = read(answers(length=len(LEFT) + 10), LEFT, LEFT, LEFT, packed=False)
    assert len(found.exchanges) == 3 and len(found.notes) == 1


def test_damaged_members(tmp_path):
    members = [gzipped(answers(base64.b85encode(hashlib.shake_128(bytes([number])).digest(size)),
                                     url=f"{SITE}/{number}")) for number, size in enumerate((400, 90_000, 400, 400))]
    path = tmp_path / "a.warc.gz"
    for number in range(3):
        for at in (0, 3, 12, len(members[number]) // 2, len(members[number]) - 6):
            damaged = bytearray(members[number])
            damaged[at] ^= 0xFF
            path.write_bytes(b"".join([*members[:number], bytes(damaged), *members[number + 1:]]))
            found = read_warc(path) if number or at else None
            if found:
                left = {one.url for one in found.exchanges}
                assert left >= {f"{SITE}/{other}" for other in range(4) if other != number}, (number, at)
    path.write_bytes(b"".join(members)[:-30])
    found = read_warc(path)
    assert len(found.exchanges) == 3 and found.notes == ("record 4: cut off; skipped",)


@pytest.mark.parametrize("date", ["", "yesterday", "2024-13-01T00:00:00Z", "9999-01-01T00:00:00Z", "2024-05-01"])
def test_wrong_dates(read, date):
    found = read(answers(), answers(at=date))
    assert [one.time for one in found.exchanges] == [0, 0]
    assert found.notes == ("record 2: field WARC-Date: missing or wrong; taken for the one before",)


def test_bombs(read, monkeypatch):
    monkeypatch.setattr(limits, "RATIO", 20)
    many = bytes(3 << 20)
    found = read(answers(many), LEFT)
    assert len(found.exchanges) == 1
    assert found.notes == ("record 1: its compression ratio is too high for a recording; skipped",)
    for headers, content in (("gzip", gzipped(many)), ("deflate", zlib.compress(many)),
                             ("zstd", zstandard.compress(many))):
        found = read(answers(content, headers=f"Content-Encoding: {headers}\r\n"), LEFT)
        assert [one.answer() for one in found.exchanges] == [None, b"it"]
        assert found.notes == (
            "record 1: its content: its compression ratio is too high for a recording; it is skipped",)


def test_limits(read, monkeypatch):
    monkeypatch.setattr(limits, "BLOB", 1000)
    found = read(answers(bytes(1001)), answers(gzipped(bytes(1001)), headers="Content-Encoding: gzip\r\n"), LEFT)
    assert [one.answer() for one in found.exchanges] == [None, None, b"it"]
    assert found.notes == ("record 1: its content is larger than 1000 bytes; it is skipped",
                           "record 2: its content: larger than 1000 bytes; it is skipped")
    monkeypatch.setattr(limits, "ENTRIES", 1)
    assert read(LEFT, LEFT, LEFT).notes == ("record 2: the archive is too large; this record and the rest are skipped",)
    monkeypatch.setattr(limits, "ENTRIES", 5000)
    monkeypatch.setattr(limits, "HAR", 2)
    found = read(asks(body="abc"), LEFT)
    assert found.exchanges[0].body is None and "the request bodies are too large in total" in found.notes[0]
    monkeypatch.setattr(records, "_NOTES", 2)
    assert read(*[answers(length="x")] * 5, LEFT).notes[2:] == ("and 3 more",)
    monkeypatch.setattr(limits, "PACKAGE", 1)
    assert "too large" in read(LEFT, LEFT).notes[0]


def test_kinds_and_tops(read):
    def one(dest="", kind="text/html", **more):
        [found] = read(record("request", block=f"GET / HTTP/1.1\r\n{dest}\r\n"),
                       answers(headers=f"Content-Type: {kind}\r\n", **more)).exchanges
        return found.kind, found.top
    assert one() == ("document", True) and one("X-Requested-With: XMLHttpRequest\r\n") == ("document", False)
    assert one("Sec-Fetch-Dest: document\r\n") == ("document", True)
    assert one("Sec-Fetch-Dest: iframe\r\n") == ("document", False)
    assert one("Sec-Fetch-Dest: empty\r\n", "application/json") == ("fetch", False)
    assert one(kind="font/woff2") == ("font", False) and one(kind="x/y") == ("other", False)
    assert one(WARC_Resource_Type="xhr") == ("xhr", False) and one(WARC_Resource_Type="<x>") == ("document", True)
    assert one(WARC_JSON_Metadata='{"demotape": {"top": 1, "tab": true, "seed": -1}}') == ("document", True)
    assert one(WARC_JSON_Metadata="[" * 20_000) == ("document", True)
