"""What we exported comes back: the same turns, and the same export again; whatever the order of rows and files."""

import json
import random
import shutil
import tarfile

import pyarrow.parquet
import pytest

from demotape.foreign_data import import_item
from pipeline.export import Source, export
from pipeline.importing import list_items
from recorder import Recording
from schemas import DemonstrationSchema, InputError
from schemas.files import read_json
from tests.support.samples.recording_fixtures import make_demonstration, write_recording

FORMATS = ("parquet", "webdataset", "trajectories", "chat", "mind2web", "multimodal-mind2web", "weblinx")


@pytest.fixture(scope="module")
def exports(tmp_path_factory):
    """A folder with an export in each format, of two demonstrations."""
    folder = tmp_path_factory.mktemp("exports")
    sources = []
    for name in ("shop-1", "shop-2"):
        recording = write_recording(folder / name)
        sources.append(Source(make_demonstration(recording), recording))
    for format in FORMATS:
        export(sources, folder / format, format)
    return folder


@pytest.fixture
def data_set(exports, tmp_path):
    """Copies the export of a format, to be changed."""
    return lambda format: shutil.copytree(exports / format, tmp_path / "set")


def imported(path, folder, importer=None) -> dict[str, Source]:
    """Everything in a file or folder, imported, by the recording's id."""
    name, items = list_items(path, importer)
    sources = {}
    for number, item in enumerate(items):
        made = import_item(name, item, folder / f"{name}-{number}")
        recording = Recording(folder / f"{name}-{number}")
        demonstration = read_json(recording.layout.demonstration, DemonstrationSchema())
        assert made == recording.id == demonstration["id"]
        sources[made] = Source(demonstration, recording)
    return sources


def rows(folder):
    table = pyarrow.parquet.read_table(next(folder.glob("data/*.parquet")))
    return {(row["demonstration"], row["turn"]): row for row in table.to_pylist()}


