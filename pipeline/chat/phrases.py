"""Phrases that chat tools write into the text of a message: quotes of the answered message, reactions, marks of
editing."""

import re
from dataclasses import dataclass

from .log import MAX_EMOJI_CHARS, Reaction

# Zoom's phrases in the languages that its "From … to …" is read in
_REPLY = (
    "Replying to", "Antwort auf", "Antworten auf", "En réponse à", "Répondre à", "Respondiendo a", "Responder a",
    "Respondendo a", "Risposta a", "Antwoord op", "Odpowiedź na", "Ответ на", "Відповідь на",
    "回复", "回覆", "返信先", "답장", "Yanıtlanıyor", "Membalas",
)
_QUOTE = re.compile(rf'(?:{"|".join(map(re.escape, _REPLY))})\s*(?:[:：]\s*)?["“„«](.*?)["“”»]'
                    r'[ \t]{0,9}[:：]?[ \t]{0,9}(?:\n|$)', re.DOTALL)
_REACTED = (
    re.compile(r'Reacted to "(.*)" with (.{1,40})', re.DOTALL),
    re.compile(r'Reagierte auf "(.*)" mit (.{1,40})', re.DOTALL),
    re.compile(r'A réagi à "(.*)" avec (.{1,40})', re.DOTALL),
    re.compile(r'(?:Ha )?[Rr]eaccion(?:ó|ado) a "(.*)" con (.{1,40})', re.DOTALL),
)
_REMOVED_REACTION = re.compile(r'Removed an? (.{1,40}) reaction from "(.*)"', re.DOTALL)
_CURLY = str.maketrans("“”„«»", '"""""')
_EDITED = tuple(f"({word})" for word in (
    "edited", "bearbeitet", "modifié", "editado", "editada", "modificato", "bewerkt", "redigerat", "redigeret",
    "edytowano", "изменено", "змінено", "düzenlendi", "diedit", "đã chỉnh sửa", "已编辑", "已編輯", "編集済み",
    "수정됨"))
_AS_PICTURE = re.compile(".\ufe0f\u20e3?")  # a digit, sign or letter that is shown as a picture: 1️⃣
_ARROWS = 0x2190  # from here on Unicode has symbols and pictures, besides scripts


@dataclass(frozen=True)
class Parts:
    """A message taken apart: what was said, and the quote of what it answers or reacts to.

    With an `emoji` it is nothing but a reaction to what is quoted, or takes one back.
    """

    text: str = ""
    quote: str = ""
    emoji: str = ""
    is_removal: bool = False


def parse_text(text: str) -> Parts:
    """The parts of a message's text."""
    plain = text.translate(_CURLY).strip()
    for pattern in _REACTED:
        if reacted := pattern.fullmatch(plain):
            return Parts("", reacted[1], reacted[2].strip(' "'))
    if gone := _REMOVED_REACTION.fullmatch(plain):
        return Parts("", gone[2], gone[1].strip(' "'), is_removal=True)
    quote = _QUOTE.match(text)
    said = text[quote.end():] if quote else text
    return Parts(_without_mark(said.strip()), quote[1] if quote else "")


def reactions_below(text: str) -> tuple[str, tuple[Reaction, ...]]:
    """A message as Zoom saves it, without the lines `Ann Lee:👍` that it may end in, and what these tell."""
    lines, reactions = text.rstrip().split("\n"), list[Reaction]()
    while lines and (not lines[-1].strip() or (reaction := _reaction(lines[-1]))):
        if lines.pop().strip() and reaction:
            reactions.insert(0, reaction)
    return "\n".join(lines), tuple(reactions)


def _reaction(line: str) -> Reaction | None:
    """Somebody's reaction in a line of its own. Texts and times have letters or digits; pictures none."""
    name, _, emoji = line.replace("：", ":").rpartition(":")
    name, emoji = name.strip(), emoji.strip()
    if not 0 < len(name) <= 100 or not 0 < len(emoji) <= MAX_EMOJI_CHARS:
        return None
    plain = _AS_PICTURE.sub("", emoji)
    if any(character.isalnum() or character.isspace() or character < "\x80" for character in plain):
        return None
    return Reaction(emoji,
                    speakers=(name,)) if not plain or any(ord(character) >= _ARROWS for character in plain) else None


def _without_mark(text: str) -> str:
    """The text without `(edited)` at its end."""
    tail = text[-20:].casefold()
    mark = next((mark for mark in _EDITED if tail.endswith(mark)), "")
    return text[:-len(mark)].rstrip() if mark else text
