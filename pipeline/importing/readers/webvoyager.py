"""Results of WebVoyager: a folder a task, with the messages between program and model, and screenshots.

A screenshot has the number of the model's answer that it was shown for. It has the marks that the model saw, unless
there is one without them beside it.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pipeline.importing.action_calls import Act, Call, CallTranslator
from pipeline.importing.contract import Action, Importer, Item, Observation, Session, Utterance
from pipeline.importing.elements import element_of_node, make_element
from pipeline.importing.provenance import agent_provenance
from pipeline.importing.reports import agent_report
from pipeline.importing.sources import Folder, explained, folders_with, parse_json
from recorder.pictures import size_of
from schemas import InputError, limits
from schemas.types.recordings import Box, Element

_MESSAGES = "interact_messages.json"
_TASK_BEGIN, _ADDRESS_BEGIN, _ADDRESS_END = "Now given a task: ", "  Please interact with ", " and get the answer."
_ACTIONS = (  # in the order in which WebVoyager looks for them
    ("click", re.compile(r"Click \[?(\d+)\]?")),
    ("type", re.compile(r"Type \[?(\d+)\]?[; ]+\[?(.[^\]]*)\]?")),
    ("scroll", re.compile(r"Scroll \[?(\d+|WINDOW)\]?[; ]+\[?(up|down)\]?")),
    ("wait", re.compile(r"^Wait")), ("goback", re.compile(r"^GoBack")), ("google", re.compile(r"^Google")),
    ("answer", re.compile(r"ANSWER[; ]+\[?(.[^\]]*)\]?")))
_MARK = re.compile(r"\[(\d+)\]: (?:<(\w+)> )?\"(.*)\";", re.DOTALL)
_OBSERVED = ("Observation", "Now given a task")
_HEADS = re.compile(r"Thought:|Action:|Observation:")
_SEARCH = "https://www.google.com/"
_HEIGHT_PX = 768  # of a page whose picture is not there: what it uses unless told otherwise


def _detect(path: Path) -> bool:
    return path.is_dir() and any(True for _ in folders_with(path, _MESSAGES))


def _items(path: Path) -> Iterator[Item]:
    for inner in folders_with(path, _MESSAGES):
        yield Item(path, inner or path.name, (inner,))


def _read(item: Item) -> Session:
    folder = Folder(item.path, item.position[0])
    file = f"{folder}: {_MESSAGES}"
    messages = parse_json(folder.require(_MESSAGES, limits.JSON), file)
    with explained(file, "messages of WebVoyager"):
        task, address = next((stated for message in messages if message["role"] == "user"
                              and (stated := _task(_text(message)))), ("", ""))
        if not task:
            raise InputError(f"{file}: no message with the task")
        session = Session(task, (), provenance=agent_provenance("agent", "WebVoyager"))
        # with an accessibility tree instead of marks, numbers are those of the tree
        has_tree = "accessibility tree" in str(messages[0].get("content"))
    session.steps = _steps(messages, folder, address, has_tree, session)
    return session


def _task(text: str) -> tuple[str, str] | None:
    """The task that a message states, and the address where it begins."""
    _, begin, rest = text.partition(_TASK_BEGIN)
    task, between, rest = rest.partition(_ADDRESS_BEGIN)
    address, end, _ = rest.partition(_ADDRESS_END)
    return (task.strip(), address) if begin and between and end else None


def _text(message: Mapping[str, Any]) -> str:
    """The text of a message, whose content is a text or a list of parts."""
    content = message["content"]
    if isinstance(content, str):
        return content
    return "\n".join(str(part["text"]) for part in content if part.get("type") == "text")


def _steps(messages: list[dict[str, Any]], folder: Folder, address: str, has_tree: bool, session: Session
           ) -> Iterator[Utterance | Action]:
    """The model's answers as actions. One after which the program did not observe the page again had failed."""
    calls, number, observed = CallTranslator(), 0, ""
    for position, message in enumerate(messages):
        with explained(f"{folder}: {_MESSAGES}: message {position}", "a message of WebVoyager"):
            if message["role"] == "user":
                observed = _text(message)
            if message["role"] != "assistant":
                continue
            number += 1
            later = next((after for after in messages[position + 1:] if after["role"] == "user"), None)
            if later is not None and not _text(later).lstrip().startswith(_OBSERVED):
                session.left_out["actions that failed"] += 1
                continue
            picture = next((content for name in (f"screenshot{number}_no_box.png", f"screenshot{number}.png")
                            if (content := folder.read(name))), None)
            state: Observation | None = Observation(address, screenshot=picture)
            address = ""  # later ones are not stated
            _, thought, action, *_ = [*_HEADS.split(_text(message)), "", ""]
            report = agent_report({"reasoning": thought.strip()})
            marks = _nodes(folder, number) if has_tree else _marks(observed)
            size = size_of(picture) if picture else None
            height = size[1] if size else _HEIGHT_PX
            for act in _acts(action.strip(), height, calls, session):
                if act.said is not None:
                    yield Utterance(act.said, "navigator")
                else:
                    yield Action(act.intent, act.arguments, element=marks.get(act.target or ""), state=state,
                                 report=report)
                    state, report = None, {}


def _acts(text: str, height: float, calls: CallTranslator, session: Session) -> list[Act]:
    """What an answer had the browser do."""
    kind, match = next(((kind, match) for kind, pattern in _ACTIONS if (match := pattern.search(text))), ("", None))
    if match is None:
        session.left_out["answers without an action"] += 1
        return []
    if kind == "click":
        return [Act("click", {}, match[1])]
    if kind == "type":  # it presses Enter afterwards
        return [Act("textInput", {"text": match[2].strip()}, match[1]), Act("press", {"key": "Enter"}, match[1])]
    if kind == "scroll" and match[1] == "WINDOW":  # by two thirds of the window
        offset = height * 2 // 3
        act = calls.translate(Call("scroll", (0.0, -offset if match[2] == "up" else offset)))
        return [act] if act else []
    if kind == "scroll":  # by a key, in the element
        return [Act("press", {"key": f"Alt+Arrow{match[2].title()}"}, match[1])]
    if kind == "goback":
        return [Act("back")]
    if kind == "google":
        return [Act("load", {"url": _SEARCH, "transition": "typed"})]
    return [Act("say", said=match[1].strip())] if kind == "answer" else []


def _marks(observed: str) -> dict[str, Element]:
    """The marked elements that an observation lists, by number: `[2]: <input> "Search", "Search the shop";`."""
    marks = {}
    for part in observed.rpartition("\n")[2].split("\t"):
        if match := _MARK.fullmatch(part):
            text, _, label = match[3].rpartition('", "')
            marks[match[1]] = make_element(match[1], match[2] or "", name=label or text)
    return marks


def _nodes(folder: Folder, number: int) -> dict[str, Element]:
    """The elements of a saved accessibility tree, by number."""
    content = folder.read(f"accessibility_tree{number}.json", limits.JSON)
    if content is None:
        return {}
    nodes = {}
    for uid, node in parse_json(content, f"{folder}: accessibility_tree{number}.json").items():
        bounds = node.get("union_bound")
        box: Box | None = None
        if isinstance(bounds, list) and len(bounds) == 4:
            box = {"x": float(bounds[0]), "y": float(bounds[1]), "width": float(bounds[2]), "height": float(bounds[3])}
        element = element_of_node(str(uid), str(node.get("text") or ""), box)
        nodes[str(uid)] = element or make_element(str(uid), box=box)
    return nodes


IMPORTER = Importer(f"results of WebVoyager (folders with {_MESSAGES})", _detect, _read, _items)
