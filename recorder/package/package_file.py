"""Reading a package: the zip file that the extension hands over. Nothing in it is trusted, no name becomes a path."""

import hashlib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from schemas import InputError
from schemas.files import parse, parse_line, validated
from schemas.package import LINES, PackageSchema
from schemas.package_types import PackageLine, PackageManifest, PictureLine

_MANIFEST, _JOURNAL = "manifest.json", "journal.jsonl"
MAX_BYTES = 16 << 30  # of all files
MAX_BLOB = 1 << 29
MAX_LINE = 1 << 28
MAX_MANIFEST = 1 << 26
MAX_RATIO = 400  # content to packed: pages repeat themselves, but not more than that
_SHORT = 4096  # bytes; a line that names a picture is shorter
_LINE_SCHEMAS = {kind: schema() for kind, schema in LINES.items()}


class Package:
    """One package; raises InputError, also while reading, for whatever is not as the format says."""

    def __init__(self, path: Path | str):
        self.path = Path(path)
        try:
            self._zip = zipfile.ZipFile(self.path)
        except FileNotFoundError:
            raise InputError(f"{path}: there is no such file") from None
        except (zipfile.BadZipFile, OSError, ValueError) as error:
            raise InputError(f"{path}: not a package of the extension ({error})") from None
        try:
            self.manifest, self._version = self._read_manifest()
            self._check_files()
        except BaseException:
            self._zip.close()
            raise

    def __enter__(self) -> "Package":
        return self

    def __exit__(self, *_) -> None:
        self._zip.close()

    def lines(self) -> Iterator[PackageLine]:
        """The journal's lines, checked one by one; their numbers have no gap."""
        for number, raw in enumerate(self._raw_lines(), 1):
            yield self._line(number, raw)

    def pictures(self) -> dict[int, PictureLine]:
        """The `picture` lines by the number of the line that they belong to."""
        found: dict[int, PictureLine] = {}
        for number, raw in enumerate(self._raw_lines(), 1):
            # A line of an older version may say so in other words.
            if self._version != self.manifest["version"] or (len(raw) < _SHORT and b'"picture"' in raw):
                line = self._line(number, raw)
                if line["kind"] == "picture":
                    found[line["event"]] = line
        return found

    def _line(self, number: int, raw: bytes) -> Any:
        where = f"{self.path}: {_JOURNAL}, line {number}"
        content = parse_line(raw, "package line", self._version, where)
        kind = content.get("kind") if isinstance(content, dict) else None
        if not isinstance(kind, str) or kind not in _LINE_SCHEMAS:
            raise InputError(f"{where}: field kind: {str(kind)[:40]!r} is none")
        line = validated(content, _LINE_SCHEMAS[kind], where)
        if line["n"] != number:
            raise InputError(f"{where}: field n: {line['n']} instead of {number}; lines are missing or out of order")
        return line

    def blob(self, sha256: str) -> bytes:
        """Content of a blob; raises InputError when it is missing or damaged."""
        name = f"blobs/{sha256}"
        if name not in self._files:
            raise InputError(f"{self.path}: {name}: is missing")
        content = self._content(name, MAX_BLOB)
        if hashlib.sha256(content).hexdigest() != sha256:
            raise InputError(f"{self.path}: {name}: damaged, its SHA-256 is not its name")
        return content

    def _read_manifest(self) -> tuple[PackageManifest, int]:
        if _MANIFEST not in self._zip.namelist():
            raise InputError(f"{self.path}: not a package of the extension (it has no {_MANIFEST})")
        return parse(self._content(_MANIFEST, MAX_MANIFEST), PackageSchema(), f"{self.path}: {_MANIFEST}")

    def _check_files(self) -> None:
        """Exactly the files that the manifest names, of the sizes that it names, none of them blown up."""
        self._files = {file["name"]: file for file in self.manifest["files"]}
        entries = self._zip.infolist()
        names = [entry.filename for entry in entries]
        if len(set(names)) != len(names) or set(names) != {*self._files, _MANIFEST}:
            odd = next((name for name in names if name not in {*self._files, _MANIFEST} or names.count(name) > 1), None)
            raise InputError(f"{self.path}: {odd[:80]!r} does not belong into a package" if odd
                             else f"{self.path}: {min({*self._files} - set(names))}: is missing")
        if sum(entry.file_size for entry in entries) > MAX_BYTES:
            raise InputError(f"{self.path}: larger than {MAX_BYTES >> 30} GiB when unpacked")
        for entry in entries:
            if entry.filename != _MANIFEST and entry.file_size != self._files[entry.filename]["size"]:
                raise InputError(f"{self.path}: {entry.filename}: {entry.file_size} bytes instead of "
                                 f"{self._files[entry.filename]['size']}")
            if entry.file_size > MAX_RATIO * max(entry.compress_size, 1024):
                raise InputError(f"{self.path}: {entry.filename}: packed too tightly to be a recording")

    def _raw_lines(self) -> Iterator[bytes]:
        """Lines of the journal; at the end it is known whether it is what the manifest says."""
        digest, count = hashlib.sha256(), 0
        try:
            with self._zip.open(_JOURNAL) as journal:
                while line := journal.readline(MAX_LINE):
                    digest.update(line)
                    count += 1
                    if not line.endswith(b"\n"):
                        raise InputError(f"{self.path}: {_JOURNAL}, line {count}: too long or cut off")
                    yield line
        except (zipfile.BadZipFile, OSError, EOFError, ValueError, KeyError) as error:
            raise InputError(f"{self.path}: {_JOURNAL}: cannot be read ({error})") from None
        if digest.hexdigest() != self._files[_JOURNAL]["sha256"] or count != self.manifest["lines"]:
            raise InputError(f"{self.path}: {_JOURNAL}: damaged, its SHA-256 is not the manifest's")

    def _content(self, name: str, limit: int) -> bytes:
        try:
            if self._zip.getinfo(name).file_size > limit:
                raise InputError(f"{self.path}: {name}: larger than {limit >> 20} MiB")
            with self._zip.open(name) as file:
                return file.read(limit)
        except (zipfile.BadZipFile, OSError, EOFError, ValueError, NotImplementedError, RuntimeError) as error:
            raise InputError(f"{self.path}: {name}: cannot be read ({error})") from None
