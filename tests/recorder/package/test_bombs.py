"""Small inputs that would become large ones: refused with one sentence, in little time and memory."""

import random
import shutil
import struct
import zipfile
from contextlib import suppress
from time import process_time

import pytest
import zstandard

from recorder import Recording, blobs
from recorder.package.receiving import receive
from schemas import InputError, limits
from schemas.files import read_lines
from schemas.formats.recording import EventSchema
from tests.support.samples.packages import START, journal, message, pack, snapshot


def repacked(path, packing):
    """The package with its journal packed in another way."""
    with zipfile.ZipFile(path) as package:
        entries = {name: package.read(name) for name in package.namelist()}
    with zipfile.ZipFile(path, "w") as package:
        for name, content in entries.items():
            package.writestr(name, content, packing if name == "journal.jsonl" else zipfile.ZIP_DEFLATED)
    return path


@pytest.mark.parametrize("packing", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_member_of_which_no_part_can_be_unpacked_is_refused(tmp_path, packing):
    with pytest.raises(InputError, match=r"'journal.jsonl': compressed with a method that the extension does not use"):
        receive(repacked(pack(tmp_path / "p.zip"), packing), tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_many_entries_and_an_odd_one_are_told_apart_at_once(tmp_path):
    path = pack(tmp_path / "p.zip")
    with zipfile.ZipFile(path, "a") as package:
        for number in range(20_000):
            package.writestr(f"odd/{number}", b"")
    start = process_time()
    with pytest.raises(InputError, match=r"'odd/0' is not a file of a package"):
        receive(path, tmp_path / "new")
    assert process_time() - start < 5


def test_a_damaged_member_is_one_clear_error(tmp_path):
    path = pack(tmp_path / "p.zip")
    content = bytearray(path.read_bytes())
    content[40:60] = bytes(20)  # of the journal's deflated text
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"p\.zip: .*cannot be read"):
        receive(path, tmp_path / "new")


def test_a_package_that_is_damaged_anywhere_is_one_clear_error(tmp_path):
    content = pack(tmp_path / "p.zip").read_bytes()
    chance = random.Random(18)
    for _ in range(400):
        damaged = bytearray(content)
        at = chance.randrange(len(damaged))
        damaged[at:at + chance.choice((1, 4, 40))] = chance.randbytes(chance.choice((0, 1, 4, 40)))
        (tmp_path / "p.zip").write_bytes(damaged)
        with suppress(InputError):
            receive(tmp_path / "p.zip", tmp_path / "new")
        shutil.rmtree(tmp_path / "new", ignore_errors=True)


def told_in(*snapshots):
    """A journal in which a page is told so often."""
    lines = journal()
    page = {"kind": "page", "tab": 1, "frame": 0, "document": "D1"}
    told = [page | {"at": START + 1 + number / 10, "sent": START + 1 + number / 10,
                    "message": message(number + 1, "pointerdown", 1 + number / 10, snapshot=each)}
            for number, each in enumerate(snapshots)]
    return [*lines[:3], *told, lines[-1]]


def test_pieces_that_are_told_again_cannot_blow_up_those_that_hold_them(tmp_path):
    first = snapshot()
    many = "\x011\x01" * 1000
    first |= {"root": 3, "chunks": [[1, "a"], [2, many], [3, "\x012\x01" * 1000]]}
    for again in ([1, "b" * 100_000], [1, "\x013\x01"]):
        lines = told_in(first, snapshot() | {"root": 3, "rows": [1], "chunks": [again]})
        start = process_time()
        problems = receive(pack(tmp_path / "p.zip", lines, []), tmp_path / f"new{len(again[1])}")
        assert any("sent twice" in problem for problem in problems)
        assert process_time() - start < 5


@pytest.mark.parametrize("size", [limits.BLOB + 1, 1 << 45])
def test_a_blob_that_says_to_be_larger_than_any_is_not_unpacked(size):
    frame = struct.pack("<IBQ", 0xFD2FB528, 0xE0, size) + zstandard.ZstdCompressor().compress(b"a" * 100)[6:]
    with pytest.raises(zstandard.ZstdError, match="larger than 128 MiB"):
        blobs.decompress(frame, lambda _: blobs.Form(b"", False))


def test_a_line_longer_than_any_is_not_read(tmp_path):
    path = tmp_path / "events.jsonl"
    with path.open("wb") as file:
        file.truncate(limits.LINE + 10)
    with pytest.raises(InputError, match=r"events.jsonl, line 1: longer than 16 MiB"):
        list(read_lines(path, EventSchema(), 1))


def test_a_blob_of_a_recording_is_refused_by_name(tmp_path):
    receive(pack(tmp_path / "p.zip"), tmp_path / "new")
    recording = Recording(tmp_path / "new")
    sha256 = next(event["state"]["dom"] for event in recording.events if event["state"] and event["state"]["dom"])
    recording.layout.blob(sha256).write_bytes(struct.pack("<IBQ", 0xFD2FB528, 0xE0, 1 << 40) + b"\0" * 20)
    with pytest.raises(InputError, match="blob cannot be read"):
        recording.blob(sha256)
