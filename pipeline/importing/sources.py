"""Reading foreign files: JSON, JSON Lines, lists of JSON, archives; nothing in them is trusted, no name is a path.

Every reader here has a limit (docs/limits.md), and raises InputError with the file and the line.
"""

import json
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from schemas import InputError, limits
from schemas.files import open_inside, open_named, read_inside, read_named, reason

_CHUNK = 1 << 20  # bytes
_HEAD = 1 << 16  # bytes by which a kind is detected
_STRUCTURE = re.compile(rb'["{}\[\],]')
_REST_OF_TEXT = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_BROKEN = (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, KeyError, RuntimeError, NotImplementedError)
# What a field of an unexpected type raises in code that expects another.
_MALFORMED = (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, RecursionError, StopIteration)


def parse_json(content: bytes | str, where: str) -> Any:
    """A value of JSON; raises InputError, naming `where`, also for numbers that JSON does not have."""
    try:
        return json.loads(content, parse_constant=_refuse)
    except RecursionError:
        raise InputError(f"{where}: nested too deeply") from None
    except ValueError as error:
        raise InputError(f"{where}: not JSON ({str(error)[:80]})") from None


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


@contextmanager
def explained(where: str, what: str) -> Iterator[None]:
    """Have what a missing or odd field raises told as InputError: `where` it is, and `what` was expected there."""
    try:
        yield
    except InputError:
        raise
    except _MALFORMED as error:
        problem = f"no field {str(error)[:80]}" if isinstance(error, KeyError) else "a value has the wrong type"
        raise InputError(f"{where}: not {what} ({problem})") from None


def head(path: Path) -> bytes:
    """The first bytes of a file, without a byte order mark; empty where there is no file that can be read."""
    try:
        if not path.is_file():
            return b""
        with open_named(path) as file:
            return file.read(_HEAD).removeprefix(b"\xef\xbb\xbf")
    except (OSError, InputError, ValueError):
        return b""


def first_object(path: Path) -> dict[str, Any]:
    """The first object of a file of JSON Lines; empty where there is none."""
    line = head(path).lstrip().partition(b"\n")[0]
    if not line.startswith(b"{"):
        return {}
    if len(line) >= _HEAD - 3:  # its end was not read
        try:
            line = next(iter(lines_from(path, 0)))[1]
        except (InputError, StopIteration):
            return {}
    try:
        value = parse_json(line, "")
    except InputError:
        return {}
    return value if isinstance(value, dict) else {}


def read_document(path: Path, root: Path | None = None) -> Any:
    """The JSON of a file that the user named, or of one inside the folder `root`; raises InputError."""
    return parse_json(read_content(path, limits.JSON, root), str(path))


def read_content(path: Path, limit: int, root: Path | None = None) -> bytes:
    """A file that the user named, or one inside the folder `root`; raises InputError, also where there is none."""
    if root is None:
        return read_named(path, limit)
    try:
        return read_inside(path, limit, root)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({reason(error)})") from None


def read_member(folder: Path, name: object, limit: int = limits.BLOB) -> bytes | None:
    """A file that data name, inside their folder; None where there is none. Raises InputError for a path that could
    lead elsewhere."""
    if not name:
        return None
    if not isinstance(name, str) or not _is_inside(name):
        raise InputError(f"{folder}: {str(name)[:80]!r} is not the name of a file in this folder")
    try:
        return read_inside(folder.joinpath(*PurePosixPath(name).parts), limit, folder)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise InputError(f"{folder}: {name[:80]!r} cannot be read ({reason(error)})") from None


@dataclass(frozen=True)
class Folder:
    """A folder inside one that the user named; links in it are not followed. `inner`: its path in that, or empty."""

    root: Path
    inner: str = ""

    def __str__(self) -> str:
        return str(self.root / self.inner)

    def read(self, name: str, limit: int = limits.BLOB) -> bytes | None:
        """A file of it; None where there is none. Raises InputError."""
        return read_member(self.root, f"{self.inner}/{name}" if self.inner else name, limit)

    def require(self, name: str, limit: int = limits.BLOB) -> bytes:
        """A file of it; raises InputError where there is none, too."""
        content = self.read(name, limit)
        if content is None:
            raise InputError(f"{self}: no {name} in it")
        return content


def folders_with(path: Path, name: str) -> Iterator[str]:
    """The folder itself, as an empty path, if it has a file of that name; else those in it, down to two levels."""
    if (path / name).is_file():
        yield ""
        return
    for file in sorted(file for pattern in (f"*/{name}", f"*/*/{name}") for file in path.glob(pattern)):
        yield file.parent.relative_to(path).as_posix()


