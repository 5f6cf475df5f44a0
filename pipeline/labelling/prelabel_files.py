"""Reads a file of pre-labels: JSON Lines, one suggested answer a line."""

import json
from pathlib import Path

from schemas import InputError, types
from schemas.files import read_named, validated
from schemas.formats.scheme import PrelabelSchema

MAX_BYTES = 64 << 20


def read_prelabels(path: Path) -> list[types.Prelabel]:
    """The pre-labels of a file; raises InputError naming the file, and line and field of a mistake."""
    schema, prelabels = PrelabelSchema(), list[types.Prelabel]()
    for number, line in enumerate(read_named(path, MAX_BYTES).splitlines(), 1):
        where = f"{path}, line {number}"
        if not line.strip():
            continue
        try:
            content = json.loads(line)
        except (ValueError, RecursionError):
            raise InputError(f"{where}: not JSON") from None
        prelabels.append(validated(content, schema, where))
    if not prelabels:
        raise InputError(f"{path}: has no pre-labels")
    return prelabels
