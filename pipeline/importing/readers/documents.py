"""Demonstrations that are JSON documents: a file each, or a line each."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pipeline.importing.contract import Item
from pipeline.importing.sources import explained, head, objects_from, parse_json, read_content
from schemas import InputError

from .own_exports import layout_of

MAX_DOCUMENT_BYTES = 128 << 20
_PATTERNS = ("*.json", "*/*.json", "*.jsonl", "*/*.jsonl")


def files_in(path: Path, mark: bytes) -> list[Path]:
    """The file itself, or the files in the folder that have a mark near their beginning."""
    if path.is_file():
        return [path]
    return sorted({file for pattern in _PATTERNS for file in path.glob(pattern) if mark in head(file)})


def document_items(path: Path, mark: bytes, is_kind: Callable[[dict[str, Any]], bool], names: Sequence[str]
                   ) -> Iterator[Item]:
    """The documents of a kind in a file or folder. `names`: fields with their ids, the first that is there counts."""
    root = path if path.is_dir() else path.parent
    for file in files_in(path, mark):
        for start, document in _documents(file):
            if not is_kind(document):
                raise InputError(f"{file}: byte {start}: a document of another kind")
            with explained(f"{file}: byte {start}", "a document with an id"):
                name = next((str(document[field]) for field in names if document.get(field) not in (None, "")), "")
                yield Item(path, name or f"{file.stem}-{start}", (file.relative_to(root).as_posix(), start))


def read_item(item: Item) -> tuple[str, dict[str, Any], list[Path]]:
    """Where an item is, its document, and the folders that paths in it may be relative to."""
    root = item.path if item.path.is_dir() else item.path.parent
    name, start = item.position
    file = root / name
    document = next(document for begin, document in _documents(file, start) if begin == start)
    folders = [file.parent, root]
    if layout_of(file.parent.parent):  # in an export of ours paths are relative to it
        folders.append(file.parent.parent)
    return f"{file}: byte {start}" if start else str(file), document, list(dict.fromkeys(folders))


def _documents(file: Path, start: int = 0) -> Iterator[tuple[int, dict[str, Any]]]:
    if file.suffix == ".jsonl":
        yield from objects_from(file, start)
        return
    document = parse_json(read_content(file, MAX_DOCUMENT_BYTES), str(file))
    if not isinstance(document, dict):
        raise InputError(f"{file}: not a JSON object")
    yield 0, document
