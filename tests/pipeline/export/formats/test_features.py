"""JSON formats load by the types in their cards, whatever order the rows have."""

import json
import re
from pathlib import Path

import datasets
import pytest

from pipeline.export import Source, export
from tests.pipeline.export.formats.test_label_studio import QUESTIONS
from tests.support.checkout import ROOT
from tests.support.samples.recording_fixtures import make_demonstration, write_recording

BLOCK = 12 << 20  # more than the first block, from which `datasets` would take the types
FILES = {"trajectories": "train.jsonl", "chat": "train.jsonl", "mind2web": "data/train/train_0.json",
         "label-studio": "train.json"}
OPTIONS = {"set_of_marks": True, "axtree": True}


def read_rows(path: Path) -> list[dict]:
    text = path.read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else json.loads(text)


def write_rows(path: Path, rows: list[dict]) -> None:
    lines = [json.dumps(row) for row in rows]
    path.write_text("\n".join(lines) + "\n" if path.suffix == ".jsonl" else "[" + ",\n".join(lines) + "]")


def emptied(value):
    """A row in which lists are empty and what may be null is null; texts are long."""
    if isinstance(value, dict):
        return {name: emptied(part) for name, part in value.items()}
    if isinstance(value, list):
        return []
    return "x" * 100_000 if isinstance(value, str) else value


ANSWERS = [{"question": name, "turn": "t2", "value": value, "annotator": "reviewer-1", "scheme": 1,
            "independent": True} for name, value in (("kinds", ["search"]), ("clear", 0), ("note", "Good"))]


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    recording = write_recording(tmp_path_factory.mktemp("recordings") / "rec")
    return Source(make_demonstration(recording) | {"answers": ANSWERS}, recording, questions=tuple(QUESTIONS))


@pytest.mark.parametrize("options", [{}, OPTIONS], ids=["usual", "all options"])
@pytest.mark.parametrize("format", FILES)
@pytest.mark.parametrize("streaming", [False, True])
def test_rows_load_in_any_order(source, tmp_path, format, options, streaming):
    out = tmp_path / "out"
    export([source], out, format, **({} if format == "label-studio" else options))
    path = out / FILES[format]
    rows = read_rows(path)
    without = [emptied(rows[0])]
    write_rows(path, [*without * (BLOCK // len(json.dumps(without[0])) + 1), *rows])
    loaded = datasets.load_dataset(str(out), cache_dir=str(tmp_path / "cache"), streaming=streaming)["train"]
    *_, last = loaded
    assert _agrees(last, rows[-1])


def _agrees(loaded, written) -> bool:
    """Whether what was loaded is what was written; fields that a row lacks are null."""
    if isinstance(written, dict):
        return all(_agrees(loaded[name], part) for name, part in written.items()) and all(
            value is None for name, value in loaded.items() if name not in written)
    if isinstance(written, list):
        return len(loaded) == len(written) and all(map(_agrees, loaded, written))
    return loaded == written


@pytest.mark.parametrize("format", FILES)
def test_every_field_is_declared(source, tmp_path, format):
    export([source], tmp_path / "out", format, **({} if format == "label-studio" else OPTIONS))
    declared = datasets.load_dataset_builder(str(tmp_path / "out"), cache_dir=str(tmp_path / "cache")).info.features
    rows = read_rows(tmp_path / "out" / FILES[format])
    assert {name for row in rows for name in _names(row)} == set(_names(declared))


def _names(value, path="") -> list[str]:
    """Paths of the fields of a row, or of features."""
    if isinstance(value, datasets.List):
        return _names(value.feature, f"{path}[]")
    if isinstance(value, list):
        return [name for part in value for name in _names(part, f"{path}[]")]
    if isinstance(value, dict):
        return [name for key, part in value.items() for name in _names(part, f"{path}.{key}")]
    return [path]


def test_the_documented_lines_load_pictures_from_anywhere(source, tmp_path, monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    export([source], tmp_path / "out", "chat")
    text = (ROOT / "docs/export.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    [block] = [block for block in blocks if "load_dataset(folder)" in block]
    names = {"folder": str(tmp_path / "out")}
    exec(block, names)
    pictures = [path for row in names["train"] for path in row["images"]]
    assert pictures and all(Path(path).is_file() for path in pictures)
