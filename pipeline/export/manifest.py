"""manifest.json: the last file of an export; it names every other file with its size and SHA-256."""

import json
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import IO, NotRequired, TypedDict

from marshmallow import fields, validate

from schemas import InputError
from schemas.files import parse, read_json
from schemas.parts import Strict, digest, integer, listing, newest_version, string
from schemas.upgrade import VERSIONS

from .source import Summary

MANIFEST = "manifest.json"
FORMAT = "demotape/export"


class FileSchema(Strict):
    """One file of an export."""

    path = string("path within the export, with forward slashes")
    size = integer("bytes", validate=validate.Range(min=0))
    sha256 = digest("SHA-256 of its content")
    samples = integer("turns in it", validate=validate.Range(min=0))


class SourceSchema(Strict):
    """One demonstration that went into an export."""

    id = string("id of the demonstration")
    name = string("its name in the file names of the export")
    recording = string("id of its recording")
    split = string("the split that it is in", required=False, load_default="train")
    turns = integer("turns exported", validate=validate.Range(min=0))
    sha256 = digest("SHA-256 of the demonstration as compact JSON with sorted keys, edits folded")


class ManifestSchema(Strict):
    """manifest.json of an export."""

    piece = "export"

    format = string("always `demotape/export`", validate=validate.Equal(FORMAT))
    version = newest_version(FORMAT)
    layout = string("the format exported to: weblinx, mind2web, webdataset, parquet, or a plug-in's")
    tool = string("name and version of the tool that wrote it")
    samples = integer("turns in all files", validate=validate.Range(min=0))
    size = integer("bytes of all files but this one", validate=validate.Range(min=0))
    left_out = fields.Dict(keys=fields.String(), values=fields.Integer(), required=True,
                           metadata={"description": "turns that the layout cannot hold, by reason"})
    pictures_left_out = integer("screenshots left out, as it is not known where in them personal data stand",
                                required=False, load_default=0, validate=validate.Range(min=0))
    redacted = fields.Dict(keys=fields.String(), values=fields.Integer(), required=False, load_default=dict,
                           metadata={"description": "personal data and secrets taken out, by kind"})
    damaged = listing(fields.String(), "ids of demonstrations that could not be read and are left out; absent without",
                      required=False)
    split_rule = string("the plug-in's rule that gave the splits, with its package; absent without one",
                        required=False)
    files = listing(fields.Nested(FileSchema), "every other file")
    demonstrations = listing(fields.Nested(SourceSchema), "every demonstration, in order")


class ManifestFile(TypedDict):
    """FileSchema."""

    path: str
    size: int
    sha256: str
    samples: int


class ManifestSource(TypedDict):
    """SourceSchema."""

    id: str
    name: str
    recording: str
    split: NotRequired[str]
    turns: int
    sha256: str


class Manifest(TypedDict):
    """ManifestSchema."""

    format: str
    version: int
    layout: str
    tool: str
    samples: int
    size: int
    left_out: dict[str, int]
    pictures_left_out: NotRequired[int]
    redacted: NotRequired[dict[str, int]]
    damaged: NotRequired[list[str]]
    files: list[ManifestFile]
    demonstrations: list[ManifestSource]


def tool_version() -> str:
    """The installed version of demotape, digits and dots."""
    try:
        return version("demotape")
    except PackageNotFoundError:
        return "0"


def parse_manifest(content: bytes, where: str) -> Manifest:
    """A manifest from its bytes; raises InputError naming `where` when it is none."""
    manifest: Manifest = parse(content, ManifestSchema(), where)[0]
    return manifest


def is_export(folder: Path) -> bool:
    """Whether a folder was written by an export."""
    try:
        read_manifest(folder)
    except InputError:
        return False
    return True


def read_manifest(folder: Path) -> Manifest:
    """The manifest of an export; raises InputError when it is missing or wrong."""
    manifest: Manifest = read_json(folder / MANIFEST, ManifestSchema())
    return manifest


def extra_files(folder: Path) -> list[str]:
    """Files in an export's folder that its manifest does not name."""
    known = {file["path"] for file in read_manifest(folder)["files"]} | {MANIFEST}
    found = (path for path in folder.rglob("*") if not path.is_dir() or path.is_symlink())
    return sorted({path.relative_to(folder).as_posix() for path in found} - known)


def wrong_totals(manifest: Manifest, where: str) -> Iterator[str]:
    """Totals of a manifest that are not the sums of its files'."""
    for total in ("samples", "size"):
        found = sum(entry[total] for entry in manifest["files"])
        if found != manifest[total]:
            yield f"{where}: field {total}: {manifest[total]}, but its files add up to {found}"


def write_manifest(file: IO[bytes], summary: Summary, files: IO[bytes], demonstrations: IO[bytes]) -> None:
    """Write the manifest without holding its lists in memory; they come as spooled JSON lines."""
    head = {"format": FORMAT, "version": VERSIONS[FORMAT], "layout": summary.format,
            "tool": f"demotape {tool_version()}", "samples": summary.samples, "size": summary.size,
            "left_out": dict(sorted(summary.left_out.items())), "pictures_left_out": summary.pictures_left_out,
            "redacted": dict(sorted(summary.redacted.items()))}
    if summary.damaged:
        head["damaged"] = [each.id for each in summary.damaged]
    if summary.split_rule:
        head["split_rule"] = summary.split_rule
    file.write(json.dumps(head, indent=1)[:-2].encode("ascii"))
    for name, lines in (("files", files), ("demonstrations", demonstrations)):
        file.write(f',\n "{name}": ['.encode("ascii"))
        lines.seek(0)
        for number, line in enumerate(lines):
            file.write((b",\n  " if number else b"\n  ") + line.rstrip(b"\n"))
        file.write(b"\n ]")
    file.write(b"\n}\n")
