"""Replies, reactions, edited and deleted messages, attachments, in the forms in which each tool writes them."""

import json
import time
from datetime import datetime, timedelta, timezone

import pytest

from pipeline.chat import Message, Reaction, Reading, Stamp, merge_chat, read_chat
from pipeline.chat.parsers import plugged
from pipeline.chat.reply_matching import match_replies
from schemas import DemonstrationSchema, InputError
from schemas.files import validated

START = datetime(2024, 3, 5, 14, 30, 0, tzinfo=timezone(timedelta(hours=-5)))
DELETED = "a message that was deleted"
NOT_THERE = "what it answers is not in the log"
STRANGE = "a reaction in a form that is not known"


def said(text, reply_to=None, **reactions):
    """What is expected of a line: `reactions` by emoji, each a count or people; `x_y` stands for `:x-y:`."""
    return text, reply_to, reactions


def discord(entry, **more):
    who = {"Ann": "1", "Ben": "2"}[more.pop("who", "Ann")]
    return {"id": f"m{entry}", "type": "Default", "timestamp": f"2024-03-05T19:30:{entry:02}+00:00",
            "author": {"id": who, "name": {"1": "Ann", "2": "Ben"}[who]}} | more


def slack(second, user, text, **more):
    return {"type": "message", "user": user, "ts": f"17096670{second:02}.000100", "text": text} | more


