"""Multipart forms (RFC 7578) in their parts. Pure functions."""

from dataclasses import dataclass

MAX_PARTS = 1000  # parts
_HEAD = 16384  # bytes of the headers of one
_BOUNDARY = 202  # bytes of a line with a boundary


@dataclass(frozen=True)
class Part:
    """A part of a multipart form."""

    name: str
    filename: str
    content_type: str
    content: bytes


def parts(body: bytes) -> list[Part]:
    """The parts of a multipart form; the boundary is what it begins with."""
    start = body.find(b"--")
    end = body.find(b"\n", start)
    boundary = body[start:end].rstrip(b"\r")
    if start < 0 or not 2 < len(boundary) <= _BOUNDARY:
        return [Part("", "", "", body)]
    pieces = body[end + 1:].split(b"\n" + boundary, MAX_PARTS)
    return [_part(piece.removesuffix(b"\r")) for piece in pieces if piece.strip() not in (b"", b"--")]


def _part(piece: bytes) -> Part:
    """A part: its headers, an empty line, its content."""
    piece = piece.removeprefix(b"\r\n").removeprefix(b"\n")
    head, _, content = piece.partition(b"\r\n\r\n")
    if len(head) > _HEAD:
        return Part("", "", "", piece)
    lines = head.decode("utf-8", "replace").splitlines()
    headers = dict(_lower(line.partition(":")) for line in lines)
    disposition = headers.get("content-disposition", "")
    return Part(_attribute(disposition, "name"), _attribute(disposition, "filename"), headers.get("content-type", ""),
                content)


def _lower(parted: tuple[str, str, str]) -> tuple[str, str]:
    return parted[0].strip().lower(), parted[2].strip()


def _attribute(line: str, name: str) -> str:
    """`name="value"` of a header's line."""
    value = line.partition(f'; {name}="')[2]
    return value.partition('"')[0]
