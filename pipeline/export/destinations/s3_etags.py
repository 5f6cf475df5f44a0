"""Division of an object into parts, and its ETag in S3."""

import hashlib
from collections.abc import Iterator
from itertools import count
from typing import IO, Any

PART = 8 << 20  # bytes
PARTS_OF_A_SIZE = 1_000  # then twice as large ones: the 10,000 parts that S3 allows hold more than an object may have
MARK = "demotape"  # metadata of every object that an export made


def part_size(index: int) -> int:
    """Bytes of the part of that index, from 0, of a large object; the last is smaller."""
    return PART << index // PARTS_OF_A_SIZE


def pieces(raw: IO[bytes]) -> Iterator[bytes]:
    """A large object's parts, from where the file stands."""
    for index in count():
        if not (part := raw.read(part_size(index))):
            return
        yield part


def has_etag(raw: IO[bytes], etag: str) -> bool:
    """Whether an object of this content has that ETag: its MD5, or the MD5 of its parts' MD5s and their number."""
    raw.seek(0)
    if "-" in etag:
        return etag == etag_of_parts([md5(part) for part in pieces(raw)])
    total = md5()
    while part := raw.read(1 << 20):
        total.update(part)
    return etag == total.hexdigest()


def etag_of_parts(parts: list) -> str:
    """The ETag of an object that was sent in parts, from the parts' MD5s."""
    return f"{md5(b''.join(part.digest() for part in parts)).hexdigest()}-{len(parts)}"


def md5(content: bytes = b""):
    """An MD5 to compare with, not for security."""
    return hashlib.md5(content, usedforsecurity=False)


def is_encrypted(answer: dict[str, Any]) -> bool:
    """Whether the ETag in an answer is no hash of the content."""
    return str(answer.get("ServerSideEncryption", "")).startswith("aws:kms") or "SSECustomerAlgorithm" in answer
