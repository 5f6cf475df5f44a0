"""Joins the frame groups of a page into one state. Pure functions.

A frame group is a set of frames of one origin, which can reach each other's documents and are copied in one walk. Each
has a `path`: frame indices from the top document down. The frame group above it lists its frames of other groups with
that index, the uid of the frame element and its content box.
"""

import html
import re
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any, TypedDict, TypeVar

from schemas import UID_ATTRIBUTE, InputError, limits
from schemas.types.package import FrameEntry
from schemas.types.recordings import Box, EventData, TableRow

Path = tuple[int, ...]
_Target = TypeVar("_Target")  # an element, a row of an element table or None
_MARK = re.compile("([\x01\x02])(\\d+)\\1")
_RUN = r"\d{1,9}\+\d{1,9}"
_PLAIN = re.compile(f"\x03({_RUN}(?:,{_RUN})*)\x03([^\x03]*)\x03")
_TAG = re.compile(r"(<[a-zA-Z][^\s/>]*)")


def insert_uids(text: str, frame_group: str) -> str:
    """A chunk's text with the uids of its plain texts put in.

    A plain text stands between U+0003, behind the numbers of its elements in document order: "first+count,…". Raises
    InputError when there are not as many numbers as elements.
    """
    def put_in(match: re.Match) -> str:
        parts = _TAG.split(match[2])
        runs = [(int(first), int(count)) for first, _, count in (run.partition("+") for run in match[1].split(","))]
        if sum(count for _, count in runs) != len(parts) // 2:
            raise InputError("there are not as many uids as elements")
        numbers = chain.from_iterable(range(first, first + count) for first, count in runs)
        parts[1::2] = [f'{tag} {UID_ATTRIBUTE}="{frame_group}-{number}"'
                       for tag, number in zip(parts[1::2], numbers, strict=True)]
        return "".join(parts)

    return _PLAIN.sub(put_in, text) if "\x03" in text else text


class SnapshotChunks(dict[int, str]):
    """A frame group's chunks by number, with their uids: put in when a chunk is first asked for, not when it comes.

    Raises KeyError for one that did not come, and what `insert_uids` raises.
    """

    def __init__(self, frame_group: str):
        super().__init__()
        self._frame_group = frame_group
        self._texts: dict[int, str] = {}

    def add(self, chunks: Iterable[tuple[int, str]]) -> None:
        """Take in chunks as they come."""
        self._texts.update(chunks)

    def without(self, numbers: Iterable[int]) -> "SnapshotChunks":
        """The others. Who still has to put a document together from these ones keeps them as they are."""
        rest = SnapshotChunks(self._frame_group)
        rest._texts = self._texts.copy()  # first: in another thread, one may be put in meanwhile
        rest.update(self)
        for number in numbers:
            rest._texts.pop(number, None)
            rest.pop(number, None)
        return rest

    def __missing__(self, number: int) -> str:
        text = self[number] = insert_uids(self._texts[number], self._frame_group)
        del self._texts[number]
        return text


def assemble(chunks: Mapping[int, str], number: int) -> str:
    """Text of a frame group's document: the numbered chunk with the chunks that it marks put in.

    A chunk between U+0001 is put in as it is, one between U+0002 (a frame's document) as the text of an attribute.
    """
    def put_in(match: re.Match) -> str:
        text = assemble(chunks, int(match[2]))
        return text if match[1] == "\x01" else html.escape(text, quote=True)

    return _MARK.sub(put_in, chunks[number])


class FrameGroup(TypedDict):
    """What a frame group shows, with all its chunks and rows; of SnapshotSchema's fields, those that are used here."""

    frame_group: str
    root: int
    chunks: SnapshotChunks
    rows: list[TableRow]
    frames: list[FrameEntry]
    secrets: list[Box]


def merge(frame_groups: dict[Path, FrameGroup]) -> tuple[str, list[TableRow]]:
    """DOM as HTML and element table of the whole page, from its frame groups by path; the top one is at ()."""
    top = frame_groups[()]
    document, rows = assemble(top["chunks"], top["root"]), list(top["rows"])
    for frame in top["frames"]:
        inner = _frame_groups_inside(frame_groups, frame)
        if inner:
            inner_html, inner_rows = merge(inner)
            document = _insert(document, frame, inner_html)
            rows += [_to_page_row(row, frame) for row in inner_rows if _is_in_viewport(row, frame)]
    return document, rows


