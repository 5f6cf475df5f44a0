"""JSON exports of chat tools: edits, answers, reactions, files and notices, each in the tool's own form."""

import json
from datetime import UTC, datetime

import pytest

from pipeline.chat import read_chat

START = datetime(2026, 3, 2, 10, 15, tzinfo=UTC)
EPOCH = int(START.timestamp())


def read(tmp_path, content, name="chat.json"):
    path = tmp_path / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return read_chat(path, started_at=START, duration=600)


def said(log) -> list[tuple[str, str, int | None]]:
    return [(line.speaker, line.utterance, line.reply_to) for line in log.lines]


def reacted(log) -> list[list[tuple[str, int, tuple[str, ...]]]]:
    return [[(reaction.emoji, reaction.count, reaction.speakers) for reaction in line.reactions] for line in log.lines]


# ---- Matrix


def event(number: int, sender: str, content: dict, kind: str = "m.room.message", **fields) -> dict:
    return {"type": kind, "sender": f"@{sender}:x.example", "content": content, "event_id": f"${number}",
            "origin_server_ts": (EPOCH + number) * 1000, **fields}


def text(body: str, **fields) -> dict:
    return {"msgtype": "m.text", "body": body, **fields}


def relates(kind: str, number: int, **fields) -> dict:
    return {"m.relates_to": {"rel_type": kind, "event_id": f"${number}", **fields}}


def test_matrix(tmp_path):
    answer = {"m.relates_to": {"m.in_reply_to": {"event_id": "$4"}}}
    log = read(tmp_path, {"messages": [
        event(1, "ann", {"membership": "join"}, "m.room.member"),
        event(2, "ann", text("open the shop")),
        event(3, "bob", text("dnoe")),
        event(4, "bob", text(" * done", **{"m.new_content": text("done")}, **relates("m.replace", 3))),
        event(5, "ann", text("> <@bob:x.example> done\n> twice\n\nthanks", **answer)),
        event(6, "bob", {**relates("m.annotation", 5, key="👍")}, "m.reaction"),
        event(7, "bob", {"msgtype": "m.image", "body": "plan.png"}),
        event(8, "bob", {"msgtype": "m.file", "body": "the plan", "filename": "plan.pdf"}),
        event(9, "ann", {}), event(10, "ann", text("wrong room")),
        event(11, "ann", {}, "m.room.redaction", redacts="$10"),
        event(12, "mallory", text(" * hacked", **{"m.new_content": text("hacked")}, **relates("m.replace", 2))),
        event(13, "ann", text("later", **relates("m.thread", 2, **{"m.in_reply_to": {"event_id": "$3"}}))),
    ]})
    assert said(log) == [
        ("@ann:x.example", "open the shop", None), ("@bob:x.example", "done", None),
        ("@ann:x.example", "thanks", 1), ("@bob:x.example", "[file: plan.png]", None),
        ("@bob:x.example", "the plan\n[file: plan.pdf]", None), ("@ann:x.example", "later", 1)]
    assert reacted(log)[2] == [("👍", 1, ("@bob:x.example",))]
    reasons = [reason for _, reason in log.problems]
    assert reasons.count("a message that was deleted") == 2
    assert reasons.count("an edit of another person's message") == 1
    assert any("m.room.member" in reason for reason in reasons)


# ---- Rocket.Chat


def rocket(number: int, name: str, message: str, **fields) -> dict:
    return {"_id": f"a{number}", "msg": message, "ts": f"2026-03-02T10:15:{number:02d}.000Z",
            "u": {"_id": f"u{name}", "username": name, "name": f"{name.title()} Lee"}, **fields}


def test_rocket_chat(tmp_path):
    log = read(tmp_path, {"messages": [
        rocket(1, "ann", "open the shop"), rocket(2, "bob", "bob", t="uj"),
        rocket(3, "bob", "done", tmid="a1", reactions={":+1:": {"usernames": ["ann"]}}),
        rocket(4, "ann", "[ ](https://chat.example/channel/a?msg=a3) thanks",
               attachments=[{"message_link": "https://chat.example/channel/a?msg=a3", "text": "done"}]),
        rocket(5, "bob", "", attachments=[{"title": "plan.pdf"}]), rocket(6, "ann", "", t="rm"),
        {**rocket(7, "bob", "bye"), "ts": {"$date": "2026-03-02T10:15:07.000Z"}}]})
    assert said(log) == [("Ann Lee", "open the shop", None), ("Bob Lee", "done", 0), ("Ann Lee", "thanks", 1),
                         ("Bob Lee", "[file: plan.pdf]", None), ("Bob Lee", "bye", None)]
    assert reacted(log)[1] == [(":+1:", 1, ("Ann Lee",))]
    assert len(log.problems) == 2


