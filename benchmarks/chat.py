"""Chat logs of every kind, written with known messages, read back: what is lost, changed, put elsewhere or into another
mouth?

    python -m benchmarks.chat [--seed N] [--rounds N]

Each variant of a log is written with random people, texts and times, in each line end and encoding, for sessions in
several time zones. Printed: variants, files, and the shares of files whose messages, speakers, times and order are all
right, and where the log tells them, which message each reply answers and who reacted how. A file that is refused in one
line counts as `refused`, which none of these should be.
"""

import argparse
import csv
import io
import json
import random
import tempfile
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import NamedTuple

from pipeline.chat import read_chat
from schemas import InputError


class Utterance(NamedTuple):
    """`at` is in seconds since the start; `reply`: place of what it answers; `reactions`: who gave each emoji."""

    who: str
    text: str
    at: int
    reply: int | None = None
    reactions: dict[str, list[str]] = {}


Said = list[Utterance]
Writer = Callable[[Said, datetime], str]
NAMES = ("Ann Lee", "Ben", "Łukasz Nowak", "王小明", "山田 太郎", "김민준", "José María", "O'Brien, Pat", "Zoë to Go",
         "Dr. Weiß")
WORDS = ("open", "the", "shop:", "buy", "2", "lamps", "(red)", "https://a.example/x?y=1", "größer", "这个", "はい",
         "ok", "👍", "50%", "“now”", "a-b", "then", "stop")
ENDS = ("\n", "\r\n", "\r")
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be")
ZONES = (-8, 0, 1, 5.5, 9)
LENGTH = 1200  # seconds of a session
# "From … to …" of Zoom's menus, and what it calls everybody.
ZOOM = {"English": ("From", "to", "Everyone"), "German": ("Von", "an", "Alle"), "French": ("De", "à", "Tout le monde"),
        "Spanish": ("De", "a", "Todos"), "Portuguese": ("De", "para", "Todos"), "Italian": ("Da", "a", "Tutti"),
        "Dutch": ("Van", "naar", "Iedereen"), "Polish": ("Od", "do", "Wszyscy"),
        "Turkish": ("Kimden", "Kime", "Herkes"), "Russian": ("От", "кому", "Все"), "Ukrainian": ("Від", "до", "Всі"),
        "Indonesian": ("Dari", "ke", "Semua Orang"),
        "Vietnamese": ("Từ", "đến", "Mọi người"), "Chinese": ("来自", "到", "所有人"),
        "Taiwan": ("從", "到", "所有人"), "Japanese": ("開始", "終了", "皆様"),
        "Korean": ("발신자", "수신자", "모두"), "Swedish": ("Från", "till", "Alla")}


def wall(start: datetime, seconds: int, form: str = "%H:%M:%S") -> str:
    return (start + timedelta(seconds=seconds)).strftime(form)


def blocks(head: Callable[[str, str], str], form: str) -> Writer:
    """A log of headers, each followed by lines of text behind a tab."""
    def write(said: Said, start: datetime) -> str:
        return "".join(f"{head(wall(start, at, form), who)}\n" + "".join(f"\t{line}\n" for line in text.split("\n"))
                       for who, text, at, *_ in said)
    return write


def zoom_head(words: tuple[str, str, str], gap: str) -> Callable[[str, str], str]:
    """A header of Zoom in the words of a language, with what stands between them and the name."""
    return lambda time, who: f"{time} {gap.join((words[0], who, *words[1:]))}:"


def zoom_older(said: Said, start: datetime) -> str:
    return "".join(f"{wall(start, at)}\t From {who} to Everyone : {text}\n" for who, text, at, *_ in said)


def zoom_cloud(said: Said, start: datetime) -> str:
    return "".join(f"{at // 3600:02}:{at // 60 % 60:02}:{at % 60:02}\t{who}:\t{text}\n" for who, text, at, *_ in said)


def captions(said: Said, start: datetime) -> str:
    return "".join(f"[{who}] {wall(start, at)}\n{text}\n\n" for who, text, at, *_ in said)


def cues(mark: str, decimal: str, head: str = "") -> Writer:
    def time(at: int) -> str:
        return f"{at // 3600:02}:{at // 60 % 60:02}:{at % 60:02}{decimal}000"

    def write(said: Said, start: datetime) -> str:
        return head + "".join(f"{time(at)}{mark}{time(at + 2)}\n{who}: {text}\n\n" for who, text, at, *_ in said)
    return write


def whatsapp(form: str, between: str) -> Writer:
    def write(said: Said, start: datetime) -> str:
        return "".join(f"{wall(start, at, form)}{between}{who}: {text}\n" for who, text, at, *_ in said)
    return write


