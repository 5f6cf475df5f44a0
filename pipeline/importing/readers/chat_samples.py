"""Exports of the format chat: an action a line, as the answer to a prompt. Pages are in it as lists of elements."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pipeline.importing.action_calls import CallTranslator
from pipeline.importing.contract import Action, Importer, Item, Observation, Session, Utterance
from pipeline.importing.elements import make_element
from pipeline.importing.sources import explained, read_member
from schemas import limits
from schemas.types.recordings import Element

from .line_groups import grouped_lines, has_fields, lines_of, root_of
from .trajectories import translate

_HISTORY = re.compile(r"^So far:\n(.*?)(?:\n\n(?:Page|Elements in sight): ?|\Z)", re.DOTALL | re.MULTILINE)
_SHORTENED = re.compile(r"\((\d+) earlier lines are left out\)")
_INSTRUCTOR = "instructor: "
_PAGE = re.compile(r"^Page: (.*)\nAddress: (.*)$", re.MULTILINE)
_TASK = re.compile(r"\ATask: (.*)")
_ELEMENT = re.compile(r'^\[([^\]]*)\] (\S*) "(.*)"(?: \(mark \d+\))?$', re.MULTILINE)


def _detect(path: Path) -> bool:
    return has_fields(path, "messages", "images", "demonstration", "turn", "intent")


def _prompt(row: dict[str, Any]) -> str:
    user = next(message for message in row["messages"] if message["role"] == "user")
    return "".join(part.get("text") or "" for part in user["content"])


def _answer(row: dict[str, Any]) -> str:
    answer = next(message for message in row["messages"] if message["role"] == "assistant")
    return "".join(part.get("text") or "" for part in answer["content"])


def _read(item: Item) -> Session:
    where, row = next(lines_of(item))
    with explained(where, "a sample of the format chat"):
        task = _TASK.match(_prompt(row))
        session = Session(task[1] if task else "", ())
    session.steps = _steps(item, session)
    return session


def _steps(item: Item, session: Session) -> Iterator[Utterance | Action]:
    calls, read_lines = CallTranslator(), 0  # `seen`: lines of the history
    for where, row in lines_of(item):
        with explained(where, "a sample of the format chat"):
            prompt, answer = _prompt(row), _answer(row)
            history = _HISTORY.search(prompt)
            for number, line in _numbered(history[1] if history else ""):
                if number >= read_lines and line.startswith(_INSTRUCTOR):  # the navigator's are samples of their own
                    yield Utterance(line.removeprefix(_INSTRUCTOR))
                read_lines = max(read_lines, number + 1)
            state = _state(root_of(item), row, prompt)
            for number, act in enumerate(translate(calls, answer, row["intent"], where)):
                name = row["turn"] if not number else ""
                if act.said is not None:
                    yield Utterance(act.said, "navigator", id=name)
                    continue
                yield Action(act.intent, act.arguments, element=_element(prompt, act.target),
                             state=state if not number else None, id=name)


def _numbered(history: str) -> Iterable[tuple[int, str]]:
    """The lines of a history with their numbers; of a long one, the last."""
    lines = history.splitlines()
    shortened = next((number for number, line in enumerate(lines[:2]) if _SHORTENED.fullmatch(line)), None)
    if shortened is None:
        return enumerate(lines)
    marker = _SHORTENED.fullmatch(lines[shortened])
    return enumerate(lines[shortened + 1:], int(marker[1] if marker else 0) + shortened)


def _state(folder: Path, row: dict[str, Any], prompt: str) -> Observation | None:
    page = _PAGE.search(prompt)
    if not page:
        return None
    images = row.get("images") or []
    return Observation(page[2], page[1], screenshot=read_member(folder, images[0], limits.BLOB) if images else None)


def _element(prompt: str, target: str | None) -> Element | None:
    """The target as the prompt lists it."""
    if target is None:
        return None
    listed = next((match for match in _ELEMENT.finditer(prompt) if match[1] == target), None)
    role, name = (listed[2], listed[3]) if listed else ("", "")
    return make_element(target, role=role, name=name)


IMPORTER = Importer("exports of demotape in the format chat (a folder, or a file .jsonl)", _detect, _read,
                    lambda path: grouped_lines(path, "demonstration"))
