"""A ranker learns from an export, is better on a site it has not seen than words alone, and ranks in later exports."""

import json
import random
import shutil
from pathlib import Path

import pytest

from pipeline.export import Source, export
from pipeline.export.model_input import features, scorers
from pipeline.export.model_input.candidates import candidates_of
from pipeline.export.model_input.elements import Query
from pipeline.pages.dom import flatten
from pipeline.ranker import train
from pipeline.ranker.reading import choices
from schemas import InputError
from tests.pipeline.test_process import demotape
from tests.support.samples.recording_fixtures import make_demonstration, write_recording

try:
    import lightgbm  # noqa: F401
except OSError as error:  # a library of the system is missing
    pytest.skip(f"LightGBM cannot be loaded: {error}", allow_module_level=True)

THINGS = ("lamp", "chair", "ticket", "flight", "hotel", "book", "shoe", "phone", "garden", "bicycle", "coffee", "train")
SIZE = {"viewportWidth": 800, "viewportHeight": 600}


def site(folder: Path, splits: dict[str, int], seed: int = 1) -> Path:
    """An export in WebLINX's layout: shops whose pages say much of what they sell, and have a button for each. The
    button says `Go` and what it is for only in its `aria-label`, and comes after what is said of it."""
    folder.mkdir(exist_ok=True)
    by_chance, names = random.Random(seed), {}
    for split, count in splits.items():
        names[split] = [f"{split}-{number}".replace("_", "-") for number in range(count)]
        for name in names[split]:
            _demonstration(folder / "demonstrations" / name, by_chance)
    (folder / "splits.json").write_text(json.dumps(names))
    return folder


def _demonstration(root: Path, by_chance: random.Random) -> None:
    for name in ("pages", "bboxes"):
        (root / name).mkdir(parents=True)
    data: list[dict] = []
    for number in range(3):
        things = by_chance.sample(THINGS, 8)
        wanted = by_chance.choice(things)
        data.append({"type": "chat", "speaker": "instructor", "timestamp": number, "utterance": f"get me the {wanted}"})
        parts, boxes = [], {}
        for place, thing in enumerate(things):
            for kind, text in (("h3", "The {}"), ("p", "Get the {}. " * 3), ("span", "{}, only {}"),
                               ("li", "{} to get"), ("td", "me and the {}"), ("div", "the {} for me")):
                parts.append(f"<{kind} data-webtasks-id='{thing}-{kind}'>{text.format(*[thing] * 3)}</{kind}>")
                boxes[f"{thing}-{kind}"] = _box(0, 20 * place)
            parts.append(f"<button data-webtasks-id='{thing}' aria-label='{thing}'>Go</button>")
            boxes[thing] = _box(400, 20 * place)
        (root / "pages" / f"page-{number}-0.html").write_text(f"<!DOCTYPE html><body>{''.join(parts)}")
        (root / "bboxes" / f"bboxes-{number}.json").write_text(json.dumps(boxes))
        arguments = {"metadata": SIZE, "element": {"attributes": {"data-webtasks-id": wanted}}}
        data.append({"type": "browser", "timestamp": number, "action": {"intent": "click", "arguments": arguments},
                     "state": {"page": f"page-{number}-0.html", "screenshot": None}})
    (root / "replay.json").write_text(json.dumps({"data": data}))


def _box(x: int, y: int) -> dict:
    return {"x": x, "y": y, "width": 60, "height": 18}


@pytest.fixture(scope="module")
def shops(tmp_path_factory) -> Path:
    return site(tmp_path_factory.mktemp("shops"), {"train": 30, "valid": 6, "test_web": 12, "test_iid": 0})


def test_a_ranker_is_better_than_words_on_a_site_it_has_not_seen(shops, tmp_path):
    told = train(shops, tmp_path / "ranker.json")
    assert (told.demonstrations, told.turns, [*told.splits], told.damaged) == (30, 90, ["test_web"], [])
    ranker, lexical = told.splits["test_web"]
    assert ranker.turns == lexical.turns == 36
    assert ranker.mrr > 0.9 > 0.5 > lexical.mrr and ranker.recall == 1 >= lexical.recall
    again = train(shops, tmp_path / "again.json")
    assert again.splits == told.splits
    assert (tmp_path / "ranker.json").read_bytes() == (tmp_path / "again.json").read_bytes()


def test_a_ranker_that_takes_the_place_of_another_is_the_one_that_ranks(shops, tmp_path):
    few = site(tmp_path / "few", {"train": 2, "test_web": 1}, seed=2)
    choice = next(choices(few, "test-web-0"))
    scores = []
    for export_, name in ((shops, "ranker.json"), (few, "ranker.json"), (few, "alone.json")):
        train(export_, tmp_path / name)
        scores.append(scorers.scorer(str(tmp_path / name))(choice.query, choice.elements))
    assert scores[0] != scores[1] == scores[2]


