"""Ranked candidate elements of a turn, from which a model may choose (WebLINX 5.1, appendices B.1 and B.4)."""

from typing import Any

from lxml import etree

from pipeline.pages.dom import Page
from schemas.types.recordings import Box, Size

from .elements import Element, Query
from .scorers import Scorer

MAX_CANDIDATES = 50  # a turn's; the target is told besides when its rank is beyond
_MIN_SIDE = 10  # CSS pixels; smaller in both directions is nothing to act on (as WebLINX's filter_bboxes)
_MAX_CHILDREN = 20
_INVISIBLE = frozenset({"html", "head", "body", "script", "style", "meta", "link", "title", "noscript"})
# What acts is named by these tags and attributes rather than by what stands in it.
_ACTING = frozenset({"a", "button", "input", "select", "textarea", "option", "label", "summary", "form"})


def candidates_of(page: Page, boxes: dict[str, Box], viewport: Size, target: str | None) -> list[Element]:
    """The elements that may be acted on, in document order: those in sight, and the target wherever it is; `boxes` by
    uid in CSS pixels."""
    return [Element(uid, node, boxes.get(uid), order) for order, (uid, node) in enumerate(page.elements.items())
            if uid == target or (uid in boxes and node.tag not in _INVISIBLE and _is_in_viewport(boxes[uid], viewport))]


def order_by_score(elements: list[Element], query: Query, score: Scorer) -> list[tuple[Element, float]]:
    """The elements with their scores, the best first. Ties stand with what acts first, then in document order."""
    scores = score(query, elements)
    order = sorted(range(len(elements)), key=lambda index: (-scores[index], elements[index].tag not in _ACTING))
    return [(elements[index], scores[index]) for index in order]


def rank(page: Page, boxes: dict[str, Box], model_query: Query, score: Scorer,
         target: str | None) -> list[dict[str, Any]]:
    """Candidate records without demo_name and turn_index, the best first; `boxes` by uid in CSS pixels.

    Where the target is ranked beyond MAX_CANDIDATES, it is last, with its true rank.
    """
    elements, query_text = candidates_of(page, boxes, model_query.viewport, target), model_query.text
    records = []
    for rank_number, (element, value) in enumerate(order_by_score(elements, model_query, score), 1):
        if rank_number <= MAX_CANDIDATES or element.uid == target:
            described = element_dict(page, element)
            records.append({"query": query_text, "doc": document(described), "uid": element.uid, "elem_dict": described,
                            "label": int(element.uid == target), "score": round(value, 6), "rank": rank_number})
    return records


def element_dict(page: Page, element: Element) -> dict[str, str]:
    """What is told of an element, each part as text."""
    children = [child.tag for child in element.node.iterchildren(etree.Element)]
    box: Any = element.box
    edges = [f"{side}={box[side]:.1f}" for side in ("x", "y", "width", "height")] if box else []
    return {"tag": element.tag, "xpath": page.xpath(element.uid), "text": element.text, "bbox": " ".join(edges),
            "attributes": element.attributes, "children": " ".join(children[:_MAX_CHILDREN])}


def document(described: dict[str, str]) -> str:
    """The element as one text: `[[tag]] …` and so on, what is empty left out."""
    return "\n".join(f"[[{name}]] {value}" for name, value in described.items() if value)


def _is_in_viewport(box: Box, viewport: Size) -> bool:
    if box["width"] <= 0 or box["height"] <= 0 or (box["width"] < _MIN_SIDE and box["height"] < _MIN_SIDE):
        return False
    return (box["x"] <= viewport["width"] and box["y"] <= viewport["height"]
            and box["x"] + box["width"] >= 0 and box["y"] + box["height"] >= 0)

