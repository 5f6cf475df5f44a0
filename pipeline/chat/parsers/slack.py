"""Slack exports: a channel's folder of `YYYY-MM-DD.json`, one of these files, or the whole export with one channel."""

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

from pipeline.chat.log import MILLISECOND, Document, Message, Reader, Reading
from schemas import InputError, limits
from schemas.files import read_inside

from .message_extras import UNKNOWN_REACTION, file_names, reactions_of, with_files
from .times import instant, numeric_time

_DAY_FILE = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9].json"
_MENTION = re.compile(r"<([@#!])([^<>|]*)(?:\|([^<>]*))?>")
_LINK = re.compile(r"<((?:https?|mailto|tel):[^<>|]*)(?:\|([^<>]*))?>")


def recognise(document: Document) -> int:
    """The number of day files; of a file the number of messages that look like Slack's."""
    if not document.is_folder:
        return sum(isinstance(entry, dict) and "ts" in entry and entry.get("type") == "message"
                   for entry in _list_in(document.text))
    return len(_day_files(document.path)) + sum(len(_day_files(folder)) for folder in _subfolders(document.path))


def read(document: Document) -> Reading:
    """Messages of one channel, oldest first. Raises InputError when the export holds several channels."""
    if not document.is_folder:
        return _read_files([(document.path.name, _list_in(document.text))], _names(document.path.parent))
    channel = document.path
    if not _day_files(channel):
        channels = [folder for folder in _subfolders(channel) if _day_files(folder)]
        if len(channels) != 1:
            several = ", ".join(folder.name for folder in channels)
            raise InputError(f"{document.path}: several channels ({several}); give the folder of one")
        channel = channels[0]
    return _read_files([(path.name, _load(path)) for path in _day_files(channel)], _names(channel))


def _read_files(files: list[tuple[str, object]], names: dict[str, str]) -> Reading:
    """Messages of files, each with its name and what it holds."""
    reading, numbered = Reading(), list[tuple[int, object]]()
    for name, entries in files:
        if not isinstance(entries, list):
            reading.problems.append((len(numbered) + 1, f"{name}: not a list of messages"))
            continue
        numbered += enumerate(entries, len(numbered) + 1)
    for number, entry in _current_versions(numbered):
        _read_entry(reading, entry, names, number)
    reading.messages.sort(key=lambda message: message.stamp.seconds)
    return reading


def _current_versions(entries: list[tuple[int, object]]) -> list[tuple[int, object]]:
    """Entries with those that tell of a message's change or deletion taken into that message."""
    versions: dict[object, tuple[int, object]] = {}  # by the message's `ts`
    for number, entry in entries:
        fields = entry if isinstance(entry, dict) else {}
        message = fields.get("message")
        if fields.get("subtype") == "message_changed" and isinstance(message, dict):
            name = str(message.get("ts"))
            first, before = versions.get(name, (number, {}))
            versions[name] = first, (before if isinstance(before, dict) else {}) | message
        elif fields.get("subtype") == "message_deleted":
            name = str(fields.get("deleted_ts"))
            versions[name] = versions.get(name, (number, None))[0], {"subtype": "tombstone"}
        else:
            name = str(fields.get("ts"))
            versions[number if name in versions else name] = number, entry
    return sorted(versions.values(), key=lambda version: version[0])


def _read_entry(reading: Reading, entry: object, names: dict[str, str], number: int) -> None:
    if not isinstance(entry, dict):
        reading.problems.append((number, "no message"))
        return
    name = str(entry.get("ts") or "")
    text, stamp = entry.get("text"), numeric_time(name) if name else None
    text = with_files(_plain(text, names) if isinstance(text, str) else "", file_names(entry.get("files")))
    user = entry.get("user") or entry.get("username") or entry.get("bot_id")
    if entry.get("subtype") == "tombstone":
        reading.problems.append((number, "a message that was deleted"))
    elif str(entry.get("subtype", "")).startswith(("channel_", "group_", "bot_add", "bot_remove", "pinned_item")):
        reading.problems.append((number, f"a notice of Slack's ({entry['subtype']}), no utterance"))
    elif not text or not isinstance(user, str):
        reading.problems.append((number, "a message without text or sender"))
    elif stamp is None or stamp.kind != "instant" or (seconds := instant(stamp.seconds, MILLISECOND)) is None:
        reading.problems.append((number, "its `ts` cannot be read"))
    else:
        thread = str(entry.get("thread_ts") or "")
        reactions, unknown = reactions_of(entry.get("reactions"))
        if unknown:
            reading.problems.append((number, UNKNOWN_REACTION))
        name_of_user = names.get(user) or _profile_name(_profile(entry, "user_profile")) or user
        reading.messages.append(Message(name_of_user, text, seconds, number, user, name,
                                        "" if thread == name else thread, reactions=reactions))


def _plain(text: str, names: dict[str, str]) -> str:
    """Slack's markup as a person reads it."""

    def mention(match: re.Match) -> str:
        sign = "#" if match[1] == "#" else "@"
        return sign + (match[3] or names.get(match[2], match[2]))

    text = _LINK.sub(lambda match: match[2] or match[1].removeprefix("mailto:"), text)
    return unescape(_MENTION.sub(mention, text)).strip()


def _names(channel: Path) -> dict[str, str]:
    """User ids and the names that the others saw; none when users.json is missing or broken."""
    for folder in (channel, channel.parent):
        users = _load(folder / "users.json")
        if isinstance(users, list):
            return {user["id"]: name for user in users if isinstance(user, dict) and isinstance(user.get("id"), str)
                    and (name := _name(user))}
    return {}


def _name(user: dict[str, Any]) -> str:
    profile = _profile(user, "profile")
    return _first_text(profile.get("display_name"), user.get("real_name"), profile.get("real_name"), user.get("name"))


def _profile(entry: dict[str, Any], key: str) -> dict[str, Any]:
    profile = entry.get(key)
    return profile if isinstance(profile, dict) else {}


def _profile_name(profile: dict[str, Any]) -> str:
    """The name in the profile that a message contains."""
    return _first_text(*(profile.get(key) for key in ("display_name", "real_name", "name")))


def _first_text(*names: object) -> str:
    return next((name.strip() for name in names if isinstance(name, str) and name.strip()), "")


def _list_in(text: str) -> list[Any]:
    """The messages of a file: a list, or slackdump's object with such a list, in which threads are nested."""
    if not text.lstrip().startswith(("[", "{")):
        return []
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return []
    if isinstance(content, dict):
        content = content.get("messages")
        if not isinstance(content, list) or not any(isinstance(entry, dict) and "ts" in entry for entry in content):
            return []
    return list(_with_replies(content)) if isinstance(content, list) else []


def _with_replies(entries: list[Any]) -> Iterator[Any]:
    for entry in entries:
        yield entry
        replies = entry.get("slackdump_thread_replies") if isinstance(entry, dict) else None
        yield from (reply for reply in replies if isinstance(reply, dict)) if isinstance(replies, list) else ()


def _load(path: Path) -> object:
    try:
        return json.loads(read_inside(path, limits.CHAT))
    except (OSError, InputError, ValueError, RecursionError):
        return None


def _day_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob(_DAY_FILE) if path.is_file())


def _subfolders(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_dir())


READERS = (Reader("slack", recognise, read),)
