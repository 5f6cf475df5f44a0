"""Scores of one predicted action against the recorded one, from 0 to 1 (WebLINX, section 4; Mind2Web, 4.2).

An action is `{"intent", "args", "element"}` with WebLINX's intents in lower case; an element has `bbox` (with left,
top, right, bottom) and `uid`. A score is None where it does not apply.
"""

from urllib.parse import urlsplit

Action = dict

ELEMENT_INTENTS = frozenset({"click", "hover", "textinput", "submit", "change", "scroll", "copy", "paste"})
TEXT_INTENTS = frozenset({"say", "textinput", "copy", "paste", "load", "change"})
_TEXT = {"textinput": ("text", "value"), "say": ("utterance",), "load": ("url",), "change": ("value",)}


def score(predicted: Action, reference: Action) -> dict[str, float | None]:
    """All scores of one turn: exact-match, intent-match, chrf, iou, urlf, and `overall` of those that apply."""
    same_intent = predicted["intent"] == reference["intent"]
    intent = predicted["intent"]
    scores: dict[str, float | None] = {
        "exact-match": float(exact_match(predicted, reference)), "intent-match": float(same_intent),
        "chrf": chrf(text_of(predicted), text_of(reference)) if same_intent and intent in TEXT_INTENTS else None,
        "iou": iou(_box(predicted), _box(reference)) if same_intent and intent in ELEMENT_INTENTS else None,
        "urlf": url_f1(text_of(predicted), text_of(reference)) if same_intent and intent == "load" else None}
    return scores | {"overall": _overall(scores)}


def _overall(scores: dict[str, float | None]) -> float | None:
    """Of a turn: IoU times chrF where both apply, else URL F1, else the one that applies."""
    if scores["iou"] is not None and scores["chrf"] is not None:
        return scores["iou"] * scores["chrf"]
    return next((scores[name] for name in ("urlf", "chrf", "iou") if scores[name] is not None), None)


def exact_match(predicted: Action, reference: Action) -> bool:
    """Same intent, same element where there is one, same text."""
    intent, arguments, wanted = predicted["intent"], predicted["args"], reference["args"]
    if intent != reference["intent"]:
        return False
    if intent in ELEMENT_INTENTS:
        uids = [(action.get("element") or {}).get("uid") for action in (predicted, reference)]
        if uids[0] is None or uids[0] != uids[1]:
            return False
    names = {"say": ("utterance",), "textinput": ("text",), "change": ("value",), "load": ("url",),
             "scroll": ("x", "y")}.get(intent, ())
    return all(arguments.get(name) == wanted.get(name) for name in names)


def text_of(action: Action) -> str | None:
    """The text of an action that has one to be compared; None when there is none, or it is no text."""
    names = _TEXT.get(action["intent"], ())
    value = next((action["args"][name] for name in names if name in action["args"]), None)
    return value if isinstance(value, str) else None


def chrf(predicted: str | None, reference: str | None) -> float:
    """F-score of character n-grams (Popović 2015), as sacrebleu defines it by default."""
    if predicted is None or reference is None:
        return 0.0
    from sacrebleu import sentence_chrf

    return sentence_chrf(predicted, [reference]).score / 100


def iou(a: dict[str, float] | None, b: dict[str, float] | None) -> float:
    """Intersection over union of two boxes; 0 when one is missing or both are empty."""
    if not a or not b:
        return 0.0
    width = max(0.0, min(a["right"], b["right"]) - max(a["left"], b["left"]))
    height = max(0.0, min(a["bottom"], b["bottom"]) - max(a["top"], b["top"]))
    areas = [(box["right"] - box["left"]) * (box["bottom"] - box["top"]) for box in (a, b)]
    union = sum(areas) - width * height
    return width * height / union if union else 0.0


def url_f1(predicted: str | None, reference: str | None) -> float:
    """F1 of the sets of host and path segments."""
    if not predicted or not reference:
        return 0.0
    try:
        a, b = _segments(predicted), _segments(reference)
    except ValueError:
        return 0.0
    return _f1(a, b)


def token_f1(predicted: str, reference: str) -> float:
    """F1 of the sets of words, as Mind2Web counts operations: `TYPE new york`."""
    a, b = set(predicted.split()), set(reference.split())
    return 1.0 if not a and not b else _f1(a, b)


def _f1(a: set[str], b: set[str]) -> float:
    both = len(a & b)
    if not both:
        return 0.0
    precision, recall = both / len(a), both / len(b)
    return 2 * precision * recall / (precision + recall)


def _segments(url: str) -> set[str]:
    parts = urlsplit(url)  # raises ValueError where the public implementation gives 0
    path = parts.path.strip("/")
    # As the public implementation: every leading w and dot of the host goes.
    return {parts.netloc.lstrip("www."), *(path.split("/") if path else [])}  # noqa: B005


def _box(action: Action) -> dict[str, float] | None:
    return (action.get("element") or {}).get("bbox")
