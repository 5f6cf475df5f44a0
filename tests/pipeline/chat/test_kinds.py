"""Every kind of chat log: the text of a log, and the lines expected from it."""

import json
import tracemalloc
import zipfile
from datetime import datetime, timedelta, timezone
from html import escape

import pytest

from pipeline.chat import KINDS, read_chat
from pipeline.chat.time_bases import TIME_BASES
from schemas import InputError
from tests.support.checkout import ROOT

START = datetime(2024, 3, 5, 14, 30, 0, tzinfo=timezone(timedelta(hours=-5)))
DURATION = 600.0
I, N = "instructor", "navigator"  # noqa: E741

# name: (text, kind, time base, [(speaker, role, utterance, seconds, line)])
TABLE = {
    "older": (
        "14:30:05\t From Ann Lee to Ben (Privately) : Open the shop\n"
        "14:30:10\t From Ben : ok: going\nsecond line\n14:31:00\t From Ann Lee to Bo to Everyone : Buy : two\n",
        "zoom-older", "wall",
        [("Ann Lee", I, "Open the shop", 5, 1), ("Ben", N, "ok: going\nsecond line", 10, 2),
         ("Ann Lee to Bo", I, "Buy : two", 60, 4)]),
    "older, CRLF, BOM": (
        "\ufeff14:30:05\t From Ann to Everyone : a\r\n14:30:06\t From Ben to Everyone : b\r\n", "zoom-older", "wall",
        [("Ann", I, "a", 5, 1), ("Ben", N, "b", 6, 2)]),
    "older, German": (
        "14:30:05 Von Ann an Alle : Guten Tag\n14:30:09 Von Ben an Ann (Privat) : Ja\n", "zoom-older", "wall",
        [("Ann", I, "Guten Tag", 5, 1), ("Ben", N, "Ja", 9, 2)]),
    "newer": (
        "14:30:05 From Ann to Everyone:\n\tOpen the shop\n\tand wait\n"
        "14:30:10 From  Ben  to  Ann(Direct Message):\n\tok\n",
        "zoom-newer", "wall", [("Ann", I, "Open the shop\nand wait", 5, 1), ("Ben", N, "ok", 10, 4)]),
    "newer, names with words": (
        "14:30:05 From  Ann to Go  to  Everyone:\n\ta\n14:30:06 From Al: Ben to Everyone:\n\tb\n", "zoom-newer", "wall",
        [("Ann to Go", I, "a", 5, 1), ("Al: Ben", N, "b", 6, 3)]),
    "newer, noise": (
        '14:30:05 From Ann to Everyone:\n\tOpen it\n'
        '14:30:07 From Ben to Everyone:\n\tReplying to "Open it"\n\t\n\tDone\n'
        '14:30:08 From Ann to Everyone:\n\tReacted to "Done" with 👍\n'
        '14:30:09 From Ann to Everyone:\n\tRemoved a 👍 reaction from "Done"\n', "zoom-newer", "wall",
        [("Ann", I, "Open it", 5, 1), ("Ben", N, "Done", 7, 3)]),
    "newer, French": (
        "14:30:05 De Ann à Tout le monde:\n\tBonjour\n", "zoom-newer", "wall", [("Ann", I, "Bonjour", 5, 1)]),
    "newer, Spanish": (
        "14:30:05 De  Ann  a  Todos:\n\tHola\n", "zoom-newer", "wall", [("Ann", I, "Hola", 5, 1)]),
    "newer, Ukrainian": (
        "14:30:05 Від Оля до Всі:\n\tПривіт\n", "zoom-newer", "wall", [("Оля", I, "Привіт", 5, 1)]),
    "new chat": (
        "2024-03-05 14:30:05 From Ann to Everyone:\n\ta\n2024-03-05 14:30:06 From Ben to Everyone:\n\tb\n",
        "zoom-new-chat", "wall", [("Ann", I, "a", 5, 1), ("Ben", N, "b", 6, 3)]),
    "cloud, from the start": (
        "00:00:05\tAnn:\tOpen\n00:01:10\tBen:\tok\n", "zoom-cloud", "offset",
        [("Ann", I, "Open", 5, 1), ("Ben", N, "ok", 70, 2)]),
    "cloud, wall clock": (
        "14:30:05\tAnn:\tOpen\n14:31:10\tBen:\tok\n", "zoom-cloud", "wall",
        [("Ann", I, "Open", 5, 1), ("Ben", N, "ok", 70, 2)]),
    "copied": (
        "From Ann to Everyone: (2:30 PM)\nOpen it\nplease\nFrom Ben to Ann: (14:31)\nok\n", "zoom-copied", "wall",
        [("Ann", I, "Open it\nplease", 0, 1), ("Ben", N, "ok", 60, 4)]),
    "captions": (
        "[Ann Lee] 14:30:05\nOpen it\n\n[Ben] 14:30:09\nok\n", "zoom-captions", "wall",
        [("Ann Lee", I, "Open it", 5, 1), ("Ben", N, "ok", 9, 4)]),
    "webvtt": (
        "WEBVTT\n\n1\n00:00:05.500 --> 00:00:06.000\nAnn: Open\n\n00:07.000 --> 00:08.000\n<v Ben>ok &amp; "
        "<i>go</i>\n\n"
        "00:00:09.000 --> 00:00:10.000\nthen stop\n", "webvtt", "offset",
        [("Ann", I, "Open", 5.5, 4), ("Ben", N, "ok & go", 7, 7), ("Ben", N, "then stop", 9, 10)]),
    "discord": (
        json.dumps({"messages": [
            {"timestamp": "2024-03-05T21:30:07.250+02:00", "author": {"name": "ben"}, "content": "ok", "type": "Reply"},
            {"timestamp": "2024-03-05T19:30:05+00:00", "author": {"name": "a", "nickname": "Ann"}, "content": "go"},
        ]}), "discord", "instant", [("Ann", I, "go", 5, 2), ("ben", N, "ok", 7.25, 1)]),
    "jsonl, seconds": (
        '{"speaker": "navigator", "utterance": "hi", "timestamp": 1.5}\n{"speaker": "instructor", "utterance": "go", '
        '"timestamp": 3}\n', "jsonl", "offset", [("navigator", N, "hi", 1.5, 1), ("instructor", I, "go", 3, 2)]),
    "jsonl, milliseconds": (
        '{"name": "A", "text": "hi", "time": 1500}\n{"name": "B", "text": "go", "time": 599000}\n', "jsonl", "offset",
        [("A", I, "hi", 1.5, 1), ("B", N, "go", 599, 2)]),
    "jsonl, epoch milliseconds": (
        '{"name": "A", "text": "hi", "ts": 1709667005250}\n', "jsonl", "instant", [("A", I, "hi", 5.25, 1)]),
    "csv, ISO": (
        'Timestamp;Speaker;Text\n2024-03-05T14:30:05;Ann;"a\nb"\n2024-03-05T19:30:06Z;Ben;c\n', "csv", None, None),
    "csv": (
        'time,user,message\n00:00:05,Ann,"Open, please"\n00:00:07.5,Agent 1,ok\n', "csv", "offset",
        [("Ann", I, "Open, please", 5, 2), ("Agent 1", N, "ok", 7.5, 3)]),
    "newer, a reply with its colon, reactions below": (
        '14:30:05 From Ann to Everyone:\n\tOpen it\n\tBen Lee:👍\n\tCy:❤️\n'
        '14:30:07 From Ben to Everyone:\n\tReplying to "Open it":\n\t\n\tDone: 50% :)\n', "zoom-newer", "wall",
        [("Ann", I, "Open it", 5, 1), ("Ben", N, "Done: 50% :)", 7, 5)]),
    "newer, Japanese": (
        "14:30:05 開始 Ann 終了 皆様:\n\t始めて\n14:30:07 開始 Ben 終了 Ann (ダイレクト メッセージ):\n\tはい\n",
        "zoom-newer", "wall", [("Ann", I, "始めて", 5, 1), ("Ben", N, "はい", 7, 3)]),
    "newer, Turkish": (
        "14:30:05 Kimden Ann Kime Herkes:\n\tAç\n", "zoom-newer", "wall", [("Ann", I, "Aç", 5, 1)]),
    "newer, simplified Chinese": (
        "14:30:05 来自 Ann 到 所有人:\n\t打开\n14:30:07 从 Ben 到 所有人:\n\t好\n", "zoom-newer", "wall",
        [("Ann", I, "打开", 5, 1), ("Ben", N, "好", 7, 3)]),
    "newer, twelve hours": (
        "02:30:05 PM From Ann to Everyone:\n\ta\n2:31:00\u202fPM From Ben to Everyone:\n\tb\n", "zoom-newer", "wall",
        [("Ann", I, "a", 5, 1), ("Ben", N, "b", 60, 3)]),
    "newer, marks of direction": (
        "\u200e14:30:05 From \u202bدانا\u202c to Everyone:\n\tשלום\n", "zoom-newer", "wall",
        [("دانا", I, "שלום", 5, 1)]),
    "new chat, twelve hours": (
        "2024-03-05 02:30:05 PM From Ann to Everyone:\n\ta\n", "zoom-new-chat", "wall", [("Ann", I, "a", 5, 1)]),
    "srt": (
        "1\n00:00:05,500 --> 00:00:06,000\nAnn: Open\n\n2\n00:00:07,000 --> 00:00:08,000\nBen: ok\n", "srt", "offset",
        [("Ann", I, "Open", 5.5, 2), ("Ben", N, "ok", 7, 6)]),
    "sbv": (
        "00:00:05.500,00:00:08.500\nAnn: Open\n\n00:00:07.000,00:00:10.000\nBen: ok: yes\n", "sbv", "offset",
        [("Ann", I, "Open", 5.5, 1), ("Ben", N, "ok: yes", 7, 4)]),
    "whatsapp, iOS": (
        "\u200e[05/03/2024, 14:30:01] Lab: \u200eMessages and calls are end-to-end encrypted.\n"
        "[05/03/2024, 14:30:05] Ann: Open it\nplease\n"
        "[05/03/2024, 14:30:09] Ben Lee: ok \u200e<This message was edited>\n"
        "[05/03/2024, 14:30:10] Ben Lee: \u200eThis message was deleted.\n", "whatsapp", "wall",
        [("Ann", I, "Open it\nplease", 5, 2), ("Ben Lee", N, "ok", 9, 4)]),
    "whatsapp, iOS, 12 hours, with a file": (
        "[3/5/24, 2:30:05\u202fPM] Ann: Open it\n\u200e[3/5/24, 2:30:09\u202fPM] Ben: \u200e<attached: 1-PHOTO.jpg>\n"
        "[3/5/24, 2:30:12\u202fPM] Ben: \u200eLocation: https://maps.example/1\n", "whatsapp", "wall",
        [("Ann", I, "Open it", 5, 1), ("Ben", N, "[file: 1-PHOTO.jpg]", 9, 2),
         ("Ben", N, "Location: https://maps.example/1", 12, 3)]),
    "whatsapp, Spanish, 12 hours": (
        "5/3/24, 2:30\u202fp.\u202fm. - Ann: ábrelo\n5/3/24, 2:31\u202fp.\u202fm. - Ben: vale\n", "whatsapp", "wall",
        [("Ann", I, "ábrelo", 0, 1), ("Ben", N, "vale", 60, 2)]),
    "whatsapp, Korean": (
        "2024. 3. 5. 오후 2:30 - Ann: 열어\n2024. 3. 5. 오후 2:31 - Ben: 네\n", "whatsapp", "wall",
        [("Ann", I, "열어", 0, 1), ("Ben", N, "네", 60, 2)]),
    "whatsapp, Chinese": (
        "2024/3/5 下午2:30 - 安: 打开\n2024/3/5 下午2:31 - 博: 好\n", "whatsapp", "wall",
        [("安", I, "打开", 0, 1), ("博", N, "好", 60, 2)]),
    "whatsapp, Arabic": (
        "\u200f٥\u200f/٣\u200f/٢٠٢٤، ٢:٣٠ م - Ann: افتح\n\u200f٥\u200f/٣\u200f/٢٠٢٤، ٢:٣١ م - Ben: نعم\n", "whatsapp",
        "wall", [("Ann", I, "افتح", 0, 1), ("Ben", N, "نعم", 60, 2)]),
    "whatsapp, Finnish": (
        "5.3.2024 klo 14.30 - Ann: avaa\n5.3.2024 klo 14.31 - Ben: ok\n", "whatsapp", "wall",
        [("Ann", I, "avaa", 0, 1), ("Ben", N, "ok", 60, 2)]),
    "whatsapp, Danish": (
        "05.03.2024 kl. 14.30 - Ann: åbn\n05.03.2024 kl. 14.31 - Ben: ja\n", "whatsapp", "wall",
        [("Ann", I, "åbn", 0, 1), ("Ben", N, "ja", 60, 2)]),
    "whatsapp, Hungarian, a half that is not known": (
        "2024. 03. 05. 14:30 - Ann: nyisd\n2024. 03. 05. xy. 2:31 - Ben: ?\n2024. 03. 05. du. 2:32 - Ben: jó\n",
        "whatsapp", "wall", [("Ann", I, "nyisd", 0, 1), ("Ben", N, "jó", 120, 3)]),
    "whatsapp, years of it": (
        "".join(f"{day:02}.02.24, 14:30 - Ben: old\n" for day in range(1, 9))
        + "05.03.24, 14:30 - Ann: Öffne es\n05.03.24, 14:31 - Ben: ja\n", "whatsapp", "wall",
        [("Ann", I, "Öffne es", 0, 9), ("Ben", N, "ja", 60, 10)]),
    "whatsapp, Android": (
        "3/5/24, 2:29\u202fPM - Ann created group \"Lab\"\n3/5/24, 2:30\u202fPM - Ann: Open: it\n"
        "3/5/24, 2:31\u202fPM - Ben: ok\n3/13/24, 9:00\u202fAM - Ben: later\n", "whatsapp", "wall",
        [("Ann", I, "Open: it", 0, 2), ("Ben", N, "ok", 60, 3)]),
    "whatsapp, German": (
        "05.03.24, 14:30 - Ann: Öffne es\n05.03.24, 14:31 - Ben: ja\n", "whatsapp", "wall",
        [("Ann", I, "Öffne es", 0, 1), ("Ben", N, "ja", 60, 2)]),
    "teams": (
        "Ann Lee   0:05\nOpen it\n\nBen   1:10\nok\n", "teams", "offset",
        [("Ann Lee", I, "Open it", 5, 1), ("Ben", N, "ok", 70, 4)]),
    "teams, older": (
        "0:0:5.120 --> 0:0:8.200\nAnn Lee\nOpen it\n0:1:10.0 --> 0:1:12.0\nBen\nok\n", "teams-cues", "offset",
        [("Ann Lee", I, "Open it", 5.12, 1), ("Ben", N, "ok", 70, 4)]),
    "rev": (
        "Ann Lee (00:05):\nOpen it (0:07)\n\nBen (00:01:10): ok\n\nTranscript by Rev.com\n", "rev", "offset",
        [("Ann Lee", I, "Open it (0:07)", 5, 1), ("Ben", N, "ok", 70, 4)]),
    "rev, Markdown": (
        "**Ann Lee (00:05)**\nOpen it\n\n**Ben (01:10)**\nok\n", "rev", "offset",
        [("Ann Lee", I, "Open it", 5, 1), ("Ben", N, "ok", 70, 4)]),
    "meet": (
        "Lab - Transcript\n00:00:00\nAnn Lee: Open it\nBen: ok: yes\n00:05:00\nAnn Lee: Buy it\n", "meet", "offset",
        [("Ann Lee", I, "Open it", 0, 3), ("Ben", N, "ok: yes", 0, 4), ("Ann Lee", I, "Buy it", 300, 6)]),
    "discord text": (
        "==============================\nGuild: Lab\nChannel: chat\n==============================\n\n"
        "[05-Mar-24 02:30 PM] ann#1234\nOpen it\nplease\n\n{Attachments}\nhttps://a.example/a.png\n\n"
        "[05-Mar-24 02:31 PM] ben (pinned)\nok\n\n{Reactions}\n👍 (2)\n\n==============================\n"
        "Exported 2 message(s)\n==============================\n", "discord-text", "wall",
        [("ann#1234", I, "Open it\nplease\n[file: a.png]", 0, 6), ("ben", N, "ok", 60, 13)]),
    "discord text, new days": (
        "[3/5/2024 2:30 PM] ann\nOpen it\n\n[3/13/2024 2:31 PM] ben\nlater\n", "discord-text", "wall",
        [("ann", I, "Open it", 0, 1)]),
    "slack, one day": (
        json.dumps([{"type": "message", "user": "U2", "ts": "1709667009.750000", "text": "ok"},
                    {"type": "message", "user": "U1", "ts": "1709667005.000200", "text": "Open"}]), "slack", "instant",
        [("U1", I, "Open", 5, 2), ("U2", N, "ok", 9.75, 1)]),
    "json": (
        json.dumps([{"name": "A", "text": "hi", "time": 1.5}, {"name": "B", "text": "go", "time": 3}]), "json",
        "offset",
        [("A", I, "hi", 1.5, 1), ("B", N, "go", 3, 2)]),
    "json, under a name": (
        json.dumps({"messages": [{"speaker": "A", "message": "hi", "timestamp": "2024-03-05T19:30:05Z"}]}), "json",
        "instant", [("A", I, "hi", 5, 1)]),
    "json, the newest first": (
        json.dumps({"messages": [{"name": "B", "text": "go", "timestamp": "2024-03-05T19:30:09Z"},
                                 {"name": "A", "text": "hi", "timestamp": "2024-03-05T19:30:05Z"}]}), "json", "instant",
        [("B", N, "go", 9, 1), ("A", I, "hi", 5, 2)]),
    "json of Messenger": (
        json.dumps({"messages": [{"sender_name": "B", "timestamp_ms": 1709667009000, "content": "d\u00e9j\u00e0"},
                                 {"sender_name": "A", "timestamp_ms": 1709667005000, "content": "caf\u00c3\u00a9"}]}),
        "json", "instant", [("B", N, "déjà", 9, 1), ("A", I, "café", 5, 2)]),
    "json of Telegram": (
        json.dumps({"messages": [{"id": 2, "type": "message", "date": "2024-03-05T20:30:05", "from": "A",
                                  "date_unixtime": "1709667005", "text": ["open ", {"type": "link", "text": "a.b"}]}]}),
        "json", "instant", [("A", I, "open a.b", 5, 1)]),
    "json of Google Chat": (
        json.dumps({"messages": [
            {"creator": {"name": "A", "email": "a@b.example"}, "text": "hi",
             "created_date": "Tuesday, March 5, 2024 at 7:30:05\u202fPM UTC"},
            {"creator": {"name": "B"}, "text": "go", "created_date": "Tuesday, March 35, 2024 at 7:30:05 PM UTC"}]}),
        "json", "instant", [("A", I, "hi", 5, 1)]),
    "json of Rocket.Chat": (
        json.dumps([{"u": {"username": "a", "name": "A"}, "msg": "hi", "ts": {"$date": "2024-03-05T19:30:05.000Z"}}]),
        "json", "instant", [("A", I, "hi", 5, 1)]),
    "json of Matrix": (
        json.dumps({"messages": [{"sender": "@a:x", "origin_server_ts": 1709667005000,
                                  "content": {"msgtype": "m.text", "body": "hi"}}]}), "json", "instant",
        [("@a:x", I, "hi", 5, 1)]),
    "jsonl of Mattermost": (
        '{"type": "version", "version": 1}\n'
        '{"type": "post", "post": {"user": "a", "message": "hi", "create_at": 1709667005000}}\n', "jsonl", "instant",
        [("a", I, "hi", 5, 2)]),
    "csv, American days": (
        "Sent At,Display Name,Chat Message\n3/5/2024 2:30:05 PM,Ann,Open\n3/5/2024 2:30:09 PM,Ben,ok\n", "csv", "wall",
        [("Ann", I, "Open", 5, 2), ("Ben", N, "ok", 9, 3)]),
    "csv, days the other way, in a column": (
        "Date;Time;User Name;Message Text\n05.03.2024;14:30:05;Ann;Open\n05.03.2024;14:30:09;Ben;ok\n", "csv", "wall",
        [("Ann", I, "Open", 5, 2), ("Ben", N, "ok", 9, 3)]),
}


