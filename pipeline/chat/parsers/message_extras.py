"""Attachments and reactions of a message in the forms of the tools."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pipeline.chat.log import MAX_EMOJI_CHARS, Reaction
from schemas import limits

UNKNOWN_REACTION = "a reaction in a form that is not known"
_LONGEST = 200  # characters of a file's name
_PEOPLE = ("users", "recent", "speakers", "people", "by", "from", "actor")
_WHO = ("id", "from_id", "user_id", "name", "from", "user")


def with_files(text: str, names: Iterable[object]) -> str:
    """The text with a line for each attached file: `[file: plan.pdf]`, or `[file]` where no name is told."""
    cleaned = (" ".join(name.split())[:_LONGEST] if isinstance(name, str) else "" for name in names)
    return "\n".join([text.strip(), *(f"[file: {name}]" if name else "[file]" for name in cleaned)]).strip()


def file_names(value: object) -> list[object]:
    """Names of attached files from a list of objects or names, or from one of these."""
    entries = value if isinstance(value, list) else [value] if value else []
    keys = ("fileName", "filename", "file_name", "name", "title")
    return [next((entry[key] for key in keys if entry.get(key)), None) if isinstance(entry, dict) else entry
            for entry in entries]


def reactions_of(value: object) -> tuple[tuple[Reaction, ...], int]:
    """Reactions from what a log has under that name, and how many of them are in no form that is known.

    A list of emoji or of objects with an emoji, a count and people (Slack, Discord, Telegram), an object of emoji and
    counts or people, or text: one of these as JSON, or `👍 (2) ❤️`.
    """
    if not value:
        return (), 0
    if isinstance(value, str):
        try:
            read = json.loads(value)
        except (ValueError, RecursionError):
            read = None
        value = read if isinstance(read, list | dict) else list(_parse_written(value))
    if isinstance(value, Mapping) and not {"emoji", "reaction", "name"} & value.keys():
        value = [{"emoji": emoji, "count" if isinstance(details, int) else "users": details}
                 for emoji, details in value.items()]
    entries = value if isinstance(value, list) else [value]
    reactions = [_reaction(entry) for entry in entries]
    known = tuple(reaction for reaction in reactions if reaction)
    return known, len(reactions) - len(known)


def _reaction(entry: object) -> Reaction | None:
    """One reaction; None for what is none."""
    if isinstance(entry, str):
        entry = {"emoji": entry}
    if not isinstance(entry, Mapping):
        return None
    emoji: Any = next((entry[key] for key in ("emoji", "reaction", "name") if entry.get(key)), None)
    if isinstance(emoji, Mapping):
        emoji = emoji.get("name")
    if not isinstance(emoji, str) or not emoji.strip() or len(emoji) > MAX_EMOJI_CHARS:
        return None
    listed = next((entry[key] for key in _PEOPLE if entry.get(key)), None)
    people = tuple(dict.fromkeys(_names_of(listed if isinstance(listed, list) else [listed] if listed else [])))
    count = entry.get("count")
    if type(count) is not int or not 1 <= count <= limits.MAX_INTEGER:
        count = max(len(people), 1)
    return Reaction(" ".join(emoji.split()), count, people)


def _names_of(people: list[object]) -> Iterator[str]:
    for person in people:
        name = next((person[key] for key in _WHO if person.get(key)), None) if isinstance(person, Mapping) else person
        if isinstance(name, str | int) and str(name).strip():
            yield str(name).strip()


def _parse_written(text: str) -> Iterator[dict[str, object]]:
    """`👍 (2) ❤️`: emoji, each with its number where that is more than one."""
    entries: list[dict[str, object]] = []
    for word in text.split():
        number = word[1:-1] if word.startswith("(") and word.endswith(")") else ""
        if entries and number.isascii() and number.isdigit() and len(number) < 16:
            entries[-1]["count"] = int(number)
        else:
            entries.append({"emoji": word})
    yield from entries
