"""Features of a trained ranker: of an element's words, kind and position, and of earlier actions. Pure."""

import re
from collections.abc import Callable, Sequence

import numpy as np

from .elements import Element, Query

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


def table(query: Query, elements: Sequence[Element], fits: Fits) -> np.ndarray:
    """One row an element, one column each of NAMES, as 32-bit numbers; `fits` tells how documents fit a query."""
    rows = np.zeros((len(elements), len(NAMES)), np.float32)
    if not elements:
        return rows
    columns = {name: rows[:, number] for number, name in enumerate(NAMES)}
    _fill_words(columns, query, elements, fits)
    _fill_kinds(columns, elements)
    _fill_positions(columns, query, elements)
    _fill_history(columns, query, elements)
    return rows


def _fill_words(columns: dict[str, np.ndarray], model_query: Query, elements: Sequence[Element], fits: Fits) -> None:
    documents, texts = [element.document for element in elements], [element.text for element in elements]
    said = " ".join(model_query.utterances)
    best = np.asarray(fits(model_query.text, documents))
    columns["fits_all"][:] = best / max(best.max(), 1e-9)
    columns["best_fit"][:] = best.max()
    for name, against_text, against in (
            ("fits_last_utterance", " ".join(model_query.utterances[-1:]), documents),
            ("fits_utterances_by_text", said, texts),
            ("fits_utterances_by_attributes", said, [element.attributes for element in elements]),
            ("fits_last_action", " ".join(model_query.actions[-1:]), documents)):
        scores = np.asarray(fits(against_text, against))
        columns[name][:] = scores / max(scores.max(), 1e-9)
    words = _words(said)
    for number, text in enumerate(texts):
        here = _words(text)
        both = len(here & words)
        columns["share_of_text_said"][number] = both / max(len(here), 1)
        columns["share_of_said_in_text"][number] = both / max(len(words), 1)


def _fill_kinds(columns: dict[str, np.ndarray], elements: Sequence[Element]) -> None:
    for number, element in enumerate(elements):
        node = element.node
        columns["tag"][number] = _category(element.tag, TAGS)
        columns["role"][number] = _category(node.get("role"), ROLES)
        columns["type"][number] = _category(node.get("type"), TYPES)
        for name in _PRESENT:
            columns[f"has_{name}"][number] = name in node.attrib
        columns["characters"][number] = len(element.text)
        columns["children"][number] = len(node)
        columns["depth"][number] = sum(1 for _ in node.iterancestors())


def _fill_positions(columns: dict[str, np.ndarray], query: Query, elements: Sequence[Element]) -> None:
    wide, high = max(query.viewport["width"], 1), max(query.viewport["height"], 1)
    last = max(element.order for element in elements) + 1
    for number, element in enumerate(elements):
        columns["order"][number] = element.order / last
        x, y, width, height = _NOWHERE, _NOWHERE, _NOWHERE, _NOWHERE
        if box := element.box:
            x, y = (box["x"] + box["width"] / 2) / wide, (box["y"] + box["height"] / 2) / high
            width, height = box["width"] / wide, box["height"] / high
        for name, value in (("x", x), ("y", y), ("width", width), ("height", height)):
            columns[name][number] = value
        columns["middle_in_sight"][number] = 0 <= x <= 1 and 0 <= y <= 1


def _fill_history(columns: dict[str, np.ndarray], query: Query, elements: Sequence[Element]) -> None:
    acted = [match[1] for action in query.actions if (match := _UID.search(action))]
    by_uid = {element.uid: number for number, element in enumerate(elements)}
    before = next((by_uid[uid] for uid in reversed(acted) if uid in by_uid), None)
    intent = query.actions[-1].partition("(")[0] if query.actions else None
    columns["last_intent"][:] = _category(intent, INTENTS)
    columns["utterances"][:], columns["actions"][:] = len(query.utterances), len(query.actions)
    columns["order_from_last"][:] = columns["down_from_last"][:] = _NOWHERE
    for number, element in enumerate(elements):
        columns["acted_before"][number] = element.uid in acted
        columns["acted_last"][number] = acted[-1:] == [element.uid]
    if before is not None:
        columns["order_from_last"][:] = columns["order"] - columns["order"][before]
        if elements[before].box:
            known = columns["y"] != _NOWHERE
            columns["down_from_last"][known] = (columns["y"] - columns["y"][before])[known]


def _category(name: str | None, among: tuple[str, ...]) -> int:
    return among.index(name) + 1 if name in among else 0


def _words(text: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(text)}
