"""manifest.json: the last file of an export; it names every other file with its size and SHA-256."""

import json
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import IO, Any, NotRequired, TypedDict

from marshmallow import fields, validate

from schemas.files import parse, read_json
from schemas.formats.parts import Strict, digest, integer, listing, newest_version, string
from schemas.upgrade import VERSIONS

from .source import Summary

MANIFEST = "manifest.json"
FORMAT = "demotape/export"


class MemberSchema(Strict):
    """Where a demonstration is in a file that several share."""

    id = string("id of the demonstration")
    start = integer("where it begins in the file: bytes in a tar, rows in Parquet", validate=validate.Range(min=0))
    length = integer("how much it has, in all files that have parts of it; 0 in all but the first of them",
                     validate=validate.Range(min=0))
    about = integer("its size, as shards count it; 0 where the length is", validate=validate.Range(min=0))


class FileSchema(Strict):
    """One file of an export."""

    path = string("path within the export, with forward slashes")
    size = integer("bytes", validate=validate.Range(min=0))
    sha256 = digest("SHA-256 of its content")
    samples = integer("turns in it", validate=validate.Range(min=0))
    demonstrations = listing(fields.Nested(MemberSchema), "the demonstrations in a shard, in order; absent for others",
                             required=False)


class SourceSchema(Strict):
    """One demonstration that went into an export."""

    id = string("id of the demonstration")
    name = string("its name in the file names of the export")
    recording = string("id of its recording")
    split = string("the split that it is in", required=False, load_default="train")
    near_duplicate_of = string("id of the oldest one that is nearly the same; absent for that, and without such",
                               required=False)
    proof = string("verdict of its last run, `changed` where it was changed since; absent where it was not run again",
                   required=False)
    labels = fields.Dict(keys=fields.String(), values=fields.List(fields.String()), required=False, metadata={
        "description": "what people say of it, by the label's name; absent without"})
    turns = integer("turns exported", validate=validate.Range(min=0))
    sha256 = digest("SHA-256 of the demonstration as compact JSON with sorted keys, edits folded")
    fingerprint = digest("SHA-256 of all that its part of the export depends on, the options and the rules included; "
                         "absent for formats without shards, and with names taken out", required=False)
    intents = fields.Dict(keys=fields.String(), required=False, values=fields.Dict(
        keys=fields.String(), values=fields.Integer()), metadata={
            "description": "its turns by intent and screenshot status; absent for formats without shards"})
    counts = fields.Dict(keys=fields.String(), required=False, values=fields.Dict(
        keys=fields.String(), values=fields.Integer()), metadata={
            "description": "what became of the rest of it: `left_out`, `notes`, `redacted`, by reason or kind"})
    turn_digests = fields.Dict(keys=fields.String(), values=fields.String(), required=False, metadata={
        "description": "first digits of the SHA-256 of each sample, by turn; absent for formats without shards"})
    pictures_left_out = integer("of its screenshots, as it is not known where in them personal data stand",
                                required=False, validate=validate.Range(min=0))


class CountSchema(Strict):
    """How many demonstrations have a property."""

    piece = "export"

    exported = integer("those in the export", validate=validate.Range(min=0))
    left_out = integer("those that are not", validate=validate.Range(min=0))


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
    release = string("name of the release; absent when it is none", required=False)
    previous = string("name of the release before; absent for the first one", required=False)
    selection = fields.Dict(keys=fields.String(), required=False, metadata={
        "description": "what was asked for, by field; absent when all was"})
    not_selected = fields.Dict(keys=fields.String(), values=fields.Integer(), required=False, metadata={
        "description": "demonstrations and turns that were not asked for, by reason; absent if there are none"})
    demonstration_counts = fields.Dict(
        keys=fields.String(validate=validate.OneOf(("status", "actor", "outcome"))), required=False,
        values=fields.Dict(keys=fields.String(), values=fields.Nested(CountSchema)), metadata={
            "description": "demonstrations of the project by `status`, `actor` and `outcome`, then by value; absent in "
                           "exports that no review app made"})
    files = listing(fields.Nested(FileSchema), "every other file")
    demonstrations = listing(fields.Nested(SourceSchema), "every demonstration, in order")


class Member(TypedDict):
    """HeldSchema."""

    id: str
    start: int
    length: int
    about: int


class ManifestFile(TypedDict):
    """FileSchema."""

    path: str
    size: int
    sha256: str
    samples: int
    demonstrations: NotRequired[list[Member]]


class ManifestSource(TypedDict):
    """SourceSchema."""

    id: str
    name: str
    recording: str
    split: NotRequired[str]
    near_duplicate_of: NotRequired[str]
    proof: NotRequired[str]
    labels: NotRequired[dict[str, list[str]]]
    turns: int
    sha256: str
    fingerprint: NotRequired[str]
    intents: NotRequired[dict[str, dict[str, int]]]
    counts: NotRequired[dict[str, dict[str, int]]]
    turn_digests: NotRequired[dict[str, str]]
    pictures_left_out: NotRequired[int]


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
    release: NotRequired[str]
    previous: NotRequired[str]
    selection: NotRequired[dict[str, Any]]
    not_selected: NotRequired[dict[str, int]]
    demonstration_counts: NotRequired[dict[str, dict[str, dict[str, int]]]]
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


def read_manifest(folder: Path) -> Manifest:
    """The manifest of an export; raises InputError when it is missing or wrong."""
    manifest: Manifest = read_json(folder / MANIFEST, ManifestSchema())
    return manifest


def extra_files(folder: Path, manifest: Manifest) -> list[str]:
    """Files in an export's folder that its manifest does not name."""
    known = {file["path"] for file in manifest["files"]} | {MANIFEST}
    paths = (path for path in folder.rglob("*") if not path.is_dir() or path.is_symlink())
    return sorted({path.relative_to(folder).as_posix() for path in paths} - known)


def wrong_totals(manifest: Manifest, where: str) -> Iterator[str]:
    """Totals of a manifest that are not the sums of its files'."""
    for total in ("samples", "size"):
        actual = sum(entry[total] for entry in manifest["files"])
        if actual != manifest[total]:
            yield f"{where}: field {total}: {manifest[total]}, but its files add up to {actual}"


def write_manifest(file: IO[bytes], summary: Summary, files: IO[bytes], demonstrations: IO[bytes]) -> None:
    """Write the manifest without holding its lists in memory; they come as spooled JSON lines."""
    head = {"format": FORMAT, "version": VERSIONS[FORMAT], "layout": summary.format,
            "tool": f"demotape {tool_version()}", "samples": summary.samples, "size": summary.size,
            "left_out": dict(sorted(summary.left_out.items())), "pictures_left_out": summary.pictures_left_out,
            "redacted": dict(sorted(summary.redacted.items()))}
    if summary.damaged:
        head["damaged"] = [left_out.id for left_out in summary.damaged]
    if summary.split_rule:
        head["split_rule"] = summary.split_rule
    head |= {name: value for name, value in (("release", summary.release), ("previous", summary.previous)) if value}
    if summary.selection:
        head |= {"selection": summary.selection, "not_selected": dict(sorted(summary.not_selected.items()))}
    if summary.counts:
        head["demonstration_counts"] = summary.counts
    file.write(json.dumps(head, indent=1)[:-2].encode("ascii"))
    for name, lines in (("files", files), ("demonstrations", demonstrations)):
        file.write(f',\n "{name}": ['.encode("ascii"))
        lines.seek(0)
        for number, line in enumerate(lines):
            file.write((b",\n  " if number else b"\n  ") + line.rstrip(b"\n"))
        file.write(b"\n ]")
    file.write(b"\n}\n")