@pytest.mark.parametrize("name", TABLE)
def test_kind(tmp_path, name):
    text, kind, base, expected = TABLE[name]
    path = tmp_path / "chat.log"
    path.write_text(text, encoding="utf-8", newline="")
    if expected is None:  # absolute and local times in one file
        with pytest.raises(InputError, match="mixes"):
            read_chat(path, started_at=START, duration=DURATION)
        return
    log = read_chat(path, started_at=START, duration=DURATION)
    assert (log.kind, log.time_base) == (kind, base)
    assert [(line.speaker, line.role, line.utterance, line.time, line.line) for line in log.lines] == [
        (speaker, role, text, pytest.approx(seconds), line) for speaker, role, text, seconds, line in expected
    ] or name == "older"
    if name == "older":  # three names: the third is reported, not guessed in silence
        assert [(line.speaker, line.utterance, line.time, line.line) for line in log.lines] == [
            (speaker, text, seconds, line) for speaker, _, text, seconds, line in expected]
        assert log.problems == ((4, "Ann Lee to Bo is assumed to be an instructor; set the role with --speaker"),)


def test_every_kind_is_in_the_table():
    elsewhere = {"slack", "signal"}  # below, and in test_tool_exports.py
    assert {kind for _, kind, _, _ in TABLE.values()} | elsewhere == set(KINDS)


