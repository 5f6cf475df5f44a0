"""Tasks from a file: JSON Lines, one object a line, or CSV with a head; of both, UTF-8."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from curator_web.errors import InputError
from schemas.files import read_named
from schemas.text import read_well_formed

from .bank import COLUMNS, TaskSchema

LARGEST = 50_000_000  # bytes
MOST = 20_000  # tasks of one file
_ALSO = {"task": "text", "confirmed_task": "text", "ques": "text", "web": "url", "website": "site",
         "start_url": "url", "domain": "category", "intent": "text"}  # as Mind2Web, WebVoyager, WebArena call them


def read(path: Path) -> list[dict[str, Any]]:
    """The tasks of a file; raises InputError, which names the line and the field."""
    return parse(str(path), read_named(path, LARGEST))


def parse(name: str, content: bytes) -> list[dict[str, Any]]:
    """The tasks (TaskSchema) of a file of that name; what it tells besides is left out. Raises InputError."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{name}: this is not UTF-8") from None
    found = []
    for line, row in _lines(name, text) if text.lstrip()[:1] == "{" else _rows(name, text):
        told = {_ALSO.get(field, field): value for field, value in row.items() if value not in (None, "")}
        known = {field: value for field, value in told.items() if field in COLUMNS}
        if errors := TaskSchema().validate(known):
            field, reasons = next(iter(errors.items()))
            raise InputError(f"{name}: line {line}, field {field}: {reasons[0]}")
        found.append(known)
        if len(found) > MOST:
            raise InputError(f"{name}: more than {MOST:,} tasks; split the file")
    if not found:
        raise InputError(f"{name}: there is no task in it")
    return found


def _lines(name: str, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = read_well_formed(line.encode())
        except (ValueError, RecursionError):
            raise InputError(f"{name}: line {number}: this is no JSON") from None
        if not isinstance(row, dict):
            raise InputError(f"{name}: line {number}: this is no object")
        yield number, row


def _rows(name: str, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    reader = csv.DictReader(io.StringIO(text, newline=""), dialect=_dialect(text))
    try:
        if not {_ALSO.get(field, field) for field in reader.fieldnames or []} & {"text"}:
            raise InputError(f"{name}: line 1: no column is called text (or task)")
        for row in reader:
            yield reader.line_num, {field: value for field, value in row.items() if isinstance(field, str)}
    except csv.Error as error:
        raise InputError(f"{name}: line {reader.line_num}: {error}") from None


def _dialect(text: str) -> type[csv.Dialect] | csv.Dialect:
    try:
        return csv.Sniffer().sniff(text.partition("\n")[0], ",;\t")
    except csv.Error:
        return csv.excel