def _is_inside(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return not (name.startswith("/") or "\\" in name or "\0" in name or ":" in parts[0] or ".." in parts) and len(
        name) <= 1000


def lines_from(path: Path, start: int, root: Path | None = None) -> Iterator[tuple[int, bytes]]:
    """Lines of a file from the byte `start` on, each with where it begins; raises InputError at one that is too
    long."""
    try:
        with open_named(path) if root is None else open_inside(path, root) as file:
            file.seek(start)
            while line := file.readline(limits.LINE + 1):
                if len(line) > limits.LINE:
                    raise InputError(f"{path}: the line at byte {start} is longer than {limits.size(limits.LINE)}")
                yield start, line.removeprefix(b"\xef\xbb\xbf") if start == 0 else line
                start += len(line)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({reason(error)})") from None


def objects_from(path: Path, start: int = 0) -> Iterator[tuple[int, dict[str, Any]]]:
    """Objects of a file of JSON Lines, as `lines_from`; empty lines are skipped."""
    for begin, line in lines_from(path, start):
        if line.strip():
            value = parse_json(line, f"{path}: the line at byte {begin}")
            if not isinstance(value, dict):
                raise InputError(f"{path}: the line at byte {begin}: not a JSON object")
            yield begin, value


def list_members(path: Path, start: int = 0, limit: int = limits.JSON, root: Path | None = None
                 ) -> Iterator[tuple[int, bytes]]:
    """Members of a file that is a JSON list, one in memory at a time, each with where it begins.

    `start`: 0, or where a member begins: then it is the first. `root`: the folder that the file must be in, if the
    user did not name it. Raises InputError where a member is larger than `limit` bytes, or the list is cut off.
    """
    try:
        with open_named(path) if root is None else open_inside(path, root) as file:
            file.seek(start)
            yield from _members(file, path, start, limit)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({reason(error)})") from None


def _members(file: Any, path: Path, start: int, limit: int) -> Iterator[tuple[int, bytes]]:
    depth, in_text, skipped = int(bool(start)), False, 0  # `skipped`: bytes that a backslash before them escapes
    member, begin, position = bytearray(), start, start
    while chunk := file.read(_CHUNK):
        copied, at = 0, skipped
        skipped = 0
        while at < len(chunk):
            if in_text:
                at = _REST_OF_TEXT.match(chunk, at).end()  # type: ignore[union-attr]  # it matches nothing, too
                in_text = chunk[at:at + 1] != b'"'
                skipped = chunk[at:at + 1] == b"\\"
                at += 1
                continue
            if not (match := _STRUCTURE.search(chunk, at)):
                break
            sign, at = match[0], match.end()
            if sign == b'"':
                in_text = True
            elif sign in b"{[":
                depth += 1
                if depth == 1:
                    copied, begin = at, position + at
            elif depth == 1:  # a comma, or the end of the list
                member += chunk[copied:at - 1]
                if member.strip():
                    yield begin, bytes(member)
                member.clear()
                copied, begin = at, position + at
                if sign != b",":
                    return
            elif sign != b",":
                depth -= 1
        member += chunk[copied:]
        position += len(chunk)
        if len(member) > limit:
            raise InputError(f"{path}: the member at byte {begin} is larger than {limits.size(limit)}")
    raise InputError(f"{path}: the list is cut off" if depth else f"{path}: not a JSON list")


class Archive:
    """A zip file that is not trusted: entries by name, each with a limit, none of them written anywhere.

    Raises InputError for one that is damaged, encrypted, blown up, or packed in another way than deflate.
    """

    def __init__(self, path: Path):
        self.path = path
        try:
            self._zip = zipfile.ZipFile(open_named(path))
        except _BROKEN as error:
            raise InputError(f"{path}: not a zip file that can be read ({str(error)[:80]})") from None
        try:
            self._check()
        except BaseException:
            self._zip.close()
            raise

    def __enter__(self) -> "Archive":
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    @property
    def names(self) -> list[str]:
        """Names of the entries, as the archive has them."""
        return [entry.filename for entry in self._zip.infolist()]

    def read(self, name: str, limit: int = limits.BLOB) -> bytes | None:
        """An entry; None where there is none of that name."""
        if name not in self._zip.NameToInfo:
            return None
        try:
            with self._zip.open(name) as file:
                content = file.read(limit + 1)
        except _BROKEN as error:
            raise InputError(f"{self.path}: {name[:80]}: cannot be read ({str(error)[:80]})") from None
        if len(content) > limit:
            raise InputError(f"{self.path}: {name[:80]}: larger than {limits.size(limit)}")
        return content

    def objects(self, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """Objects of an entry of JSON Lines with their line numbers; a last line that is cut off is skipped."""
        number = 0
        try:
            with self._zip.open(name) as file:
                while line := file.readline(limits.LINE + 1):
                    number += 1
                    where = f"{self.path}: {name[:80]}, line {number}"
                    if len(line) > limits.LINE:
                        raise InputError(f"{where}: longer than {limits.size(limits.LINE)}")
                    if not line.strip():
                        continue
                    try:
                        value = parse_json(line, where)
                    except InputError:
                        if line.endswith(b"\n"):
                            raise
                        return
                    if not isinstance(value, dict):
                        raise InputError(f"{where}: not a JSON object")
                    yield number, value
        except _BROKEN as error:
            raise InputError(f"{self.path}: {name[:80]}: cannot be read ({str(error)[:80]})") from None

    def _check(self) -> None:
        entries = self._zip.infolist()
        if len(entries) > limits.ENTRIES:
            raise InputError(f"{self.path}: more than {limits.ENTRIES} files in it")
        if sum(entry.file_size for entry in entries) > limits.PACKAGE:
            raise InputError(f"{self.path}: larger than {limits.size(limits.PACKAGE)} when unpacked")
        for entry in entries:
            name = entry.filename[:80]
            if entry.compress_type not in _PACKINGS or entry.flag_bits & 1:
                raise InputError(f"{self.path}: {name!r}: encrypted, or compressed with another method than deflate")
            if entry.file_size > limits.RATIO * max(entry.compress_size, 1024):
                raise InputError(f"{self.path}: {name!r}: its compression ratio is too high")