def discord(said: Said, start: datetime) -> str:
    return json.dumps({"messages": [{"type": "Default", "timestamp": (start + timedelta(seconds=at)).isoformat(),
                                     "author": {"id": who, "name": who}, "content": text}
                                    for who, text, at, *_ in said]})


def discord_text(form: str) -> Writer:
    def write(said: Said, start: datetime) -> str:
        return "=" * 62 + "\nGuild: Lab\n" + "=" * 62 + "\n\n" + "".join(
            f"[{wall(start, at, form)}] {who}\n{text}\n\n" for who, text, at, *_ in said)
    return write


def slack(said: Said, start: datetime) -> str:
    return json.dumps([{"type": "message", "user": who, "ts": f"{start.timestamp() + at:.6f}", "text": text}
                       for who, text, at, *_ in said])


def rows(said: Said, start: datetime, names: tuple[str, str, str], form: str) -> list[dict[str, str]]:
    return [dict(zip(names, (wall(start, at, form), who, text), strict=True)) for who, text, at, *_ in said]


def table(names: tuple[str, str, str], form: str, delimiter: str) -> Writer:
    def write(said: Said, start: datetime) -> str:
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, names, delimiter=delimiter, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows(said, start, names, form))
        return text.getvalue()
    return write


def jsonl(said: Said, start: datetime) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows(said, start, ("time", "name", "text"), "%Y-%m-%dT%H:%M:%S%z"))


def json_list(said: Said, start: datetime) -> str:
    return json.dumps([{"speaker": who, "text": text, "seconds": at} for who, text, at, *_ in said], ensure_ascii=False)


def teams(said: Said, start: datetime) -> str:
    return "".join(f"{who}   {at // 60}:{at % 60:02}\n{text}\n\n" if at < 3600 else "" for who, text, at, *_ in said)


def rev(said: Said, start: datetime) -> str:
    return "".join(f"{who} ({at // 3600:02}:{at // 60 % 60:02}:{at % 60:02}):\n{text}\n\n"
                   for who, text, at, *_ in said) + "Transcript by Rev.com\n"


QUOTED = {"English": "Replying to", "German": "Antwort auf", "Spanish": "Respondiendo a", "Chinese": "回复"}
SILENT = "Cy Grün"  # reacts, and never says a word
EMOJI = ("👍", "❤️", "🎉", "😂")


def quote(said: Said, one: Utterance, language: str, colon: str) -> str:
    """The line above a reply in Zoom's logs; empty above what is none."""
    if one.reply is None:
        return ""
    text = " ".join(said[one.reply].text.split())
    text = text if len(text) < 20 else f"{text[:18].rstrip()}..."
    return f'{QUOTED[language]} "{text}"{colon}\n\n'


def zoom_replies(language: str, colon: str, form: str) -> Writer:
    """Replies by their quote, reactions below the message."""
    start_word, to, everyone = ZOOM[language]

    def write(said: Said, start: datetime) -> str:
        return "".join(
            f"{wall(start, one.at, form)} {start_word} {one.who} {to} {everyone}:\n" + "".join(
                f"\t{line}\n" for line in (quote(said, one, language, colon) + one.text).split("\n")) + "".join(
                f"\t{who}:{emoji}\n" for emoji, people in one.reactions.items() for who in people)
            for one in said)
    return write


def zoom_reacted(said: Said, start: datetime) -> str:
    """Reactions as messages of their own behind all others; one more person takes each back."""
    written = zoom_replies("English", "", "%H:%M:%S")([one._replace(reactions={}) for one in said], start)
    for one in said:
        text = " ".join(one.text.split())
        for emoji, people in one.reactions.items():
            for who in [*people, "Zed"]:
                written += f'{wall(start, LENGTH - 1)} From {who} to Everyone:\n\tReacted to "{text}" with {emoji}\n'
            written += f'{wall(start, LENGTH - 1)} From Zed to Everyone:\n\tRemoved a {emoji} reaction from "{text}"\n'
    return written


def discord_replies(said: Said, start: datetime) -> str:
    return json.dumps({"messages": [
        {"id": f"m{at}", "type": "Default" if one.reply is None else "Reply", "content": one.text,
         "timestamp": (start + timedelta(seconds=one.at)).isoformat(), "timestampEdited": start.isoformat(),
         "author": {"id": one.who, "name": one.who},
         "reference": None if one.reply is None else {"messageId": f"m{one.reply}"},
         "reactions": [{"emoji": {"id": "", "name": emoji}, "count": len(people), "users": [
             {"id": who, "name": who} for who in people]} for emoji, people in one.reactions.items()]}
        for at, one in enumerate(said)]})


