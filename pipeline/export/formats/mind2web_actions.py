"""The actions of one demonstration in Mind2Web's form: operation, page, target and the other candidates."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypedDict, cast
from uuid import UUID, uuid5

from pipeline.export.source import Options, Source, Tally
from pipeline.export.splits import websites
from pipeline.export.states import States
from schemas import UID_ATTRIBUTE
from schemas.intents import INTENTS
from schemas.types.recordings import Element, Point, Turn, TurnState

from .card import Counted
from .mind2web_cleaning import candidates, clean_page, serialize
from .mind2web_pages import NODE_ID, number

NAMESPACE = UUID("5b0ff5d2-2f0c-5d4f-9c53-1f6b6e2f7a41")  # never another: the ids of published actions are made of it
_FOLDED = {"HOVER": "CLICK", "ENTER": "CLICK"}  # operations that the authors folded into one of their three
_CORNER: Point = {"x": 0.0, "y": 0.0}


class Acted(TypedDict):
    """A turn that Mind2Web can have: what is used of a BrowserTurn, and never null."""

    id: str
    timestamp: float
    intent: str
    arguments: dict[str, Any]
    element: Element
    state: TurnState


@dataclass(frozen=True)
class Action:
    """One action: its turn, the authors' fields of it, and its line of `action_reprs`."""

    turn: Acted
    fields: dict[str, Any]
    text: str

    def counted(self, shown: bool) -> Counted:
        """What the data set card counts of it; `shown`: the export has its screenshot."""
        return Counted(self.fields["operation"]["op"], self.turn["state"]["screenshot_status"] if shown else "none")


class Actions:
    """Makes the actions of one demonstration; `head` is what the authors tell of a task besides.

    `kind`: the usual encoding of pictures. `of_page`: boxes are relative to the page; else to the viewport, which is
    what the screenshot shows.
    """

    def __init__(self, source: Source, options: Options, tally: Tally, kind: str, *, of_page: bool):
        self.tally = tally
        self.states = States(source, UID_ATTRIBUTE, options, kind)
        self.source = self.states.source
        self._id = annotation_id(source.id)
        self._of_page = of_page
        tally.redacted += self.states.known.counts
        about = self.source.about
        self.head = {"annotation_id": str(self._id), "website": about.get("website") or website_name(self.source),
                     "domain": about.get("category", ""), "subdomain": about.get("subdomain", ""),
                     "confirmed_task": self.source.demonstration["task"]}

    def __iter__(self) -> Iterator[Action]:
        """The actions in order; counts them, and the turns that are left out by reason."""
        made = 0
        for turn in self.source.turns:
            if reason := _why_left_out(turn):
                self.tally.left_out[reason] += 1
                continue
            acted = cast(Acted, turn)  # others are left out
            fields = self._fields(acted)
            if fields is None:
                self.tally.left_out[f"{acted['intent']}: target missing from the page"] += 1
                continue
            made += 1
            yield Action(acted, fields, _repr(acted, fields["operation"]))
        self.tally.turns = made
        self.tally.pictures_left_out = len(self.states.pictures_left_out)
        if not made:
            self.tally.notes["demonstration without an action in Mind2Web's words"] += 1

    def _fields(self, turn: Acted) -> dict[str, Any] | None:
        """None when the page does not have the target."""
        state, element = turn["state"], turn["element"]
        page = self.states.page(state)
        uid = page.uid(element["frame"], element["uid"]) if page else ""
        if page is None or uid not in page.elements:
            return None
        table = self.states.table(state)
        box = element["bbox"] or (table[uid]["bbox"] if uid in table else None)
        if box is None:
            self.tally.notes["target without a box"] += 1
        boxes = self.states.boxes(state) | ({uid: box} if box else {})
        numbered = number(page, table, boxes, state["scroll"] if self._of_page else _CORNER)
        tree = clean_page(numbered, uid)
        target = numbered.nodes[uid].get(NODE_ID, "")
        action_uid = str(uuid5(self._id, _named(turn["id"])))
        return {
            "action_uid": action_uid, "raw_html": numbered.raw(uid, action_uid), "cleaned_html": serialize(tree),
            "operation": _operation(turn),
            "pos_candidates": [numbered.candidate(target) | {"is_original_target": True, "is_top_level_target": True}],
            "neg_candidates": [numbered.candidate(other) for other in candidates(tree) if other != target]}


def annotation_id(demonstration: str) -> UUID:
    """The id of a task, the same in every export of a demonstration of that id."""
    return uuid5(NAMESPACE, _named(demonstration))


def website_name(source: Source) -> str:
    """A short name of the website that the task began on: `united` for united.com; a host that is a number whole."""
    site = next(iter(websites(source)), "")
    first, _, rest = site.partition(".")
    return site if ":" in site or rest.rpartition(".")[2].isdigit() else first


def _named(identity: str) -> str:
    """An id as UUIDs can be made of it: it may hold halves of characters."""
    return identity.encode("utf-8", "backslashreplace").decode()


def _why_left_out(turn: Turn) -> str | None:
    if turn["type"] == "chat":
        return "chat: Mind2Web has none"
    intent = turn["intent"]
    if INTENTS[intent].mind2web is None or (intent == "press" and turn["arguments"]["key"] != "Enter"):
        return f"{intent}: no equal in Mind2Web"
    if turn["element"] and "point_outside" in turn["element"]:
        return f"{turn['intent']}: point outside its target"
    if turn["element"] is None:
        return f"{intent}: no element"
    if turn["state"] is None or turn["state"]["dom"] is None:
        return f"{intent}: no page"
    return None


def _operation(turn: Acted) -> dict[str, str]:
    """`op` is one of the authors' three, `original_op` what it was before they folded."""
    arguments = turn["arguments"]
    original, value = INTENTS[turn["intent"]].mind2web or "", ""
    if original == "TYPE":
        value = arguments["text"]
    elif original == "SELECT" and "value" not in arguments:
        original = "CLICK"  # a checkbox or radio button
    elif original == "SELECT":
        value = arguments.get("label") or arguments["value"]
        original = "SELECT" if turn["element"]["tag"] == "select" else "TYPE"
    return {"op": _FOLDED.get(original, original), "original_op": original, "value": value}


def _repr(turn: Acted, operation: dict[str, str]) -> str:
    """`[searchbox]  Label -> TYPE: value`."""
    element = turn["element"]
    label = " ".join((element["name"] or element["text"]).split())
    value = f": {operation['value']}" if operation["original_op"] in ("TYPE", "SELECT") else ""
    return f"[{element['role'] or element['tag']}]  {label} -> {operation['original_op']}{value}"
