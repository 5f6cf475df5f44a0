"""Numbers that a trained ranker looks at: of an element's words, kind and place, and of what was done before. Pure."""

import re
from collections.abc import Callable, Sequence

import numpy as np

from .elements import Asked, Element

TAGS = ("a", "button", "input", "select", "textarea", "option", "label", "summary", "li", "td", "tr", "span", "div",
        "p", "img", "svg", "path", "i", "h1", "h2", "h3", "ul", "nav", "form", "table", "iframe", "canvas", "video")
ROLES = ("button", "link", "textbox", "searchbox", "combobox", "option", "checkbox", "radio", "tab", "menuitem",
         "switch", "listbox", "dialog", "navigation", "presentation")
TYPES = ("text", "search", "submit", "button", "checkbox", "radio", "email", "password", "number", "date", "file",
         "tel")
INTENTS = ("click", "textInput", "change", "submit", "scroll", "load", "say", "hover", "paste", "copy")
_PRESENT = ("href", "id", "name", "aria-label", "placeholder", "value", "title", "alt", "for", "tabindex", "disabled")
NAMES = (
    "fits_all", "fits_last_utterance", "fits_utterances_by_text", "fits_utterances_by_attributes", "fits_last_action",
    "best_fit", "share_of_text_said", "share_of_said_in_text", "tag", "role", "type", "last_intent",
    *(f"has_{name}" for name in _PRESENT), "characters", "children", "depth", "order", "x", "y", "width", "height",
    "middle_in_sight", "acted_before", "acted_last", "order_from_last", "down_from_last", "utterances", "actions")
CATEGORIES = ("tag", "role", "type", "last_intent")
_WORD = re.compile(r"\w+")
_UID = re.compile(r'\buid="([^"]*)"')
_NOWHERE = -2.0  # of a place that is not known

Fits = Callable[[str, Sequence[str]], list[float]]


def table(asked: Asked, elements: Sequence[Element], fits: Fits) -> np.ndarray:
    """One row an element, one column each of NAMES, as 32-bit numbers; `fits` tells how documents fit a query."""
    rows = np.zeros((len(elements), len(NAMES)), np.float32)
    if not elements:
        return rows
    columns = {name: rows[:, number] for number, name in enumerate(NAMES)}
    _tell_words(columns, asked, elements, fits)
    _tell_kinds(columns, elements)
    _tell_places(columns, asked, elements)
    _tell_history(columns, asked, elements)
    return rows


def _tell_words(columns: dict[str, np.ndarray], asked: Asked, elements: Sequence[Element], fits: Fits) -> None:
    documents, texts = [each.document for each in elements], [each.text for each in elements]
    said = " ".join(asked.utterances)
    best = np.asarray(fits(asked.text, documents))
    columns["fits_all"][:] = best / max(best.max(), 1e-9)
    columns["best_fit"][:] = best.max()
    for name, query, against in (
            ("fits_last_utterance", " ".join(asked.utterances[-1:]), documents),
            ("fits_utterances_by_text", said, texts),
            ("fits_utterances_by_attributes", said, [each.attributes for each in elements]),
            ("fits_last_action", " ".join(asked.actions[-1:]), documents)):
        scores = np.asarray(fits(query, against))
        columns[name][:] = scores / max(scores.max(), 1e-9)
    words = _words(said)
    for number, text in enumerate(texts):
        here = _words(text)
        both = len(here & words)
        columns["share_of_text_said"][number] = both / max(len(here), 1)
        columns["share_of_said_in_text"][number] = both / max(len(words), 1)


def _tell_kinds(columns: dict[str, np.ndarray], elements: Sequence[Element]) -> None:
    for number, each in enumerate(elements):
        node = each.node
        columns["tag"][number] = _place(each.tag, TAGS)
        columns["role"][number] = _place(node.get("role"), ROLES)
        columns["type"][number] = _place(node.get("type"), TYPES)
        for name in _PRESENT:
            columns[f"has_{name}"][number] = name in node.attrib
        columns["characters"][number] = len(each.text)
        columns["children"][number] = len(node)
        columns["depth"][number] = sum(1 for _ in node.iterancestors())


def _tell_places(columns: dict[str, np.ndarray], asked: Asked, elements: Sequence[Element]) -> None:
    wide, high = max(asked.viewport["width"], 1), max(asked.viewport["height"], 1)
    last = max(each.order for each in elements) + 1
    for number, each in enumerate(elements):
        columns["order"][number] = each.order / last
        x, y, width, height = _NOWHERE, _NOWHERE, _NOWHERE, _NOWHERE
        if box := each.box:
            x, y = (box["x"] + box["width"] / 2) / wide, (box["y"] + box["height"] / 2) / high
            width, height = box["width"] / wide, box["height"] / high
        for name, value in (("x", x), ("y", y), ("width", width), ("height", height)):
            columns[name][number] = value
        columns["middle_in_sight"][number] = 0 <= x <= 1 and 0 <= y <= 1


def _tell_history(columns: dict[str, np.ndarray], asked: Asked, elements: Sequence[Element]) -> None:
    acted = [found[1] for action in asked.actions if (found := _UID.search(action))]
    by_uid = {each.uid: number for number, each in enumerate(elements)}
    before = next((by_uid[uid] for uid in reversed(acted) if uid in by_uid), None)
    intent = asked.actions[-1].partition("(")[0] if asked.actions else None
    columns["last_intent"][:] = _place(intent, INTENTS)
    columns["utterances"][:], columns["actions"][:] = len(asked.utterances), len(asked.actions)
    columns["order_from_last"][:] = columns["down_from_last"][:] = _NOWHERE
    for number, each in enumerate(elements):
        columns["acted_before"][number] = each.uid in acted
        columns["acted_last"][number] = acted[-1:] == [each.uid]
    if before is not None:
        columns["order_from_last"][:] = columns["order"] - columns["order"][before]
        if elements[before].box:
            known = columns["y"] != _NOWHERE
            columns["down_from_last"][known] = (columns["y"] - columns["y"][before])[known]


def _place(name: str | None, among: tuple[str, ...]) -> int:
    return among.index(name) + 1 if name in among else 0


def _words(text: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(text)}
