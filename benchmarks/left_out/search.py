"""Looks for words in every byte of an export, also inside what is compressed or encoded."""

import base64
import gzip
import io
import re
import tarfile
import urllib.parse
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet
import zstandard

_BASE64 = re.compile(rb"[A-Za-z0-9+/]{24,}")
_NESTED = 4  # levels of compression and encoding that are looked into


def words_in(folder: Path, words: tuple[str, ...]) -> dict[str, set[str]]:
    """Which of the words occur in which files, by the file's name."""
    hits: dict[str, set[str]] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            for content in _contents(path.name, path.read_bytes(), 0):
                for word in words:
                    if word.encode() in content:
                        hits.setdefault(str(path.relative_to(folder)), set()).add(word)
    return hits


def _contents(name: str, content: bytes, level: int) -> Iterator[bytes]:
    """The bytes, and what is unpacked from them."""
    yield content
    yield urllib.parse.unquote_to_bytes(content)
    yield content.replace(b"\0", b"")  # UTF-16
    if level == _NESTED:
        return
    for unpacked in _unpack(name, content):
        yield from _contents("", unpacked, level + 1)
    for encoded in _BASE64.findall(content):
        whole = encoded[:-1] if len(encoded) % 4 == 1 else encoded  # no text has such a length
        yield from _contents("", base64.b64decode(whole + b"=" * (-len(whole) % 4)), level + 1)


def _unpack(name: str, content: bytes) -> Iterator[bytes]:
    if name.endswith(".parquet"):
        table = pyarrow.parquet.read_table(io.BytesIO(content))
        yield repr(table.to_pylist()).encode("utf-8", "backslashreplace")
    elif name.endswith(".tar"):
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            for member in archive:
                if (file := archive.extractfile(member)) is not None:
                    yield file.read()
    elif content.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for packed in archive.infolist():
                yield archive.read(packed)
    elif content.startswith(b"\x1f\x8b"):
        yield gzip.decompress(content)
    elif content.startswith(b"\x28\xb5\x2f\xfd"):
        yield zstandard.ZstdDecompressor().stream_reader(content).read()
