"""ADP, the Agent Data Protocol: actions and observations in one list; also demotape's exports of that format."""

import base64
import binascii
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pipeline.importing.action_calls import Act, CallTranslator, parse_calls
from pipeline.importing.contract import Action, Importer, Item, Observation, Session, Utterance
from pipeline.importing.pages import number_elements
from pipeline.importing.provenance import agent_provenance, parse_time
from pipeline.importing.reports import agent_report
from pipeline.importing.sources import explained, first_object, head, read_member
from pipeline.importing.tool_calls import described_element, translate_tool
from schemas import UID_ATTRIBUTE, InputError, limits
from schemas.types.recordings import Element

from .documents import document_items, read_item

_MARK = b'"content":'
_PATTERNS = ("*.jsonl", "*.json", "*/*.jsonl", "*/*.json")
_KINDS = ("api_action", "code_action", "message_action", "text_observation", "web_observation")
_UID_ATTRIBUTES = ("bid", "backend_node_id", "data-webtasks-id", UID_ATTRIBUTE)


def _kind(part: dict[str, Any]) -> str:
    """The kind of a part, by its name or by its fields."""
    named = next((str(part[name]) for name in ("class_", "class", "type", "kind") if part.get(name) in _KINDS), "")
    if named:
        return named
    if "function" in part:
        return "api_action"
    if part.keys() & {"html", "axtree", "image_observation", "viewport_size"}:
        return "web_observation"
    if "content" in part:
        is_code = "language" in part
        return "code_action" if is_code else "text_observation" if "source" in part else "message_action"
    return ""


def _is_trajectory(value: dict[str, Any]) -> bool:
    content = value.get("content")
    return isinstance(content, list) and bool(content) and all(
        isinstance(part, dict) and _kind(part) for part in content[:3]) and "id" in value


def _detect(path: Path) -> bool:
    if path.is_dir():
        return any(_detect(file) for pattern in _PATTERNS for file in sorted(path.glob(pattern))[:1])
    if path.suffix == ".jsonl":
        return _is_trajectory(first_object(path))
    start = head(path).lstrip()
    return start.startswith(b"{") and _MARK in start and any(kind.encode() in start for kind in _KINDS)


def _items(path: Path) -> Iterator[Item]:
    return document_items(path, _MARK, _is_trajectory, ("id",))


def _read(item: Item) -> Session:
    where, document, folders = read_item(item)
    with explained(where, "a trajectory of ADP"):
        parts = document["content"]
        first = next((str(part.get("content") or "") for part in parts if _kind(part) == "text_observation"
                      and part.get("source") == "user"), "")
        own = (document.get("details") or {}).get("demotape")
        own = own if isinstance(own, dict) else {}
        session = Session(str(own.get("task") or first), (), version=str(document.get("schema_version") or ""),
                          started_at=parse_time(own.get("started_at")),
                          provenance=agent_provenance(own.get("actor", "agent"), str(own.get("agent") or "")))
        turns = {int(turn["part"]): turn for turn in own.get("turns", ())}
    session.steps = _steps(parts, turns, session, where, folders)
    return session


def _steps(parts: list[dict[str, Any]], turns: Mapping[int, dict[str, Any]], session: Session, where: str,
           folders: list[Path]) -> Iterator[Utterance | Action]:
    """The turns. `turns`: what demotape's exports add to a part, by its number."""
    state: Observation | None = None
    calls = CallTranslator()
    for number, part in enumerate(parts):
        with explained(f"{where}: content.{number}", "a part of ADP"):
            kind, own = _kind(part), turns.get(number, {})
            if kind == "web_observation":
                state = _state(part, folders, session)
            elif kind == "message_action" or (kind == "text_observation" and part.get("source") == "user"):
                more: dict[str, Any] = {name: own[name] for name in ("reply_to", "source") if name in own}
                yield Utterance(str(part.get("content") or ""),
                                "navigator" if kind == "message_action" else "instructor", extra=more,
                                **_id_and_time(own))
            elif kind == "api_action":
                yield from _called(part, own, state, calls, session)
                state = None
            elif kind == "code_action":
                yield from _coded(str(part.get("content") or ""), where, state, calls, session)
                state = None
            else:
                session.left_out["texts of the environment"] += 1


