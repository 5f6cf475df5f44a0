"""Reading and writing JSON files so that they are whole or absent, and errors name file, line and field."""

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from marshmallow import Schema, ValidationError

from . import limits
from .errors import InputError
from .parts import Strict
from .upgrade import upgrade, version_of


def write_atomically(path: Path, content: bytes, *, sync: bool = True) -> None:
    """Write under a temporary name in the same folder, sync, rename: the file is whole or absent, also after a kill.

    Without `sync` it may be damaged after a crash of the machine: only for what can be made again.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".tmp-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def dump_json(value: Any) -> bytes:
    """JSON for people and tools alike: indented, ASCII, keys in the order given."""
    return (json.dumps(value, indent=1, ensure_ascii=True, allow_nan=False) + "\n").encode()


def dump_line(value: Any) -> bytes:
    """One line of a .jsonl file."""
    return (json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False) + "\n").encode()


def read_json(path: Path, schema: Strict) -> Any:
    """Load a JSON file and check it; raises InputError naming the file and the first field that is wrong."""
    return read_versioned(path, schema)[0]


def read_versioned(path: Path, schema: Strict) -> tuple[Any, int]:
    """As `read_json`, with the version that the file is of: lines beside it are of that version too."""
    try:
        with path.open("rb") as file:
            content = file.read(limits.JSON + 1)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    if len(content) > limits.JSON:
        raise InputError(f"{path}: larger than {limits.size(limits.JSON)}")
    return parse(content, schema, str(path))


def parse(content: bytes, schema: Strict, where: str) -> tuple[Any, int]:
    """A JSON file's content as the newest version has it, checked, and the version that it is of."""
    read = _json(content, where)
    if not schema.piece:  # what people write by hand has no version
        return validated(read, schema, where), 1
    version = version_of(read, schema.piece, where)
    return validated(upgrade(read, schema.piece, version, where), schema, where), version


def parse_line(line: bytes, piece: str, version: int, where: str) -> Any:
    """One line of a .jsonl file as the newest version has it, yet to be checked."""
    return upgrade(_json(line, where), piece, version, where)


def _json(content: bytes, where: str) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not JSON ({error})") from None


def read_lines(path: Path, schema: Strict, version: int) -> Iterator[Any]:
    """Load a .jsonl file of some version line by line and check each.

    A last line without a line feed was cut off by a kill and is not yielded. Raises InputError naming the line.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(iter(lambda: file.readline(limits.LINE + 1), b""), 1):
                where = f"{path}, line {number}"
                if len(line) > limits.LINE:
                    raise InputError(f"{where}: longer than {limits.size(limits.LINE)}")
                if not line.endswith(b"\n"):
                    return
                yield validated(parse_line(line, schema.piece, version, where), schema, where)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None


def validated(content: Any, schema: Schema, where: str) -> Any:
    """Validate by a schema; raises InputError with `where` and the first field that is wrong.

    What comes back, here and from all that read, has the schema's type in `schemas.types`.
    """
    try:
        return schema.load(content)
    except ValidationError as error:
        field, reason = first_error(error.messages)
        raise InputError(f"{where}: field {field}: {reason}" if field else f"{where}: {reason}") from None


def first_error(messages: Any, path: str = "") -> tuple[str, str]:
    """The first message in marshmallow's nested errors, with the dotted path of its field."""
    if isinstance(messages, dict):
        key, inner = next(iter(messages.items()))
        return first_error(inner, path if key == "_schema" else f"{path}.{key}".lstrip("."))
    if isinstance(messages, list):
        return first_error(messages[0], path)
    return path, str(messages)
