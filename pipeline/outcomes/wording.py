"""Outcome checks in words, for people. Pure functions; what they say is plain text, captured words among them."""

from collections.abc import Iterator, Sequence

from schemas.types.outcome import Match, Outcome, OutcomeCheck, Value

from .texts import shorten

KIND_WORDS = {"all": "All of these", "any": "Any of these", "not": "Not", "url": "Address", "text": "Text",
              "picture": "Picture", "answer": "Answer", "request": "Request", "script": "Expression",
              "response": "Structured answer", "unknown": "Cannot be evaluated"}
_USUAL_SIMILARITY = 0.8


def kind_of(check: OutcomeCheck) -> str:
    """The kind of a check in a word or two."""
    return "Attribute" if "attribute" in check else KIND_WORDS[check["kind"]]


def describe_check(check: OutcomeCheck) -> str:
    """A check in a sentence without a full stop; of a group only what it asks of its checks."""
    match check["kind"]:
        case "all" | "any":
            return "all of these hold" if check["kind"] == "all" else "at least one of these holds"
        case "not":
            return f"it is not so that {describe_check(check['checks'][0])}"
        case "url":
            return f"the last page’s address {describe_match(check['match'])}"
        case "text":
            return f"{_text(check)} {describe_match(check['match'])}"
        case "picture":
            return (f"{_subject(check, 'the screenshot', 'an image of')} is like the picture "
                    f"(SSIM above {check.get('least', _USUAL_SIMILARITY):g})")
        case "answer":
            return f"the answer {describe_match(check['match'])}"
        case "request":
            return _request(check)
        case "script":
            return f"the value of {shorten(check['expression'])}{_page(check)} {describe_match(check['match'])}"
        case "response":
            return _response(check)
        case _:
            return f"cannot be evaluated: {check['reason']}"


def describe_outcome(outcome: Outcome | None) -> list[str]:
    """All that an outcome asks for, a sentence each: its checks with what is in them, its checkpoints, its difficulty;
    empty for none."""
    if outcome is None:
        return []
    way = [f"on the way, {checkpoint['name']}: {_with_parts(checkpoint['check'])}"
           for checkpoint in outcome.get("checkpoints", ())]
    difficulty = [f"the task is {outcome['difficulty']}"] if "difficulty" in outcome else []
    return [*map(_with_parts, outcome["checks"]), *way, *difficulty]


def _with_parts(check: OutcomeCheck) -> str:
    match check["kind"]:
        case "all" | "any":
            return f"{describe_check(check)} ({'; '.join(map(_with_parts, check['checks']))})"
        case "not":
            return f"it is not so that {_with_parts(check['checks'][0])}"
        case _:
            return describe_check(check)


def describe_match(match: Match) -> str:
    """What a text must be."""
    return " and ".join(_parts(match))


def _parts(match: Match) -> Iterator[str]:
    if "exact" in match:
        yield f"is {_or(match['exact'])}"
    for alternatives in match.get("includes", ()):
        yield f"has {_or(alternatives)} in it"
    if "one_of" in match:
        yield f"has {_or(match['one_of'])} in it, anywhere"
    if "excludes" in match:
        yield f"has {_or(match['excludes'])} nowhere in it"
    for conditions in match.get("numbers", ()):
        yield f"is a number {' or '.join(conditions)}"
    if "value" in match:
        yield f"is {_value(match['value'])}"
    if "fuzzy" in match:
        yield f"means {shorten(match['fuzzy'])}, which a judge decides"


def _value(value: Value) -> str:
    wanted = [*map(str, value.get("any_of", ())), *(f"what fits {pattern}" for pattern in value.get("patterns", ()))]
    return f"as a {value['type']} {_or(wanted)}"


def _text(check: OutcomeCheck) -> str:
    if "attribute" in check:
        return f"the attribute {check['attribute']} of {_subject(check, 'the page', '')}"
    return _subject(check, "the HTML of the page", "the text of")


def _subject(check: OutcomeCheck, page_name: str, part: str) -> str:
    name = f"{part} {check['css']}".strip() if "css" in check else page_name
    return name + _page(check)


def _page(check: OutcomeCheck) -> str:
    return f" on {shorten(check['page'])}" if "page" in check else ""


def _request(check: OutcomeCheck) -> str:
    events = {"last": "the last request", "navigation": "the last navigation"}.get(check.get("events", ""), "a request")
    words = [f"{events} {check['method']}" if "method" in check else events,
             f"whose address {describe_match(check['match'])}"]
    fields = [f"{name} {describe_match(match)}" for matches in (check.get("query", {}), check.get("body", {}))
              for name, match in matches.items()]
    if fields:
        words.append(f"in which {' and '.join(fields)}")
    if "status" in check:
        words.append("whatever its answer" if check["status"] is None else f"answered {check['status']}")
    return f"there was {' '.join(words)}"


def _response(check: OutcomeCheck) -> str:
    data = f" with {len(check['data'])} data" if "data" in check else ""
    return f"the structured answer is {check['task_type']}, {check['task_status']}{data}"


def _or(texts: Sequence[str]) -> str:
    return " or ".join(shorten(text) for text in texts[:5]) + (" or others" if len(texts) > 5 else "")
