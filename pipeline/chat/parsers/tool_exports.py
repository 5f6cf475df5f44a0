"""JSON exports of chat tools (Matrix, Rocket.Chat, Telegram, Messenger, Microsoft Graph) as rows of tables.py.

A row that is not of one of these tools stays as it is. A text in place of a row is the reason why it is no utterance.
"""

import html
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

Row = Mapping[str, Any]
Rows = list[tuple[int, object]]

DELETED = "a message that was deleted"
_REPLY_LINK = re.compile(r"\[ ?\]\([^()\s]{1,500}[?&]msg=(\w{1,100})\)\s*")
_HTML_BREAK = re.compile(r"<br\s{0,9}/?>|</(?:p|div|li|blockquote|h\d)>", re.IGNORECASE)
_HTML_EMOJI = re.compile(r"<emoji\b[^<>]{0,500}?\balt=\"([^\"<>]{1,50})\"[^<>]{0,500}>(?:</emoji>)?", re.IGNORECASE)
_HTML_TAG = re.compile(r"<[^<>]{1,2000}>")
_MESSENGER_FILES = ("photos", "videos", "audio_files", "files", "gifs")


def readable_rows(rows: Iterable[tuple[int, object]]) -> Rows:
    """The rows with the fields that tables.py reads, by number; what changes another row is applied to it."""
    numbered = list(rows)
    if any(_is_matrix(row) for _, row in numbered):
        numbered = _matrix(numbered)
    return [(number, _readable(row)) for number, row in numbered]


def _readable(row: object) -> object:
    if not isinstance(row, dict):
        return row
    for applies, read in _TOOLS:
        if applies(row):
            return read(row)
    return row


# ---- Matrix: https://spec.matrix.org/latest/client-server-api/#instant-messaging


def _is_matrix(row: object) -> bool:
    return isinstance(row, dict) and "origin_server_ts" in row and isinstance(row.get("content"), dict)


def _matrix(rows: Rows) -> Rows:
    """Messages with their last wording and their reactions; edits, reactions and redactions are no rows."""
    events = {str(row.get("event_id")): row for _, row in rows if isinstance(row, dict) and _is_matrix(row)}
    edits: dict[str, tuple[str, Row]] = {}  # by the id of the edited event
    reactions: defaultdict[str, list[Row]] = defaultdict(list)
    gone: set[str] = set()
    for name, event in events.items():
        kind, target, key = _relation(event)
        original = events.get(target)
        if event.get("type") == "m.room.redaction":
            gone.add(str(event.get("redacts") or event["content"].get("redacts")))
        elif original is not None and kind == "m.replace" and event.get("sender") == original.get("sender"):
            edits[target] = name, _object(event["content"].get("m.new_content"))
        elif original is not None and kind == "m.annotation":
            reactions[target].append({"emoji": key, "users": [event.get("sender")], "event": name})
    replaced_by = {edit: target for target, (edit, _) in edits.items()}
    applied = set(replaced_by) | {str(reaction["event"]) for several in reactions.values() for reaction in several}
    result: Rows = []
    for number, row in rows:
        if not isinstance(row, dict) or not _is_matrix(row):
            result.append((number, row))
            continue
        name = str(row.get("event_id"))
        kind, target, _ = _relation(row)
        if name in applied or (kind == "m.replace" and target in edits):
            continue  # it changed another event
        if kind == "m.replace" and target in events:
            result.append((number, "an edit of another person's message"))
            continue
        edited = edits[name][1] if name in edits else _object(row["content"].get("m.new_content"))
        shown = [reaction for reaction in reactions[name] if reaction["event"] not in gone]
        result.append((number, _matrix_message(row, {**row["content"], **edited}, name in gone, shown, replaced_by)))
    return result


def _relation(event: Row) -> tuple[str, str, str]:
    """How an event refers to another one: kind, id and key; empty if it does not."""
    relation = _object(event["content"].get("m.relates_to"))
    return str(relation.get("rel_type") or ""), str(relation.get("event_id") or ""), str(relation.get("key") or "")


def _matrix_message(row: Row, content: Row, is_gone: bool, reactions: list[Row], replaced_by: Mapping[str, str]
                    ) -> object:
    if row.get("type", "m.room.message") != "m.room.message":
        return f"an event of Matrix ({str(row.get('type'))[:60]}), no utterance"
    if is_gone or "redacted_because" in row or not row["content"]:
        return DELETED
    body = content.get("body")
    text = body if isinstance(body, str) else ""
    reply = _object(_object(row["content"].get("m.relates_to")).get("m.in_reply_to")).get("event_id")
    if reply:
        text = _without_fallback(text)
    files: list[object] = []
    if content.get("msgtype") in ("m.image", "m.file", "m.audio", "m.video"):
        files = [content.get("filename") or text]
        text = text if content.get("filename") and content["filename"] != text else ""
    return {"sender": row.get("sender"), "text": text, "origin_server_ts": row["origin_server_ts"],
            "id": row.get("event_id"), "reply_to": replaced_by.get(str(reply), reply), "reactions": reactions,
            "files": files}