def test_the_documentation_names_every_kind_and_time_base():
    text = (ROOT / "docs" / "chat.md").read_text(encoding="utf-8")
    assert [name for name in (*KINDS, *TIME_BASES) if f"`{name}`" not in text] == []


def slack_export(root, channel="lab"):
    folder = root / channel
    folder.mkdir(parents=True)
    (root / "users.json").write_text(json.dumps([
        {"id": "U1", "profile": {"display_name": "Ann"}}, {"id": "U2", "real_name": "Ben", "profile": {}}]))
    (folder / "2024-03-05.json").write_text(json.dumps([
        {"user": "U1", "ts": "1709667005.000200", "text": "See <https://a.example/?x=1|this>, <@U2> &amp; go"},
        {"user": "U2", "ts": "1709667006.5", "subtype": "channel_join", "text": "joined"},
        {"user": "U2", "ts": "1709667009.750000", "text": "ok"}, {"user": "U2", "ts": "later", "text": "ok"}, 7]))
    return folder


def test_slack(tmp_path):
    folder = slack_export(tmp_path / "export")
    for path in (folder, folder.parent):
        log = read_chat(path, started_at=START, duration=DURATION)
        assert (log.kind, log.time_base) == ("slack", "instant")
        assert [(line.speaker, line.utterance, line.time) for line in log.lines] == [
            ("Ann", "See this, @Ben & go", 5.0), ("Ben", "ok", 9.75)]
        assert [line for line, _ in log.problems] == [2, 4, 5]
    (folder.parent / "other").mkdir()
    (folder.parent / "other" / "2024-03-05.json").write_text("[]")
    with pytest.raises(InputError, match="several channels"):
        read_chat(folder.parent, started_at=START, duration=DURATION)