def lines_of(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


# name: (the log, [(utterance, place of what it answers, {emoji: count or who})], [(line, reason)])
TABLE = {
    "zoom, a reply and its reactions": (
        '14:30:05 From Ann to Everyone:\n\tOpen the shop and wait for me\n\tBen Lee:👍\n\tCy:👍\n\tBen Lee:❤️\n'
        '14:30:06 From Ben Lee to Everyone:\n\tok\n'
        '14:30:07 From Ben Lee to Everyone:\n\tReplying to "Open the shop and wa..."\n\t\n\tDone (Edited)\n',
        [said("Open the shop and wait for me", None, **{"👍": (2, "Ben Lee", "Cy"), "❤️": (1, "Ben Lee")}),
         said("ok"), said("Done", 0)], []),
    "zoom, the latest of two that begin so, and the same before that": (
        '14:30:05 From Ann to Everyone:\n\tok\n14:30:06 From Ben to Everyone:\n\tokay then\n'
        '14:30:07 From Ann to Everyone:\n\tReplying to "ok":\n\tgood\n'
        '14:30:08 From Ann to Everyone:\n\tReplying to “ok…”\n\twell\n'
        '14:30:09 From Ann to Everyone:\n\tokay at last\n',
        [said("ok"), said("okay then"), said("good", 0), said("well", 1), said("okay at last")], []),
    "zoom, reactions as messages, one taken back": (
        '14:30:05 From Ann to Everyone:\n\tOpen it\n\tplease\n14:30:06 From Ben to Everyone:\n\tok\n'
        '14:30:07 From Ben to Everyone:\n\tReacted to "Open it please" with 👍\n'
        '14:30:07 From Cy to Everyone:\n\tReacted to "Open it pl..." with 👍\n'
        '14:30:08 From Ann to Everyone:\n\tReacted to "ok" with "🎉"\n'
        '14:30:09 From Ann to Everyone:\n\tRemoved a 🎉 reaction from "ok"\n',
        [said("Open it\nplease", None, **{"👍": (2, "Ben", "Cy")}), said("ok")], []),
    "zoom, German": (
        '14:30:05 Von Ann an Alle:\n\tÖffne es\n14:30:06 Von Ben an Alle:\n\tAntwort auf „Öffne…”\n\tJa (bearbeitet)\n'
        '14:30:07 Von Ann an Alle:\n\tReagierte auf "Ja" mit 👍\n',
        [said("Öffne es"), said("Ja", 0, **{"👍": (1, "Ann")})], []),
    "zoom, older, what answers nothing": (
        '14:30:05\t From Ann to Everyone : Open it\n\tBen:👍\n'
        '14:30:06\t From Ben to Everyone : Replying to "Never said"\nDone\n'
        '14:30:07\t From Ben to Everyone : Reacted to "Never said" with 👍\n'
        '14:30:08\t From Ann to Everyone : Removed a 👍 reaction from "Open it"\n',
        [said("Open it", None, **{"👍": (1, "Ben")}), said("Done")],
        [(3, NOT_THERE), (5, "what it reacts to is not in the log"),
         (6, "takes back a reaction that is not in the log")]),
    "zoom, a line that only ends like a reaction": (
        '14:30:05 From Ann to Everyone:\n\tResult:✅\n\tthen: go on :)\n14:30:06 From Ann to Everyone:\n\tBen:👍\n'
        '14:30:06 From Ann to Everyone:\n\tReplying to "Result:✅ then..."\n',
        [said("Result:✅\nthen: go on :)")],
        [(4, "reactions to a message without text"), (6, "a reply without text")]),
    "zoom, pictures of digits, signs, families and flags": (
        '14:30:05 From Ann to Everyone:\n\tRoom 5:6\n\tBen:1️⃣\n\tCy: 王:👩‍👧\n\tDi：🇩🇪\n\tEd:ℹ️\n\tFi:👍🏽\n\n',
        [said("Room 5:6", None, **{"1️⃣": (1, "Ben"), "👩‍👧": (1, "Cy: 王"), "🇩🇪": (1, "Di"), "ℹ️": (1, "Ed"),
                                   "👍🏽": (1, "Fi")})], []),
    "slack": (
        json.dumps([
            slack(5, "U1", "Open &lt;it&gt;", thread_ts="1709667005.000100", edited={"user": "U1"},
                  reactions=[{"name": "thumbsup::skin-tone-2", "users": ["U2", "U9"], "count": 3},
                             {"name": "tada", "users": ["U2"], "count": 1}, {"count": 1}]),
            slack(6, "U2", "", thread_ts="1709667005.000100", files=[{"name": "plan.pdf"}, {"mode": "tombstone"}]),
            slack(7, "U2", "late", thread_ts="1709666000.000100", subtype="thread_broadcast"),
            slack(8, "U1", "This message was deleted.", subtype="tombstone"),
            slack(9, "U1", "frist"),
            {"type": "message", "subtype": "message_changed", "ts": "1709667010.000100",
             "message": slack(9, "U1", "first", edited={"user": "U1"})},
            slack(11, "U1", "oops"),
            {"type": "message", "subtype": "message_deleted", "ts": "1709667012.000100",
             "deleted_ts": "1709667011.000100"}]),
        [said("Open <it>", None, **{"thumbsup::skin-tone-2": (3, "U2", "U9"), "tada": (1, "U2")}),
         said("[file: plan.pdf]\n[file]", 0), said("late"), said("first")],
        [(1, STRANGE), (3, NOT_THERE), (4, DELETED), (7, DELETED)]),
    "discord": (
        json.dumps({"messages": [
            discord(5, content="Open it", timestampEdited="2024-03-05T19:31:00+00:00", reactions=[
                {"emoji": {"id": "", "name": "👍", "code": "thumbsup"}, "count": 2,
                 "users": [{"id": "2", "name": "Ben"}, {"id": "7", "name": "Cy"}]},
                {"emoji": {"id": "99", "name": "party_cat"}, "count": 4}, {"emoji": {}, "count": 1}]),
            discord(6, who="Ben", content="", type="Reply", reference={"messageId": "m5"},
                    attachments=[{"id": "4", "fileName": "plan.pdf"}], stickers=[{"name": "Wave"}]),
            discord(7, who="Ben", content="yes", type=19, message_reference={"message_id": "m1"},
                    attachments=[{"filename": "b.png"}]), discord(8, content="done", type="Reply", reference=None)]}),
        [said("Open it", None, **{"👍": (2, "Ben", "7"), "party_cat": (4,)}),
         said("[file: plan.pdf]\n[file: Wave]", 0), said("yes\n[file: b.png]"), said("done")],
        [(1, STRANGE), (3, NOT_THERE)]),
    "discord text": (
        "==========\nGuild: Lab\nsomething\n==========\n\n[05-Mar-24 02:30 PM] ann\nOpen it\n\n{Attachments}\n"
        "https://a.example/x/plan.pdf?ex=1\nfiles\\b.png\n\n{Embed}\nA page\n\n{Reactions}\n👍 (2) party_cat\n\n"
        "[05-Mar-24 02:31 PM] ben\n\n{Stickers}\nhttps://a.example/wave.png\n",
        [said("Open it\n[file: plan.pdf]\n[file: b.png]", None, **{"👍": (2,), "party_cat": (1,)}),
         said("[file: wave.png]")], [(3, "text before the first message")]),
    "whatsapp": (
        "a line of nothing\n[05/03/2024, 14:30:05] Ann: Open it \u200e<This message was edited>\n"
        "[05/03/2024, 14:30:06] Ben: \u200e<attached: 00000012-PLAN.pdf>\nwhat I meant\n"
        "[05/03/2024, 14:30:07] Ben: \u200eimage omitted\n"
        "[05/03/2024, 14:30:08] Ben: \u200ea plan.pdf • \u200e3 pages \u200edocument omitted\n"
        "[05/03/2024, 14:30:09] Ben: This message was deleted by mistake\n"
        "[05/03/2024, 14:30:10] Ben: \u200eThis message was deleted by admin Ann.\n",
        [said("Open it"), said("[file: 00000012-PLAN.pdf]\nwhat I meant"), said("[file]"), said("[file: a plan.pdf]"),
         said("This message was deleted by mistake")],
        [(1, "text before the first message"), (8, "a message that was deleted, or without text")]),
    "whatsapp, Android, Spanish": (
        "05/03/24, 14:30 - Ann: PTT-20240305.opus (archivo adjunto)\n05/03/24, 14:31 - Ben: <Multimedia omitido>\n"
        "05/03/24, 14:31 - Ben: Se eliminó este mensaje.\n05/03/24, 14:31 - Ben: hola <Se editó este mensaje.>\n",
        [said("[file: PTT-20240305.opus]"), said("[file]"), said("hola")],
        [(3, "a message that was deleted, or without text")]),
    "telegram": (
        json.dumps({"name": "Lab", "messages": [
            {"id": 1, "type": "service", "date": "2024-03-05T14:30:00", "actor": "Ann", "text": ""},
            {"id": 2, "type": "message", "date": "2024-03-05T14:30:05", "from": "Ann", "from_id": "user1",
             "text": ["Open ", {"type": "link", "text": "a.example"}], "edited": "2024-03-05T14:31:00", "reactions": [
                 {"type": "emoji", "count": 2, "emoji": "👍", "recent": [{"from": "Ben", "from_id": "user2"}]},
                 {"type": "custom_emoji", "count": 1, "document_id": "5"}]},
            {"id": 3, "type": "message", "date": "2024-03-05T14:30:07", "from": "Ben", "from_id": "user2",
             "reply_to_message_id": 2, "text": "", "file": "(not included)", "file_name": "plan.pdf"},
            {"id": 4, "type": "message", "date": "2024-03-05T14:30:08", "from": "Ben", "from_id": "user2",
             "reply_to_message_id": 77, "text": "ok"}]}),
        [said("Open a.example", None, **{"👍": (2, "Ben")}), said("[file: plan.pdf]", 0), said("ok")],
        [(1, "a notice of Telegram (None), no utterance"), (2, STRANGE), (4, NOT_THERE)]),
    "jsonl": (
        lines_of({"id": "a", "name": "Ann", "text": "Open it", "time": 5, "reactions": {"👍": 2, "🎉": ["Ben", "Cy"]}},
                 {"id": "b", "name": "Ben", "text": "ok", "time": 6, "reply_to": "a", "attachments": ["plan.pdf"]},
                 {"id": "c", "name": "Ben", "text": "gone", "time": 7, "deleted": True},
                 {"id": "d", "name": "Ben", "text": "so", "time": 8, "reply_to": "Open", "deleted": False},
                 {"id": "e", "name": "Ben", "text": "self", "time": 9, "reply_to": "e", "reactions": 7}),
        [said("Open it", None, **{"👍": (2,), "🎉": (2, "Ben", "Cy")}), said("ok\n[file: plan.pdf]", 0), said("so", 0),
         said("self")], [(3, DELETED), (5, STRANGE), (5, NOT_THERE)]),
    "csv": (
        "id,time,name,text,reply to,reactions,file\n1,00:00:05,Ann,Open it,,👍 (2) ❤️,\n2,00:00:06,Ben,ok,1,,plan.pdf\n"
        "3,00:00:07,Ben,one, two,,,,cut\n"
        '4,00:00:08,Ben,so,,"[{""emoji"": ""👍"", ""by"": ""Ann""}]",\n',
        [said("Open it", None, **{"👍": (2,), "❤️": (1,)}), said("ok\n[file: plan.pdf]", 0), said("one"),
         said("so", None, **{"👍": (1, "Ann")})],
        [(4, "more cells than the header; the extra cells are ignored; does a text need quotation marks?"),
         (4, NOT_THERE)]),
    "what stands before a transcript": (
        "Lab - Transcript\nAttendees\n00:00:05\nAnn: Open it\n", [said("Open it")],
        [(1, "text before the first time"), (2, "text before the first time")]),
    "teams, older": (
        "Lab\n0:0:5.120 --> 0:0:8.200\nAnn Lee\nOpen it\n", [said("Open it")], [(1, "text before the first passage")]),
    "sbv": ("Lab\n0:00:05.000,0:00:08.000\nAnn: Open it\n", [said("Open it")], [(1, "text before the first cue")]),
}


def read(path, text):
    path.write_text(text, encoding="utf-8", newline="")
    return read_chat(path, started_at=START, duration=600.0)


@pytest.mark.parametrize("name", TABLE)
def test_replies_and_reactions(tmp_path, name):
    text, expected, problems = TABLE[name]
    log = read(tmp_path / "chat", text)
    assert [(line.utterance, line.reply_to, {each.emoji: (each.count, *each.speakers) for each in line.reactions})
            for line in log.lines] == expected
    assert [note for note in log.problems if "assumed to be an instructor" not in note[1]] == problems


def test_turns_name_what_they_answer_and_nobody_who_reacts(tmp_path):
    log = read(tmp_path / "chat", TABLE["zoom, a reply and its reactions"][0])
    taken = {"id": "chat-1", "type": "chat", "timestamp": 0.0, "speaker": "instructor", "utterance": "hi",
             "checks": [], "dropped": False}
    placed = merge_chat({"format": "demotape/demonstration", "version": 1, "id": "a", "recording": "a", "task": "",
                    "turns": [taken]}, log)
    first, second, third = placed["turns"][1:]
    assert (first["id"], third["reply_to"]) == ("chat-2", "chat-2")
    assert first["reactions"] == [{"emoji": "👍", "count": 2, "speakers": ["navigator"]},
                                  {"emoji": "❤️", "count": 1, "speakers": ["navigator"]}]
    assert not {"reply_to", "reactions"} & second.keys() and "reactions" not in third
    assert "Cy" not in json.dumps(placed) and "Ben" not in json.dumps(placed)
    validated(placed, DemonstrationSchema(), "placed")


def test_a_reply_to_what_lies_outside_the_recording_names_nothing(tmp_path):
    log = read(tmp_path / "chat", "".join(lines_of(
        {"id": "a", "name": "Ann", "text": "long ago", "time": "2024-03-05T10:00:00Z"},
        {"id": "b", "name": "Ben", "text": "now", "time": "2024-03-05T19:30:05Z", "reply_to": "a"},
        {"id": "c", "name": "Ann", "text": "yes", "time": "2024-03-05T19:30:06Z", "reply_to": "b"})))
    assert [(line.utterance, line.reply_to) for line in log.lines] == [("now", None), ("yes", 0)]
    assert [line for line, _ in log.problems] == [1, 2]


def test_ids_tell_who_reacts_among_people_of_one_name(tmp_path):
    reaction = {"emoji": {"name": "👍"}, "count": 1, "users": [{"id": "2", "name": "Alex"}]}
    log = read(tmp_path / "chat", json.dumps({"messages": [
        {"timestamp": "2024-03-05T19:30:05Z", "author": {"id": "1", "name": "Alex"}, "content": "go",
         "reactions": [reaction]},
        {"timestamp": "2024-03-05T19:30:06Z", "author": {"id": "2", "name": "Alex"}, "content": "ok"}]}))
    assert log.lines[0].reactions == (Reaction("👍", 1, ("Alex (2)",)),)
    assert merge_chat({"turns": []}, log)["turns"][0]["reactions"][0]["speakers"] == ["navigator"]


def test_nothing_but_reactions_is_one_clear_error(tmp_path):
    with pytest.raises(InputError, match="contains only reactions"):
        read(tmp_path / "chat", '14:30:05 From Ann to Everyone:\n\tReacted to "x" with 👍\n')


@pytest.mark.parametrize("reactions", [
    [{"emoji": "👍", "count": 2**53}] * 2,
    True, -1, "", [], {}, [[]], [None], [{"emoji": "x" * 101}], [{"emoji": 3}], {"👍": None}, {"👍": 10**30},
    [{"emoji": "👍", "count": -2, "users": [None, True, {"id": {}}, 1e400]}], "[[[[", "(1)", {"a": {"b": "c"}}])
def test_reactions_in_any_form_do_no_harm(tmp_path, reactions):
    log = read(tmp_path / "chat", json.dumps([{"name": "A", "text": "hi", "time": 1, "reactions": reactions}]))
    validated({"format": "demotape/demonstration", "version": 1, "id": "a", "recording": "a", "task": "",
               "turns": merge_chat({"turns": []}, log)["turns"]}, DemonstrationSchema(), "placed")


def test_many_replies_to_messages_that_begin_alike_take_no_long():
    def seconds_of(count):
        texts = [f'Replying to "{"a" * (number % 10)}b…"\n{"a" * 200}{number}' for number in range(count)]
        messages = [Message("A", text, Stamp(1.0, "offset"), number) for number, text in enumerate(texts)]
        began = time.thread_time()
        done = match_replies(messages)
        assert len(done.messages) == len(texts) == len(done.problems)
        return time.thread_time() - began

    few, many = (min(seconds_of(count) for _ in range(3)) for count in (4_000, 20_000))
    assert many < 12 * few  # 5 times as many messages: 25 times the time would be quadratic


@pytest.mark.parametrize(("more", "reason"), [
    ({"id": 1}, "reply_to or quote is no text"), ({"reply_to": None}, "reply_to or quote is no text"),
    ({"reactions": ("👍",)}, "a reaction that is none"), ({"reactions": (Reaction("", 1),)}, "a reaction that is none"),
    ({"reactions": (Reaction("👍", 0),)}, "a reaction that is none"),
    ({"reactions": (Reaction("👍", 1, (2,)),)}, "a reaction that is none"),
    ({"id": "a", "reply_to": "b", "reactions": (Reaction("👍", 2, ("Ann",)),)}, "")])
def test_what_a_plug_in_tells_is_held_against_the_contract(more, reason):
    told = plugged._wrong(Reading([Message("Ann", "hi", Stamp(1.0, "offset"), 7, **more)]))
    assert told.endswith("(line 7)") and reason in told if reason else told == ""
