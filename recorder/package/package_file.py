"""Reading a package: the zip file of the extension. Nothing in it is trusted, no name becomes a path."""

import hashlib
import lzma
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from schemas import InputError, limits
from schemas.files import open_named, parse, parse_line, validated
from schemas.formats.package import LINES, PackageSchema
from schemas.types.package import PackageLine, PackageManifest, PictureLine

_MANIFEST, _JOURNAL = "manifest.json", "journal.jsonl"
_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # of the others zipfile cannot unpack a part
# What zipfile raises for a damaged file; RuntimeError for an encrypted one, and for a way of packing that it cannot.
_BROKEN = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, OSError, EOFError, ValueError, KeyError, RuntimeError)
_SHORT = 20_000  # bytes; a line that names a picture or an address is shorter
_LATER = re.compile(b'"(picture|navigate)"')
_LINE_SCHEMAS = {kind: schema() for kind, schema in LINES.items()}


class Package:
    """One package; raises InputError, also while reading, for whatever is not as the format says."""

    def __init__(self, path: Path | str):
        self.path = Path(path)
        try:
            self._zip = zipfile.ZipFile(open_named(self.path))
        except FileNotFoundError:
            raise InputError(f"{path}: no such file") from None
        except _BROKEN as error:
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

    def late_lines(self) -> tuple[dict[int, PictureLine], dict[str, float]]:
        """What is told later than it is needed: the `picture` lines by the number of the line that they belong to, and
        when each document took the place of the one before, wall clock in seconds."""
        pictures: dict[int, PictureLine] = {}
        committed: dict[str, float] = {}
        for number, raw in enumerate(self._raw_lines(), 1):
            # A line of an older version may say so in other words.
            if self._version != self.manifest["version"] or (len(raw) < _SHORT and _LATER.search(raw)):
                line = self._line(number, raw)
                if line["kind"] == "picture":
                    pictures[line["event"]] = line
                elif line["kind"] == "navigate" and not line["same_document"]:
                    committed.setdefault(line["document"], line["committed"])
        return pictures, committed

    def _line(self, number: int, raw: bytes) -> Any:
        where = f"{self.path}: {_JOURNAL}, line {number}"
        content = parse_line(raw, "package line", self._version, where)
        kind = content.get("kind") if isinstance(content, dict) else None
        if not isinstance(kind, str) or kind not in _LINE_SCHEMAS:
            raise InputError(f"{where}: field kind: unknown kind {str(kind)[:40]!r}")
        line = validated(content, _LINE_SCHEMAS[kind], where)
        if line["n"] != number:
            raise InputError(f"{where}: field n: {line['n']} instead of {number}; lines are missing or out of order")
        return line

    def blob(self, sha256: str) -> bytes:
        """Content of a blob; raises InputError when it is missing or damaged."""
        name = f"blobs/{sha256}"
        if name not in self._files:
            raise InputError(f"{self.path}: {name}: is missing")
        content = self._content(name, limits.BLOB)
        if hashlib.sha256(content).hexdigest() != sha256:
            raise InputError(f"{self.path}: {name}: damaged, its SHA-256 is not its name")
        return content

    def _read_manifest(self) -> tuple[PackageManifest, int]:
        entries = self._zip.infolist()
        if len(entries) > limits.ENTRIES:
            raise InputError(f"{self.path}: more than {limits.ENTRIES} files in it")
        if odd := next((entry for entry in entries if entry.compress_type not in _PACKINGS), None):
            raise InputError(f"{self.path}: {odd.filename[:80]!r}: compressed with a method that the extension does "
                             "not use")
        if _MANIFEST not in self._zip.NameToInfo:
            raise InputError(f"{self.path}: not a package of the extension (it has no {_MANIFEST})")
        return parse(self._content(_MANIFEST, limits.MANIFEST), PackageSchema(), f"{self.path}: {_MANIFEST}")

    def _check_files(self) -> None:
        """Exactly the files that the manifest names, of the sizes that it names, none of them blown up."""
        self._files = {file["name"]: file for file in self.manifest["files"]}
        entries = self._zip.infolist()
        names, expected = Counter(entry.filename for entry in entries), {*self._files, _MANIFEST}
        if names.keys() != expected or names.total() != len(expected):
            odd = next((name for name, count in names.items() if name not in expected or count > 1), None)
            raise InputError(f"{self.path}: {min(expected - names.keys())}: is missing" if odd is None
                             else f"{self.path}: {odd[:80]!r} is not a file of a package")
        if sum(entry.file_size for entry in entries) > limits.PACKAGE:
            raise InputError(f"{self.path}: larger than {limits.size(limits.PACKAGE)} when unpacked")
        for entry in entries:
            if entry.filename != _MANIFEST and entry.file_size != self._files[entry.filename]["size"]:
                raise InputError(f"{self.path}: {entry.filename}: {entry.file_size} bytes instead of "
                                 f"{self._files[entry.filename]['size']}")
            if entry.file_size > limits.RATIO * max(entry.compress_size, 1024):
                raise InputError(f"{self.path}: {entry.filename}: its compression ratio is too high for a recording")

    def _raw_lines(self) -> Iterator[bytes]:
        """Lines of the journal; at the end it is known whether it is what the manifest says."""
        digest, count = hashlib.sha256(), 0
        try:
            with self._zip.open(_JOURNAL) as journal:
                while line := journal.readline(limits.LINE):
                    digest.update(line)
                    count += 1
                    if not line.endswith(b"\n"):
                        raise InputError(f"{self.path}: {_JOURNAL}, line {count}: too long or cut off")
                    yield line
        except _BROKEN as error:
            raise InputError(f"{self.path}: {_JOURNAL}: cannot be read ({error})") from None
        if digest.hexdigest() != self._files[_JOURNAL]["sha256"] or count != self.manifest["lines"]:
            raise InputError(f"{self.path}: {_JOURNAL}: damaged, its SHA-256 is not the manifest's")

    def _content(self, name: str, limit: int) -> bytes:
        try:
            if self._zip.getinfo(name).file_size > limit:
                raise InputError(f"{self.path}: {name}: larger than {limits.size(limit)}")
            with self._zip.open(name) as file:
                return file.read(limit)
        except _BROKEN as error:
            raise InputError(f"{self.path}: {name}: cannot be read ({error})") from None