def lines(folder):
    return [json.loads(line) for line in (folder / "train.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("format", FORMATS)
def test_each_format_is_recognised(exports, format):
    name, items = list_items(exports / format)
    assert (name, len(items)) == (format, 2)


@pytest.mark.parametrize("format", ["parquet", "webdataset"])
def test_turns_are_the_same(exports, tmp_path, format):
    source = imported(exports / format, tmp_path)["shop-1"]
    recording = Recording(exports / "shop-1")
    before = Source(make_demonstration(recording), recording).turns
    assert source.recording.manifest["imported"]["lacks"] == []
    assert [turn["id"] for turn in source.turns] == [turn["id"] for turn in before]
    for turn, old in zip(source.turns, before, strict=True):
        for name in ("type", "timestamp", "intent", "arguments", "speaker", "utterance"):
            assert turn.get(name) == old.get(name)
        if old.get("state"):
            for name in ("url", "title", "tab", "viewport", "zoom", "device_pixel_ratio", "scroll"):
                assert turn["state"][name] == old["state"][name]
        if old.get("element"):
            assert turn["element"]["bbox"] == old["element"]["bbox"]


def test_parquet_gives_the_same_rows_again(exports, tmp_path):
    export([*imported(exports / "parquet", tmp_path).values()], tmp_path / "again", "parquet")
    old, new = rows(exports / "parquet"), rows(tmp_path / "again")
    assert old.keys() == new.keys()
    for key, row in old.items():
        for name in ("index", "intent", "arguments", "uid", "html", "url", "title", "state_turn", "screenshot_status",
                     "timestamp", "utterance", "scroll_y"):
            assert new[key][name] == row[name], (key, name)
        assert json.loads(new[key]["boxes"]) == json.loads(row["boxes"])


@pytest.mark.parametrize("format", ["trajectories", "chat"])
@pytest.mark.parametrize("grammar", ["browsergym", "weblinx"])
def test_actions_are_written_the_same_again(exports, tmp_path, format, grammar):
    sources = [Source(make_demonstration(Recording(exports / "shop-1")), Recording(exports / "shop-1"))]
    export(sources, tmp_path / "first", format, grammar=grammar)
    back = [*imported(tmp_path / "first", tmp_path).values()]
    assert [turn["utterance"] for turn in back[0].turns if turn["type"] == "chat"] == ["Find “lamps”", "Done ✓"]
    if format == "trajectories":
        export(back, tmp_path / "again", format, grammar=grammar)
        assert [line["action"] for line in lines(tmp_path / "again")] == [
            line["action"] for line in lines(tmp_path / "first")]


@pytest.mark.parametrize("format", ["mind2web", "multimodal-mind2web"])
def test_operations_and_targets_are_the_same_again(exports, tmp_path, format):
    export([*imported(exports / format, tmp_path).values()], tmp_path / "again", "mind2web")

    def tasks(folder):
        return [[(action["operation"]["op"], action["operation"]["value"], action["pos_candidates"][0]["tag"],
                  json.loads(action["pos_candidates"][0]["attributes"]).get("bounding_box_rect"))
                 for action in task["actions"]] for task in json.loads(
                     (folder / "data" / "train" / "train_0.json").read_text())]
    wanted = tasks(exports / "mind2web")
    if format == "multimodal-mind2web":  # its boxes are relative to the viewport
        assert [[action[:3] for action in task] for task in tasks(tmp_path / "again")] == [
            [action[:3] for action in task] for task in wanted]
    else:
        assert sorted(tasks(tmp_path / "again")) == sorted(wanted)


def test_rows_in_any_order_and_file(data_set, exports, tmp_path):
    folder = data_set("parquet")
    file = next(folder.glob("data/*.parquet"))
    table = pyarrow.parquet.read_table(file)
    order = random.Random(7).sample(range(len(table)), len(table))
    for number in range(2):
        pyarrow.parquet.write_table(table.take(order[number::2]), file.with_name(f"train-{number}.parquet"))
    file.unlink()
    (folder / "manifest.json").unlink()
    shuffled = imported(folder, tmp_path / "shuffled")
    straight = imported(exports / "parquet", tmp_path / "straight")
    assert {name: source.turns for name, source in shuffled.items()} == {
        name: source.turns for name, source in straight.items()}


def test_a_single_file_is_enough(exports, tmp_path):
    for format, pattern in (("parquet", "data/*.parquet"), ("webdataset", "*.tar"), ("trajectories", "train.jsonl"),
                            ("mind2web", "data/train/*.json")):
        assert imported(next((exports / format).glob(pattern)), tmp_path).keys() == {"shop-1", "shop-2"}


def test_lacks_are_told_and_no_finding_at_each_turn(exports, tmp_path):
    source = imported(exports / "chat", tmp_path)["shop-1"]
    assert source.recording.manifest["imported"]["lacks"] == ["pages", "boxes", "times"]
    kinds = [check["kind"] for turn in source.turns for check in turn["checks"]]
    assert kinds.count("import-gap") == 1 and "no-box" not in kinds


@pytest.mark.parametrize("name", ["../secret", "/etc/hostname", "pages/../../secret", "C:/x", "a\0b"])
def test_paths_in_data_lead_nowhere_else(data_set, tmp_path, name):
    folder = data_set("trajectories")
    (tmp_path / "secret").write_text("<html></html>")
    rows = lines(folder)
    rows[0]["observation"]["html"] = name
    (folder / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(InputError, match="not the name of a file in this folder"):
        imported(folder, tmp_path)


def test_links_are_refused(data_set, tmp_path):
    folder = data_set("trajectories")
    page = next((folder / "pages").iterdir())
    (tmp_path / "secret").write_text("<html></html>")
    page.unlink()
    page.symlink_to(tmp_path / "secret")
    with pytest.raises(InputError, match="is a link"):
        imported(folder, tmp_path)


@pytest.mark.parametrize(("field", "value"), [
    ("action", "click(__import__('os').getpid())"), ("action", "click("), ("action", "x" * (2 << 20)),
    ("action", None), ("observation", 7), ("utterances", [{"speaker": "cat", "utterance": "miau"}]),
    ("turn", None), ("intent", 3), ("demonstration", None)])
def test_odd_fields_are_one_clear_error_or_read(data_set, tmp_path, field, value):
    folder = data_set("trajectories")
    rows = lines(folder)
    rows[0][field] = value
    (folder / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    try:
        imported(folder, tmp_path, "trajectories")
    except InputError as error:
        assert "train.jsonl" in str(error) or "set" in str(error)
        assert "\n" not in str(error)


@pytest.mark.parametrize("format", ["parquet", "webdataset", "mind2web", "trajectories"])
def test_files_that_are_cut_off_are_one_clear_error(data_set, tmp_path, format):
    folder = data_set(format)
    patterns = {"parquet": "data/*.parquet", "webdataset": "*.tar", "mind2web": "data/train/*.json",
                "trajectories": "train.jsonl"}
    file = next(folder.glob(patterns[format]))
    file.write_bytes(file.read_bytes()[:len(file.read_bytes()) * 2 // 3])
    with pytest.raises(InputError):
        imported(folder, tmp_path, format)


def test_links_in_a_tar_are_not_followed(data_set, tmp_path):
    folder = data_set("webdataset")
    with tarfile.open(next(folder.glob("*.tar")), "a") as tar:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE):
            member = tarfile.TarInfo("shop-1-9999.json")
            member.type, member.linkname = kind, "/etc/hostname"
            tar.addfile(member)
    assert len(imported(folder, tmp_path)) == 2
