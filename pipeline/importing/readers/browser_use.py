"""Histories of browser-use (`AgentHistoryList.save_to_file`): an agent's actions with the elements and pictures."""

import base64
import binascii
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any, cast

from pipeline.importing.action_calls import CallTranslator
from pipeline.importing.contract import Action, Importer, Item, Observation, Session, Utterance
from pipeline.importing.elements import make_element
from pipeline.importing.reports import agent_report
from pipeline.importing.sources import explained, head, parse_json, read_content, read_member
from pipeline.importing.tool_calls import translate_tool
from schemas import limits
from schemas.types.recordings import Box, Element

from .documents import MAX_DOCUMENT_BYTES

_SILENT = ("wait", "extract", "extract_content", "extract_structured_data", "read_file", "write_file", "replace_file",
           "search_page", "find_elements", "screenshot", "evaluate", "find_text", "scroll_to_text",
           "get_dropdown_options", "dropdown_options", "save_as_pdf")
_SEARCHES = ("search", "search_google")
_MAX_WALL_S = 9e10


def _detect(path: Path) -> bool:
    start = head(path).lstrip()
    return start.startswith(b"{") and start[1:].lstrip().startswith(b'"history"') and b'"model_output"' in start


def _read(item: Item) -> Session:
    document = parse_json(read_content(item.path, MAX_DOCUMENT_BYTES), str(item.path))
    with explained(str(item.path), "a history of browser-use"):
        steps = list(document["history"])
        begun = next((time for step in steps if (time := _time(step))), None)
        session = Session("", (), started_at=datetime.fromtimestamp(begun, UTC) if begun else None,
                          provenance={"actor": "agent", "agent": "browser-use"})
    session.steps = _steps(steps, begun, session, item.path)
    return session


def _time(step: dict[str, Any]) -> float | None:
    """When a step ended its thinking and acted, as near as it is stated; seconds since 1970."""
    metadata = step.get("metadata") or {}
    time = metadata.get("step_end_time") or metadata.get("step_start_time")
    return float(time) if isinstance(time, int | float) and 0 < time < _MAX_WALL_S else None


def _steps(steps: list[dict[str, Any]], begun: float | None, session: Session, path: Path
           ) -> Iterator[Utterance | Action]:
    calls = CallTranslator()
    for number, step in enumerate(steps):
        with explained(f"{path}: history.{number}", "a step of browser-use"):
            observed = step.get("state") or {}
            results, elements = step.get("result") or [], observed.get("interacted_element") or []
            actions = (step.get("model_output") or {}).get("action") or []
            state: Observation | None = Observation(
                str(observed.get("url") or ""), str(observed.get("title") or ""),
                screenshot=_picture(observed, path, session))
            time, report = _time(step), _report(step)
            for index, action in enumerate(actions):
                result = results[index] if index < len(results) and isinstance(results[index], dict) else {}
                element = elements[index] if index < len(elements) else None
                for outcome in _actions(action, element, result, calls, session):
                    at = None if time is None or begun is None else time - begun
                    if isinstance(outcome, str):
                        yield Utterance(outcome, "navigator", at)
                    else:
                        intent, arguments, target = outcome
                        yield Action(intent, arguments, element=target, state=state, time=at, report=report)
                        state, report = None, {}


def _report(step: dict[str, Any]) -> dict[str, Any]:
    """What the agent thought before it acted, in the order in which the model was asked for it."""
    output = step.get("model_output") or {}
    thoughts = [str(output.get(name) or "") for name in ("thinking", "evaluation_previous_goal", "memory", "next_goal")]
    return agent_report({"reasoning": "\n".join(filter(None, thoughts))})


def _actions(action: dict[str, Any], element: Any, result: dict[str, Any], calls: CallTranslator, session: Session
             ) -> Iterator[str | tuple[str, dict[str, Any], Element | None]]:
    """What one action of the model did: intent, arguments, target; or what it said."""
    for name, arguments in action.items():
        arguments = arguments if isinstance(arguments, dict) else {}
        if result.get("error"):
            session.left_out["actions that failed"] += 1
            continue
        if name in _SEARCHES:
            session.left_out[f"{name}: the address is not stated"] += 1
            continue
        act = None if name in _SILENT else translate_tool(name, arguments, calls)
        if act is None:
            session.left_out[f"{name[:60]}: no equal here"] += name not in _SILENT
        elif act.said is not None:
            yield act.said
        else:
            yield act.intent, act.arguments, _element(element)


def _element(described: Any) -> Element | None:
    """The element that was interacted with."""
    if not isinstance(described, dict):
        return None
    attributes = {str(name): str(value) for name, value in (described.get("attributes") or {}).items()}
    bounds = described.get("bounds") or {}
    box = {name: float(bounds[name]) for name in ("x", "y", "width", "height")} if bounds else None
    return make_element(
        tag=str(described.get("node_name") or described.get("tag_name") or ""), role=attributes.get("role", ""),
        name=str(described.get("ax_name") or attributes.get("aria-label") or ""), attributes=attributes,
        box=cast(Box, box),
        xpath=str(described.get("x_path") or described.get("xpath") or ""),
        css=str(described.get("css_selector") or ""))


def _picture(observed: dict[str, Any], path: Path, session: Session) -> bytes | None:
    """The picture in the history, or the file of its name beside it: paths of another machine are not followed."""
    if isinstance(content := observed.get("screenshot"), str) and content:
        try:
            return base64.b64decode(content.rpartition(",")[2], validate=True)
        except (binascii.Error, ValueError):
            session.left_out["pictures that cannot be decoded"] += 1
            return None
    name = PurePosixPath(str(observed.get("screenshot_path") or "").replace("\\", "/")).name
    for folder in (path.parent / "screenshots", path.parent):
        if name and folder.is_dir() and not folder.is_symlink() and (
                content := read_member(folder, name, limits.BLOB)):
            return content
    session.left_out["pictures that are not in the folder"] += bool(name)
    return None


IMPORTER = Importer("histories of browser-use (.json), with its pictures beside them or in screenshots", _detect, _read)
