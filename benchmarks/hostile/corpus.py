"""Hostile packages by rules, from a seed: what is right but for one thing or a few; and how anything is spoilt.

Values that no rule names come from hypothesis.
"""

import copy
import hashlib
import io
import random
import struct
import warnings
import zipfile
import zlib
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.support.samples.packages import BOX, journal, pack, picture, snapshot

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1,
    2**31,
    2**53,
    2**63,
    2**64,
    -(2**63),
    10**18,
    10**400,
    1e308,
    -1e308,
    5e-324,
    0.1,
    float("inf"),
    float("-inf"),
    float("nan"),
    "",
    " ",
    "\0",
    "\n",
    "x\n",
    "\ud800",
    "\udfff\ud800",
    "é" * 300,
    "x" * 100_000,
    "../../evil",
    "/evil",
    "a/../../b",
    "C:\\evil",
    "0" * 64,
    "0" * 64 + "\n",
    "A" * 64,
    "g" * 64,
    "javascript:alert(1)",
    "<script>alert(1)</script>",
    "{{7*7}}",
    "%s%n",
    "' OR 1=1 --",
    "9" * 5000,
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59-14:00",
    "2025-13-40T99:99",
    [],
    {},
    [[]],
    [None],
    [{}],
    {"": ""},
    {"a": {"a": {"a": {}}}},
    [1] * 1000,
    {"x": "y" * 10_000},
    "\u202e\u2066",
    "\ufeff",
    "1e999",
)


LARGE = 0.03  # of the packages and pages are nearly as large as they may be


def deep(levels: int, unit: str = "[") -> str:
    """JSON that nests so deep; not closed."""
    return unit * levels


def drawn(strategy: st.SearchStrategy[Any], seeded: int, count: int) -> list[Any]:
    """So many examples of a strategy, the same for the same seed."""
    found: list[Any] = []

    @seed(seeded)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def take(value: Any) -> None:
        found.append(value)

    take()
    return found


def spoilt(random_: random.Random, value: Any, values: list[Any], times: int = 1) -> Any:
    """JSON with a few places changed: another value, a field too much or too few, twice, or of another type."""
    value = copy.deepcopy(value)
    for _ in range(times):
        parent, key = _place(random_, value)
        if parent is None:
            return _any(random_, values)
        way = random_.random()
        if way < 0.7:
            parent[key] = _any(random_, values)
        elif way < 0.85:
            del parent[key]
        elif isinstance(parent, dict):
            parent[str(random_.choice(("extra", "__proto__", "", "id", "version", "n")))] = random_.choice(
                (*VALUES, *values)
            )
        else:
            parent.extend(parent[key : key + 1] * random_.choice((1, 3)))
    return value


def _any(random_: random.Random, values: list[Any]) -> Any:
    """A value of its own: it may be spoilt next."""
    return copy.deepcopy(random_.choice((*VALUES, *values)))


def _place(random_: random.Random, value: Any) -> tuple[Any, Any]:
    places = [
        (parent, key)
        for parent in _containers(value)
        for key in (parent if isinstance(parent, dict) else range(len(parent)))
    ]
    return random_.choice(places) if places else (None, None)


def _containers(value: Any) -> list[Any]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    found = [container for each in inner for container in _containers(each)]
    return [value, *found] if isinstance(value, dict | list) else found


def package(random_: random.Random, values: list[Any], path: Path, number: int) -> Path:
    """One package."""
    lines = journal()
    lines[0]["id"] = name = f"hostile-{number}"
    blobs = [picture()]
    rule = random_.choice(("archive", "journal", "journal", "journal", "lines", "manifest", "blob", "chunks", "text"))
    if random_.random() < LARGE:
        rule = "large"
    manifest: dict[str, Any] = {"id": name}
    if rule == "journal":
        line = random_.randrange(len(lines))
        lines[line] = spoilt(random_, lines[line], values, random_.randint(1, 3))
    elif rule == "lines":
        random_.shuffle(lines) if random_.random() < 0.3 else lines.insert(
            random_.randrange(len(lines)), random_.choice(lines)
        )
    elif rule == "manifest":
        manifest |= {
            random_.choice(
                ("id", "task", "started_at", "lines", "files", "version", "ended", "format", "x")
            ): random_.choice((*VALUES, *values))
        }
    elif rule == "blob":
        blobs = [image(random_)]
        next(line for line in lines if line["kind"] == "picture")["blob"] = hashlib.sha256(blobs[0]).hexdigest()
    elif rule == "large":
        blobs = _enlarged(random_, lines)
    elif rule == "chunks":
        lines[3]["message"]["snapshot"] = _chunks(random_)
    elif rule == "text":
        lines[3]["message"]["snapshot"]["chunks"][0][1] = random_.choice(
            (
                "<" * 50_000,
                "\x01" * 999,
                "\x030+9\x03<a><b>\x03",
                "\0",
                "<a>" * 20_000,
                "&" * 9999,
                "<p data-demotape-uid=",
                "eyJa." * 9_000,
            )
        )
    try:
        pack(path, [line if isinstance(line, dict) else {"odd": line} for line in lines], blobs, **manifest)
    except (ValueError, TypeError, UnicodeError):
        pack(path, journal(), blobs, id=name)
    return _archive(random_, path) if rule == "archive" else path


