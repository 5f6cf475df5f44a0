"""Curation as a state machine: whatever is edited, undone, redone, split and joined in any order, the fold of the log
equals a model that never folds: it makes each edit to the turns of before, and remembers them."""

import json
from dataclasses import dataclass, field
from random import Random

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from pipeline.turns.edits import append_edit, apply_edit, apply_edits, in_force, undo_depths
from schemas import DemonstrationSchema, InputError
from schemas.files import validated
from tests.support.curator.curator_fixtures import make_recording
from tests.support.curator.random_edits import editable_turns, propose

SEEDS = st.integers(0, 2**32 - 1)
MAX_PARTS = 4


@dataclass
class Part:
    """A demonstration: its log, and by the model the turns after each edit in force, the first without any; what the
    edits are; and the parts that were cut off, the nearest last, each with the length of its log then."""

    log: list
    states: list
    kinds: list = field(default_factory=list)
    undone: list = field(default_factory=list)
    following: list = field(default_factory=list)

    def add(self, turns, kind):
        self.states.append(turns)
        self.kinds.append(kind)
        self.undone.clear()

    @property
    def turns(self):
        return self.states[-1]


class Curation(RuleBasedStateMachine):
    base: dict = {}

    @initialize()
    def begin(self):
        self.count = 0
        self.parts = [Part([], [self.base["turns"]])]

    def part(self, seed):
        return self.parts[seed % len(self.parts)]

    def make(self, part, edit, joined=()):
        """Make an edit to a part's log; returns whether it was accepted. A refused one leaves the log as it was."""
        before = json.dumps(part.log)
        try:
            log, turns = append_edit(self.base["turns"], part.log, edit, joined)
        except InputError as error:
            assert str(error) and json.dumps(part.log) == before
            return False
        assert log[:len(part.log)] == part.log and turns == apply_edits(self.base["turns"], log)
        part.log = log
        return True

    @rule(seed=SEEDS)
    def edit(self, seed):
        part, rng = self.part(seed), Random(seed)
        self.count += 1
        try:
            edit = propose(rng, part.turns, f"{self.count}")
        except (IndexError, ValueError):  # there is no turn of the kind
            return
        if edit is None:
            return
        try:
            expected = apply_edit(part.turns, edit)
        except InputError:
            expected = None
        # A target is taken away only where none was recorded, which one edit alone cannot know.
        if self.make(part, edit) or (expected and edit.get("element", 0) is not None):
            assert expected is not None
            part.add(expected, "edit")

    @rule(seed=SEEDS)
    def undo(self, seed):
        part = self.part(seed)
        if part.kinds and part.kinds[-1] != "edit":
            return  # what becomes of the other part is the app's to decide
        assert self.make(part, {"op": "undo"}) == bool(part.kinds)
        if part.kinds:
            part.kinds.pop()
            part.undone.append(part.states.pop())

    @rule(seed=SEEDS)
    def redo(self, seed):
        part = self.part(seed)
        assert self.make(part, {"op": "redo"}) == bool(part.undone)
        if part.undone:
            part.states.append(part.undone.pop())
            part.kinds.append("edit")

    @precondition(lambda self: len(self.parts) < MAX_PARTS)
    @rule(seed=SEEDS)
    def cut(self, seed):
        part = self.part(seed)
        if len(part.turns) < 2:
            return
        index = 1 + seed % (len(part.turns) - 1)
        name, before, log = part.turns[index]["id"], part.turns, part.log
        assert self.make(part, {"op": "end_before", "turn": name})
        following = Part([*log, {"op": "begin_at", "turn": name, "other": "first"}], [])
        following.states = [apply_edits(self.base["turns"], following.log)]
        part.add(apply_edits(self.base["turns"], part.log), "cut")
        assert [turn["id"] for turn in (*part.turns, *following.turns)] == [turn["id"] for turn in before]
        following.following, part.following = part.following, [(following, len(following.log))]
        self.parts.insert(self.parts.index(part) + 1, following)

    @rule(seed=SEEDS)
    def join(self, seed):
        part = self.part(seed)
        if not part.following:
            return
        other, begun = part.following[-1]
        wanted = [turn["id"] for turn in (*part.turns, *other.turns)]
        joined = other.log[begun:]
        assert self.make(part, {"op": "join", "other": "part", "edits": len(joined)}, joined)
        turns = apply_edits(self.base["turns"], part.log)
        assert [turn["id"] for turn in turns] == wanted
        assert without_replies(turns) == without_replies([*part.turns, *other.turns])
        part.following = other.following
        part.add(turns, "join")
        self.parts.remove(other)

    @invariant()
    def folds_as_the_model(self):
        for part in getattr(self, "parts", []):
            assert apply_edits(self.base["turns"], part.log) == part.turns
            assert undo_depths(part.log) == (len(part.kinds), len(part.undone))
            assert len(in_force(part.log)) <= len(part.log)

    @invariant()
    def every_event_is_in_one_turn(self):
        wanted = events_of(self.base["turns"])
        assert sorted(event for part in getattr(self, "parts", []) for event in events_of(part.turns)) == (
            wanted if hasattr(self, "parts") else [])

    def teardown(self):
        for part in getattr(self, "parts", []):
            names = [turn["id"] for turn in part.turns]
            assert len(names) == len(set(names))
            validated({**self.base, "turns": part.turns}, DemonstrationSchema(), "model")


def events_of(turns):
    return sorted(event for turn in turns if turn["type"] == "browser" for event in turn["events"])


def without_replies(turns):
    return [{name: value for name, value in turn.items() if name != "reply_to"} for turn in turns]


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    path = make_recording(tmp_path_factory.mktemp("model"), make_turns=editable_turns)
    base = validated(json.loads((path / "demonstration.json").read_text()), DemonstrationSchema(), "base")
    return type("Curation", (Curation,), {"base": base})


def run(machine, examples):
    run_state_machine_as_test(machine, settings=settings(
        max_examples=examples, stateful_step_count=25, deadline=None, print_blob=False, derandomize=examples < 1000,
        suppress_health_check=[*HealthCheck]))


def test_200_sequences_fold_as_the_model(machine):
    run(machine, 200)


@pytest.mark.slow
def test_20_000_sequences_fold_as_the_model(machine):
    run(machine, 20_000)