def test_the_command_and_what_it_tells(shops, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, output = demotape("ranker", "train", shops)
    assert code == 0 and "learned from 90 turns of 30 demonstrations" in output and "test_web" in output
    shutil.copytree(shops, tmp_path / "broken")
    (tmp_path / "broken" / "demonstrations" / "train-7" / "replay.json").write_text("{")
    (tmp_path / "broken" / "demonstrations" / "test-web-3" / "pages" / "page-1-0.html").unlink()
    code, output = demotape("ranker", "train", tmp_path / "broken", "--output", "other.json", "--json")
    figures = json.loads(output.splitlines()[0])
    assert code == 1 and figures["demonstrations"] == 29 and figures["splits"]["test_web"]["turns"] == 33
    assert "train-7" in output and "test-web-3" in output and (tmp_path / "other.json").exists()


def test_an_export_ranks_by_it_in_any_process(shops, tmp_path):
    recordings = [write_recording(tmp_path / name) for name in ("rec-a", "rec-b", "rec-c")]
    sources = [Source(make_demonstration(recording), recording) for recording in recordings]
    train(shops, tmp_path / "ranker.json")
    told = []
    for jobs, ranker in ((1, str(tmp_path / "ranker.json")), (2, str(tmp_path / "ranker.json")), (1, None)):
        out = tmp_path / f"out-{len(told)}"
        export(sources, out, "weblinx", candidates=True, scorer=ranker, jobs=jobs)
        told.append((out / "candidates" / "train.jsonl").read_bytes())
    assert told[0] == told[1] != told[2]
    own = train(tmp_path / "out-0", tmp_path / "own.json")  # our own exports are what it learns from
    assert own.demonstrations == 3 and own.turns > 3 and not own.splits and not own.damaged


def test_what_is_told_of_elements_is_told_whatever_they_are():
    page = flatten("<body><p data-demotape-uid=1>Text</p><button data-demotape-uid=2 role=tab type=submit>"
                   "Go \N{SNOWMAN}</button><x-y data-demotape-uid=3></x-y><svg><path/></svg>".encode())
    size = {"width": 0, "height": 0}
    boxes = {uid: {"x": -5.0, "y": 0.0, "width": 50.0, "height": 50.0} for uid in ("1", "2")}
    elements = candidates_of(page, boxes, size, "3")
    assert [each.uid for each in elements] == ["1", "2", "3"]
    for asked in (Query([], [], size), Query(["press \N{SNOWMAN}"], ['click(uid="2")', "load()"], size)):
        rows = features.table(asked, elements, scorers.lexical)
        assert rows.shape == (3, len(features.NAMES)) and (abs(rows) < 1e6).all()
    told = dict(zip(features.NAMES, rows[1].tolist(), strict=True))
    assert told["acted_before"] == told["acted_last"] == 1 and told["role"] and told["type"] and told["tag"]
    assert features.table(asked, [], scorers.lexical).shape == (0, len(features.NAMES))


@pytest.mark.parametrize("content, reason", [
    ("", "not a file written by"), ("[]", "not a file written by"),
    ('{"format": "demotape/ranker", "version": 9}', "not a file written by"),
    (json.dumps({"format": "demotape/ranker", "version": 1, "features": ["a"], "model": ""}),
     "the features of this ranker"),
    (json.dumps({"format": "demotape/ranker", "version": 1, "features": [*features.NAMES], "model": "tree"}),
     "LightGBM cannot read it")])
def test_a_file_that_is_no_ranker_is_told(tmp_path, content, reason):
    (tmp_path / "ranker.json").write_text(content)
    with pytest.raises(InputError, match=f"ranker.json: .*{reason}"):
        scorers.scorer(str(tmp_path / "ranker.json"))


def test_an_export_with_nothing_to_learn_from_is_told(tmp_path):
    with pytest.raises(InputError, match="not an export in the format weblinx"):
        train(tmp_path, tmp_path / "ranker.json")
    site(tmp_path / "empty", {"train": 0})
    with pytest.raises(InputError, match="the split train has no turn"):
        train(tmp_path / "empty", tmp_path / "ranker.json")
    (tmp_path / "empty" / "splits.json").write_text('{"train": ["../../x"]}')
    with pytest.raises(InputError, match="is not a demonstration of the export"):
        [*choices(tmp_path / "empty", "../../x")]
    assert not (tmp_path / "ranker.json").exists()
