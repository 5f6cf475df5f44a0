"""The history before a turn: utterances and actions, as input of a model that predicts the turn."""

from typing import Any

from pipeline.export.formats.weblinx_turns import UID
from schemas.types.recordings import Size

from .elements import Query

_LAST_ACTIONS = 5
_LAST_UTTERANCES = 4


class History:
    """Sees the turns of a replay in order."""

    def __init__(self) -> None:
        self._utterances: list[str] = []
        self._actions: list[str] = []
        self._viewport: Size = {"width": 0, "height": 0}

    def enter_turn(self, turn: dict[str, Any]) -> None:
        """The browser turn that comes now is done in its own viewport."""
        metadata = turn["action"]["arguments"]["metadata"]
        self._viewport = {"width": metadata["viewportWidth"], "height": metadata["viewportHeight"]}

    @property
    def query(self) -> Query:
        """What the elements of the turn that comes now are compared with."""
        said = self._utterances
        last = said if len(said) <= _LAST_UTTERANCES + 1 else [said[0], *said[-_LAST_UTTERANCES:]]
        return Query(tuple(last), tuple(self._actions[-_LAST_ACTIONS:]), self._viewport)

    def remember(self, turn: dict[str, Any]) -> None:
        """The turn is over."""
        if turn["type"] == "chat" and turn["speaker"] == "instructor":
            minutes, seconds = divmod(int(turn["timestamp"]), 60)
            self._utterances.append(f"[{minutes:02d}:{seconds:02d}] {turn['utterance']}")
        else:
            self._actions.append(action(turn))


def action(turn: dict[str, Any]) -> str:
    """A turn of a replay as the text that a model is to give: `click(uid="…")`, `say(speaker="…", utterance="…")`."""
    if turn["type"] == "chat":
        return _call("say", {"speaker": turn["speaker"], "utterance": turn["utterance"]})
    arguments, intent = turn["action"]["arguments"], turn["action"]["intent"]
    named: dict[str, Any] = {}
    for name, where in (("text", "text"), ("value", "value"), ("selected", "text"), ("pasted", "text"),
                        ("scrollX", "x"), ("scrollY", "y")):
        if name in arguments:
            named[where] = arguments[name]
    properties = arguments.get("properties", {})
    if intent == "load":
        named["url"] = properties["url"]
    if intent.startswith("tab"):
        named |= {"origin": properties["tabIdOrigin"]} if "tabIdOrigin" in properties else {}
        named["target"] = properties["tabId"]
    if uid := arguments.get("element", {}).get("attributes", {}).get(UID):
        named["uid"] = uid
    return _call(intent, named)


def _call(name: str, arguments: dict[str, Any]) -> str:
    def written(value) -> str:
        return '"' + value.replace("\n", "\\n").replace("\t", "\\t") + '"' if isinstance(value, str) else f"{value:g}"
    return f"{name}({', '.join(f'{key}={written(value)}' for key, value in arguments.items())})"