def _enlarged(random_: random.Random, lines: list[dict[str, Any]]) -> list[bytes]:
    """Make a journal nearly as large as it may be, in one way; returns its blobs."""
    shown = lines[3]["message"]["snapshot"]
    way = random_.randint(0, 5)
    if way == 0:
        unit = random_.choice(("<a>", "<p>x", "x", "<b><i>", "&lt;", "<style>", "<!--", "a@b.example "))
        shown["chunks"][0][1] = '<html data-demotape-uid="i-1">' + unit * (
            random_.choice((1, 8)) * 1_000_000 // len(unit)
        )
    elif way == 1:
        shown["rows"] = [[number, shown["rows"][0][1] | {"uid": f"i-{number}"}] for number in range(40_000)]
    elif way == 2:
        lines[6:6] = [lines[6]] * 30_000
    elif way == 3:
        lines[5:5] = [lines[4]] * 5_000
    elif way == 4:
        unit = random_.choice(("@import ", "a{", "url(", "*{color:red}", "x"))
        shown["chunks"][0][1] = f"<html data-demotape-uid=i-1><style>{unit * (2_000_000 // len(unit))}</style>"
    else:
        blob = cv2.imencode(".png", np.full((random_.choice((5_000, 700)), 6_000, 3), 9, np.uint8))[1].tobytes()
        next(line for line in lines if line["kind"] == "picture")["blob"] = hashlib.sha256(blob).hexdigest()
        return [blob]
    return [picture()]


def _chunks(random_: random.Random) -> dict[str, Any]:
    way, base = random_.randint(0, 4), snapshot()
    size = random_.choice((5, 30, 300))
    if way == 0:  # each holds the one before twice
        base |= {"chunks": [[0, "<a>"], *([n, f"\x01{n - 1}\x01" * 2] for n in range(1, size))], "root": size - 1}
    elif way == 1:  # one in itself
        base |= {"chunks": [[0, "\x010\x01"]], "root": 0}
    elif way == 2:
        base |= {"chunks": [[n, f"\x02{n - 1}\x02" if n else "<&>" * 50] for n in range(size)], "root": size - 1}
    elif way == 3:
        base |= {"chunks": [[random_.choice((0, -1, 2**60)), "x"]] * size, "root": 0}
    else:
        base |= {
            "frames": [{"index": n, "uid": "i-4", "path": [], **BOX, "scaleX": 1e9, "scaleY": 1e9} for n in range(size)]
        }
    return base


def image(random_: random.Random) -> bytes:
    """Bytes that say they are a picture, mostly of enormous size."""
    side = random_.choice((0, 1, 5000, 12_000, 65_535, 2**31 - 1, 2**32 - 1))
    other = random_.choice((0, 1, side))
    head = struct.pack(">IIBBBBB", side, other, random_.choice((1, 8, 16)), random_.choice((0, 2, 3, 6)), 0, 0, 0)
    chunk = struct.pack(">I", 13) + b"IHDR" + head + struct.pack(">I", zlib.crc32(b"IHDR" + head))
    content = zlib.compress(bytes(random_.choice((10, 2_000_000))))
    data = struct.pack(">I", len(content)) + b"IDAT" + content + struct.pack(">I", zlib.crc32(b"IDAT" + content))
    made = random_.choice(
        (
            b"\x89PNG\r\n\x1a\n" + chunk + data,
            b"\x89PNG\r\n\x1a\n" + chunk,
            struct.pack(
                "<2sIIIIiiHHIIiiII",
                b"BM",
                70,
                0,
                54,
                40,
                min(side, 2**31 - 1),
                min(other, 2**31 - 1),
                1,
                random_.choice((1, 4, 8, 24, 32)),
                random_.choice((0, 1, 2)),
                0,
                0,
                0,
                0,
                0,
            )
            + bytes(200),
            b"\xff\xd8\xff\xe0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0\xff\xc0\0\x11\x08"
            + struct.pack(">HH", side & 65535, other & 65535)
            + bytes(64),
            b"RIFF"
            + struct.pack("<I", 30)
            + b"WEBPVP8X\x0a\0\0\0\0\0\0\0"
            + (side & 0xFFFFFF).to_bytes(3, "little") * 2
            + bytes(20),
            picture()[: random_.randrange(400)],
            b"BM",
            b"",
            random_.randbytes(300),
        )
    )
    return made


def _archive(random_: random.Random, path: Path) -> Path:
    """A package that is wrong as a zip file."""
    content, way = path.read_bytes(), random_.randint(0, 8)
    if way == 0:
        content = content[: random_.randrange(len(content))]
    elif way == 1:
        changed = bytearray(content)
        for _ in range(random_.choice((1, 5, 50))):
            changed[random_.randrange(len(changed))] = random_.randrange(256)
        content = bytes(changed)
    elif way == 2:
        content = random_.randbytes(random_.choice((0, 4, 100))) + content
    else:
        buffer = io.BytesIO()
        packing = random_.choice((zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA, zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED))
        with (
            warnings.catch_warnings(action="ignore"),
            zipfile.ZipFile(path) as source,
            zipfile.ZipFile(buffer, "w", packing) as archive,
        ):
            for name in source.namelist():
                bomb = way == 3 and random_.random() < 0.5
                archive.writestr(name, bytes(random_.choice((1, 30)) << 20) if bomb else source.read(name))
            if way in (4, 5):
                entry = zipfile.ZipInfo(
                    random_.choice(
                        ("../../evil", "/tmp/evil", "blobs/../evil", "manifest.json", "a\\..\\evil", "x" * 9000)
                    )
                )
                entry.external_attr = random_.choice((0, 0o120777 << 16, 0o40777 << 16))
                archive.writestr(entry, "/etc/passwd")
            for number in range(random_.choice((0, 3000)) if way == 6 else 0):
                archive.writestr(f"blobs/{number:064x}", b"")
        content = buffer.getvalue()
        if way == 7:
            content = content.replace(b"PK\x01\x02", b"PK\x01\x02" + b"\xff" * 2, 1)
    path.write_bytes(b"PK\x03\x04" + content[4:])
    return path
