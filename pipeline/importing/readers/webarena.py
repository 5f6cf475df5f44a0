"""Trajectories of WebArena and VisualWebArena: `render_N.html`, which their RenderHelper writes.

It puts texts into its page as they are, without escaping: an accessible name with a tag in it is none of the file's own
tags. So the file is not parsed as HTML but cut at the markup that the helper writes.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from pathlib import Path

from pipeline.importing.action_calls import Act, Call, CallTranslator
from pipeline.importing.contract import Action, Importer, Item, Observation, Session, Utterance
from pipeline.importing.elements import element_of_node, make_element
from pipeline.importing.provenance import agent_provenance
from pipeline.importing.reports import agent_report
from pipeline.importing.sources import explained, head, read_content
from recorder.pictures import size_of
from schemas import InputError
from schemas.key_names import event_keys
from schemas.types.recordings import Element

_MAX_FILE_BYTES = 512 << 20
_PATTERNS = ("render_*.html", "*/render_*.html")
_STEP = "<h2>New Page</h2>\n<h3 class='url'><a href="
_URL = re.compile(r"([^\n]*?)>URL: \1</a></h3>\n<div class='state_obv'><pre>")
_BEFORE_PICTURE = "</pre><div>\n"
_PICTURE = re.compile(r"<img src='data:image/png;base64,([A-Za-z0-9+/=]*+)'")
_PREVIOUS = "<div class='prev_action' style='background-color:pink'>"
_PREDICTION = "<div class='raw_parsed_prediction' style='background-color:grey'><pre>"
_OBJECT = "</pre></div><div class='action_object' style='background-color:grey'><pre>"
_PARSED = "</pre></div><div class='parsed_action' style='background-color:yellow'><pre>"
_AFTER_PREVIOUS, _AFTER_PARSED = "</div>\n<div class='predict_action'>", "</pre></div></div>"
_ELEMENT = re.compile(r"(click|hover|clear|type) \[(\d{1,9})\] (?:\[(.*?)\] )?where \[\2\](?: is (.*))?", re.DOTALL)
_WITH_VALUE = re.compile(r"(scroll|press|goto|page_focus|stop) \[(.*)\]", re.DOTALL)
_PLAIN = {"new_tab": "new_tab", "close_tab": "tab_close", "go_back": "go_back", "go_forward": "go_forward"}
_TAB = re.compile(r"Tab \d{1,3}( \(current\))?: (.*)")
_CODES = re.compile(r"'text': \[([\d, ]*)\]")
_AFTER_TEXT = "] where ["
_MAX_ASCII_CODE = 200
_NO_NODE, _FAILED = "No match found", "Attempt to perfom"  # as the helper writes them
_HEIGHT_PX = 720  # of a page whose picture is not there: what they use unless told otherwise


def _detect(path: Path) -> bool:
    return any(_STEP.encode() in start or b"state_obv" in start or (
        b"<pre>" in start and b"task_id: " in start and b"intent: " in start)
        for file in _files(path)[:3] if (start := head(file)))


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path] if path.suffix == ".html" else []
    return sorted(file for pattern in _PATTERNS for file in path.glob(pattern) if not file.is_symlink())


def _items(path: Path) -> Iterator[Item]:
    root = path if path.is_dir() else path.parent
    for file in _files(path):
        yield Item(path, file.relative_to(root).with_suffix("").as_posix(), (file.relative_to(root).as_posix(),))


def _read(item: Item) -> Session:
    is_folder = item.path.is_dir()
    file = item.path / item.position[0] if is_folder else item.path
    text = read_content(file, _MAX_FILE_BYTES, item.path if is_folder else None).decode("utf-8", "replace")
    config, *steps = text.split(_STEP)
    facts = dict(line.split(": ", 1) for line in config.splitlines() if ": " in line)
    session = Session(facts.get("intent", ""), (), provenance=agent_provenance("agent", ""))
    if not steps and "intent" not in facts:
        raise InputError(f"{file}: not a page of WebArena's RenderHelper")
    session.steps = _steps(steps, session, str(file))
    return session


def _steps(steps: list[str], session: Session, where: str) -> Iterator[Utterance | Action]:
    calls = CallTranslator()
    for number, (text, later) in enumerate(zip(steps, [*steps[1:], ""], strict=True)):
        with explained(f"{where}: step {number}", "a step of WebArena"):
            address, observed, picture = _observed(text, session)
            tabs = _tabs(observed.partition("\n")[0])
            shown = next((index for index, (is_shown, _) in enumerate(tabs) if is_shown), 0)
            calls.observe_tabs(max(len(tabs), 1), shown)
            state: Observation | None = Observation(address, tabs[shown][1] if tabs else "", calls.shown,
                                                    screenshot=picture)
            if _between(later, _PREVIOUS, _AFTER_PREVIOUS).startswith(_FAILED):
                session.left_out["actions that failed"] += 1
                continue
            report = agent_report({"reasoning": _between(text, _PREDICTION, _OBJECT)})
            action = _between(text[max(text.rfind(_PARSED), 0):], _PARSED, _AFTER_PARSED)
            size = size_of(picture) if picture else None
            height = size[1] if size else _HEIGHT_PX
            if action.startswith("type ") and _ends_with_line_break(_between(text, _OBJECT, _PARSED)):
                typed, mark, rest = action.partition(_AFTER_TEXT)
                action = typed[:-1] + "\n" + mark + rest
            for act, element in _acts(action, observed, height, calls, session):
                if act.said is not None:
                    yield Utterance(act.said, "navigator")
                else:
                    yield Action(act.intent, act.arguments, element=element, state=state, report=report)
                    state, report = None, {}


def _tabs(line: str) -> list[tuple[bool, str]]:
    """Whether each tab is shown, and its title, from a line such as `Tab 0: Shop | Tab 1 (current): Help`."""
    matches = (_TAB.fullmatch(part) for part in re.split(r" \| (?=Tab \d)", line))
    return [(bool(match[1]), match[2]) for match in matches if match]


def _observed(text: str, session: Session) -> tuple[str, str, bytes | None]:
    """Address, text and picture of a step."""
    match = _URL.match(text)
    if match is None:
        raise InputError("a step without its address")
    rest = text[match.end():]
    after = rest.find(f"{_BEFORE_PICTURE}<div class='prev_action'")
    with_picture = rest.find(f"{_BEFORE_PICTURE}<img src='data:image/png;base64,")
    ends = [end for end in (after, with_picture) if end >= 0]
    observed = rest[:min(ends)] if ends else ""
    picture = _PICTURE.match(rest, with_picture + len(_BEFORE_PICTURE)) if with_picture >= 0 else None
    if picture is None:
        return match[1], observed, None
    try:
        return match[1], observed, base64.b64decode(picture[1], validate=True)
    except (binascii.Error, ValueError):
        session.left_out["pictures that cannot be decoded"] += 1
        return match[1], observed, None


def _between(text: str, begin: str, end: str) -> str:
    """What is between two marks: the first `begin`, and the last `end`, as a prediction may quote such marks."""
    start, stop = text.find(begin), text.rfind(end)
    return text[start + len(begin):stop] if start >= 0 and stop >= start else ""


def _ends_with_line_break(described: str) -> bool:
    """Whether the text of a typing action ends with a line break, by its characters' numbers in their table.

    WebArena writes a space for it. In the table a space is among the first hundred, the line break after all others.
    """
    match = _CODES.search(described)
    codes = match[1].split(",") if match else []
    return bool(codes) and codes[-1].strip().isdigit() and int(codes[-1]) > _MAX_ASCII_CODE


def _acts(action: str, observed: str, height: float, calls: CallTranslator, session: Session
          ) -> Iterator[tuple[Act, Element | None]]:
    """What an action did; text that was typed with a line break at its end was followed by Enter."""
    if match := _ELEMENT.fullmatch(action.strip("\n") if not action.startswith("type") else action):
        kind, uid, text, node = match.groups()
        if node == _NO_NODE:
            session.left_out["actions that failed"] += 1
            return
        element = _element(uid, node if node else _line(observed, uid))
        if kind in ("click", "hover"):
            yield Act(kind), element
            return
        typed = text or ""
        yield Act("textInput", {"text": typed.removesuffix("\n")}), element
        if typed.endswith("\n"):
            yield Act("press", {"key": "Enter"}), element
        return
    act = _without_element(action.strip(), height, calls)
    if act is None:
        name = re.split(r"[\s\[]", action.strip(), maxsplit=1)[0][:40] or "none"
        session.left_out["predictions that are no action" if name == "none" else f"{name}: no equal here"] += 1
    elif act.said != "":
        yield act, None


def _without_element(action: str, height: float, calls: CallTranslator) -> Act | None:
    if action in _PLAIN:
        return calls.translate(Call(_PLAIN[action]))
    match = _WITH_VALUE.fullmatch(action)
    if match is None:
        return None
    kind, value = match.groups()
    if kind == "stop":
        return Act("say", said=value)
    if kind == "scroll":  # by the height of the page
        return calls.translate(Call("scroll", (0.0, -height if value == "up" else height)))
    if kind == "press":
        return Act("press", {"key": event_keys(value.split("+"))})
    return calls.translate(Call("goto", (value,)) if kind == "goto" else Call("tab_focus", (int(value),)))


def _line(observed: str, uid: str) -> str:
    """The line of an element in the text of a page, such as `[12] link 'Account'` or `[12] [A] [Account]`."""
    return next((line.strip() for line in observed.splitlines() if line.strip().startswith(f"[{uid}]")), "")


def _element(uid: str, node: str) -> Element:
    """The element that a line of an accessibility tree or of a set of marks describes."""
    if element := element_of_node(uid, node):
        return element
    match = re.match(r"\[\d+\] \[([A-Z0-9]*)\] \[(.*)\]", node)
    return make_element(uid, match[1], name=match[2]) if match else make_element(uid)


IMPORTER = Importer("trajectories of WebArena and VisualWebArena (render_N.html, or a folder of them)", _detect, _read,
                    _items)
