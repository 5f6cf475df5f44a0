"""Atomic reading and writing of regular files, with errors that name file, line and field."""

import errno
import json
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from . import limits
from .errors import DiskFull, InputError
from .upgrade import upgrade, version_of

if TYPE_CHECKING:
    from marshmallow import Schema

    from .formats.parts import Strict

_FLAGS = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # opening a FIFO waits for no one
TEMPORARY_PREFIX = ".tmp-"
_UNLINKED = getattr(os, "O_NOFOLLOW", 0)


def open_inside(path: Path, root: Path | None = None) -> IO[bytes]:
    """Open a file of a recording, an export or another folder that is not trusted; `root`: the folder, if it is not the
    one that the file is in.

    Raises InputError for what is no regular file: a FIFO or device, which may never end, or a link, which may lead
    anywhere; also for one on the way from `root`. FileNotFoundError and other OSErrors are left to the caller.
    """
    ancestor = os.fspath(path)
    for _ in path.relative_to(path.parent if root is None else root).parts:
        if os.path.islink(ancestor):
            raise InputError(f"{ancestor}: is a link; replace it by the file")
        ancestor = os.path.dirname(ancestor)
    try:
        return _open(path, _UNLINKED)
    except OSError as error:
        if error.errno != errno.ELOOP:  # it became a link just now
            raise
        raise InputError(f"{path}: is a link; replace it by the file") from None


def open_named(path: Path) -> IO[bytes]:
    """Open a file that the user named, which may be a link. Raises as `open_inside` does for what is no file."""
    return _open(path, 0)


def _open(path: Path, flags: int) -> IO[bytes]:
    descriptor = os.open(path, os.O_RDONLY | _FLAGS | flags)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise InputError(f"{path}: not a regular file")
    return os.fdopen(descriptor, "rb")


def reason(error: Exception) -> str:
    """Why the system or a library refused, in words; not every OSError has a `strerror`."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def is_disk_full(error: BaseException) -> bool:
    """Whether an error, or what it came from, is that a disk is full."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, DiskFull) or (isinstance(cause, OSError) and cause.errno in (errno.ENOSPC, errno.EDQUOT)):
            return True
        cause = cause.__cause__ or cause.__context__
    return False


def read_inside(path: Path, limit: int, root: Path | None = None) -> bytes:
    """Content of a file; raises as `open_inside` does, and InputError when it is larger than `limit` bytes."""
    with open_inside(path, root) as file:
        return read_all(file, limit, path)


def read_named(path: Path, limit: int) -> bytes:
    """Content of a file that the user named; raises InputError when it cannot be read or is larger than `limit`."""
    try:
        with open_named(path) as file:
            return read_all(file, limit, path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({reason(error)})") from None


def read_all(file: IO[bytes], limit: int, path: Path) -> bytes:
    """What is left of an open file; raises InputError, naming `path`, when it is more than `limit` bytes."""
    content = file.read(limit + 1)
    if len(content) > limit:
        raise InputError(f"{path}: larger than {limits.size(limit)}")
    return content


def restrict_umask() -> None:
    """Have this process make files and folders for its user alone: recordings, exports and the database hold what is
    private."""
    os.umask(os.umask(0o077) | 0o077)


def open_private(path: Path, mode: str) -> FileIO:
    """Open a file without a buffer; a new one is its user's alone. `mode`: as of `open`."""
    return FileIO(path, mode, opener=lambda name, flags: os.open(name, flags, 0o600))


def write_atomically(path: Path, content: bytes, *, sync: bool = True) -> None:
    """Write under a temporary name in the same folder, sync, rename: the file is whole or absent, also after a kill.

    Without `sync` it may be damaged after a crash of the machine: only for what can be made again.
    """
    with written_atomically(path, sync=sync) as file:
        file.write(content)


@contextmanager
def written_atomically(path: Path, *, sync: bool = True) -> Iterator[IO[bytes]]:
    """A file to write into, and to read from again, which takes its name at the end; see `write_atomically`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=TEMPORARY_PREFIX)
    try:
        with os.fdopen(descriptor, "w+b") as file:
            yield file
            if sync:
                file.flush()
                os.fsync(file.fileno())
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


def read_json(path: Path, schema: "Strict") -> Any:
    """Load a JSON file and check it; raises InputError naming the file and the first field that is wrong."""
    return read_versioned(path, schema)[0]


def read_versioned(path: Path, schema: "Strict", limit: int = limits.JSON) -> tuple[Any, int]:
    """As `read_json`, with the version that the file is of: lines beside it are of that version too. `limit`: bytes."""
    try:
        content = read_inside(path, limit)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({reason(error)})") from None
    return parse(content, schema, str(path))


def parse(content: bytes, schema: "Strict", where: str) -> tuple[Any, int]:
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


def read_lines(path: Path, schema: "Strict", version: int, broken: dict[int, str] | None = None) -> Iterator[Any]:
    """Load a .jsonl file of some version line by line and check each.

    A last line without a line feed was cut off by a kill and is not yielded. Raises InputError naming the line that is
    broken; given `broken`, it is passed over, and why is noted there by its number.
    """
    try:
        with open_inside(path) as file:
            for number, line in enumerate(iter(lambda: file.readline(limits.LINE + 1), b""), 1):
                where = f"{path}, line {number}"
                try:
                    if len(line) > limits.LINE:
                        raise InputError(f"{where}: longer than {limits.size(limits.LINE)}")
                    if not line.endswith(b"\n"):
                        return
                    value = validated(parse_line(line, schema.piece, version, where), schema, where)
                except InputError as error:
                    if broken is None:
                        raise
                    broken[number] = str(error)
                    while line and not line.endswith(b"\n"):
                        line = file.readline(limits.LINE + 1)
                    continue
                yield value
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({reason(error)})") from None


def validated(content: Any, schema: "Schema", where: str) -> Any:
    """Validate by a schema; raises InputError with `where` and the first field that is wrong.

    What comes back, here and from all that read, has the schema's type in `schemas.types.recordings`.
    """
    from marshmallow import ValidationError  # whoever has a schema has that; who only keeps files need not wait for it

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
