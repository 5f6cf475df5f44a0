"""Speech given along when a recording is processed: read beside the video, given, recognised, kept, left out."""

import json

import pytest
from click.testing import CliRunner

from demotape.cli import main
from pipeline import process, workers
from pipeline.processing import refresh
from pipeline.speech import recognisers
from pipeline.speech.recognisers import Segment
from pipeline.turns.edits import apply_edits
from pipeline.verify import verify
from schemas import InputError
from tests.support.samples.recording_fixtures import write_recording
from tests.support.samples.sounds import spoken, track, video_with

VTT = "WEBVTT\n\n00:00.500 --> 00:01.000\n<v Ann>Find some\n\n00:01.100 --> 00:01.500\n<v Ann>lamps.\n"
SRT = "1\n00:00:00,700 --> 00:00:01,400\nFind chairs.\n"
CHAT = "00:00:01\tBen:\tHello\n00:00:02\tAnn:\tHere they are\n"


@pytest.fixture
def recording(tmp_path):
    return write_recording(tmp_path / "rec").layout.root


@pytest.fixture(scope="module")
def film(tmp_path_factory):
    """A video of nothing that the recording shows, with speech."""
    path = tmp_path_factory.mktemp("film") / "meeting.mp4"
    return video_with(path, [track(4.0, {0.5: spoken("Find lamps")})]).read_bytes()


@pytest.fixture
def video(tmp_path, film):
    path = tmp_path / "films" / "meeting.mp4"
    path.parent.mkdir()
    path.write_bytes(film)
    return path


@pytest.fixture
def stand_in(monkeypatch):
    """Recognises the same in every track; the list tells how often it was loaded."""
    loaded = []

    def load(model):
        loaded.append(model)
        return lambda samples, track: [Segment(0.5, 1.4, f"heard {model}.")]

    monkeypatch.setitem(recognisers.OWN, "stand-in", load)
    monkeypatch.setattr(workers, "_is_sandboxed", True)  # commands then call it here
    return loaded


def spoken_turns(demonstration: dict) -> list[dict]:
    return [turn for turn in demonstration["turns"] if turn.get("source") == "speech"]


def heard(demonstration: dict) -> list[tuple[str, str]]:
    return [(turn["speaker"], turn["utterance"]) for turn in spoken_turns(demonstration)]


def run(*arguments) -> str:
    result = CliRunner().invoke(main, ["process", *map(str, arguments)])
    return f"{result.exit_code} " + " ".join(result.output.split())


def beside(video, text=VTT, ending=".vtt"):
    path = video.with_suffix(ending)
    path.write_text(text)
    return path


def test_subtitles_beside_the_video_are_read_said_and_kept(recording, video, caplog):
    path = beside(video)
    told = run(recording, "--video", video)
    assert told.startswith("0 ") and "using the speech of meeting.vtt beside the video" in told
    assert "where meeting.mp4 is on the recording's clock was not found" in caplog.text
    first = json.loads((recording / "demonstration.json").read_text())
    [turn] = spoken_turns(first)
    assert (turn["speaker"], turn["utterance"], turn["timestamp"]) == ("instructor", "Find some lamps.", 0.5)
    assert [check["kind"] for check in turn["checks"]] == ["coarse-time"], "nothing in the video is like the recording"
    assert verify(recording) == []
    path.unlink()
    assert refresh(recording) == (first, False)
    assert "using meeting.mp4 and meeting.vtt of the last run" in run(recording)
    assert process(recording, video=video) == first, "the same video keeps its speech"
    assert (recording / "speech" / "meeting.vtt").read_text() == VTT
    assert heard(process(recording, without=("speech",))) == [] and not (recording / "speech").exists()
    assert heard(process(recording)) == []


def test_subtitles_that_were_changed_are_read_again(recording, video):
    path = beside(video)
    process(recording, video=video)
    path.write_text(VTT.replace("lamps", "chairs"))
    assert heard(process(recording)) == [("instructor", "Find some lamps.")], "what is kept counts"
    assert "using the speech of meeting.vtt beside the video" in run(recording, "--video", video)
    assert heard(process(recording)) == [("instructor", "Find some chairs.")]


def test_speech_that_is_given_goes_before_what_lies_beside(recording, video, tmp_path, caplog):
    beside(video)
    other = tmp_path / "said.srt"
    other.write_text(SRT)
    told = run(recording, "--video", video, "--speech", other)
    assert told.startswith("0 ") and "unknown is assumed to be the instructor" in caplog.text
    assert heard(process(recording)) == [("instructor", "Find chairs.")]
    assert heard(process(recording, video=video)) == [("instructor", "Find chairs.")]
    assert heard(process(recording, speakers={"unknown": "navigator"})) == [("navigator", "Find chairs.")]
    assert heard(process(recording)) == [("navigator", "Find chairs.")]
    assert heard(process(recording, video=video, without=("speech",))) == []
    for wrong in (("--speech", other, "--without-speech"), ("--speech", other, "--recogniser", "faster-whisper"),
                  ("--speech-model", "x"), ("--speech", tmp_path / "none.vtt")):
        assert not run(recording, *wrong).startswith("0 ")


