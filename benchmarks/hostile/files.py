"""Hostile recordings and demonstrations in WebLINX's layout, from ones that are right: files, links, bytes, bombs."""

import json
import os
import random
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import zstandard

from tests.support.samples.packages import BOX

from .corpus import deep, image, spoilt


def recording(random_: random.Random, values: list[Any], base: Path, path: Path, outside: Path) -> Path:
    """One recording's folder, from one that is right."""
    shutil.copytree(base, path)
    for _ in range(random_.randint(1, 2)):
        name = random_.choice(
            (
                "recording.json",
                "events.jsonl",
                "events.jsonl",
                "demonstration.json",
                "chat.jsonl",
                "resources.jsonl",
                "processed.json",
                "video.webm",
                "network.har",
                "console.jsonl",
                "blob",
                "blob",
            )
        )
        blobs = sorted((path / "blobs").glob("*/*"))
        file = random_.choice(blobs) if name == "blob" and blobs else path / name
        random_.choice(
            (_odd_file, _odd_json, _odd_json, _odd_json, _odd_bytes)
            if name != "blob"
            else (_odd_file, _odd_bytes, _bomb)
        )(random_, values, file, outside)
    return path


def _odd_file(random_: random.Random, _: list[Any], file: Path, outside: Path) -> None:
    if file.is_dir() and not file.is_symlink():  # made so before
        return
    file.unlink(missing_ok=True)
    way: Callable[[], Any] = random_.choice(
        (
            lambda: os.mkfifo(file),
            lambda: file.symlink_to("/dev/zero"),
            lambda: file.symlink_to(outside / "private"),
            lambda: file.symlink_to(file.name),
            lambda: file.mkdir(),
            lambda: file.symlink_to(outside),
            lambda: None,
        )
    )
    way()


def _odd_json(random_: random.Random, values: list[Any], file: Path, _: Path) -> None:
    if not file.is_file() or file.is_symlink():
        return
    try:
        lines = (
            [json.loads(line) for line in file.read_text("utf-8").splitlines()]
            if file.suffix == ".jsonl"
            else [json.loads(file.read_text("utf-8"))]
        )
    except (ValueError, RecursionError):  # it was spoilt before
        return
    at = random_.randrange(len(lines)) if lines else 0
    lines[at : at + 1] = [spoilt(random_, lines[at] if lines else {}, values, random_.randint(1, 3))]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))


def _odd_bytes(random_: random.Random, _: list[Any], file: Path, __: Path) -> None:
    if file.is_symlink() or (file.exists() and not file.is_file()):
        return
    content = file.read_bytes() if file.exists() else b""
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(
        random_.choice(
            (
                b"",
                content[: len(content) // 2],
                content + b"\xff",
                random_.randbytes(500),
                deep(60_000).encode(),
                b"9" * 6000,
                b'{"a":' * 30_000,
                b"\0" * 3_000_000,
                b"\n" * 100_000,
                content.replace(b"1", b"9" * 400),
                b"\xef\xbb\xbf" + content,
            )
        )
    )


def _bomb(random_: random.Random, _: list[Any], file: Path, __: Path) -> None:
    if file.is_symlink() or not file.is_file():
        return
    compressor = zstandard.ZstdCompressor(write_content_size=random_.random() < 0.5)
    file.write_bytes(
        random_.choice(
            (
                compressor.compress(bytes(random_.choice((1, 200)) << 20)),
                b"\x28\xb5\x2f\xfd\xe0" + b"\xff" * 7 + bytes(9),
                struct.pack("<II", 0x184D2A50, 32) + random_.randbytes(32) + compressor.compress(b"x"),
                struct.pack("<II", 0x184D2A52, 2**32 - 1) + compressor.compress(b"x"),
                struct.pack("<II", 0x184D2A52, 0) + compressor.compress(image(random_)),
            )
        )
    )


def weblinx(random_: random.Random, values: list[Any], path: Path, outside: Path) -> Path:
    """One demonstration in WebLINX's layout."""
    path.mkdir()
    turn = {
        "type": "browser",
        "timestamp": 1.0,
        "state": {"page": "page-1-0.html", "screenshot": "screenshot-1-0.png", "screenshot_status": "good"},
        "action": {
            "intent": "click",
            "arguments": {
                "properties": {"clientX": 1, "clientY": 2, "button": 0},
                "metadata": {
                    "viewportWidth": 800,
                    "viewportHeight": 600,
                    "zoomLevel": 1,
                    "tabId": 1,
                    "url": "https://a.example/",
                },
                "element": {
                    "attributes": {"data-webtasks-id": "a"},
                    "tagName": "A",
                    "bbox": {"x": 0, "y": 0, "width": 1, "height": 1},
                },
            },
        },
    }
    chat = {"type": "chat", "timestamp": 0.5, "speaker": "instructor", "utterance": "Go"}
    files: dict[str, Any] = {
        "replay.json": {"data": [chat, turn], "created": 1_700_000_000},
        "metadata.json": {"recordingStart": 1_700_000_000_000},
        "form.json": {"description": "Go", "tasks": ["Go"]},
    }
    name = random_.choice(list(files))
    files[name] = spoilt(random_, files[name], values, random_.randint(1, 3))
    for each, content in files.items():
        (path / each).write_text(json.dumps(content))
    for room, file, content in (
        ("pages", "page-1-0.html", b"<a data-webtasks-id=a>x</a>"),
        ("screenshots", "screenshot-1-0.png", image(random_)),
        ("bboxes", "bboxes-1.json", json.dumps(spoilt(random_, {"a": BOX}, values)).encode()),
    ):
        (path / room).mkdir()
        (path / room / file).write_bytes(content)
        if random_.random() < 0.1:
            _odd_file(random_, values, path / room / file, outside)
    return path
