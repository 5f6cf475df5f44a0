"""Broken and hostile files: each is read, or refused with one line; nothing else may come of it."""

import copy
import gzip
import io
import json
import random
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from demotape.foreign_data import import_item
from pipeline.importing import list_items
from schemas import InputError

_ODD: tuple[Any, ...] = (None, 7, -1, 1e308, "", [], {}, "x" * 3000, True, [[]], {"a": 1}, "\ud800", -0.5,
                         "../../etc/passwd", 10**30)
_TRACE = "trace.trace"


def faults(path: Path, importer: str, folder: Path, seed: int, count: int) -> Iterator[str]:
    """What went wrong with so many changed copies of a file."""
    chance = random.Random(seed)
    change = _changed_folder if path.is_dir() else {
        ".zip": _changed_archive, ".html": _changed_bytes}.get(path.suffix, _changed_json)
    for number in range(count):
        copy_ = folder / f"{number}{path.suffix}"
        change(path, copy_, chance)
        if wrong := _fault(copy_, importer, folder / f"recording-{number}"):
            yield f"{importer}, copy {number}: {wrong}"
        elif copy_.is_dir():
            shutil.rmtree(copy_)
        else:
            copy_.unlink()


def archive_faults(folder: Path) -> Iterator[str]:
    """What went wrong with archives that must be refused."""
    for name, write in _ARCHIVES.items():
        path = folder / f"{name}.zip"
        path.write_bytes(write())
        try:
            listed = list_items(path, "playwright")
            for number, item in enumerate(listed[1] if listed else []):
                import_item("playwright", item, folder / f"{name}-{number}")
        except InputError as error:
            if "\n" in str(error):
                yield f"{name}: more than one line"
        else:
            yield f"{name}: was not refused"


def _fault(path: Path, importer: str, target: Path) -> str:
    try:
        listed = list_items(path, importer)
        for item in (listed[1] if listed else [])[:1]:
            import_item(importer, item, target, for_review=False)
    except InputError as error:
        return "more than one line" if "\n" in str(error) else ""
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:100]}"
    return ""


def _changed_json(path: Path, target: Path, chance: random.Random) -> None:
    target.write_text(json.dumps(_changed(json.loads(path.read_text("utf-8")), chance)))


def _changed_bytes(path: Path, target: Path, chance: random.Random) -> None:
    """A copy with bytes changed, removed and repeated."""
    target.write_bytes(_shaken(path.read_bytes(), chance))


def _changed_folder(path: Path, target: Path, chance: random.Random) -> None:
    """A copy of a folder, bytes of one of its packed files changed."""
    shutil.copytree(path, target)
    changed = chance.choice(sorted(target.glob("step_*.pkl.gz")))
    changed.write_bytes(gzip.compress(_shaken(gzip.decompress(changed.read_bytes()), chance), 1))


def _shaken(content: bytes, chance: random.Random) -> bytes:
    shaken = bytearray(content)
    for _ in range(chance.randint(1, 8)):
        start = chance.randrange(len(shaken))
        end = min(start + chance.randint(1, 12), len(shaken))
        shaken[start:end] = chance.choice((b"", bytes(shaken[start:end]) * 3, chance.randbytes(end - start)))
    return bytes(shaken)


def _changed_archive(path: Path, target: Path, chance: random.Random) -> None:
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(target, "w") as new:
        events = [json.loads(line) for line in old.read(_TRACE).splitlines()]
        number = chance.randrange(len(events))
        events[number] = _changed(events[number], chance)
        new.writestr(_TRACE, "".join(json.dumps(event) + "\n" for event in events))


def _changed(value: Any, chance: random.Random) -> Any:
    """A copy with one or two fields missing, or of an odd value."""
    value = copy.deepcopy(value)
    for _ in range(chance.choice((1, 1, 2))):
        holder, key = chance.choice(list(_places(value)))
        if isinstance(holder, dict) and key in holder or isinstance(holder, list) and key < len(holder):
            if chance.random() < 0.3:
                del holder[key]
            else:
                holder[key] = copy.deepcopy(chance.choice(_ODD))
    return value


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])


def _zipped(entries: dict[str, bytes], packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", packing) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return content.getvalue()


def _encrypted() -> bytes:
    """An archive whose entry says that it is encrypted."""
    content = bytearray(_zipped({_TRACE: b"{}"}, zipfile.ZIP_STORED))
    content[6] |= 1
    content[content.rindex(b"PK\x01\x02") + 8] |= 1
    return bytes(content)


_HEAD = json.dumps({"type": "context-options", "version": 10, "options": {}}).encode() + b"\n"
_ARCHIVES: dict[str, Callable[[], bytes]] = {
    "blown-up": lambda: _zipped({_TRACE: b" " * (64 << 20)}),
    "blown-up-picture": lambda: _zipped({_TRACE: _HEAD, "resources/a": bytes(64 << 20)}),
    "encrypted": _encrypted,
    "bzip2": lambda: _zipped({_TRACE: _HEAD}, zipfile.ZIP_BZIP2),
    "many": lambda: _zipped({_TRACE: _HEAD} | {f"resources/{number}": b"" for number in range(200_001)},
                            zipfile.ZIP_STORED),
    "cut-off": lambda: _zipped({_TRACE: _HEAD})[:-30],
    "long-line": lambda: _zipped({_TRACE: _HEAD + b'{"a": "' + random.Random(1).randbytes(9 << 20).hex().encode()
                                  + b'"}\n'}),
    "no-head": lambda: _zipped({_TRACE: b'{"type": "before"}\n'}),
    "nothing-done": lambda: _zipped({_TRACE: _HEAD}),
    "deep": lambda: _zipped({_TRACE: _HEAD + b'{"a": ' + b"[" * 90_000 + b"]" * 90_000 + b"}\n"}),
}
