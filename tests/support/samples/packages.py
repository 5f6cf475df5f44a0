"""A small, manually written package in the extension's format, for tests of its readers."""

import hashlib
import io
import json
import zipfile
from pathlib import Path

import cv2
import numpy as np

from schemas import VERSIONS

START = 1_700_000_000.0
BOX = {"x": 0.0, "y": 0.0, "width": 800.0, "height": 600.0}
TARGET = {"uid": "i-4", "tag": "button", "role": "button", "name": "Go", "text": "Go", "attributes": {"id": "go"},
          "xpath": "/html/body/button", "css": "#go", "frame": [], "bbox": {"x": 8, "y": 8, "width": 40, "height": 20}}


def picture(shade: int = 200) -> bytes:
    """A PNG of one grey."""
    return cv2.imencode(".png", np.full((600, 800, 3), shade, np.uint8))[1].tobytes()


def snapshot(number: int = 0) -> dict:
    """What a page of one frame group shows, whole."""
    text = '<html data-demotape-uid="i-1"><button data-demotape-uid="i-4">Go</button></html>'
    row = {"uid": "i-4", "tag": "button", "role": "button", "name": "Go", "frame": [], "bbox": TARGET["bbox"],
           "visible": True, "clickable": True}
    return {"frame_group": "i", "root": number, "chunks": [[number, text]], "rows": [[number + 1, row]], "frames": [],
            "secrets": [], "url": "https://shop.example/", "title": "Shop", "viewport": {"width": 800, "height": 600},
            "device_pixel_ratio": 1, "animations": 0, "scroll": {"x": 0, "y": 0}}


def message(number: int, kind: str, at: float, *, gesture: str | None = None, **fields) -> dict:
    """What a capture script tells, so many seconds after the start."""
    data = {"x": 20, "y": 16, "button": 0, "modifiers": []}
    return {"id": f"i:{number}", "type": kind, "time": (START + at) * 1000, "gesture": gesture, "path": [],
            "target": TARGET, "data": data, "snapshot": None} | fields


def journal() -> list[dict]:
    """A click on a button, with its picture; lines without their numbers."""
    sha256 = hashlib.sha256(picture()).hexdigest()
    page = {"kind": "page", "tab": 1, "frame": 0, "document": "D1"}
    return [
        {"kind": "begin", "at": START, "id": "pack-1", "task": "Go", "started_at": START, "user_agent": "Test",
         "browser": "Chromium 1", "version": "1"},
        {"kind": "tab", "at": START, "tab": 1, "opener": None, "url": "https://shop.example/"},
        {"kind": "navigate", "at": START + .5, "tab": 1, "url": "https://shop.example/", "transition": "typed",
         "started": START + .4, "committed": START + .45, "document": "D1", "same_document": False},
        page | {"at": START + 1, "sent": START + 1, "message": message(1, "pointerdown", 1, snapshot=snapshot())},
        page | {"at": START + 1.1, "sent": START + 1.1, "message": message(2, "click", 1.1, gesture="i:1", data={
            "x": 20, "y": 16, "button": 0, "modifiers": [], "detail": 1})},
        {"kind": "picture", "at": START + 1.3, "tab": 1, "event": 4, "time": START + .9, "still": False,
         "blob": sha256},
        {"kind": "chat", "at": START + 2, "speaker": "instructor", "utterance": "Well done"},
        {"kind": "end", "at": START + 3},
    ]


def pack(path: Path, lines: list[dict] | None = None, blobs: list[bytes] | None = None, **manifest) -> Path:
    """Write a package; `manifest` changes fields of its manifest."""
    lines = journal() if lines is None else lines
    text = "".join(json.dumps({"n": number} | line) + "\n" for number, line in enumerate(lines, 1)).encode()
    files = {"journal.jsonl": text} | {f"blobs/{hashlib.sha256(blob).hexdigest()}": blob
                                       for blob in ([picture()] if blobs is None else blobs)}
    listed = [{"name": name, "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
              for name, content in files.items()]
    told = {"format": "demotape/package", "version": VERSIONS["demotape/package"], "id": "pack-1",
            "task": "Go", "started_at": START,
            "ended": True, "lines": len(lines), "files": listed} | manifest
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
        archive.writestr("manifest.json", json.dumps(told))
    return path


def rewritten(path: Path, change) -> Path:
    """The same package after `change(entries)`; entries are content by name."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    change(entries)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    path.write_bytes(buffer.getvalue())
    return path