def to_page_target(target: _Target, path: Path, frame_groups: dict[Path, FrameGroup]) -> _Target:
    """A target of the frame group at `path`, with frame path and box as seen from the top document."""
    for depth in range(len(path) - 1, -1, -1):
        frame = frame_of(path[:depth + 1], frame_groups)
        if target and frame:
            target = _to_page_row(target, frame)
    return target


def to_page_point(data: EventData, path: Path, frame_groups: dict[Path, FrameGroup]) -> EventData:
    """Pointer coordinates of the frame group at `path` as seen from the top document."""
    if "x" not in data:
        return data
    x, y = data["x"], data["y"]
    for depth in range(len(path) - 1, -1, -1):
        if frame := frame_of(path[:depth + 1], frame_groups):
            x, y = x * frame["scaleX"] + frame["x"], y * frame["scaleY"] + frame["y"]
    return data | {"x": x, "y": y}


def secret_boxes(frame_groups: dict[Path, FrameGroup]) -> list[Box]:
    """Boxes of all secret fields in sight, as seen from the top document."""
    return [to_page_target(_bare(box), path, frame_groups)["bbox"]
            for path, frame_group in frame_groups.items() for box in frame_group["secrets"]]


def _bare(box: Box) -> Any:
    return {"bbox": box, "frame": []}


def frame_of(path: Path, frame_groups: dict[Path, FrameGroup]) -> FrameEntry | None:
    """The frame entry, in the frame group above, through which the frame group at `path` is seen."""
    for depth in range(len(path) - 1, -1, -1):
        above = frame_groups.get(path[:depth])
        if above:
            return next((frame for frame in above["frames"] if _leads_to(frame, path[depth:])), None)
    return None


def _leads_to(frame: FrameEntry, path: Path) -> bool:
    """Whether a frame is the one at that path in its frame group. In older packages, the path of a frame in another
    frame of its group is known only by its end."""
    if frame["path"] and "indices" not in frame:
        return frame["index"] == path[-1]
    return _path_of(frame) == path


def _path_of(frame: FrameEntry) -> Path:
    return *frame.get("indices", []), frame["index"]


def _frame_groups_inside(frame_groups: dict[Path, FrameGroup], frame: FrameEntry) -> dict[Path, FrameGroup]:
    """Those inside a frame of the top frame group, by their paths from there on; none when that frame itself has not
    been reported."""
    above = _path_of(frame)
    inner = {path[len(above):]: frame_group for path, frame_group in frame_groups.items()
             if path[:len(above)] == above}
    return inner if () in inner else {}


def _insert(document: str, frame: FrameEntry, inner: str) -> str:
    """A frame's document put into its frame element, which may be in the text of an attribute itself, at any depth."""
    mark = f' {UID_ATTRIBUTE}="{frame["uid"]}"'
    replacement = f'{mark} srcdoc="{html.escape(inner, quote=True)}"'
    for _ in frame["path"]:
        mark, replacement = html.escape(mark, quote=True), html.escape(replacement, quote=True)
    return document.replace(mark, replacement, 1)


def _to_page_row(row: Any, frame: FrameEntry) -> Any:
    moved = row | {"frame": [*frame["path"], frame["uid"], *row["frame"]]}
    if box := row["bbox"]:
        moved["bbox"] = {"x": _limit_text(box["x"] * frame["scaleX"] + frame["x"]),
                         "y": _limit_text(box["y"] * frame["scaleY"] + frame["y"]),
                         "width": _limit_text(box["width"] * frame["scaleX"]),
                         "height": _limit_text(box["height"] * frame["scaleY"])}
    return moved


def _limit_text(value: float) -> float:
    """Frames in frames, each of them scaled, come to more than any page has."""
    return min(max(value, -limits.LENGTH), limits.LENGTH)


def _is_in_viewport(row: TableRow, frame: FrameEntry) -> bool:
    box = row["bbox"]
    return (box["x"] * frame["scaleX"] < frame["width"] and box["y"] * frame["scaleY"] < frame["height"]
            and box["x"] + box["width"] > 0 and box["y"] + box["height"] > 0)