def discord_reactions(said: Said, start: datetime) -> str:
    return "".join(
        f"[{wall(start, one.at, '%d-%b-%y %I:%M %p')}] {one.who}\n{one.text}\n\n" + ("{Reactions}\n" + " ".join(
            f"{emoji} ({len(people)})" if len(people) > 1 else emoji for emoji, people in one.reactions.items())
            + "\n\n" if one.reactions else "") for one in said)


def slack_threads(said: Said, start: datetime) -> str:
    def ts(at: int) -> str:
        return f"{start.timestamp() + said[at].at:.6f}"
    return json.dumps([
        {"type": "message", "user": one.who, "ts": ts(at), "text": one.text, "edited": {"user": one.who},
         "thread_ts": ts(at if one.reply is None else one.reply),
         "reactions": [{"name": emoji, "users": people, "count": len(people)}
                       for emoji, people in one.reactions.items()]} for at, one in enumerate(said)])


def telegram(said: Said, start: datetime) -> str:
    return json.dumps({"messages": [
        {"id": at, "type": "message", "date": (start + timedelta(seconds=one.at)).isoformat(), "from": one.who,
         "from_id": one.who, "text": [one.text[:3], {"type": "bold", "text": one.text[3:]}],
         "reactions": [{"type": "emoji", "count": len(people), "emoji": emoji, "recent": [
             {"from": who, "from_id": who} for who in people]} for emoji, people in one.reactions.items()]}
        | ({} if one.reply is None else {"reply_to_message_id": one.reply}) for at, one in enumerate(said)]})


def csv_replies(said: Said, start: datetime) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("id", "timestamp", "speaker", "text", "reply to", "reactions"))
    for at, one in enumerate(said):
        writer.writerow((f"m{at}", wall(start, one.at, "%Y-%m-%dT%H:%M:%S"), one.who, one.text,
                         "" if one.reply is None else f"m{one.reply}",
                         " ".join(f"{emoji} ({len(people)})" for emoji, people in one.reactions.items())))
    return text.getvalue()


REPLIES, REACTIONS, PEOPLE = "replies", "reactions", "people"  # what a variant tells; people: who reacts
ALL = (REPLIES, REACTIONS, PEOPLE)
ANSWERING: dict[str, tuple[Writer, int, bool, tuple[str, ...]]] = {
    **{f"zoom-newer, replies, {language}": (zoom_replies(language, colon, "%H:%M:%S"), 1, True, ALL)
       for language, colon in zip(QUOTED, (":", "", "", ":"), strict=True)},
    "zoom-new-chat, replies": (zoom_replies("English", ":", "%Y-%m-%d %H:%M:%S"), 1, True, ALL),
    "zoom-newer, reactions as messages": (zoom_reacted, 1, True, ALL),
    "discord, replies": (discord_replies, 1, True, ALL), "slack, threads": (slack_threads, 1, True, ALL),
    "telegram": (telegram, 1, True, ALL), "discord-text, reactions": (discord_reactions, 60, True, (REACTIONS,)),
    "csv, replies": (csv_replies, 1, True, (REPLIES, REACTIONS)),
}
VARIANTS: dict[str, tuple[Writer, int, bool]] = {  # how it is written, to how many seconds, texts of several lines
    **{f"zoom-newer, {name}": (blocks(zoom_head(words, " "), "%H:%M:%S"), 1, True) for name, words in ZOOM.items()},
    **{f"zoom-new-chat, {name}": (blocks(zoom_head(words, "  "), "%Y-%m-%d %H:%M:%S"), 1, True)
       for name, words in ZOOM.items()},
    "zoom-newer, twelve hours": (blocks(lambda time, who: f"{time} From {who} to Everyone:", "%I:%M:%S %p"), 1, True),
    "zoom-older": (zoom_older, 1, False), "zoom-cloud": (zoom_cloud, 1, False), "zoom-captions": (captions, 1, False),
    "webvtt": (cues(" --> ", ".", "WEBVTT\n\n"), 1, False), "srt": (cues(" --> ", ","), 1, False),
    "sbv": (cues(",", "."), 1, False), "teams": (teams, 1, False), "rev": (rev, 1, True),
    "whatsapp, iOS": (whatsapp("[%d/%m/%Y, %H:%M:%S]", " "), 1, True),
    "whatsapp, German": (whatsapp("%d.%m.%y, %H:%M", " - "), 60, True),
    "whatsapp, American": (whatsapp("%m/%d/%y, %I:%M %p", " - "), 60, True),
    "discord": (discord, 1, True), "discord-text": (discord_text("%d-%b-%y %I:%M %p"), 60, True),
    "discord-text, new": (discord_text("%m/%d/%Y %I:%M %p"), 60, True), "slack, a day": (slack, 1, True),
    "csv, ISO": (table(("timestamp", "speaker", "text"), "%Y-%m-%dT%H:%M:%S", ","), 1, True),
    "csv, American": (table(("Sent At", "Display Name", "Message"), "%m/%d/%Y %I:%M:%S %p", ","), 1, True),
    "csv, German": (table(("Time", "User Name", "Chat"), "%d.%m.%Y %H:%M:%S", ";"), 1, True),
    "tsv": (table(("datetime", "author", "content"), "%Y-%m-%d %H:%M:%S", "\t"), 1, True),
    "jsonl": (jsonl, 1, True), "json": (json_list, 1, True),
}


