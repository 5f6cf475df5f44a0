"""WARC and WACZ: what is written can be read by others, and what others write can be read, however broken it is."""

import gzip
import hashlib
import json
import sys
import zipfile
from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from replay.archive.exchanges import Archive, Recorded
from replay.archive.warc.cdxj import key, request_query
from replay.archive.warc.reading import read_wacz, read_warc
from replay.archive.warc.writing import write_wacz, write_warc
from schemas import InputError, limits
from tests.replay.archives import FORM, JSON, archive, document, recorded
from tests.replay.warcs import AT, LEFT, SITE, again, answers, asks

gzipped = partial(gzip.compress, mtime=0)  # the same whenever it is asked

HTML = "<!doctype html><title>Shop &amp; co</title>ä"


@pytest.fixture(scope="module")
def kept() -> Archive:
    """A session with what there is to keep."""
    return archive(
        document("/", HTML, headers=(("Sec-Fetch-Dest", "document"),), seed=7, answer_headers=(
            ("Content-Type", "text/html; charset=iso-8859-1"), ("Content-Encoding", "br"), ("Content-Length", "9"),
            ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"), ("X-Name", "ü"))),
        recorded("POST", "/api", '{"a":1}', body='{"q":"two lamps"}', headers=JSON, kind="fetch", time=0.25,
                 answer_headers=JSON, status_text="Fine", tab=2),
        recorded("GET", "/b?c=d#e", b"\0\xff", kind="image", time=0.5, answer_headers=(("Content-Type", "image/png"),)),
        recorded("GET", "/old", "", 302, kind="document", top=True, time=1, answer_headers=(("Location", "/"),)),
        recorded("GET", "/not-kept", None, kind="script", time=2),
        recorded("GET", "/gone", None, 0, kind="fetch", time=3, failure="net::ERR_FAILED", answer_headers=()),
        started=1_714_557_600.5)


def written(kept, tmp_path, form="warc"):
    path = tmp_path / f"a.{form}"
    (write_warc if form == "warc" else write_wacz)(kept, path)
    return path


@pytest.mark.parametrize("form, read", [("warc", read_warc), ("wacz", read_wacz)])
def test_what_is_written_is_read(kept, tmp_path, form, read):
    found = read(written(kept, tmp_path, form))
    assert found.started == kept.started and not found.notes and not list(tmp_path.glob(".tmp-*"))
    assert len(found.exchanges) == len(kept.exchanges)
    for one, other in zip(kept.exchanges, found.exchanges, strict=True):
        for name in ("number", "time", "method", "status", "body", "kind", "top", "failure", "tab", "seed"):
            assert getattr(one, name) == getattr(other, name), name
        assert (one.answer(), one.url.partition("#")[0]) == (other.answer(), other.url)
    first, second, *_ = found.exchanges
    assert first.answer_headers == (("Content-Type", "text/html; charset=utf-8"), ("Set-Cookie", "a=1"),
                                    ("Set-Cookie", "b=2"), ("X-Name", "ü"))
    assert first.headers == (("Host", "shop.example"), ("Sec-Fetch-Dest", "document")) and not first.decoded
    assert (first.status_text, second.status_text) == ("OK", "Fine")


def test_others_read_the_warc(kept, tmp_path):
    with written(kept, tmp_path).open("rb") as file:
        found = [(record.rec_type, record.rec_headers.get_header("WARC-Date"), record.digest_checker.passed)
                 for record in ArchiveIterator(file, check_digests=True) if record.content_stream().read() is not None]
    assert found[0][0] == "warcinfo" and all(passed for *_, passed in found)
    assert [(kind, date[17:-1]) for kind, date, _ in found[1:]] == [
        *[("response", "00.500000"), ("request", "00.500000"), ("response", "00.750000"), ("request", "00.750000")],
        *[("response", "01.000000"), ("request", "01.000000"), ("response", "01.500000"), ("request", "01.500000")],
        *[("response", "02.500000"), ("request", "02.500000"), ("request", "03.500000")]]


def test_the_files_of_a_wacz(kept, tmp_path):
    with zipfile.ZipFile(written(kept, tmp_path, "wacz")) as packed:
        package = json.loads(packed.read("datapackage.json"))
        assert (package["profile"], package["wacz_version"], package["title"], package["mainPageUrl"]) == (
            "data-package", "1.1.1", "A recorded session", f"{SITE}/")
        told = {each["path"]: (each["hash"], each["bytes"]) for each in package["resources"]}
        assert set(told) == {"archive/data.warc.gz", "indexes/index.cdx.gz", "indexes/index.idx", "pages/pages.jsonl"}
        for name, (digest, size) in told.items():
            content = packed.read(name)
            assert (digest, size) == (f"sha256:{hashlib.sha256(content).hexdigest()}", len(content))
            assert packed.getinfo(name).compress_type == (0 if name.endswith(".gz") else 8)
        assert json.loads(packed.read("datapackage-digest.json")) == {
            "path": "datapackage.json",
            "hash": f"sha256:{hashlib.sha256(packed.read('datapackage.json')).hexdigest()}"}
        head, *pages = map(json.loads, packed.read("pages/pages.jsonl").splitlines())
        assert head["format"] == "json-pages-1.0"
        assert [(page["url"], page["ts"], page["title"]) for page in pages] == [
            (f"{SITE}/", "2024-05-01T10:00:00.500Z", "Shop & co")]
        lines = gzip.decompress(packed.read("indexes/index.cdx.gz")).decode().splitlines()
        warc = packed.read("archive/data.warc.gz")
        meta, block = packed.read("indexes/index.idx").decode().splitlines()
    assert lines == sorted(lines) and [line.split()[0] for line in lines] == [
        "example,shop)/", "example,shop)/api?__wb_method=post&q=two+lamps", "example,shop)/b?c=d", "example,shop)/old"]
    for line in lines:
        one = json.loads(line.partition(" {")[2].join("{}")[:-1])
        record = gzip.decompress(warc[int(one["offset"]):int(one["offset"]) + int(one["length"])])
        assert f"WARC-Target-URI: {one['url']}\r\n".encode() in record and b"msgtype=response" in record
    assert json.loads(meta[7:])["format"] == "cdxj-gzip-1.0" and block.startswith("example,shop)/ 20240501100000 {")


def test_hostile_values_stay_in_their_line(tmp_path):
    odd = recorded("GET", "https://a.example/ b\r\nWARC-Type: x?\ud800", "it", status_text="O\r\nK", failure="\0",
                   headers=(("X-A", "1\r\nX-B: 2"), ("X C", "3"), ("", "4"), ("X-D", "\ud800")))
    write_warc(archive(odd), path := tmp_path / "a.warc")
    [one] = read_warc(path).exchanges
    assert one.url == "https://a.example/%20b%0D%0AWARC-Type:%20x??" and one.status_text == "O K"
    assert one.headers == (("Host", "a.example"), ("X-A", "1 X-B: 2"), ("X-D", "?"))


def test_a_file_is_whole_or_absent(tmp_path):
    def fails():
        raise InputError("blob damaged")
    broken = Archive((Recorded(1, 0, "GET", SITE, 200, fails),))
    (tmp_path / "a.wacz").write_text("before")
    for write in (write_warc, write_wacz):
        with pytest.raises(InputError, match="blob damaged"):
            write(broken, tmp_path / "a.wacz")
    assert [path.name for path in tmp_path.iterdir()] == ["a.wacz"] and (tmp_path / "a.wacz").read_text() == "before"


def test_an_empty_archive(tmp_path):
    write_wacz(archive(), path := tmp_path / "new" / "a.wacz")
    assert read_wacz(path).exchanges == ()


@pytest.mark.parametrize("content", [b"", b"it is a text", b"{}", gzipped(b"no WARC"), bytes(9), b"\x1f\x8b\x08"])
def test_what_is_no_warc(tmp_path, content):
    (path := tmp_path / "a").write_bytes(content)
    with pytest.raises(InputError, match=r"a: not a WARC \(no record was found in it\)"):
        read_warc(path)
    with pytest.raises(InputError, match="a: not a WACZ"):
        read_wacz(path)


def test_what_is_no_file(tmp_path):
    for read_one in (read_warc, read_wacz):
        with pytest.raises(InputError, match="none: cannot be read"):
            read_one(tmp_path / "none")
        with pytest.raises(InputError):
            read_one(tmp_path)


def test_without_warcio(kept, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "warcio.warcwriter", None)
    for work in (lambda path: read_warc(path), lambda path: read_wacz(path), lambda path: write_warc(kept, path),
                 lambda path: write_wacz(kept, path)):
        with pytest.raises(InputError, match=r"pip install 'demotape\[wacz\]'"):
            work(tmp_path / "a")


# --- WACZ of others


@pytest.fixture
def wacz(tmp_path):
    """Reads a WACZ of files."""
    def of(files: dict[str, bytes], **options) -> Archive:
        path = tmp_path / "others.wacz"
        with zipfile.ZipFile(path, "w", **options) as packed:
            for name, content in files.items():
                packed.writestr(name, content)
        return read_wacz(path)
    return of


def package(**files: bytes) -> bytes:
    return json.dumps({"resources": [
        {"path": f"archive/{name}.warc.gz", "hash": f"sha256:{hashlib.sha256(content).hexdigest()}"}
        for name, content in files.items()]}).encode()


ONE, TWO = gzipped(answers()), gzipped(answers(url=f"{SITE}/b"))


def test_a_wacz_of_others(wacz):
    pages = b'{"format": "json-pages-1.0"}\n{"url": "%s/b#c", "ts": "x"}\n\n' % SITE.encode()
    found = wacz({"archive/a.warc.gz": ONE, "archive/b.warc.gz": TWO + gzipped(again(url=f"{SITE}/c",
                  WARC_Refers_To_Target_URI=f"{SITE}/", WARC_Refers_To_Date=AT)), "pages/pages.jsonl": pages,
                  "datapackage.json": package(a=ONE), "logs/x": b"", "archive/": b""})
    assert [(one.url, one.top, one.answer()) for one in found.exchanges] == [
        (f"{SITE}/", False, b"it"), (f"{SITE}/b", True, b"it"), (f"{SITE}/c", False, b"it")]
    assert not found.notes


def test_what_is_wrong_in_a_wacz(wacz):
    hostile = {name: ONE for name in ("/archive/a.warc.gz", "../archive/a.warc", "archive/../a.warc.gz", "C:\\a.warc",
                                      "archive/a\\b.warc.gz")}
    found = wacz(hostile | {
        "archive/a.warc.gz": ONE, "archive/c.warc": b"none", "pages/pages.jsonl": b"{\n[]\n{}\n" + b"[" * 10**5,
        "datapackage.json": package(a=TWO, gone=ONE)})
    assert len(found.exchanges) == 1
    assert found.notes[:5] == tuple(f"{name!r}: no plain name within the WACZ; skipped" for name in hostile)
    assert found.notes[5:8] == ("archive/c.warc, record 1: not a record; skipped",
                                "archive/a.warc.gz: its SHA-256 is not the one in datapackage.json",
                                "'archive/gone.warc.gz': named in datapackage.json, but missing")
    assert [note.partition("(")[0] for note in found.notes[8:]] == ["pages/pages.jsonl, line 1: not JSON ",
                                                                    "pages/pages.jsonl, line 4: not JSON "]


@pytest.mark.parametrize("told, note", [
    (b"{", "datapackage.json: not JSON"), (b"[]", ""), (b'{"resources": 3}', ""), (b'{"resources": [3, {}]}', ""),
    (b'{"resources": [{"path": 3, "hash": []}]}', ""), (None, "datapackage.json: missing")])
def test_packages_of_others(wacz, told, note):
    files = {"archive/a.warc.gz": ONE} | ({"datapackage.json": told} if told is not None else {})
    found = wacz(files)
    assert len(found.exchanges) == 1 and "".join(found.notes).startswith(note) and bool(found.notes) == bool(note)


def test_zip_bombs_and_damaged_files(wacz, tmp_path, monkeypatch):
    bomb = {"archive/a.warc": LEFT + bytes(40 << 20), "archive/b.warc.gz": ONE, "datapackage.json": b"{}"}
    found = wacz(bomb, compression=zipfile.ZIP_DEFLATED)
    assert len(found.exchanges) == 1
    assert found.notes == ("'archive/a.warc': its compression ratio is too high for a recording; skipped",)
    with zipfile.ZipFile(tmp_path / "others.wacz", "a") as packed, pytest.warns(UserWarning, match="Duplicate name"):
        packed.writestr("archive/b.warc.gz", TWO)
    assert "'archive/b.warc.gz': it occurs twice; only the first is used, the other is skipped" in read_wacz(
        tmp_path / "others.wacz").notes
    noise = hashlib.shake_128(b"").digest(200_000).hex()
    wacz({"archive/a.warc": LEFT + answers(noise), "datapackage.json": b"{}"}, compression=zipfile.ZIP_DEFLATED)
    content = bytearray((tmp_path / "others.wacz").read_bytes())
    content[150_000:150_100] = bytes(100)
    (tmp_path / "others.wacz").write_bytes(content)
    found = read_wacz(tmp_path / "others.wacz")
    assert [one.url for one in found.exchanges] == [f"{SITE}/left"]
    assert found.notes[0].startswith("archive/a.warc: damaged (")
    monkeypatch.setattr(limits, "ENTRIES", 1)
    with pytest.raises(InputError, match="more than 1 files in it"):
        read_wacz(tmp_path / "others.wacz")


def test_the_limit_of_all_files(wacz, monkeypatch):
    monkeypatch.setattr(limits, "PACKAGE", 4000)
    found = wacz({"archive/a.warc.gz": ONE, "archive/b.warc": LEFT * 40, "datapackage.json": b"{}"})
    assert len(found.exchanges) == 1 and "with it, the WACZ is larger than 3 KiB; skipped" in found.notes[0]


# --- The index


@pytest.mark.parametrize("url, found", [
    ("https://www.Shop.example/A?c=d&b=ä", "example,shop)/a?b=%C3%A4&c=d"),
    ("http://a.example:8080", "example,a:8080)/"),
    ("https://a.example:443/x y", "example,a)/x%20y"), ("http://[", "http://["), ("http://a:99999/", "http://a:99999/")])
def test_keys_of_the_index(url, found):
    assert key(url) == found


MULTIPART = (("Content-Type", "multipart/form-data; boundary=X"),)


@pytest.mark.parametrize("headers, body, query", [
    (FORM, b"a=x+y%2Fz&b=%C3%A4%20", "a=x+y%2Fz&b=ä "), (FORM, b"a=%ff", ""),
    (JSON, b'{"a": [1, 2, {"b": null}], "c": "x y", "d": "", "e": true}', "a=1&a.2_=2&b=null&c=x+y&e=true"),
    (JSON, b"{", ""), ((("Content-Type", "text/plain"),), b"abc", "__wb_post_data=YWJj"),
    ((), b"\0", "__wb_post_data=AA=="),
    (MULTIPART, b'--X\r\nContent-Disposition: form-data; name="k"\r\n\r\nv w\r\n--X--\r\n', "k=v+w"),
    (JSON, b'"' + b"x" * (1 << 16) + b'"', ""), (JSON, b"[" * 50_000, "")])
def test_bodies_in_the_index(headers, body, query):
    assert request_query(headers, body) == query


# --- Anything


WHOLE = asks() + answers() + again() + answers(gzipped(b"it" * 99), headers="Content-Encoding: gzip\r\n")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, len(WHOLE)), st.integers(0, 40), st.binary(max_size=20)), max_size=4),
       st.booleans(), st.integers(0, 2))
def test_nothing_but_a_clear_error(tmp_path, changes, before, packing):
    """Parts of a file are cut out and put in, before or after it is packed."""
    content = WHOLE if before or not packing else gzipped(WHOLE)
    for at, size, put in changes:
        content = content[:at] + put + content[at + size:]
    if packing and before:
        content = gzipped(content)
    path = tmp_path / "fuzzed"
    path.write_bytes(content)
    if packing == 2:
        path.write_bytes(b"")
        with zipfile.ZipFile(path, "w") as packed:
            packed.writestr("archive/a.warc.gz", content)
            packed.writestr("datapackage.json", content[:200])
            packed.writestr("pages/pages.jsonl", content[:200])
    try:
        found = (read_wacz if packing == 2 else read_warc)(path)
    except InputError as error:
        assert str(error).startswith(str(path))
    else:
        assert [one.number for one in found.exchanges] == [*range(1, len(found.exchanges) + 1)]
        assert all(isinstance(one.answer(), bytes | None) and one.method and one.url for one in found.exchanges)
