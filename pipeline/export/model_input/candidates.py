"""Candidate elements of a turn, ranked: what a model may choose from (WebLINX 5.1, appendices B.1 and B.4)."""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from lxml import etree

from pipeline.pages.dom import Page
from schemas import InputError
from schemas.types import Box, Size

MAX_CANDIDATES = 50  # a turn's; the target is told besides when its rank is beyond
_MIN_SIDE = 10  # CSS pixels; smaller in both directions is nothing to act on (as WebLINX's filter_bboxes)
_MAX_VALUE = 100  # characters of an attribute
_MAX_TEXT = 200
_MAX_CHILDREN = 20
_WORD = re.compile(r"\w+")
_INVISIBLE = frozenset({"html", "head", "body", "script", "style", "meta", "link", "title", "noscript"})
# What acts is named by these tags and attributes rather than by what stands in it.
_ACTING = frozenset({"a", "button", "input", "select", "textarea", "option", "label", "summary", "form"})

Scorer = Callable[[str, Sequence[str]], list[float]]


def lexical(query: str, documents: Sequence[str]) -> list[float]:
    """How well each document fits the query, by BM25 over the words of the turn's own elements (k1 1.2, b 0.5)."""
    wanted = set(_words(query))
    counted = [Counter(_words(document)) for document in documents]
    spread = Counter(word for words in counted for word in words.keys() & wanted)
    average = sum(map(Counter.total, counted)) / len(counted) if counted else 0
    scores = []
    for words in counted:
        score = 0.0
        for word in words.keys() & wanted:
            rare = math.log(1 + (len(counted) - spread[word] + 0.5) / (spread[word] + 0.5))
            score += rare * words[word] * 2.2 / (words[word] + 1.2 * (0.5 + 0.5 * words.total() / average))
        scores.append(score)
    return scores


def scorer(model: str | None) -> Scorer:
    """The lexical scorer, or the cosine similarity by a sentence-transformers model; InputError without that."""
    return lexical if model is None else _embedding(model)


@lru_cache(maxsize=1)
def _embedding(model: str) -> Scorer:
    try:
        from sentence_transformers import SentenceTransformer, util
    except ImportError:
        raise InputError(f"--scorer {model}: needs sentence-transformers; install it, or leave the option out for the "
                         "lexical scorer") from None
    try:
        encoder = SentenceTransformer(model)
    except (OSError, ValueError, RuntimeError) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise InputError(f"--scorer {model}: not a sentence-transformers model that can be loaded: {reason}") from None

    def score(query: str, documents: Sequence[str]) -> list[float]:
        if not documents:
            return []
        query_vector = encoder.encode(query, convert_to_tensor=True, show_progress_bar=False)
        vectors = encoder.encode(list(documents), convert_to_tensor=True, show_progress_bar=False)
        return [float(value) for value in util.cos_sim(query_vector, vectors)[0]]

    return score


def query(utterances: Sequence[str], actions: Sequence[str], viewport: Size) -> str:
    """What the elements are compared with: what was said, and what was done last."""
    return (f"Viewport(height={viewport['height']}, width={viewport['width']}) ---- Instructor Utterances: "
            f"{' ; '.join(utterances)} ---- Previous Turns: {' ; '.join(actions)}")


def rank(page: Page, boxes: dict[str, Box], viewport: Size, asked: str, score: Scorer, target: str | None
         ) -> list[dict[str, Any]]:
    """Candidate records without demo_name and turn_index, the best first; `boxes` by uid in CSS pixels.

    Ties stand in document order. Where the target is ranked beyond MAX_CANDIDATES, it is last, with its true rank.
    """
    uids = [uid for uid, element in page.elements.items() if uid == target or (
        uid in boxes and element.tag not in _INVISIBLE and _is_seen(boxes[uid], viewport))]
    elements = [page.elements[uid] for uid in uids]
    scores = score(asked, [f"{each.tag} {_text(each)} {_attributes(each)}" for each in elements])
    order = sorted(range(len(uids)), key=lambda index: (-scores[index], elements[index].tag not in _ACTING))
    records = []
    for place, index in enumerate(order, 1):
        uid = uids[index]
        if place <= MAX_CANDIDATES or uid == target:
            described = element_dict(page, uid, boxes.get(uid))
            records.append({"query": asked, "doc": document(described), "uid": uid, "elem_dict": described,
                            "label": int(uid == target), "score": round(scores[index], 6), "rank": place})
    return records


def element_dict(page: Page, uid: str, box: Box | None) -> dict[str, str]:
    """What is told of an element, each part as text."""
    element = page.elements[uid]
    children = [child.tag for child in element.iterchildren(etree.Element)]
    edges = [f"{side}={box[side]:.1f}" for side in ("x", "y", "width", "height")] if box else []
    return {"tag": element.tag, "xpath": page.xpath(uid), "text": _text(element), "bbox": " ".join(edges),
            "attributes": _attributes(element), "children": " ".join(children[:_MAX_CHILDREN])}


def document(described: dict[str, str]) -> str:
    """The element as one text: `[[tag]] …` and so on, what is empty left out."""
    return "\n".join(f"[[{name}]] {value}" for name, value in described.items() if value)


def _text(element) -> str:
    parts, length = [], 0
    for part in element.itertext():
        parts.append(part)
        length += len(part)
        if length > 10 * _MAX_TEXT:
            break
    return " ".join("".join(parts).split())[:_MAX_TEXT]


def _attributes(element) -> str:
    return " ".join(f"{name}={value[:_MAX_VALUE]!r}" for name, value in element.attrib.items()
                    if not name.startswith(("data-", "style", "on")))


def _is_seen(box: Box, viewport: Size) -> bool:
    if box["width"] <= 0 or box["height"] <= 0 or (box["width"] < _MIN_SIDE and box["height"] < _MIN_SIDE):
        return False
    return (box["x"] <= viewport["width"] and box["y"] <= viewport["height"]
            and box["x"] + box["width"] >= 0 and box["y"] + box["height"] >= 0)


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]