def test_what_cannot_be_read_is_reported_with_its_line(tmp_path):
    path = tmp_path / "chat.txt"
    path.write_text("Meeting chat\n14:30:05 From Ann to Everyone:\n\thello\n14:61:05 From Ann to Everyone:\n\tlost\n"
                    "14:30:07 Ann\n14:30:09 From Ben to Everyone:\n14:30:10 From Ben to Everyone:\n\tok\n")
    log = read_chat(path, started_at=START, duration=DURATION)
    assert [line.utterance for line in log.lines] == ["hello", "ok"]
    assert [line for line, _ in log.problems] == [1, 4, 5, 6, 7]


def test_speakers_can_be_named(tmp_path):
    path = tmp_path / "chat.txt"
    path.write_text("14:30:05 From Ben to Everyone:\n\thi\n14:30:06 From Ann to Everyone:\n\thi\n")
    log = read_chat(path, started_at=START, duration=DURATION, speakers={"ann": "instructor"})
    assert log.roles == {"Ben": N, "Ann": I}
    with pytest.raises(InputError, match="does not occur in the chat; it has Ann, Ben"):
        read_chat(path, started_at=START, duration=DURATION, speakers={"Cy": "instructor"})
    with pytest.raises(InputError, match="unknown role"):
        read_chat(path, started_at=START, duration=DURATION, speakers={"Ann": "boss"})


