"""Values that a page generates in each run, such as ids of requests, in the messages of a channel: what it sends other
than recorded replaces the recorded value in later messages. Pure functions."""

import json
import re
from typing import Any

_MIN_TEXT_CHARS = 6  # characters of a value that is replaced wherever it stands
_MAX_VALUES = 1000  # that are remembered of a channel
_MAX_JSON_CHARS = 1 << 20
_MAX_DEPTH = 50
_ACKNOWLEDGED = re.compile(r"(4[2356](?:\d+-)?(?:/[^,]{0,200},)?)(\d+)(?=[\[{])")  # Socket.IO: type, namespace, id

Name = str | int  # of a member, or the index in a list
_Leaf = str | int | float


class CarriedValues:
    """What a page sent otherwise than recorded in one channel, by the name of the member that has it."""

    def __init__(self) -> None:
        self._by_name: dict[tuple[Name, _Leaf], _Leaf] = {}

    def learn(self, recorded: str | bytes, actual: str | bytes) -> None:
        """Compare a recorded message of the page with the one that it sends now."""
        if isinstance(recorded, bytes) or isinstance(actual, bytes) or (recorded == actual and not self._by_name):
            return
        before, after = _ACKNOWLEDGED.match(recorded), _ACKNOWLEDGED.match(actual)
        if before and after:
            self._add("", before[2], after[2])
        one, other = _parsed(recorded), _parsed(actual)
        if one is not None and other is not None:
            self._compare("", one, other, 0)

    def replaced(self, data: str | bytes) -> str | bytes:
        """A recorded message of the server with the values that the page expects."""
        if isinstance(data, bytes) or not self._by_name:
            return data
        if match := _ACKNOWLEDGED.match(data):
            actual = self._by_name.get(("", match[2]))
            return data if actual is None else f"{match[1]}{actual}{data[match.end():]}"
        value = _parsed(data)
        changed = None if value is None else self._renewed("", value, 0)
        text = data if changed is None or changed == value else json.dumps(changed, ensure_ascii=False)
        for (_, recorded), actual in self._by_name.items():
            if isinstance(recorded, str) and isinstance(actual, str) and len(recorded) >= _MIN_TEXT_CHARS:
                text = text.replace(recorded, actual)
        return text

    def _add(self, name: Name, recorded: _Leaf, actual: _Leaf) -> None:
        self._by_name.pop((name, recorded), None)
        if recorded != actual and len(self._by_name) < _MAX_VALUES:
            self._by_name[name, recorded] = actual

    def _compare(self, name: Name, recorded: Any, actual: Any, depth: int) -> None:
        if depth > _MAX_DEPTH:
            return
        if isinstance(recorded, dict) and isinstance(actual, dict):
            for key in recorded.keys() & actual.keys():
                self._compare(key, recorded[key], actual[key], depth + 1)
        elif isinstance(recorded, list) and isinstance(actual, list) and len(recorded) == len(actual):
            for index, (one, other) in enumerate(zip(recorded, actual, strict=True)):
                self._compare(index, one, other, depth + 1)
        elif _is_leaf(recorded) and _is_leaf(actual):
            self._add(name, recorded, actual)

    def _renewed(self, name: Name, value: Any, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            return value
        if isinstance(value, dict):
            return {key: self._renewed(key, inner, depth + 1) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._renewed(index, inner, depth + 1) for index, inner in enumerate(value)]
        return self._by_name.get((name, value), value) if _is_leaf(value) else value


def _is_leaf(value: object) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _parsed(text: str) -> Any:
    """The object or list that a text is in JSON; None for anything else."""
    if len(text) > _MAX_JSON_CHARS or text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