def _without_fallback(text: str) -> str:
    """A reply's text without the quoted one above it (https://spec.matrix.org/v1.12, fallbacks for rich replies)."""
    lines = text.split("\n")
    quoted = next((number for number, line in enumerate(lines) if not line.startswith(">")), len(lines))
    return "\n".join(lines[quoted:]).strip() if quoted else text


# ---- Rocket.Chat


def _is_rocket(row: Row) -> bool:
    return isinstance(row.get("u"), dict) and "msg" in row


def _rocket(row: Row) -> object:
    if kind := row.get("t"):
        return DELETED if kind == "rm" else f"a notice of Rocket.Chat ({str(kind)[:40]}), no utterance"
    user, text = row["u"], str(row.get("msg") or "")
    link = _REPLY_LINK.match(text)
    attachments = [entry for entry in _list(row.get("attachments")) if "message_link" not in entry]
    reactions = {emoji: _object(details).get("usernames") or [] for emoji, details in
                 _object(row.get("reactions")).items()}
    return {"speaker": user.get("name") or user.get("username"), "user id": user.get("username") or user.get("_id"),
            "text": text[link.end():] if link else text, "timestamp": _date(row.get("ts")), "id": row.get("_id"),
            "reply_to": link[1] if link else row.get("tmid"), "reactions": reactions,
            "files": [entry.get("title") for entry in attachments] or [
                entry.get("name") for entry in _list(row.get("files") or [row.get("file")])]}


def _date(value: object) -> object:
    return value.get("$date") if isinstance(value, dict) else value


# ---- Telegram's result.json


def _is_telegram(row: Row) -> bool:
    return row.get("type") in ("message", "service") and ("date_unixtime" in row or "from_id" in row or "actor" in row)


def _telegram(row: Row) -> object:
    if row["type"] == "service":
        return f"a notice of Telegram ({str(row.get('action'))[:40]}), no utterance"
    files = [row["file_name"]] if row.get("file_name") else [
        _file_name(row[key]) for key in ("photo", "file") if row.get(key)]
    others = {key: value for key, value in row.items() if key not in ("photo", "file", "file_name")}
    return others | {"files": files}


# ---- Messenger's message_1.json


def _is_messenger(row: Row) -> bool:
    return "sender_name" in row and "timestamp_ms" in row


def _messenger(row: Row) -> object:
    if row.get("is_unsent"):
        return DELETED
    files = [_file_name(entry.get("uri")) for key in _MESSENGER_FILES for entry in _list(row.get(key))]
    if sticker := _object(row.get("sticker")):
        files.append(_file_name(sticker.get("uri")))
    text = row.get("content") or _object(row.get("share")).get("link") or ""
    others = {key: value for key, value in row.items() if key not in (*_MESSENGER_FILES, "sticker")}
    return others | {"content": text, "files": files}


# ---- Teams: chatMessage of Microsoft Graph


def _is_graph(row: Row) -> bool:
    return "createdDateTime" in row and isinstance(row.get("body"), dict)


def _graph(row: Row) -> object:
    if row.get("messageType", "message") != "message":
        return f"a notice of Teams ({str(row['messageType'])[:40]}), no utterance"
    if row.get("deletedDateTime"):
        return DELETED
    sender = _object(row.get("from"))
    person = next((part for part in map(_object, (sender.get("user"), sender.get("application"))) if part), {})
    body, attachments = row["body"], _list(row.get("attachments"))
    quoted = next((entry.get("id") for entry in attachments if entry.get("contentType") == "messageReference"), None)
    text = str(body.get("content") or "")
    return {"speaker": person.get("displayName"), "user id": person.get("id"), "id": row.get("id"),
            "text": _html_text(text) if body.get("contentType") == "html" else text,
            "timestamp": row["createdDateTime"], "reply_to": quoted or row.get("replyToId"),
            "reactions": [_graph_reaction(entry) for entry in _list(row.get("reactions"))],
            "files": [entry.get("name") for entry in attachments if entry.get("contentType") != "messageReference"]}


def _graph_reaction(entry: Row) -> Row:
    person = _object(_object(entry.get("user")).get("user"))
    return {"emoji": entry.get("reactionType"), "users": [person.get("id") or person.get("displayName")]}


def _html_text(markup: str) -> str:
    text = _HTML_TAG.sub("", _HTML_BREAK.sub("\n", _HTML_EMOJI.sub(r"\1", markup)))
    return html.unescape(text).replace("\xa0", " ").strip()


# ---- parts


def _object(value: object) -> Row:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Row]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _file_name(path: object) -> str:
    """The last part of a path in an export; empty for a remark that it is not included."""
    return "" if not isinstance(path, str) or path.startswith("(") else path.rpartition("/")[2]


_TOOLS: tuple[tuple[Callable[[Row], bool], Callable[[Row], object]], ...] = (
    (_is_rocket, _rocket), (_is_telegram, _telegram), (_is_messenger, _messenger), (_is_graph, _graph))
