"""Reading and writing JSON files so that they are whole or absent, and errors name file, line and field."""

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from marshmallow import Schema, ValidationError

from .errors import InputError


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


def read_json(path: Path, schema: Schema) -> dict:
    """Load a JSON file and check it; raises InputError naming the file and the first field that is wrong."""
    try:
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON ({error})") from None
    return validated(content, schema, str(path))


def read_lines(path: Path, schema: Schema) -> Iterator[dict]:
    """Load a .jsonl file line by line and check each.

    A last line without a line feed was cut off by a kill and is not yielded. Raises InputError naming the line.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    return
                try:
                    content = json.loads(line)
                except (ValueError, RecursionError) as error:
                    raise InputError(f"{path}, line {number}: not JSON ({error})") from None
                yield validated(content, schema, f"{path}, line {number}")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None


def validated(content: Any, schema: Schema, where: str) -> dict:
    """Validate by a schema; raises InputError with `where` and the first field that is wrong."""
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
