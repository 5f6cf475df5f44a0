"""Zoom's chat logs: saved by the app (older, newer, meeting_saved_new_chat), from the cloud, copied, captions."""

import re
from dataclasses import replace
from datetime import date

from pipeline.chat.log import Document, Reader, Reading, Stamp
from pipeline.chat.phrases import reactions_below

from .blocks import Header, count_headers, read_blocks
from .times import clock_time, minutes_time

# "From … to …" in the languages of Zoom's menus. The words stand alone, so a name may hold them.
_FROM_TO = (
    ("From", "to"), ("From", "To"), ("Von", "an"), ("Von", "An"), ("De", "à"), ("De", "À"), ("De", "para"),
    ("De", "Para"), ("De", "a"), ("De", "A"), ("Da", "a"), ("Da", "A"), ("Van", "naar"), ("Van", "aan"), ("Od", "do"),
    ("Från", "till"), ("Fra", "til"), ("От", "кому"), ("От", "к"), ("Від", "до"), ("Dari", "ke"), ("Từ", "đến"),
    ("Kimden", "Kime"), ("Gönderen", "Alıcı"), ("Başlangıç", "bitiş"), ("Başlangıç", "Bitiş"),
    ("来自", "到"), ("来自", "给"), ("来自", "至"), ("從", "至"), ("从", "至"), ("开始", "结束"), ("開始", "結束"),
    ("開始", "終了"), ("من", "إلى"),
    ("发件人", "收件人"), ("寄件者", "收件者"), ("从", "到"), ("從", "到"), ("來自", "到"), ("差出人", "宛先"),
    ("開始", "宛先"), ("送信者", "宛先"), ("발신자", "수신자"), ("시작", "수신자"),
)
_TO = {start: [to for other, to in _FROM_TO if other == start] for start, _ in _FROM_TO}
_TIME = r"\d{1,2}:\d{2}:\d{2}(?:[ \u202f]?[AaPp]\.?[Mm]\.?)?"
_OLDER = re.compile(rf"({_TIME})[\t ]+(\S+)\s(.*)")
_NEWER = re.compile(rf"(?:(\d{{4}}-\d{{2}}-\d{{2}})[\t ])?({_TIME})[\t ]+(\S+)\s(.*):\s*")
_CLOUD = re.compile(r"(\d{1,3}:\d{2}:\d{2})\t([^\t]*[^\t:]):?\t(.*)")
_COPIED = re.compile(r"(\S+)\s(.*):\s*\((\d{1,2}:\d{2}(?:\s*[AaPp]\.?[Mm]\.?)?)\)\s*")
_CAPTION = re.compile(r"\[([^\[\]]+)\]\s+(\d{1,2}:\d{2}:\d{2})\s*")
_DIRECT = re.compile(r"\([^()]*\)\s*$")


def _sender(word: str, rest: str) -> str | None:
    """Who sent a message, from `From` and `A to B`; without a recipient everything is the sender."""
    if word not in _TO:
        return None
    rest = rest.strip()
    for to in _TO[word]:
        spaced = rest.split(f"  {to}  ")  # newer logs set off the words by two spaces
        if len(spaced) > 1:
            return f"  {to}  ".join(spaced[:-1]).strip()
    for to in _TO[word]:
        before, sender_end, _ = _DIRECT.sub("", rest).rpartition(f" {to} ")
        if sender_end and before.strip():
            return before.strip()
    return rest or None


def _older(line: str) -> Header | None:
    match = _OLDER.fullmatch(line)
    if not match:
        return None
    address, colon, text = match[3].partition(" : ")
    if not colon:
        address, colon, text = (match[3][:-2], " :", "") if match[3].endswith(" :") else (match[3], "", "")
    sender = _sender(match[2], address) if colon else None
    return Header(sender, _read_dated(match[1], None), text) if sender else None


def _newer(line: str) -> Header | None:
    match = _NEWER.fullmatch(line)
    if not match or match[4].endswith(" "):
        return None
    sender = _sender(match[3], match[4])
    return Header(sender, _read_dated(match[2], match[1])) if sender else None


def _read_dated(text: str, day: str | None) -> Stamp | None:
    try:
        return clock_time(text.replace("\u202f", " "), day=date.fromisoformat(day) if day else None)
    except ValueError:
        return None


def _new_chat(line: str) -> Header | None:
    header = _newer(line)
    return header if header and line[4:5] == "-" else None


def _newer_plain(line: str) -> Header | None:
    header = _newer(line)
    return header if header and line[4:5] != "-" else None


def _cloud(line: str) -> Header | None:
    match = _CLOUD.fullmatch(line)
    return Header(match[2], clock_time(match[1], "unknown"), match[3]) if match else None


def _read_copied(line: str) -> Header | None:
    match = _COPIED.fullmatch(line)
    sender = _sender(match[1], match[2]) if match else None
    return Header(sender, minutes_time(match[3])) if match and sender else None


def _caption(line: str) -> Header | None:
    match = _CAPTION.fullmatch(line)
    return Header(match[1], clock_time(match[2])) if match else None


def _reader(kind: str, parse) -> Reader:
    def recognise(document: Document) -> int:
        return count_headers(document, parse)

    return Reader(kind, recognise, lambda document: _separate_reactions(read_blocks(document, parse)))


def _separate_reactions(reading: Reading) -> Reading:
    """The reading with the reactions below a message's text taken out of the text; a message without any other text is
    a problem instead."""
    messages = []
    problems = list(reading.problems)
    for message in reading.messages:
        text, reactions = reactions_below(message.text)
        if text:
            messages.append(replace(message, text=text, reactions=reactions))
        else:
            problems.append((message.line, "reactions to a message without text"))
    return replace(reading, messages=messages, problems=problems)


READERS = (
    _reader("zoom-older", _older), _reader("zoom-newer", _newer_plain), _reader("zoom-new-chat", _new_chat),
    _reader("zoom-cloud", _cloud), _reader("zoom-copied", _read_copied), _reader("zoom-captions", _caption),
)
