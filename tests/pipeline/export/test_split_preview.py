"""What an export would move between splits is what it moves."""

import json
from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest
from click.testing import CliRunner

from demotape.cli import main
from pipeline.export import Rule, Source, export, preview_splits
from schemas import InputError
from tests.support.curator.curator_fixtures import make_recording
from tests.support.samples.recording_fixtures import STARTED_AT, make_demonstration, write_recording

RULE = Rule(seed=5, valid=0.3, test_iid=0.3, near_duplicates=0.75)
CITIES = ("Paris", "Parma", "Padua", "Prague")
TASKS = [f"Book the cheapest flight from London to {city} on the 3rd of May" for city in CITIES] + [
    f"{number} {chr(97 + number) * 3 * number}" for number in range(1, 9)]


@pytest.fixture
def sources(tmp_path):
    """Twelve demonstrations, of which four are near-duplicates, each recorded on a day of its own."""
    made = []
    for number, task in enumerate(TASKS):
        recording = write_recording(tmp_path / f"rec-{number}", started_at=STARTED_AT + timedelta(days=number))
        demonstration = make_demonstration(recording)
        made.append(Source(demonstration | {"task": task, "turns": demonstration["turns"][:3]}, recording))
    return made


def splits_of(folder):
    return {entry["id"]: entry["split"]
            for entry in json.loads((folder / "manifest.json").read_bytes())["demonstrations"]}


def edited(source, number):
    """A demonstration whose task was corrected, and which was recorded as it was."""
    changed = source.demonstration | {"task": f"Corrected {number}"}
    return replace(source, demonstration=changed, recorded=source.demonstration)


def test_what_is_shown_moves_and_nothing_else_does(tmp_path, sources):
    random = Random(71)
    moved: list[str] = []
    for step in range(20):
        chosen = [edited(source, step) if random.random() < 0.3 else source
                  for source in random.sample(sources, random.randint(4, len(sources)))]
        rule = replace(RULE, seed=random.choice((5, 6))) if step % 5 == 4 else RULE
        before = splits_of(tmp_path / "out") if step else {}
        shown = preview_splits(iter(chosen), tmp_path / "out", rule)
        export(iter(chosen), tmp_path / "out", "chat", rule=rule)
        after = splits_of(tmp_path / "out")
        changed = {name: (before[name], split) for name, split in after.items() if before.get(name, split) != split}
        assert {move.id: (move.before, move.after) for move in shown.moves} == changed
        assert all(move.reason for move in shown.moves)
        assert (shown.new, shown.gone) == (len(after.keys() - before.keys()), len(before.keys() - after.keys()))
        assert dict(shown.splits) == {split: [*after.values()].count(split) for split in after.values()}
        moved += changed
    assert moved


def test_an_older_near_duplicate_is_the_reason(tmp_path, sources):
    alone = {source.id: RULE.assign(source).split for source in sources[:4]}
    oldest, other = next((first, second) for first in sources[:4] for second in sources[:4]
                         if first.recording.manifest["started_at"] < second.recording.manifest["started_at"]
                         and alone[first.id] != alone[second.id])
    export([other, *sources[4:]], tmp_path / "out", "chat", rule=RULE)
    (move,) = preview_splits([oldest, other, *sources[4:]], tmp_path / "out", RULE).moves
    assert (move.id, move.after) == (other.id, alone[oldest.id])
    assert move.reason == f"near-duplicate of {oldest.id}, which is new"
    export([oldest, other, *sources[4:]], tmp_path / "out", "chat", rule=RULE)
    (move,) = preview_splits([other, *sources[4:]], tmp_path / "out", RULE).moves
    assert (move.id, move.reason) == (other.id, f"no longer a near-duplicate of {oldest.id}")


def test_a_release_moves_none_unless_asked(tmp_path, sources):
    export(sources[3:], tmp_path, "chat", rule=RULE, release="v1")
    other = replace(RULE, seed=99)
    shown = preview_splits(sources, tmp_path, other, release="v2")
    assert shown.moves == [] and shown.new == 3 and shown.compared_with.endswith("/v1")
    again = preview_splits(sources, tmp_path, other, release="v2", new_splits=True)
    assert again.moves and not (tmp_path / "v2").exists()
    with pytest.raises(InputError, match="already exists"):
        preview_splits(sources, tmp_path, other, release="v1")


def test_a_damaged_earlier_export_is_not_taken_for_none(tmp_path, sources):
    export(sources, tmp_path / "out", "chat", rule=RULE)
    (tmp_path / "out" / "manifest.json").write_text("{")
    with pytest.raises(InputError, match="manifest.json"):
        preview_splits(sources, tmp_path / "out", RULE)


def test_the_command_shows_and_writes_nothing(tmp_path):
    def run(*arguments):
        return CliRunner().invoke(main, [str(argument) for argument in arguments])

    for number in range(3):
        recording = make_recording(tmp_path / "made", recording_id=f"rec-{number}", task=f"{'abcdef'[number] * 20}")
        assert run("import", "--create", recording, "--data", tmp_path / "data").exit_code == 0
    rule = tmp_path / "rule.json"
    rule.write_text(json.dumps({"valid": 1, "test_iid": 0}))
    options = ("--splits", rule, "--data", tmp_path / "data")
    first = run("export", tmp_path / "out", "--show-splits", *options)
    assert first.exit_code == 0 and "3 demonstrations: valid 3; nothing was written" in first.output
    assert not (tmp_path / "out").exists()
    assert run("export", tmp_path / "out", "--format", "chat", *options).exit_code == 0
    content = (tmp_path / "out" / "manifest.json").read_bytes()
    rule.write_text(json.dumps({"valid": 0, "test_iid": 1}))
    done = run("export", tmp_path / "out", "--show-splits", *options)
    assert "0 new, 0 no longer there, 3 with another split" in done.output
    assert "rec-1: valid → test_iid (the rule assigns test_iid" in done.output
    assert (tmp_path / "out" / "manifest.json").read_bytes() == content
