"""Tasks from a file in UTF-8: CSV with a head, JSON Lines, or a JSON array."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from curator_web.errors import ErrorText, InputError
from schemas.files import read_named
from schemas.text import read_well_formed

from .bank import COLUMNS, columns_of

LARGEST = 50_000_000  # bytes
MAX_TASKS = 20_000  # tasks of one file
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
        raise InputError(ErrorText("%(name)s: not UTF-8", name=name)) from None
    tasks = []
    kinds = {"{": _lines, "[": _entries}
    for where, row in kinds.get(text.lstrip()[:1], _rows)(name, text):
        values = {_ALSO.get(field, field): value for field, value in row.items() if value not in (None, "")}
        try:
            tasks.append(columns_of({field: value for field, value in values.items() if field in COLUMNS}))
        except InputError as error:
            raise InputError(ErrorText("%(name)s: %(where)s, %(error)s", name=name, where=where, error=error)) from None
        if len(tasks) > MAX_TASKS:
            raise InputError(ErrorText("%(name)s: more than %(most)s tasks; split the file",
                                       name=name, most=format(MAX_TASKS, ",")))
    if not tasks:
        raise InputError(ErrorText("%(name)s: contains no task", name=name))
    return tasks


def _lines(name: str, text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield f"line {number}", _object(f"{name}: line {number}", _json(f"{name}: line {number}", line))


def _entries(name: str, text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, entry in enumerate(_json(name, text), 1):
        yield f"entry {number}", _object(f"{name}: entry {number}", entry)


def _json(where: str, text: str) -> Any:
    try:
        return read_well_formed(text.encode())
    except (ValueError, RecursionError):
        raise InputError(ErrorText("%(where)s: not JSON", where=where)) from None


def _object(where: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(ErrorText("%(where)s: not an object", where=where))
    return value


def _rows(name: str, text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    reader = csv.DictReader(io.StringIO(text, newline=""), dialect=_dialect(text))
    try:
        if not {_ALSO.get(field, field) for field in reader.fieldnames or []} & {"text"}:
            raise InputError(ErrorText("%(name)s: line 1: the column text (or task) is missing", name=name))
        for row in reader:
            yield f"line {reader.line_num}", {field: value for field, value in row.items() if isinstance(field, str)}
    except csv.Error as error:
        raise InputError(ErrorText("%(name)s: line %(line_num)s: %(error)s", name=name, line_num=reader.line_num,
                                   error=error)) from None


def _dialect(text: str) -> type[csv.Dialect] | csv.Dialect:
    try:
        return csv.Sniffer().sniff(text.partition("\n")[0], ",;\t")
    except csv.Error:
        return csv.excel
