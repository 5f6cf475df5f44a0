"""The texts in the arguments of a turn: all that may contain personal data, by the schema of the arguments."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

TEXTS = ("text", "value", "label", "message", "url")
LISTS = ("files", "chosen_values")
# Texts of a closed list, which contain nobody's data: names of keys, kinds and causes.
NAMES = frozenset({"modifiers", "transition", "kind", "key"})


def texts_of_arguments(arguments: Mapping[str, Any], without: tuple[str, ...] = ()) -> Iterator[str]:
    """Every text in the arguments of a turn that may contain personal data, but those of the names `without`."""
    yield from (arguments[name] for name in TEXTS if name not in without and arguments.get(name))
    for name in LISTS:
        yield from () if name in without else arguments.get(name, ())


def replace_texts(arguments: Mapping[str, Any], by: Callable[[str], str],
                  without: tuple[str, ...] = ()) -> dict[str, Any]:
    """Arguments with each of these texts replaced by what `by` makes of it."""
    changed: dict[str, Any] = {}
    for name in (name for name in (*TEXTS, *LISTS) if name not in without and arguments.get(name)):
        value = arguments[name]
        changed[name] = by(value) if isinstance(value, str) else [by(text) for text in value]
    return {**arguments, **changed}
