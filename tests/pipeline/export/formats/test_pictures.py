"""Set of marks, accessibility trees and the encodings of screenshots, in every format."""

import io
import json
import tarfile

import cv2
import numpy
import pyarrow.parquet
import pytest

from pipeline.export import FORMATS, Source, export
from pipeline.export.model_input.set_of_marks import draw, number_marks
from recorder import Recording
from tests.support.samples.recording_fixtures import VIEWPORT, make_demonstration, write_recording

MAGIC = {"png": b"\x89PNG", "webp": b"RIFF", "jpg": b"\xff\xd8\xff"}
WITHOUT_MARKS = ("playwright", "label-studio", "adp", "agentnet")
TREE = [{"id": 1, "parent": None, "role": "RootWebArea", "name": "Läden"}]


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Source:
    """A demonstration of which all states but the first have an accessibility tree."""
    from pipeline.cache import derived

    recording = write_recording(tmp_path_factory.mktemp("recordings") / "rec")
    name = derived.store_derived(recording.layout, json.dumps(TREE).encode())
    demonstration = make_demonstration(recording)
    first = demonstration["turns"][1]["state"]["screenshot"]
    for turn in demonstration["turns"]:
        if turn.get("state") and turn["state"]["screenshot"] != first:
            turn["state"] = turn["state"] | {"axtree": name}
    return Source(demonstration, Recording(recording.layout.root))


def pictures(folder, format) -> tuple[list[bytes], list[bytes], list[dict], list]:
    """Screenshots, marked ones, what the marks stand for, accessibility trees; those that there are."""
    if format == "weblinx":
        return ([path.read_bytes() for path in sorted(folder.glob("**/screenshots/*"))],
                [path.read_bytes() for path in sorted(folder.glob("**/marks/*-0.*"))],
                [json.loads(path.read_bytes()) for path in sorted(folder.glob("**/marks/*.json"))],
                [json.loads(path.read_bytes()) for path in sorted(folder.glob("**/axtree/*.json"))])
    if format == "mind2web":
        actions = [action for path in folder.glob("data/*/*.json") for task in json.loads(path.read_bytes())
                   for action in task["actions"]]
        read = [[(folder / action[name]).read_bytes() for action in actions] for name in (
            "screenshot", "marked_screenshot")]
        return (*read, [json.loads(action["marks"]) for action in actions],
                [json.loads(action["axtree"]) for action in actions])
    if format in ("parquet", "multimodal-mind2web"):
        rows = [row for path in folder.glob("data/*") for row in pyarrow.parquet.read_table(path).to_pylist()]
        return (*([row[name]["bytes"] for row in rows if row[name]] for name in ("screenshot", "marked_screenshot")),
                [json.loads(row["marks"]) for row in rows], [json.loads(row["axtree"]) for row in rows])
    if format == "chat":
        rows = [json.loads(line) for path in folder.glob("*.jsonl") for line in path.read_bytes().splitlines()]
        return (*([(folder / row["images"][place]).read_bytes() for row in rows] for place in (0, 1)),
                [json.loads(row["marks"]) for row in rows], [json.loads(row["axtree"]) for row in rows])
    if format == "trajectories":
        seen = [json.loads(line)["observation"] for path in folder.glob("*.jsonl")
                for line in path.read_bytes().splitlines()]
        kinds = "screenshot", "marked_screenshot"
        return (*([(folder / each[name]).read_bytes() for each in seen] for name in kinds),
                [json.loads(each["marks"]) for each in seen], [json.loads(each["axtree"]) for each in seen])
    if format == "atif":
        results = [result for path in folder.glob("*/*.json") for step in json.loads(path.read_bytes())["steps"]
                   for result in step.get("observation", {}).get("results", ())]
        paths = [part["source"]["path"] for result in results for part in result["content"] if part["type"] == "image"]
        return ([(folder / path).read_bytes() for path in paths if "-marked." not in path],
                [(folder / path).read_bytes() for path in paths if "-marked." in path],
                [result["extra"]["marks"] for result in results],
                [json.loads(result["content"][1]["text"]) for result in results])
    members: dict[str, list[bytes]] = {}
    for path in sorted(folder.glob("*.tar")):
        with tarfile.open(fileobj=io.BytesIO(path.read_bytes())) as tar:
            for member in tar:
                members.setdefault(member.name.partition(".")[2], []).append(tar.extractfile(member).read())
    records = [json.loads(text) for text in members["json"]]
    [kind] = {name for name in members if name in MAGIC}
    return (members[kind], members[f"marks.{kind}"], [json.loads(each["marks"]) for each in records],
            [json.loads(each["axtree"]) for each in records])


@pytest.mark.parametrize("format", [format for format in FORMATS if format not in WITHOUT_MARKS])
@pytest.mark.parametrize("kind", MAGIC)
def test_every_format_has_them(tmp_path, source, format, kind):
    export([source], tmp_path / "out", format, screenshots=kind, set_of_marks=True, axtree=True)
    plain, marked, legends, trees = pictures(tmp_path / "out", format)
    assert plain and marked and all(each.startswith(MAGIC[kind]) for each in plain + marked)
    assert all(cv2.imdecode(numpy.frombuffer(each, numpy.uint8), cv2.IMREAD_COLOR) is not None
               for each in plain + marked)
    assert {json.dumps(tree) for tree in trees} >= {json.dumps(TREE)}
    full = [legend for legend in legends if legend]
    assert all(list(legend) == ["1", "2", "3", "4", "5"] for legend in full) and full
    assert full[0]["1"] == {"uid": "10", "tag": "x", "role": "", "name": "", "bbox": {
        "x": 20.0, "y": 40.0, "width": 200.0, "height": 24.0}}


def test_lossless_kinds_keep_every_pixel(tmp_path, source):
    read = []
    for kind in ("png", "webp"):
        export([source], tmp_path / kind, "weblinx", screenshots=kind)
        read.append([cv2.imread(str(path)) for path in sorted((tmp_path / kind).glob("**/screenshots/*"))])
    assert all((a == b).all() for a, b in zip(*read, strict=True))


def row(uid, x, y, width, height, **changes):
    return {"uid": uid, "tag": "a", "role": "link", "name": uid, "visible": True, "clickable": True,
            "bbox": {"x": x, "y": y, "width": width, "height": height}} | changes


def test_only_what_can_be_acted_on_and_is_in_sight_is_marked():
    table = {each["uid"]: each for each in (
        row("text", 1, 1, 20, 20, clickable=False), row("a", 10, 10, 50, 20),
        row("hidden", 1, 1, 20, 20, visible=False), row("below", 10, 1000, 50, 20), row("thin", 10, 10, 50, 1),
        row("b", 600, 380, 100, 50))}
    assert [(mark.number, mark.uid) for mark in number_marks(table, VIEWPORT)] == [(1, "a"), (2, "b")]


def test_marks_are_black_boxes_at_the_pictures_scale():
    white = numpy.full((800, 1280, 3), 255, numpy.uint8)
    marks = number_marks({"a": row("a", 100, 50, 80, 40)}, VIEWPORT)
    drawn = draw(white, marks, 2.0)
    assert (white == 255).all()
    for x, y in ((280, 100), (360, 140), (280, 180)):  # upper edge, right edge, lower edge
        assert drawn[y, x].max() == 0
    assert drawn[150, 330].min() == 255  # inside
    assert drawn[100:130, 200:225].min() == 0 and drawn[100:130, 200:225].max() > 200  # a white number on black