def docx(path, paragraphs, packing=zipfile.ZIP_DEFLATED):
    """A Word file, as small as can be."""
    body = "".join(f"<w:p><w:r><w:t xml:space='preserve'>{escape(text)}</w:t></w:r></w:p>" for text in paragraphs)
    with zipfile.ZipFile(path, "w", packing) as archive:
        archive.writestr("word/document.xml", "<?xml version='1.0'?><!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>"
                         "<w:document xmlns:w='http://schemas.openxmlformats.org/wordprocessingml/2006/main'><w:body>"
                         f"{body}</w:body></w:document>")
    return path


@pytest.mark.parametrize(("paragraphs", "kind"), [
    (["Ann Lee   0:05", "Open <it>", "Ben   1:10", "ok"], "teams"),
    (["Ann Lee (00:05):", "Open <it>", "Ben (01:10):", "ok", "Transcript by Rev.com"], "rev"),
    (["Transcript", "00:00:05", "Ann Lee: Open <it>", "00:01:10", "Ben: ok"], "meet")])
def test_word_files(tmp_path, paragraphs, kind):
    log = read_chat(docx(tmp_path / "a.docx", paragraphs), started_at=START, duration=DURATION)
    assert log.kind == kind
    assert [(line.speaker, line.utterance, line.time) for line in log.lines] == [
        ("Ann Lee", "Open <it>", 5), ("Ben", "ok", 70)]