def session(chance: random.Random, several_lines: bool, precision: int) -> Said:
    """Messages of two or three people, in order; none that looks like a header or a reaction of its own."""
    people = chance.sample(NAMES, chance.choice((2, 3)))
    times = sorted(chance.sample(range(5, LENGTH, max(precision, 1)), chance.randrange(4, 12)))

    def words(number: int) -> str:
        return " ".join(["say", f"{number:02}", *chance.choices(WORDS, k=chance.randrange(1, 8)), "please"])
    return [Utterance(
        people[number] if number < len(people) else chance.choice(people),
        "\n".join(words(number) for _ in range(1 + (several_lines and chance.random() < 0.3))), at,
        chance.randrange(number) if number and chance.random() < 0.5 else None,
        {emoji: chance.sample([*people, SILENT], chance.randrange(1, 3))
         for emoji in chance.sample(EMOJI, chance.choice((0, 0, 1, 2)))}) for number, at in enumerate(times)]


def fault(path: Path, said: Said, start: datetime, precision: int, tells: tuple[str, ...]) -> str | None:
    """What is wrong with a log that was read; None when nothing is."""
    try:
        log = read_chat(path, started_at=start, duration=LENGTH)
    except InputError as error:
        return f"refused: {error}"
    if [line.utterance for line in log.lines] != [text for _, text, *_ in said]:
        return "messages or order"
    if [line.speaker for line in log.lines] != [who for who, *_ in said]:
        return "speakers"
    if [line.reply_to for line in log.lines] != [one.reply if REPLIES in tells else None for one in said]:
        return "replies"
    told = {REACTIONS: [{each.emoji: each.count for each in line.reactions} for line in log.lines],
            PEOPLE: [{each.emoji: set(each.speakers) for each in line.reactions} for line in log.lines]}
    if told[REACTIONS] != [{emoji: len(people) for emoji, people in one.reactions.items()} if REACTIONS in tells else {}
                           for one in said]:
        return "reactions"
    if PEOPLE in tells and told[PEOPLE] != [{emoji: set(people) for emoji, people in one.reactions.items()}
                                            for one in said]:
        return "who reacts"
    truncated = [(start + timedelta(seconds=at)).timestamp() // precision * precision - start.timestamp()
                 for _, _, at, *_ in said]
    return None if all(abs(line.time - at) < 0.01 for line, at in zip(log.lines, truncated, strict=True)) else "times"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=1, help="files of each variant, line end and encoding")
    options = parser.parse_args()
    chance, faults, files = random.Random(options.seed), Counter[str](), 0
    variants: dict[str, tuple] = VARIANTS | ANSWERING
    with tempfile.TemporaryDirectory(prefix="demotape-chat-") as folder:
        path = Path(folder) / "chat.txt"
        for name, (write, precision, several_lines, *tells) in variants.items():
            for end in ENDS:
                for encoding in ENCODINGS * options.rounds:
                    zone = timezone(timedelta(hours=chance.choice(ZONES)))
                    start = datetime(2024, chance.randrange(1, 13), chance.randrange(13, 28), 14, 20, 0, tzinfo=zone)
                    said = session(chance, several_lines, precision)
                    path.write_bytes(write(said, start).replace("\n", end).encode(encoding))
                    files += 1
                    if found := fault(path, said, start, precision, *tells or ((),)):
                        faults[found.partition(":")[0]] += 1
                        print(f"  {name}, {end!r}, {encoding}: {found}")
    print(json.dumps({"benchmark": "chat", "seed": options.seed, "variants": len(variants), "files": files,
                      "right": (files - faults.total()) / files, "faults": dict(faults)}))


if __name__ == "__main__":
    main()
