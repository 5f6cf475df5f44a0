"""Reuse of unchanged data of an earlier export to the same destination."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from pipeline.privacy.recorded_secrets import RecordedSecrets

from .manifest import Manifest, ManifestFile, ManifestSource, Member
from .source import Options, Source

_CODE = ("pipeline", "schemas", "recorder")  # packages that decide the bytes of an export
_LIBRARIES = ("lxml", "turbohtml", "opencv-python-headless", "numpy", "pyarrow", "zstandard", "imagesize", "tinycss2",
              "google-re2", "phonenumbers", "python-stdnum", "rapidocr", "onnxruntime")


@dataclass(frozen=True)
class Part:
    """What one demonstration has in an earlier export: in which files, in order, where in the first one and how much in
    all (bytes or rows); `about`: its size, as shards count it."""

    entry: ManifestSource
    files: tuple[ManifestFile, ...]
    start: int
    length: int
    about: int


class PreviousExport:
    """The demonstrations of an earlier export by their ids; none where there is no export of this layout."""

    def __init__(self, manifest: Manifest | None, layout: str):
        known = manifest if manifest and manifest["layout"] == layout else None
        entries = {entry["id"]: entry for entry in known["demonstrations"]} if known else {}
        files: dict[str, list[tuple[ManifestFile, Member]]] = {}
        for file in known["files"] if known else ():
            for member in file.get("demonstrations", ()):
                files.setdefault(member["id"], []).append((file, member))
        self.members = {file["path"]: [member["id"] for member in file.get("demonstrations", ())]
                        for file in (known["files"] if known else ())}
        self._parts = {
            name: Part(entries[name], tuple(file for file, _ in stored), stored[0][1]["start"], stored[0][1]["length"],
                       stored[0][1]["about"])
            for name, stored in files.items() if "fingerprint" in entries.get(name, ())}

    def part(self, source: Source, fingerprint: str) -> Part | None:
        """What the earlier export has of a demonstration, if that is what this one would have."""
        part = self._parts.get(source.id)
        return part if part and part.entry.get("fingerprint") == fingerprint else None


def options_digest(options: Options) -> str:
    """Of all that the bytes of an export depend on besides its demonstrations. Empty where nothing may stay: stand-ins
    for names depend on a secret, which must not be told, not even by a digest."""
    if options.names:
        return ""
    fields = asdict(options) | {"allow": sorted(options.allow)}
    del fields["secret_digests"], fields["temporary"]
    fields["told"] = RecordedSecrets(options.secret_digests).digest
    return _digest(json.dumps(fields, sort_keys=True), _code())


def fingerprint(source: Source, options: str) -> str:
    """SHA-256 of all that a demonstration's part of an export depends on; `options`: their digest."""
    try:
        resources = hashlib.sha256(source.recording.layout.resources.read_bytes()).hexdigest()
    except OSError:
        resources = ""
    facts = [source.id, source.split, source.about, asdict(source.review), sorted(source.without),
             source.near_duplicate_of, source.recording.manifest]
    return _digest(options, source.sha256, resources, json.dumps(facts, sort_keys=True, default=str))


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


@lru_cache(maxsize=1)
def _code() -> str:
    """Of the code that makes exports, and of the libraries that it uses."""
    digest = hashlib.sha256(" ".join(map(_version, _LIBRARIES)).encode())
    for path in _sources():
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _sources() -> Iterable[Path]:
    root = Path(__file__).parents[2]
    return sorted(path for name in _CODE for path in (root / name).rglob("*.py"))


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "-"