def test_a_word_file_that_is_none_or_blown_up_is_one_clear_error(tmp_path, monkeypatch):
    path = docx(tmp_path / "a.docx", ["Ann   0:05", "x" * 5000])
    monkeypatch.setattr("pipeline.chat.parsers.docx.limits.CHAT", 4000)
    with pytest.raises(InputError, match="not a text file"):
        read_chat(path, started_at=START, duration=DURATION)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InputError, match="not a text file"):
        read_chat(path, started_at=START, duration=DURATION)


@pytest.mark.parametrize("packing", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_word_file_that_is_packed_in_another_way_is_not_unpacked(tmp_path, packing, monkeypatch):
    monkeypatch.setattr("pipeline.chat.parsers.docx.limits.CHAT", 1_000_000)
    path = docx(tmp_path / "a.docx", ["Ann   0:05", "x" * 30_000_000], packing)
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="not a text file"):
            read_chat(path, started_at=START, duration=DURATION)
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-16", "utf-8-sig"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_any_encoding_and_line_end(tmp_path, encoding, end):
    path = tmp_path / "chat.txt"
    path.write_bytes("14:30:05 From Ann to Everyone:\n\tGrüße 👍\n".replace("\n", end).encode(encoding))
    log = read_chat(path, started_at=START, duration=DURATION)
    assert [(line.speaker, line.utterance) for line in log.lines] == [("Ann", "Grüße 👍")]


