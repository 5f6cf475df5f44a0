"""What two annotations of one recording differ in, and the edits that make the second's of the first's; pure.

Turns are matched by their ids. What hangs together is one difference: an intent and its arguments, the target of a
pointer action and where the pointer was, two turns of typing that one of the two merged or split.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from pipeline.turns.edits import WITH_POINTER, apply_edits, standing
from schemas import InputError, types

from .summary import moved

TASK, LABEL, DROPPED, ACTION, INTENT, TARGET, ARGUMENTS, UTTERANCE, SPEAKER, PICTURE, TYPING, ADDED, ORDER, VIDEO = (
    "task", "label", "dropped", "action", "intent", "target", "arguments", "utterance", "speaker", "picture", "typing",
    "added", "order", "video")
OUTCOME = "outcome"
Annotated = tuple[types.Demonstration, list[types.Edit]]  # as it is after its edits, and these
Told = dict[str, list[list[Any]]]


@dataclass(frozen=True)
class Difference:
    """`name`: of the label. `first`, `second`: what each has there, None for nothing. `edits`: what makes the second's
    of the first's; None where no edit can, so that it is done by hand."""

    what: str
    turn: str | None
    name: str
    first: Any
    second: Any
    edits: tuple[Any, ...] | None

    @property
    def key(self) -> str:
        """Tells it from the others of a demonstration."""
        return "/".join((self.what, self.turn or "", self.name))


def differences(first: Annotated, second: Annotated, labels: Sequence[Mapping[str, Any]]) -> list[Difference]:
    """All of them, in the order of the turns; of labels those that are asked (`labels.definitions`)."""
    (one, log), (two, other_log) = first, second
    ours, theirs = ({turn["id"]: turn for turn in each["turns"]} for each in (one, two))
    found = [*_of_whole(one, two, labels)]
    joined: set[str] = set()
    for turn in [*two["turns"], *(turn for turn in one["turns"] if turn["id"] not in theirs)]:
        if turn["id"] not in ours or turn["id"] not in theirs:
            found += [each for each in (_lone(turn, ours, theirs, two, joined),) if each]
    for turn in one["turns"]:
        if turn["id"] in theirs:
            found += _of_turn(turn, theirs[turn["id"]], labels, turn["id"] in joined)
    found += _order(one, two, moved(log) | moved(other_log))
    if one.get("alignment") != two.get("alignment"):
        placed = [edit for _, edit in standing(other_log) if edit["op"] == "place_video"]
        found.append(Difference(VIDEO, None, "", None, None, tuple(placed[-1:]) or None))
    places = {turn["id"]: number for number, turn in enumerate([*one["turns"], *two["turns"]])}
    return sorted((_tried(each, one["turns"]) for each in found),
                  key=lambda each: (each.what in (ORDER, VIDEO), places.get(each.turn or "", -1)))


def observed(first: types.Demonstration, second: types.Demonstration, labels: Sequence[Mapping[str, Any]]) -> Told:
    """What both say of the same, counted, for the agreement: `dropped` of all turns, `intent` and `target` of those
    that both keep, and each label that both gave, named by scope and name. Texts are left out."""
    theirs = {turn["id"]: turn for turn in second["turns"]}
    told: dict[str, Counter[tuple[str, str]]] = {what: Counter() for what in (DROPPED, INTENT, TARGET)}
    for one in first["turns"]:
        two = theirs.get(one["id"])
        if two is None:
            continue
        told[DROPPED][_yes(one["dropped"]), _yes(two["dropped"])] += 1
        if one["dropped"] or two["dropped"]:
            continue
        if one["type"] == "browser" and two["type"] == "browser":
            told[INTENT][one["intent"], two["intent"]] += 1
            if one["element"] or two["element"]:
                told[TARGET][_uid(one), _uid(two)] += 1
        _count_labels(told, "turn", one.get("labels", {}), two.get("labels", {}), labels)
    _count_labels(told, "demonstration", first.get("labels", {}), second.get("labels", {}), labels)
    return {what: [[*said, count] for said, count in sorted(counts.items())] for what, counts in told.items()}