# ---- Telegram, Messenger


def telegram(number: int, name: str, message="", **fields) -> dict:
    return {"id": number, "type": "message", "date": f"2026-03-02T10:15:{number:02d}",
            "date_unixtime": str(EPOCH + number), "from": name, "from_id": f"user{name}", "text": message, **fields}


def test_telegram(tmp_path):
    log = read(tmp_path, {"name": "Lab", "type": "personal_chat", "id": 7, "messages": [
        telegram(1, "Ann", "open this"), telegram(2, "Ann", photo="photos/photo_1.jpg", width=9, height=9),
        telegram(3, "Bob", ["done ", {"type": "bold", "text": "now"}], file="(File not included.)",
                 file_name="plan.pdf", reply_to_message_id=1),
        telegram(4, "Bob", photo="(File not included. Change data exporting settings to download.)"),
        telegram(5, "Bob", file="stickers/sticker.webp", media_type="sticker", sticker_emoji="👍"),
        {"id": 6, "type": "service", "date": "2026-03-02T10:15:06", "date_unixtime": str(EPOCH + 6), "actor": "Ann",
         "action": "pin_message", "text": ""}]})
    assert said(log) == [("Ann", "open this", None), ("Ann", "[file: photo_1.jpg]", None),
                         ("Bob", "done now\n[file: plan.pdf]", 0), ("Bob", "[file]", None),
                         ("Bob", "[file: sticker.webp]", None)]
    assert [reason for _, reason in log.problems] == ["a notice of Telegram (pin_message), no utterance"]


def test_messenger(tmp_path):
    def message(number: int, name: str, **fields) -> dict:
        return {"sender_name": name, "timestamp_ms": (EPOCH + number) * 1000, **fields}

    log = read(tmp_path, {"participants": [], "messages": [
        message(3, "Bob", photos=[{"uri": "messages/inbox/x/photos/1.jpg"}],
                reactions=[{"reaction": "\u00f0\u009f\u0091\u008d", "actor": "Ann"}]),
        message(2, "Ann", share={"link": "https://shop.example/"}), message(4, "Bob", content="x", is_unsent=True),
        message(1, "Ann", content="Caf\u00c3\u00a9")]})
    assert said(log) == [("Bob", "[file: 1.jpg]", None), ("Ann", "https://shop.example/", None), ("Ann", "Café", None)]
    assert reacted(log)[0] == [("👍", 1, ("Ann",))]
    assert [reason for _, reason in log.problems] == ["a message that was deleted"]


# ---- Teams by Microsoft Graph, WhisperX


def test_graph(tmp_path):
    def message(number: int, name: str | None, content: str, **fields) -> dict:
        return {"id": str(number), "messageType": "message", "createdDateTime": f"2026-03-02T10:15:{number:02d}.5Z",
                "from": {"user": {"id": f"id-{name}", "displayName": name}} if name else None,
                "body": {"contentType": "html", "content": content}, **fields}

    log = read(tmp_path, {"@odata.count": 5, "value": [
        message(1, "Ann Lee", "<p>open the <b>shop</b>&nbsp;&amp; wait<br>please</p>",
                reactions=[{"reactionType": "👍", "user": {"user": {"id": "id-Bob Ray", "displayName": None}}}]),
        message(2, None, "<systemEventMessage/>", messageType="systemEventMessage"),
        message(3, "Bob Ray", '<attachment id="1"></attachment><p>done <emoji alt="🎉"></emoji></p>',
                attachments=[{"id": "1", "contentType": "messageReference"},
                             {"id": "9", "contentType": "reference", "name": "plan.docx"}]),
        message(4, "Bob Ray", "", deletedDateTime="2026-03-02T10:16:00Z"),
        message(5, "Ann Lee", "thanks", replyToId="3") | {"body": {"contentType": "text", "content": "a < b"}}]})
    assert said(log) == [("Ann Lee", "open the shop & wait\nplease", None),
                         ("Bob Ray", "done 🎉\n[file: plan.docx]", 0), ("Ann Lee", "a < b", 1)]
    assert reacted(log)[0] == [("👍", 1, ("Bob Ray",))] and len(log.problems) == 2


