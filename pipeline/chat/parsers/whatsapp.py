"""WhatsApp's exports: `[05/03/2024, 14:30:05] Ann: text` and `05/03/24, 2:30 PM - Ann: text`, days in any order."""

import re
from collections.abc import Iterator
from datetime import date

from pipeline.chat.log import Document, Message, Reader, Reading, Stamp

from .blocks import without_marks
from .days import day_first, month_first, order_of
from .message_extras import with_files
from .times import clock_time, minutes_time

_LINE = re.compile(r"\[?(\d{1,4})[./-] ?(\d{1,2})[./-] ?(\d{1,4})\.?[,،]?[ ]+"
                   r"((?:[^\W\d_]{2,3}\.?[ ]?)?\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:[ ]?[^\W\d_][^\d\[\]:-]{0,6})?)"
                   r"(?:\][ ]|[ ]-[ ])(.*)")
_TIME = re.compile(r"(\D*)(\d{1,2})[:.](\d{2})(?:[:.](\d{2}))?(\D*)")
# Halves of the day, without dots and spaces; and words that stand before the time of day
_MORNING = frozenset({"am", "오전", "午前", "上午", "凌晨", "早上", "ص", "öö", "sa", "πμ", "de", "vorm"})
_AFTERNOON = frozenset({"pm", "오후", "午後", "下午", "晚上", "م", "ös", "ch", "μμ", "du", "nachm"})
_AT = frozenset({"", "klo", "kl", "um", "uhr"})
_SAID = re.compile(r"([^:]{1,100}): ?(.*)")
_OWN = "\u200e"  # begins what WhatsApp says in somebody's name, on iOS
_SPACES = str.maketrans("\u202f\xa0", "  ")
_EDITED = re.compile("<(?:" + "|".join((
    "This message was edited", "Diese Nachricht wurde bearbeitet", r"Se editó este mensaje\.?",
    "Ce message a été modifié", "Esta mensagem foi editada", "Mensagem editada", "Questo messaggio è stato modificato",
    "Dit bericht is bewerkt", "Данное сообщение изменено", "Bu mesaj düzenlendi")) + ")>$")
_GONE = re.compile("(?:" + "|".join((
    "This message was deleted(?: by admin .{1,100})?", "You deleted this message(?: as admin)?",
    "Diese Nachricht wurde gelöscht", "Du hast diese Nachricht gelöscht", "Se eliminó este mensaje",
    "Eliminaste este mensaje", "Ce message a été supprimé", "Vous avez supprimé ce message",
    "Esta mensagem foi apagada", "Mensagem apagada", "Você apagou esta mensagem",
    "Questo messaggio è stato eliminato", "Hai eliminato questo messaggio", "Dit bericht is verwijderd",
    "Данное сообщение удалено", "Вы удалили данное сообщение", "Bu mesaj silindi", "Bu mesajı sildiniz",
    "このメッセージは削除されました", "此消息已删除", "Waiting for this message.{0,60}")) + r")\.?")
# A file that is in the export beside the chat, one that was left out of it (iOS), and one of which only that is told
_ATTACHED = re.compile(r"(?:(.{1,200}\.\w{2,5}) \((?:file attached|Datei angehängt|archivo adjunto|fichier joint|"
                       r"file allegato|arquivo anexado|bestand bijgevoegd|файл добавлен)\)|"
                       r"<(?:attached|Anhang|adjunto|pièce jointe ?|allegato|anexado|bijlage): ([^<>]{1,200})>)")
_OMITTED = re.compile(r"(?:(.{1,200}\.\w{2,5}) • [^•]{1,30} )?(?:image|video|audio|sticker|GIF|document|Contact card|"
                      r"Bild|Video|Audio|Sticker|Dokument) (?:omitted|weggelassen)|"
                      r"<(?:Media omitted|Medien ausgeschlossen|Multimedia omitido|Médias omis|Mídia oculta|"
                      r"Arquivo de mídia oculto|Media omessi|Media weggelaten|Без медиафайлов)>")


def recognise(document: Document) -> int:
    """The number of lines in which somebody says something."""
    return sum((match := _LINE.fullmatch(_plain(line))) is not None and ": " in match[5] for line in document.lines)


def read(document: Document) -> Reading:
    """Messages; what WhatsApp tells itself, and what was deleted, is reported."""
    reading, heads = Reading(), list(_blocks(document))
    for number, line in enumerate(document.lines[:heads[0][0] - 1] if heads else (), 1):
        if line.strip():
            reading.problems.append((number, "text before the first message"))
    american = any("AM" in match[4] or "PM" in match[4] for _, match, _ in heads)  # elsewhere it is pm or p. m.
    order = order_of([(match[1], match[2], match[3]) for _, match, _ in heads],
                     month_first if american else day_first)
    for number, match, more in heads:
        said = _SAID.fullmatch(match[5])
        stamp = _stamp(match[4], order(match[1], match[2], match[3]))
        full_line = document.lines[number - 1]
        if said is None:
            reading.problems.append((number, "a notice of WhatsApp's, no utterance"))
            continue
        text = _EDITED.sub("", "\n".join(_line(line) for line in [said[2], *more]).rstrip()).strip()
        if stamp is None:
            reading.problems.append((number, "invalid date or time"))
        elif not text or _GONE.fullmatch(text):
            reading.problems.append((number, "a message that was deleted, or without text"))
        elif f"{said[1]}: {_OWN}" in full_line and not text.startswith("[file") and "://" not in text:
            reading.problems.append((number, "a notice of WhatsApp's, no utterance"))
        else:
            reading.messages.append(Message(said[1].strip(), text, stamp, number))
    return reading


def _blocks(document: Document) -> Iterator[tuple[int, re.Match[str], list[str]]]:
    """Each line that begins a message, by its number, and the lines after it."""
    current: tuple[int, re.Match[str], list[str]] | None = None
    for number, line in enumerate(document.lines, 1):
        if match := _LINE.fullmatch(_plain(line)):
            if current:
                yield current
            current = number, match, []
        elif current:
            current[2].append(without_marks(line))
    if current:
        yield current


def _line(text: str) -> str:
    """A line of a message, with the name of a file that was attached."""
    if attachment := _ATTACHED.fullmatch(text):
        return with_files("", [attachment[1] or attachment[2]])
    attachment = _OMITTED.fullmatch(text)
    return with_files("", [attachment[1]]) if attachment else text


def _plain(line: str) -> str:
    return without_marks(line).translate(_SPACES)


def _stamp(text: str, day: date | None) -> Stamp | None:
    """The time of day, in digits of any script, with its half in any language that is known."""
    match = _TIME.fullmatch(text)
    if not match or not day:
        return None
    before, after = (part.replace(".", "").replace(" ", "").lower() for part in (match[1], match[5]))
    half = next((name for name, known in (("AM", _MORNING), ("PM", _AFTERNOON)) if {before, after} & known), "")
    if {before, after} - _AT - _MORNING - _AFTERNOON:
        return None
    digits = ":".join(str(int(part)).zfill(2) for part in (match[2], match[3], match[4]) if part)
    clock = clock_time(f"{digits} {half}".strip()) or minutes_time(digits)
    return Stamp(clock.seconds, "clock", clock.precision, day) if clock else None


READERS = (Reader("whatsapp", recognise, read),)
