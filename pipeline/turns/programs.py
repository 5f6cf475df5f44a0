"""Programs of edits: how one list of turns is made of another by the operations of the log; pure.

A program makes each edit at once, with its preconditions, so that what it returns can be appended as it is.
"""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from schemas import InputError
from schemas.types.recordings import BrowserTurn, Turn

from .edits import apply_edit

PICTURE_FIELDS = ("screenshot", "screenshot_time", "screenshot_status", "screenshot_source", "screenshot_taken")
PAGE_FIELDS = ("tab", "url", "dom", "elements")
_TYPING = "textInput"


class Program:
    """Edits that were made to a list of turns, and the turns after them. Every method raises InputError where no edit
    does what is wanted."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.turns = list(turns)
        self.edits: list[Any] = []

    def make(self, edit: Any) -> None:
        self.turns = apply_edit(self.turns, edit)
        self.edits.append(edit)

    def turn(self, name: str) -> Any:
        return self.turns[self._index(name)]

    def names(self) -> list[str]:
        return [turn["id"] for turn in self.turns]

    def set_dropped(self, name: str, dropped: bool) -> None:
        if self.turn(name)["dropped"] != dropped:
            self.make({"op": "drop" if dropped else "restore", "turn": name})

    def set_action(self, name: str, wanted: Mapping[str, Any]) -> None:
        """The intent and the arguments of a browser turn."""
        turn = self.turn(name)
        if turn["intent"] != wanted["intent"]:
            self.make({"op": "set_intent", "turn": name, "intent": wanted["intent"],
                       "arguments": wanted["arguments"]})
        elif turn["arguments"] != wanted["arguments"]:
            self.make({"op": "set_arguments", "turn": name, "arguments": wanted["arguments"]})

    def set_target(self, name: str, element: Any) -> None:
        """The target alone: `retarget` may move the pointer, which is put back."""
        before = self.turn(name)
        if before["element"] != element:
            self.make({"op": "retarget", "turn": name, "element": element})
            self.set_action(name, before)

    def set_picture(self, name: str, wanted: Mapping[str, Any]) -> None:
        """The screenshot, its source and its status, of a turn that has a state."""
        if not differs_in_picture(self.turn(name)["state"], wanted):
            return
        replaced = [field for field in PICTURE_FIELDS if field != "screenshot_status"]
        if differs_in_picture(self.turn(name)["state"], wanted, replaced):
            self.make({"op": "set_screenshot", "turn": name, "screenshot": wanted["screenshot"],
                       "screenshot_time": wanted["screenshot_time"],
                       "source": wanted.get("screenshot_source", "captured")})
        status = wanted.get("screenshot_status", "good")
        if self.turn(name)["state"].get("screenshot_status") != status:
            self.make({"op": "set_screenshot_status", "turn": name, "status": status})

    def set_content(self, name: str, wanted: Mapping[str, Any]) -> None:
        """All that an annotator can change in a turn, but labels and its position."""
        turn = self.turn(name)
        if turn["type"] != wanted["type"]:
            raise InputError(f"field turn: {name!r} is a turn of another type in the other demonstration")
        if turn["type"] == "chat":
            for field in ("utterance", "speaker"):
                if turn[field] != wanted[field]:
                    self.make({"op": f"set_{field}", "turn": name, field: wanted[field]})
        else:
            self.set_target(name, wanted["element"])
            self.set_action(name, wanted)
            if turn["state"] and wanted["state"]:
                self.set_picture(name, wanted["state"])
        self.set_dropped(name, wanted["dropped"])

    def move_between(self, name: str, order: Sequence[str]) -> None:
        """Move one turn directly behind the nearest of those before it in `order`, unless it is between its neighbours
        already."""
        at = {present: index for index, present in enumerate(self.names())}
        before, after = neighbours(name, order, at)
        low, high = at.get(before or "", -1), at.get(after or "", len(at))
        if not low < at[name] < high:
            self.make({"op": "move", "turn": name, "after": before})

    def arrange(self, order: Sequence[str]) -> None:
        """Move as few turns as possible, so that those in `order` follow each other as there."""
        names = self.names()
        ranks = {name: rank for rank, name in enumerate(order)}
        unmoved = longest_increasing([name for name in names if name in ranks], lambda name: ranks[name])
        previous: str | None = None
        for name in order:
            if name in ranks and name in names:
                if name not in unmoved:
                    self.make({"op": "move", "turn": name, "after": previous})
                previous = name

    def add(self, wanted: Turn, order: Sequence[str], original: Turn | None = None) -> None:
        """Add a turn that has no events. `original`: as it was added there, where it was changed since."""
        name = wanted["id"]
        present = {turn: index for index, turn in enumerate(self.names())}
        after = neighbours(name, order, present)[0]
        try:
            self.make({"op": "add", "turn": name, "added": wanted, "after": after})
        except InputError:
            if original is None:
                raise
            self.make({"op": "add", "turn": name, "added": original, "after": after})
            self.set_content(name, wanted)

    def regroup(self, present: Sequence[str], wanted: Sequence[BrowserTurn], order: Sequence[str]) -> None:
        """Typing of the same events in other turns: what is there is merged into one, then split as wanted. Of a turn
        that is in both, target, picture and whether it is dropped stay as they are."""
        facts = {turn["id"]: recorded_facts(turn)[1:] for turn in wanted}
        shared = next((name for name in present if name in facts), None)
        base = shared or present[0]
        before = self.turn(base)
        self._merge_all(base, present)
        if facts.get(base) != recorded_facts(before)[1:]:  # it cannot stay: another turn takes over its events
            base = self._replace_base(base, wanted)
        parts = [turn for turn in wanted if turn["id"] != base]
        for part in sorted(parts, key=lambda turn: -min(turn["events"], default=0)):
            self._split_off(base, part)
        for turn in wanted:
            if turn["id"] == shared:
                self._restore_shared(turn, before)
            else:
                self.set_content(turn["id"], turn)
        for turn in wanted:
            self.move_between(turn["id"], order)

    def _restore_shared(self, wanted: BrowserTurn, before: BrowserTurn) -> None:
        """What the other differences of a turn that both have are about, as it was; the text as it is wanted."""
        name = wanted["id"]
        self.set_target(name, before["element"])
        if before["state"]:
            self.set_picture(name, before["state"])
        self.set_action(name, wanted if wanted["intent"] == before["intent"] else before)
        self.set_labels(name, before.get("labels", {}))
        self.set_dropped(name, before["dropped"])

    def set_labels(self, name: str, labels: Mapping[str, list[str]]) -> None:
        present = self.turn(name).get("labels", {})
        for label in {**present, **labels}:
            if present.get(label, []) != labels.get(label, []):
                self.make({"op": "label", "turn": name, "label": label, "said": labels.get(label, [])})

    def _replace_base(self, base: str, wanted: Sequence[BrowserTurn]) -> str:
        """The turn that takes over; where there is only the same one with other facts, by way of a temporary one."""
        successor = next((turn for turn in wanted if turn["id"] != base), None)
        if successor is None:
            successor = wanted[0]
            temporary: BrowserTurn = {**successor, "id": f"{base}-regrouped"}
            self._replace(base, temporary)
            base = temporary["id"]
        self._replace(base, successor)
        return successor["id"]

    def _merge_all(self, base: str, present: Sequence[str]) -> None:
        self._make_typing(base)
        for other in present:
            if other != base:
                self._make_typing(other)
                self.set_target(other, self.turn(base)["element"])
                if self._index(other) != self._index(base) + 1:
                    self.make({"op": "move", "turn": other, "after": base})
                self.make({"op": "merge", "turn": base, "other": other})

    def _make_typing(self, name: str) -> None:
        self.set_dropped(name, False)
        if self.turn(name)["intent"] != _TYPING:
            self.set_action(name, {"intent": _TYPING, "arguments": {"text": ""}})

    def _split_off(self, base: str, part: BrowserTurn, events: Sequence[int] | None = None) -> None:
        turn = self.turn(base)
        arguments = part["arguments"] if part["intent"] == _TYPING else {"text": ""}
        added = {**part, "intent": _TYPING, "arguments": arguments, "element": turn["element"], "dropped": False,
                 "events": list(part["events"] if events is None else events)}
        self.make({"op": "split", "turn": base, "arguments": turn["arguments"], "added": added})

    def _replace(self, base: str, wanted: BrowserTurn) -> None:
        """Another turn of typing instead of one, with all its events: it is split off or added, then takes over the
        rest."""
        name, events = wanted["id"], self.turn(base)["events"]
        if len(events) > 1:
            self._split_off(base, wanted, events[1:])
            self.make({"op": "move", "turn": base, "after": name})
        else:
            index = self._index(base)
            self.make({"op": "add", "turn": name, "added": {**wanted, "events": [], "dropped": False},
                       "after": self.turns[index - 1]["id"] if index else None})
            self.set_target(name, self.turn(base)["element"])
        self.make({"op": "merge", "turn": name, "other": base})

    def _index(self, name: str) -> int:
        index = next((index for index, turn in enumerate(self.turns) if turn["id"] == name), None)
        if index is None:
            raise InputError(f"field turn: no turn {name!r} in this demonstration")
        return index




def recorded_facts(turn: BrowserTurn) -> tuple[Any, ...]:
    """What no edit changes in a turn but merging and splitting: its events, its time, and the page of its state."""
    state: Mapping[str, Any] = turn["state"] or {}
    return frozenset(turn["events"]), turn["timestamp"], *(state.get(field) for field in PAGE_FIELDS)


def differs_in_picture(first: Mapping[str, Any], second: Mapping[str, Any],
                       fields: Sequence[str] = PICTURE_FIELDS) -> bool:
    return any(first.get(field) != second.get(field) for field in fields)


def neighbours(name: str, order: Sequence[str], present: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """The nearest turns before and after one in `order`, of those that are present; None at an end."""
    index = order.index(name)
    before = next((other for other in reversed(order[:index]) if other in present), None)
    return before, next((other for other in order[index + 1:] if other in present), None)


def longest_increasing(names: Sequence[str], rank: Callable[[str], int]) -> set[str]:
    """The longest subsequence whose ranks increase: those that need not be moved."""
    ends: list[int] = []  # the smallest rank that ends a subsequence of each length
    last: list[str] = []
    previous: dict[str, str | None] = {}
    for name in names:
        length = bisect_left(ends, rank(name))
        previous[name] = last[length - 1] if length else None
        ends[length:length + 1], last[length:length + 1] = [rank(name)], [name]
    unmoved: set[str] = set()
    current = last[-1] if last else None
    while current is not None:
        unmoved.add(current)
        current = previous[current]
    return unmoved