def test_segments_of_whisperx(tmp_path):
    log = read(tmp_path, {"language": "en", "segments": [
        {"start": 1.5, "end": 2.0, "text": " open the shop", "speaker": "SPEAKER_00", "words": []},
        {"start": 4.0, "end": 5.0, "text": " done", "speaker": "SPEAKER_01", "words": []}]})
    assert [(line.speaker, line.utterance, line.time) for line in log.lines] == [
        ("SPEAKER_00", "open the shop", 1.5), ("SPEAKER_01", "done", 4.0)]


# ---- Slack, Signal, Webex, transcripts


def test_slack_names_people_by_their_messages(tmp_path):
    def message(number: int, user: str, **profile) -> dict:
        return {"type": "message", "user": user, "ts": f"{EPOCH + number}.0001", "text": f"text {number}",
                "user_profile": profile}

    rows = [message(1, "U1", display_name="", real_name="Ann Lee"), message(2, "U2", display_name="bob"),
            {**message(3, "U3"), "user_profile": None}]
    assert [line.speaker for line in read(tmp_path, rows).lines] == ["Ann Lee", "bob", "U3"]
    nested = {"channel_id": "C1", "messages": [
        {**rows[0], "slackdump_thread_replies": [{**rows[1], "thread_ts": rows[0]["ts"]}]}]}
    log = read(tmp_path, nested)
    assert log.kind == "slack" and said(log) == [("Ann Lee", "text 1", None), ("bob", "text 2", 0)]


SIGNAL = """[2026-03-02 10:15:01] Ann: open the shop\x20\x20
[2026-03-02 10:15:03] Me: \n
> open the shop

done\x20\x20
(- Ann: 👍, Bob: 👍, Cid: 🎉 -)
[2026-03-02 10:15:04] Ann: ![a b.png](./media/a%20b.png)\x20\x20
[2026-03-02 10:15:05] Ann: (media not exported)\x20\x20
[2026-03-02 10:15:06] Ann: Missed video call\x20\x20
[2026-03-02 10:15:07] Ann: (This message was deleted)
[2026-03-02 10:15:08] Me: see [the docs](https://docs.example/)\x20\x20
"""


def test_signal(tmp_path):
    log = read(tmp_path, SIGNAL, "data.md")
    assert log.kind == "signal" and said(log) == [
        ("Ann", "open the shop", None), ("Me", "done", 0), ("Ann", "[file: a b.png]", None), ("Ann", "[file]", None),
        ("Me", "see [the docs](https://docs.example/)", None)]
    assert reacted(log)[1] == [("👍", 2, ("Ann", "Bob")), ("🎉", 1, ("Cid",))]
    assert [line for line, _ in log.problems] == [10, 11]


def test_a_log_of_whatsapp_with_such_times_is_whatsapps(tmp_path):
    log = read(tmp_path, "[2026-03-02 10:15:01] Ann: open the shop\n[2026-03-02 10:15:03] Bob: done\n", "chat.txt")
    assert log.kind == "whatsapp" and len(log.lines) == 2


def test_webex_names_in_identifiers(tmp_path):
    cues = 'WEBVTT\n\n1 "Ann Lee" (1000001)\n00:00:01.240 --> 00:00:02.240\nOpen the shop: now.\n\n' \
           '2 "Bob Ray" (1000002)\n00:00:05.000 --> 00:00:06.000\nDone.\n'
    assert said(read(tmp_path, cues, "webex.vtt")) == [
        ("Ann Lee", "Open the shop: now.", None), ("Bob Ray", "Done.", None)]


@pytest.mark.parametrize("first, last", [
    ("Ann Lee started transcription", "Ann Lee stopped transcription"),
    ("Room 7 started recording", "Transcribed by https://otter.ai")])
def test_what_the_tool_says_is_in_nobodys_text(tmp_path, first, last):
    log = read(tmp_path, f"{first}\n\nAnn Lee   0:03\nOpen the shop.\n\nBob Ray   0:06\nI have started recording\n"
                         f"\n{last}\n", "meeting.txt")
    assert said(log) == [("Ann Lee", "Open the shop.", None), ("Bob Ray", "I have started recording", None)]
    assert [line for line, _ in log.problems] == [1, 9]


def test_a_zip_file_says_what_to_pass(tmp_path):
    import zipfile

    from schemas import InputError

    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.writestr("general/2026-03-02.json", "[]")
    with pytest.raises(InputError, match=r"export\.zip: a zip file, not a text file; unpack it"):
        read_chat(tmp_path / "export.zip", started_at=START, duration=600)