def agreed(base: types.Demonstration, known: Annotated, given: Annotated,
           labels: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    """On how many points one annotation is like another, and of how many: labels but texts, what is dropped, intents
    and targets, each where one of the two has it otherwise than `base`, as it was recorded. What both left as it was
    is no point, so that nobody agrees by doing nothing; nor is what is said of a turn that only one of them keeps."""
    texts = {label["name"] for label in labels if label["kind"] == "text"}
    recorded: Annotated = (base, [])
    apart, *changed = (_points(differences(*both, labels), texts)
                       for both in ((known, given), (recorded, known), (recorded, given)))
    lone = {turn for what, turn, _ in apart if what == DROPPED}
    points = {point for point in apart.union(*changed) if point[0] == DROPPED or point[1] not in lone}
    return len(points - apart), len(points)


def counts(each: Difference, labels: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a difference is one of those that `agreed` counts."""
    return bool(_points([each], {label["name"] for label in labels if label["kind"] == "text"}))


def _points(found: list[Difference], texts: AbstractSet[str]) -> set[tuple[str, str | None, str]]:
    points = set()
    for each in found:
        if each.what == ACTION:
            points |= {(INTENT, each.turn, ""), (TARGET, each.turn, "")}
        elif each.what in (DROPPED, INTENT, TARGET) or (each.what == LABEL and each.name not in texts):
            points.add((each.what, each.turn, each.name))
    return points


def _count_labels(told: dict[str, Counter[tuple[str, str]]], scope: str, one: Mapping[str, list[str]],
                  two: Mapping[str, list[str]], labels: Sequence[Mapping[str, Any]]) -> None:
    for label in labels:
        name = label["name"]
        if label["scope"] == scope and label["kind"] != "text" and one.get(name) and two.get(name):
            counts = told.setdefault(f"{scope}: {name}", Counter())
            counts["\n".join(sorted(one[name])), "\n".join(sorted(two[name]))] += 1


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _uid(turn: types.BrowserTurn) -> str:
    return turn["element"]["uid"] or "" if turn["element"] else ""


def _of_whole(one: types.Demonstration, two: types.Demonstration,
              labels: Sequence[Mapping[str, Any]]) -> Iterator[Difference]:
    if one["task"] != two["task"]:
        yield Difference(TASK, None, "", one["task"], two["task"], ({"op": "set_task", "task": two["task"]},))
    ours, theirs = one.get("outcome"), two.get("outcome")
    if ours != theirs:
        yield Difference(OUTCOME, None, "", ours, theirs, ({"op": "set_outcome", "outcome": theirs},))
    yield from _labels(one.get("labels", {}), two.get("labels", {}), "demonstration", None, labels)


def _labels(one: Mapping[str, list[str]], two: Mapping[str, list[str]], scope: str, turn: str | None,
            labels: Sequence[Mapping[str, Any]]) -> Iterator[Difference]:
    for name in (label["name"] for label in labels if label["scope"] == scope):
        ours, theirs = one.get(name, []), two.get(name, [])
        if sorted(ours) != sorted(theirs):
            edit = {"op": "label", "label": name, "said": theirs} | ({"turn": turn} if turn else {})
            yield Difference(LABEL, turn, name, ours, theirs, (edit,))


def _of_turn(one: types.Turn, two: types.Turn, labels: Sequence[Mapping[str, Any]],
             joined: bool) -> Iterator[Difference]:
    """Of a turn that both have. `joined`: what was typed there is part of another difference."""
    turn, changes = one["id"], list(_content(one, two))
    if joined:
        changes = [each for each in changes if each.what not in (ARGUMENTS, ACTION)]
    changes += _labels(one.get("labels", {}), two.get("labels", {}), "turn", turn, labels)
    if one["dropped"] != two["dropped"]:  # what else differs comes along: it is of no turn that both keep
        edits = [edit for each in changes for edit in each.edits or ()]
        op = {"op": "drop" if two["dropped"] else "restore", "turn": turn}
        yield Difference(DROPPED, turn, "", one["dropped"], two["dropped"], (op, *edits))
    elif not one["dropped"]:
        yield from changes


def _content(one: types.Turn, two: types.Turn) -> Iterator[Difference]:
    turn = one["id"]
    if one["type"] == "chat" or two["type"] == "chat":
        for what in (UTTERANCE, SPEAKER):
            if one.get(what) != two.get(what):
                edit = {"op": f"set_{what}", "turn": turn, what: two.get(what)}
                yield Difference(what, turn, "", one.get(what), two.get(what), (edit,))
        return
    yield from _action(one, two)
    yield from _picture(one, two)


def _action(one: types.BrowserTurn, two: types.BrowserTurn) -> Iterator[Difference]:
    turn = one["id"]
    targets, intents = one["element"] != two["element"], one["intent"] != two["intent"]
    said = {"op": "set_arguments", "turn": turn, "arguments": two["arguments"]}
    if intents:
        said |= {"op": "set_intent", "intent": two["intent"]}
    retarget = {"op": "retarget", "turn": turn, "element": two["element"]}
    does = intents or one["arguments"] != two["arguments"]
    if targets and does and {one["intent"], two["intent"]} & set(WITH_POINTER):
        yield Difference(ACTION if intents else TARGET, turn, "", one, two, (retarget, said))
        return
    if targets:
        yield Difference(TARGET, turn, "", one, two, (retarget,) if two["element"] else None)
    if does:
        yield Difference(INTENT if intents else ARGUMENTS, turn, "", one, two, (said,))


def _picture(one: types.BrowserTurn, two: types.BrowserTurn) -> Iterator[Difference]:
    ours, theirs = one["state"], two["state"]
    if not ours or not theirs:
        return
    edits: list[dict[str, Any]] = []
    if ours["screenshot"] != theirs["screenshot"]:
        edits.append({"op": "set_screenshot", "turn": one["id"], "screenshot": theirs["screenshot"],
                      "screenshot_time": theirs["screenshot_time"],
                      "source": theirs.get("screenshot_source", "captured")})
    if edits or ours.get("screenshot_status") != theirs.get("screenshot_status"):
        edits.append({"op": "set_screenshot_status", "turn": one["id"],
                      "status": theirs.get("screenshot_status", "good")})
        yield Difference(PICTURE, one["id"], "", one, two, tuple(edits))


def _lone(turn: types.Turn, ours: Mapping[str, types.Turn], theirs: Mapping[str, types.Turn],
          two: types.Demonstration, joined: set[str]) -> Difference | None:
    """Of a turn that one of them has alone: one that was added, or typing that was split or merged."""
    name, only_second = turn["id"], turn["id"] not in ours
    if turn["type"] == "chat" or not turn["events"]:
        if only_second:
            return Difference(ADDED, name, "", None, turn, (
                {"op": "add", "turn": name, "added": turn, "after": _before(name, two["turns"], ours)},))
        return None if turn["dropped"] else Difference(ADDED, name, "", turn, None, ({"op": "drop", "turn": name},))
    whole = next((each for each in (ours if only_second else theirs).values() if each["type"] == "browser"
                  and set(turn["events"]) < set(each["events"])), None)
    parted = theirs.get(whole["id"]) if whole and only_second else whole
    if whole is None or parted is None or parted["type"] == "chat" or whole["id"] not in ours:
        return Difference(TYPING, name, "", None, turn, None) if only_second else Difference(
            TYPING, name, "", turn, None, ({"op": "drop", "turn": name},))
    joined.add(whole["id"])
    if only_second:
        return Difference(TYPING, whole["id"], "", [whole], [parted, turn], (
            {"op": "split", "turn": whole["id"], "arguments": parted["arguments"], "added": turn},))
    return Difference(TYPING, whole["id"], "", [ours[whole["id"]], turn], [parted], (
        {"op": "merge", "turn": whole["id"], "other": name},
        {"op": "set_arguments", "turn": whole["id"], "arguments": parted["arguments"]}))


def _before(name: str, turns: Sequence[types.Turn], there: Mapping[str, Any]) -> str | None:
    """The turn before one, of those that are there."""
    last = None
    for turn in turns:
        if turn["id"] == name:
            return last
        last = turn["id"] if turn["id"] in there else last
    return last


def _order(one: types.Demonstration, two: types.Demonstration, placed: set[str]) -> Iterator[Difference]:
    """The order of the turns that both have; `placed`: those that somebody moved."""
    theirs = {turn["id"] for turn in two["turns"]}
    ours = {turn["id"] for turn in one["turns"]}
    first, second = ([turn["id"] for turn in each["turns"] if turn["id"] in ours & theirs] for each in (one, two))
    if first != second:
        edits = tuple({"op": "move", "turn": name, "after": second[place - 1] if place else None}
                      for place, name in enumerate(second) if name in placed)
        yield Difference(ORDER, None, "", first, second, edits)


def _tried(each: Difference, turns: list[types.Turn]) -> Difference:
    """With no edits, where they do not fit."""
    try:
        apply_edits(turns, each.edits or ())
    except (InputError, KeyError):
        return Difference(each.what, each.turn, each.name, each.first, each.second, None)
    return each
