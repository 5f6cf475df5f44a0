"""Recognisers: the sound of real videos goes to one behind the interface, and what it finds becomes subtitles."""

import builtins

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pipeline.chat.parsers.cues import UNKNOWN, read
from pipeline.speech import faster_whisper, recognisers
from pipeline.speech.audio import RATE, samples_of, tracks_of
from pipeline.speech.recognisers import InstalledRecogniser, Segment
from pipeline.speech.transcribing import UNKNOWN as UNKNOWN_SPEAKER
from pipeline.speech.transcribing import as_webvtt, transcribe
from schemas import InputError, limits
from tests.support.samples.sounds import spoken, track, video_with

DIGEST = "0" * 64
AT = {0.5: "Please open the lamp page", 2.6: "Now book it"}


def stretches(samples: np.ndarray) -> list[tuple[float, float]]:
    """Where it is loud, seconds."""
    windows = samples[:len(samples) // 800 * 800].reshape(-1, 800)
    loud = np.flatnonzero(np.sqrt((windows ** 2).mean(axis=1)) > 0.01)
    return [(part[0] / 20, (part[-1] + 1) / 20) for part in np.split(loud, np.flatnonzero(np.diff(loud) > 8) + 1)]


def load_stand_in(model):
    """A model that hears when somebody speaks, and knows by heart what is said then."""
    return lambda samples, track: (Segment(start, end, f"{model} {track.number} {number}")
                                   for number, (start, end) in enumerate(stretches(samples)))


@pytest.fixture
def stand_in(monkeypatch):
    monkeypatch.setitem(recognisers.OWN, "stand-in", load_stand_in)


@pytest.fixture(scope="module")
def sound():
    return track(4.0, {time: spoken(text)[:int(1.4 * RATE)] for time, text in AT.items()})


@pytest.mark.parametrize(("ending", "late"), [("mp4", 0.0), ("mkv", 0.0), ("mp4", 1.0)])
def test_speech_is_found_when_it_was_said(tmp_path, stand_in, sound, ending, late):
    video = video_with(tmp_path / f"meeting.{ending}", [sound], late=late)
    cues, problems = read(transcribe(video, DIGEST, "stand-in", "heard", tmp_path))
    assert [(cue.speaker, cue.text) for cue in cues] == [(UNKNOWN, "heard 1 0"), (UNKNOWN, "heard 1 1")]
    assert [cue.start for cue in cues] == pytest.approx(list(AT), abs=0.15) and problems == []


def test_each_track_is_a_speaker(tmp_path, stand_in, sound):
    video = video_with(tmp_path / "meeting.mkv", [sound, track(4.0, {1.2: spoken("Yes")})], names=("Ann <b>", ""))
    cues, _ = read(transcribe(video, DIGEST, "stand-in", None, tmp_path))
    assert [(cue.speaker, cue.text) for cue in cues] == [
        ("Ann <b>", "None 1 0"), ("track 2", "None 2 0"), ("Ann <b>", "None 1 1")]


def test_what_was_recognised_stays(tmp_path, stand_in, sound, monkeypatch):
    video = video_with(tmp_path / "meeting.mp4", [sound])
    first = transcribe(video, DIGEST, "stand-in", "a", tmp_path)
    first.write_text("WEBVTT\n")
    assert transcribe(video, DIGEST, "stand-in", "a", tmp_path) == first and first.read_text() == "WEBVTT\n"
    assert transcribe(video, DIGEST, "stand-in", "b", tmp_path) != first
    assert transcribe(video, "1" * 64, "stand-in", "a", tmp_path) != first


def test_a_video_without_sound_is_one_error(tmp_path, stand_in):
    video = video_with(tmp_path / "meeting.mp4", [])
    with pytest.raises(InputError, match=r"meeting\.mp4: has no sound"):
        transcribe(video, DIGEST, "stand-in", None, tmp_path)
    (tmp_path / "no.mp4").write_bytes(b"no video")
    with pytest.raises(InputError, match=r"no\.mp4: not a readable video"):
        transcribe(tmp_path / "no.mp4", DIGEST, "stand-in", None, tmp_path)
    assert list(tmp_path.glob("*.vtt")) == []


def test_sound_that_is_damaged_or_too_long(tmp_path, sound, monkeypatch):
    video = video_with(tmp_path / "meeting.mkv", [sound])
    content = bytearray(video.read_bytes())
    content[len(content) // 2:len(content) // 2 + 2000] = bytes(2000)
    video.write_bytes(content)
    [found] = tracks_of(video)
    assert RATE < len(samples_of(found)) < 5 * RATE, "what is whole is used"
    monkeypatch.setattr(limits, "SOUND_SECONDS", 1)
    with pytest.raises(InputError, match="its sound is longer than"):
        samples_of(found)


@pytest.mark.parametrize(("segments", "reason"), [
    (["text"], "not a Segment"), ([Segment(2, 1, "x")], "invalid times"), ([Segment(0, float("nan"), "x")], "times"),
    ([Segment(0, 1, "x", 3)], "speaker is not a text"), ([Segment(0, 1, None)], "not a Segment"), (None, "TypeError"),
])
def test_a_recogniser_that_breaks_is_named(tmp_path, sound, monkeypatch, segments, reason):
    monkeypatch.setitem(recognisers.OWN, "broken", lambda model: lambda samples, track: segments)
    video = video_with(tmp_path / "meeting.mp4", [sound])
    with pytest.raises(InputError, match=rf"meeting\.mp4: recogniser 'broken'.*{reason}"):
        transcribe(video, DIGEST, "broken", None, tmp_path)
    with pytest.raises(InputError, match="unknown recogniser 'none'; choose one of faster-whisper"):
        transcribe(video, DIGEST, "none", None, tmp_path)


def test_hostile_words_stay_words(tmp_path):
    said = [("a>\n\n00:01.000 --> 00:02.000\n<v b", Segment(0.0, 3599.9996, "<v c>x</v> &amp;\n\n--> y")),
            ("", Segment(1.0, 1.0, " \n "))]
    path = tmp_path / "made.vtt"
    path.write_text(as_webvtt(said))
    [cue], _ = read(path)
    assert (cue.text, cue.end) == ("<v c>x</v> &amp; --> y", 3600.0) and "\n" not in cue.speaker


def test_faster_whisper_says_what_it_needs(tmp_path, monkeypatch):
    real = builtins.__import__

    def missing(name, *rest, **named):
        if name.startswith("faster_whisper"):
            raise ImportError(name)
        return real(name, *rest, **named)

    with monkeypatch.context() as patched:
        patched.setattr(builtins, "__import__", missing)
        with pytest.raises(InputError, match=r"pip install 'demotape\[speech\]'"):
            faster_whisper.load("small")
    pytest.importorskip("faster_whisper")
    with pytest.raises(InputError, match="requires a model"):
        faster_whisper.load(None)
    with pytest.raises(InputError, match="models are never downloaded"):
        faster_whisper.load("small")
    with pytest.raises(InputError, match="contains no tokenizer.json"):
        faster_whisper.load(str(tmp_path))
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(InputError, match="not a model that faster-whisper can load"):
        faster_whisper.load(str(tmp_path))


def test_a_found_recogniser_tells_itself():
    assert recognisers.find("faster-whisper") == InstalledRecogniser("faster-whisper", "faster-whisper", None,
                                                                     faster_whisper.load)


def test_who_is_not_known_has_the_same_name_in_both_rooms():
    assert UNKNOWN_SPEAKER == UNKNOWN


WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(said=[("", "Berlin: the cheap one", 0.0, 1.0)])
@given(said=st.lists(st.tuples(WORDS, WORDS, st.floats(0, 9e4), st.floats(0, 60)), max_size=6))
def test_whatever_is_recognised_is_read_back(tmp_path, said):
    path = tmp_path / "made.vtt"
    segments = [(name, Segment(start, start + length, text)) for name, text, start, length in said]
    path.write_bytes(as_webvtt(segments).encode())
    cues, problems = read(path)
    told = sorted((round(segment.start * 1000), " ".join(segment.text.split()))
                  for _, segment in segments if segment.text.strip())
    assert problems == [] and sorted((round(cue.start * 1000), cue.text) for cue in cues) == told