def _id_and_time(own: Mapping[str, Any]) -> dict[str, Any]:
    """Id and time of a turn, where they are stated."""
    return {"id": str(own["id"]), "time": float(own["timestamp"])} if own else {}


def _called(part: dict[str, Any], own: Mapping[str, Any], state: Observation | None, calls: CallTranslator,
            session: Session) -> Iterator[Utterance | Action]:
    name, arguments = str(part["function"]), part.get("kwargs") or {}
    act = translate_tool(name, arguments, calls)
    element = described_element(arguments, act.target) if act and own else None
    report = agent_report({"reasoning": part.get("reasoning_content"), "reward": part.get("reward"),
                           **{field: value for field, value in (own.get("agent") or {}).items() if field != "step"}})
    yield from _turn_of(act, name, state, session, own, element, report)


def _turn_of(act: Act | None, name: str, state: Observation | None, session: Session,
             own: Mapping[str, Any] = MappingProxyType({}), element: Element | None = None,
             report: Mapping[str, Any] = MappingProxyType({})) -> Iterator[Utterance | Action]:
    """The turn of a translated call; a call that has none is counted by its name."""
    if act is None:
        session.left_out[f"{name[:60]}: no equal here"] += 1
    elif act.said is not None:
        yield Utterance(act.said, "navigator", **_id_and_time(own))
    else:
        yield Action(act.intent, act.arguments, None if element else act.target, element, state=state,
                     is_script=own.get("trusted") is False, report=report, **_id_and_time(own))


def _coded(code: str, where: str, state: Observation | None, calls: CallTranslator, session: Session
           ) -> Iterator[Utterance | Action]:
    """Code that is calls of browser actions; other code is left out."""
    try:
        parsed = parse_calls(code, where)
    except InputError:
        session.left_out["code that is no browser action"] += 1
        return
    for call in parsed:
        for turn in _turn_of(calls.translate(call), call.name, state, session):
            state = None if isinstance(turn, Action) else state
            yield turn


def _state(part: dict[str, Any], folders: list[Path], session: Session) -> Observation:
    html = part.get("html")
    page, attribute = None, UID_ATTRIBUTE
    if isinstance(html, str) and html.strip():
        attribute = next((name for name in _UID_ATTRIBUTES if f" {name}=" in html), "")
        page = html.encode("utf-8", "replace") if attribute else number_elements(html.encode("utf-8", "replace"))
    size = part.get("viewport_size") or (0, 0)
    width, height = (size.get("width"), size.get("height")) if isinstance(size, dict) else tuple(size)[:2]
    return Observation(str(part.get("url") or ""), viewport=(int(width or 0), int(height or 0)), page=page,
                       uid_attribute=attribute or UID_ATTRIBUTE, screenshot=_picture(part, folders, session))


def _picture(part: dict[str, Any], folders: list[Path], session: Session) -> bytes | None:
    """The picture, in the document or in a file beside it."""
    image = part.get("image_observation")
    value = (image.get("content") or image.get("path")) if isinstance(image, dict) else image
    if not isinstance(value, str) or not value:
        return None
    if value.startswith("data:") or len(value) > 1000:
        try:
            return base64.b64decode(value.partition(",")[2] if value.startswith("data:") else value, validate=True)
        except (binascii.Error, ValueError):
            session.left_out["pictures that cannot be decoded"] += 1
            return None
    if "://" in value:
        session.left_out["pictures that are not in the folder"] += 1
        return None
    return next((content for folder in folders if (content := read_member(folder, value, limits.BLOB))), None)


IMPORTER = Importer("trajectories in ADP (.jsonl, .json or a folder of them), also demotape's exports of that format",
                    _detect, _read, _items)
