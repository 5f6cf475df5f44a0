"""Processing again keeps what was given along: chat, speakers, video; nothing goes without a word."""

import json
import shutil

import pytest
from click.testing import CliRunner

from demotape.cli import main
from pipeline import process
from pipeline.cache.inputs import hash_file
from pipeline.processing import refresh
from schemas import InputError
from tests.support.samples.recording_fixtures import write_recording

CHAT = "00:00:01\tAnn Lee:\tFind lamps\n00:00:02\tBen Ray:\tHere they are\n"


@pytest.fixture
def chat(tmp_path):
    path = tmp_path / "meeting chat.txt"
    path.write_text(CHAT)
    return path


@pytest.fixture
def recording(tmp_path):
    return write_recording(tmp_path / "rec").layout.root


def said(demonstration: dict) -> list[tuple[str, str]]:
    return [(turn["speaker"], turn["utterance"]) for turn in demonstration["turns"] if turn["type"] == "chat"]


def run(*arguments):
    return CliRunner().invoke(main, ["process", *map(str, arguments)])


def test_chat_and_speakers_stay_also_when_the_file_has_gone(recording, chat):
    roles = {"Ann Lee": "navigator", "Ben Ray": "instructor"}
    first = process(recording, chat=chat, speakers=roles)
    assert ("navigator", "Find lamps") in said(first)
    chat.unlink()
    assert process(recording) == first
    assert refresh(recording) == (first, False)
    assert (recording / "given" / "meeting chat.txt").read_text() == CHAT


def test_another_chat_takes_its_place_and_it_can_be_left_out(recording, chat, tmp_path):
    process(recording, chat=chat, speakers={"Ann Lee": "navigator"})
    other = tmp_path / "other.txt"
    other.write_text(CHAT.replace("Find lamps", "Find chairs"))
    changed = said(process(recording, chat=other))
    assert ("instructor", "Find chairs") in changed, "speakers of another chat are no speakers of this one"
    assert [path.name for path in (recording / "given").iterdir()] == ["other.txt"]
    left = said(process(recording, without=("chat",)))
    assert len(left) == 2 and not (recording / "given").exists(), "what was typed while recording is not of the chat"
    assert said(process(recording)) == left
    with pytest.raises(InputError, match="--chat and --without-chat cannot be combined"):
        process(recording, chat=other, without=("chat",))


def test_a_folder_is_kept_whole(recording, tmp_path):
    export = tmp_path / "slack"
    (export / "general").mkdir(parents=True)
    (export / "users.json").write_text('[{"id": "U1", "name": "ann"}]')
    start = json.loads((recording / "recording.json").read_text())["started_at"]
    from datetime import datetime
    at = datetime.fromisoformat(start).timestamp() + 2
    (export / "general" / "2024-03-05.json").write_text(json.dumps(
        [{"type": "message", "user": "U1", "text": "Find lamps", "ts": f"{at:.6f}"}]))
    first = process(recording, chat=export)
    shutil.rmtree(export)
    assert process(recording) == first and ("instructor", "Find lamps") in said(first)


def test_a_video_that_has_gone_or_is_another_is_asked_for(recording, tmp_path):
    process(recording)
    video = tmp_path / "meeting.mp4"
    video.write_bytes(b"not looked at here")
    note = json.loads((recording / "processed.json").read_text())
    note["given"], note["inputs"]["external video"] = {"video": str(video)}, hash_file(video)
    (recording / "processed.json").write_text(json.dumps(note))
    before = (recording / "demonstration.json").read_bytes()
    for change in (lambda: video.write_bytes(b"another one"), video.unlink):
        change()
        with pytest.raises(InputError, match="the video of the last run is no longer at .*meeting.mp4"):
            process(recording)
    assert (recording / "demonstration.json").read_bytes() == before
    process(recording, without=("video",))
    assert "video" not in json.loads((recording / "processed.json").read_text())["given"]


@pytest.mark.parametrize("name", ["../chat.txt", "a/b", "..", "/etc/hostname", "gone.txt", "link"])
def test_a_hostile_note_leads_nowhere(recording, chat, name):
    process(recording, chat=chat)
    (recording / "given" / "link").symlink_to("/etc/hostname")
    note = json.loads((recording / "processed.json").read_text())
    note["given"]["chat"] = name
    (recording / "processed.json").write_text(json.dumps(note))
    with pytest.raises(InputError):
        process(recording)


def test_a_note_of_an_earlier_version_drops_nothing(recording, chat):
    first = process(recording, chat=chat)
    note = json.loads((recording / "processed.json").read_text())
    del note["given"]
    (recording / "processed.json").write_text(json.dumps(note))
    with pytest.raises(InputError, match="did not record its path; pass --chat"):
        process(recording)
    assert process(recording, chat=chat) == first
    (recording / "processed.json").write_text("{")
    with pytest.raises(InputError, match="pass --chat and --video as before, or --without-chat --without-video"):
        process(recording)
    assert len(said(process(recording, without=("chat", "video")))) == 2


def test_the_command_says_what_it_uses_again_and_what_becomes_of_the_chat(recording, chat):
    assert "chat turns" not in run(recording, "--chat", chat).output
    (recording / "chat.jsonl").open("a").close()
    again = run(recording)
    assert "using meeting chat.txt of the last run" in " ".join(again.output.split())
    assert ": unchanged" in " ".join(again.output.split())
    without = run(recording, "--without-chat")
    assert without.exit_code == 0 and "4 chat turns before, 2 now" in " ".join(without.output.split())
    assert run(recording, "--chat", chat, "--without-chat").exit_code != 0
