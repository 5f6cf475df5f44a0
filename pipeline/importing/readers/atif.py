"""ATIF, the Agent Trajectory Interchange Format: also demotape's exports of that format."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipeline.importing.action_calls import CallTranslator
from pipeline.importing.contract import Action, Importer, Item, Observation, Session, Utterance
from pipeline.importing.provenance import agent_provenance, parse_time
from pipeline.importing.reports import agent_report
from pipeline.importing.sources import explained, head, read_member
from pipeline.importing.tool_calls import described_element, translate_tool
from schemas import limits

from .documents import document_items, read_item

_MARK = b'"ATIF-v'
_ROLES = {"user": "instructor", "agent": "navigator"}


def _is_trajectory(value: dict[str, Any]) -> bool:
    return str(value.get("schema_version") or "").startswith("ATIF-v") and isinstance(value.get("steps"), list)


def _items(path: Path) -> Iterator[Item]:
    return document_items(path, _MARK, _is_trajectory, ("trajectory_id", "session_id"))


def _detect(path: Path) -> bool:
    if path.is_dir():
        return any(_MARK in head(file) for pattern in ("*.json", "*/*.json", "*.jsonl") for file in path.glob(pattern))
    return _MARK in head(path)


def _read(item: Item) -> Session:
    where, document, folders = read_item(item)
    with explained(where, "a trajectory of ATIF"):
        agent, extra = document.get("agent") or {}, document.get("extra") or {}
        steps = [step for step in document["steps"] if not step.get("is_copied_context")]
        first = next((text for step in steps if step.get("source") == "user" and (text := _text(step["message"]))), "")
        times = [parse_time(step.get("timestamp")) for step in steps]
        name = f"{agent.get('name') or ''} {agent.get('version') or ''}".replace(" unknown", "").strip()
        started = next((time for time in times if time), None)
        session = Session(str(extra.get("task") or first), (), version=str(document["schema_version"]),
                          started_at=started, provenance=agent_provenance(
                              (agent.get("extra") or {}).get("actor", "agent"), name))
    session.steps = _steps(steps, session, where, folders)
    return session


def _steps(steps: list[dict[str, Any]], session: Session, where: str, folders: list[Path]
           ) -> Iterator[Utterance | Action]:
    state: Observation | None = None
    calls = CallTranslator()
    for number, step in enumerate(steps):
        with explained(f"{where}: steps.{number}", "a step of ATIF"):
            at = parse_time(step.get("timestamp"))
            time = (at - session.started_at).total_seconds() if at and session.started_at else None
            yield from _said(step, time, session)
            report = _report(step)
            for call in step.get("tool_calls") or ():
                yield from _called(call, step, time, state, calls, session, report)
                state, report = None, {}  # another call in the same step follows an unknown page
            for result in (step.get("observation") or {}).get("results") or ():
                state = _state(result, folders, session) or state


def _said(step: dict[str, Any], time: float | None, session: Session) -> Iterator[Utterance]:
    text, extra = _text(step.get("message")), step.get("extra") or {}
    if not text or step["source"] not in _ROLES:
        return
    if step["source"] == "agent" and step.get("tool_calls"):
        return  # it is in the report of the step
    more = {"reply_to": extra["reply_to"]} if isinstance(extra.get("reply_to"), str) else {}
    if extra.get("input") == "speech":
        more["source"] = "speech"
    role = "instructor" if step["source"] == "user" else "navigator"
    yield Utterance(text, role, time, str(extra.get("turn") or ""), more)  # type: ignore[arg-type]


def _called(call: dict[str, Any], step: dict[str, Any], time: float | None, state: Observation | None,
            calls: CallTranslator, session: Session, report: dict[str, Any]) -> Iterator[Utterance | Action]:
    arguments = call.get("arguments") or {}
    act = translate_tool(str(call["function_name"]), arguments, calls)
    if act is None:
        session.left_out[f"{str(call['function_name'])[:60]}: no equal here"] += 1
        return
    if act.said is not None:
        yield Utterance(act.said, "navigator", time, str(call.get("tool_call_id") or ""))
        return
    trusted = (step.get("extra") or {}).get("trusted", True)
    element = described_element(arguments, act.target)
    yield Action(act.intent, act.arguments, None if element else act.target, element, state=state, time=time,
                 id=str(call.get("tool_call_id") or ""), is_script=trusted is False, report=report)


def _report(step: dict[str, Any]) -> dict[str, Any]:
    """What the agent reports of a step: reasoning, or the message beside a call; the model, its tokens and cost."""
    metrics = step.get("metrics") or {}
    return agent_report({
        "reasoning": "\n".join(filter(None, (str(step.get("reasoning_content") or ""), _text(step.get("message"))))),
        "model": step.get("model_name"), "input_tokens": metrics.get("prompt_tokens"),
        "output_tokens": metrics.get("completion_tokens"), "cost": metrics.get("cost_usd"),
        **{name: (step.get("extra") or {}).get(name) for name in ("error", "reward", "duration")}})


def _text(message: Any) -> str:
    """The text of a message or of its parts."""
    if isinstance(message, str):
        return message
    return "\n".join(str(part.get("text") or "") for part in message or () if part.get("type") == "text")


def _state(result: dict[str, Any], folders: list[Path], session: Session) -> Observation | None:
    """What a result shows of a page; None where it is text alone."""
    extra, content = result.get("extra") or {}, result.get("content")
    images = [part["source"] for part in content if part.get("type") == "image"] if isinstance(content, list) else []
    picture = _file(images[0].get("path"), folders, session) if images else None
    page = _file(extra.get("html"), folders, session)
    if picture is None and page is None and not extra.get("url"):
        return None
    viewport, scroll = extra.get("viewport") or {}, extra.get("scroll") or {}
    return Observation(
        str(extra.get("url") or ""), str(extra.get("title") or ""), int(extra.get("tab") or 1),
        (viewport.get("width") or 0, viewport.get("height") or 0), scroll=(scroll.get("x") or 0, scroll.get("y") or 0),
        page=page, screenshot=picture, is_late=extra.get("screenshot_status") == "broken")


def _file(name: Any, folders: list[Path], session: Session) -> bytes | None:
    """A file that the trajectory names, relative to itself or to the data set."""
    if not name or "://" in str(name) or str(name).startswith("data:"):
        session.left_out["pictures that are not in the folder"] += bool(name)
        return None
    return next((content for folder in folders if (content := read_member(folder, name, limits.BLOB))), None)


IMPORTER = Importer("trajectories in ATIF (.json, .jsonl or a folder of them), also demotape's exports of that format",
                    _detect, _read, _items)
