"""Files of JSON Lines whose lines belong to demonstrations: where the lines of each are."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipeline.importing.contract import Item
from pipeline.importing.sources import explained, first_object, lines_from, objects_from, parse_json
from schemas import InputError


def line_files(path: Path) -> list[Path]:
    """The file itself, or the `.jsonl` files in the folder."""
    return [path] if path.is_file() else sorted(path.glob("*.jsonl")) if path.is_dir() else []


def has_fields(path: Path, *fields: str) -> bool:
    """Whether the first line of a file, or of the first file in a folder, has all of these fields."""
    file = next(iter(line_files(path)), None)
    return file is not None and first_object(file).keys() >= set(fields)


def grouped_lines(path: Path, field: str) -> Iterator[Item]:
    """Items whose lines have the same text in a field; positions are file and first byte of each line, in order."""
    lines: dict[str, list[tuple[str, int]]] = {}
    for file in line_files(path):
        for start, row in objects_from(file):
            with explained(f"{file}: the line at byte {start}", f"a line with {field}"):
                lines.setdefault(str(row[field]), []).append((file.name, start))
    for name, places in lines.items():
        yield Item(path, name, tuple(places))


def lines_of(item: Item) -> Iterator[tuple[str, dict[str, Any]]]:
    """The lines of an item, each with where it is."""
    root = item.path if item.path.is_dir() else item.path.parent
    for name, start in item.position:
        where = f"{root / name}: the line at byte {start}"
        value = parse_json(next(lines_from(root / name, start, root))[1], where)
        if not isinstance(value, dict):
            raise InputError(f"{where}: not a JSON object")
        yield where, value


def root_of(item: Item) -> Path:
    """The folder that paths in an item's lines are relative to."""
    return item.path if item.path.is_dir() else item.path.parent