def test_speech_goes_with_its_video(recording, video, tmp_path):
    beside(video)
    process(recording, video=video)
    other = video_with(tmp_path / "other.mp4", [], length=2.0)
    assert "omitting the speech of meeting.vtt, which belongs to another video" in run(recording, "--video", other)
    assert heard(process(recording)) == []
    process(recording, video=video)
    assert heard(process(recording, without=("video",))) == []
    given = tmp_path / "said.srt"
    given.write_text(SRT)
    [turn] = spoken_turns(process(recording, speech=given))
    assert turn["timestamp"] == 0.7 and turn["checks"] == [], "without a video it counts from the recording's start"


def test_who_speaks_is_known_from_the_chat_too(recording, video, tmp_path):
    beside(video)
    chat = tmp_path / "chat.txt"
    chat.write_text(CHAT)
    made = process(recording, chat=chat, video=video)
    assert heard(made) == [("navigator", "Find some lamps.")], "Ann, who is the navigator in the chat"
    made = process(recording, speakers={"Ann": "instructor"})
    assert heard(made) == [("instructor", "Find some lamps.")]
    assert ("navigator", "Hello") in [(turn["speaker"], turn.get("utterance")) for turn in made["turns"]
                                      if turn["type"] == "chat"]
    assert heard(process(recording, without=("chat",))) == [("instructor", "Find some lamps.")]
    with pytest.raises(InputError, match="speaker 'Eve' occurs neither in the speech nor in a chat; there are Ann"):
        process(recording, speakers={"Eve": "navigator"})


def test_speakers_of_speech_alone_do_not_disturb_the_chat(recording, video, tmp_path):
    beside(video, VTT.replace("Ann", "Cleo"))
    chat = tmp_path / "chat.txt"
    chat.write_text(CHAT)
    made = process(recording, chat=chat, video=video, speakers={"Cleo": "instructor"})
    assert heard(made) == [("instructor", "Find some lamps.")]
    assert heard(process(recording, without=("speech",))) == []


def test_the_chat_log_is_not_read_twice(recording, video):
    path = beside(video)
    made = process(recording, chat=path, video=video)
    assert heard(made) == [] and any(turn.get("utterance") == "lamps." for turn in made["turns"])
    assert heard(process(recording, video=video)) == []


@pytest.mark.parametrize("text", ["WEBVTT\n\n00:01.000 -> 00:02.000\nhello\n", "no subtitles\n"])
def test_damaged_subtitles_are_one_error_and_nothing_is_half_written(recording, video, text):
    process(recording)
    before = {path: path.read_bytes() for path in recording.rglob("*") if path.is_file()}
    beside(video, text)
    told = run(recording, "--video", video)
    assert not told.startswith("0 ") and told.count("meeting.vtt") >= 1 and "Traceback" not in told
    assert {path: path.read_bytes() for path in recording.rglob("*") if path.is_file()} == before
    assert run(recording, "--video", video, "--without-speech").startswith("0 ")


def test_a_recogniser_is_asked_once(recording, video, stand_in):
    assert run(recording, "--video", video, "--recogniser", "stand-in", "--speech-model", "words").startswith("0 ")
    first = json.loads((recording / "demonstration.json").read_text())
    assert heard(first) == [("instructor", "heard words.")]
    assert process(recording) == first and stand_in == ["words"]
    assert process(recording, recogniser="stand-in", model="words") == first and stand_in == ["words"]
    assert process(recording, video=video) == first, "the same video keeps its speech"
    assert heard(process(recording, recogniser="stand-in", model="more")) == [("instructor", "heard more.")]
    assert len(list((recording / "speech").iterdir())) == 1


def test_a_recogniser_needs_a_video_with_sound(recording, tmp_path, stand_in):
    with pytest.raises(InputError, match="pass it with --video"):
        process(recording, recogniser="stand-in")
    silent = video_with(tmp_path / "silent.mp4", [])
    assert "silent.mp4: has no sound" in run(recording, "--video", silent, "--recogniser", "stand-in")
    assert "unknown recogniser 'none'" in run(recording, "--video", silent, "--recogniser", "none")
    assert not (recording / "demonstration.json").exists()
    assert heard(process(recording, video=silent)) == [], "a video without sound is a video"


@pytest.mark.parametrize("name", ["../said.vtt", "..", "/etc/hostname", "gone.vtt", "link.vtt"])
def test_a_hostile_note_leads_nowhere(recording, video, name):
    beside(video)
    process(recording, video=video)
    (recording / "speech" / "link.vtt").symlink_to("/etc/hostname")
    note = json.loads((recording / "processed.json").read_text())
    note["given"]["speech"] = name
    (recording / "processed.json").write_text(json.dumps(note))
    with pytest.raises(InputError):
        process(recording)


def test_review_corrects_what_was_heard(recording, video):
    beside(video)
    made = process(recording, video=video)
    [turn] = spoken_turns(made)
    edits = [{"op": "set_utterance", "turn": turn["id"], "utterance": "Find some lamps!"},
             {"op": "set_speaker", "turn": turn["id"], "speaker": "navigator"}]
    after = apply_edits(made["turns"], edits)
    assert heard({"turns": after}) == [("navigator", "Find some lamps!")]