def test_people_of_one_name_are_told_apart_by_their_ids(tmp_path):
    def entry(author, content, second):
        return {"timestamp": f"2024-03-05T19:30:{second:02}+00:00", "author": author, "content": content}
    path = tmp_path / "chat.json"
    path.write_text(json.dumps({"messages": [
        entry({"id": "1", "name": "Alex"}, "go", 5), entry({"id": "2", "name": "Alex"}, "ok", 6),
        entry({"id": "1", "name": "Alex", "nickname": "Boss"}, "buy", 7),
        entry({"id": "2", "name": "Alex"}, "done", 8)]}))
    log = read_chat(path, started_at=START, duration=DURATION)
    assert [(line.speaker, line.role) for line in log.lines] == [
        ("Alex", I), ("Alex (2)", N), ("Alex", I), ("Alex (2)", N)]
    assert log.problems == ((2, "another Alex: renamed to Alex (2)"),)
    named = read_chat(path, started_at=START, duration=DURATION, speakers={"Alex (2)": I, "Alex": N})
    assert [line.role for line in named.lines] == [N, I, N, I]


@pytest.mark.parametrize("content", [
    b"", b"hello\nworld\n", b"\x89PNG\r\n\x1a\n\0\0", b"{}", b"[1, 2]", b"a,b,c\n1,2,3\n",
])
def test_what_is_no_chat_is_one_clear_error(tmp_path, content):
    path = tmp_path / "x"
    path.write_bytes(content)
    with pytest.raises(InputError) as error:
        read_chat(path, started_at=START, duration=DURATION)
    assert str(path) in str(error.value) and "\n" not in str(error.value)


def test_missing_file_and_empty_folder(tmp_path):
    for path in (tmp_path / "none.txt", tmp_path):
        with pytest.raises(InputError, match=str(path)):
            read_chat(path, started_at=START, duration=DURATION)
