"""Subtitles of what was said: reading them, putting sentences together, and their times on the recording's clock."""

import pytest

from pipeline.chat.parsers.cues import UNKNOWN, read
from pipeline.chat.speech import Clock, Cue, join_cues, read_speech, speech_log
from pipeline.context import VideoSpan
from schemas import InputError

VTT = """WEBVTT - a meeting

NOTE made by a tool

1
00:00:01.000 --> 00:00:03.500 align:start
<v Ann Lee>Please open the</v>

2
00:00:03.600 --> 00:00:05.000
<v Ann Lee>lamp page &amp; wait.</v>

00:06.000 --> 00:07.250
<v Ben>Done.
"""
SRT = """1
00:00:01,000 --> 00:00:03,500
please open the

2
00:00:03,600 --> 00:00:05,000
<i>lamp</i> page

3
00:00:09,000 --> 00:00:10,000
{\\an8}so: wait
"""


def written(tmp_path, text: str, name: str = "meeting.vtt"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def told(cues) -> list[tuple]:
    return [(cue.speaker, cue.text, cue.start, cue.end) for cue in cues]


def cue(speaker, text, start, end) -> Cue:
    return Cue(speaker, text, start, end, 1)


def test_webvtt_with_voices(tmp_path):
    cues, problems = read(written(tmp_path, VTT))
    assert told(cues) == [("Ann Lee", "Please open the", 1.0, 3.5), ("Ann Lee", "lamp page & wait.", 3.6, 5.0),
                          ("Ben", "Done.", 6.0, 7.25)]
    assert problems == [] and [each.line for each in cues] == [6, 10, 13]


def test_subrip_without_names_joined_where_a_sentence_goes_on(tmp_path):
    for text in (SRT, SRT.replace("\n", "\r\n"), "\ufeff" + SRT):
        speech = read_speech(written(tmp_path, text, "meeting.srt"))
        assert told(speech.cues) == [(UNKNOWN, "please open the lamp page", 1.0, 5.0), (UNKNOWN, "so: wait", 9.0, 10.0)]


@pytest.mark.parametrize(("texts", "names", "speakers"), [
    (["Ann: one", "Ben: two"], (), ["Ann", "Ben"]),
    (["Ann: one", "two", "three", "four", "Ann: five"], (), ["Ann"] * 5),
    (["one", "two", "so: three", "four"], (), [UNKNOWN] * 4),
    (["one", "two", "Ann: three", "four", "five"], ("ann",), [UNKNOWN, UNKNOWN, "Ann", "Ann", "Ann"]),
    (["[SPEAKER_00]: one", "[SPEAKER_01]: two"], (), ["SPEAKER_00", "SPEAKER_01"]),
    (["what I mean is that you should: one"] * 3, (), [UNKNOWN] * 3),
    (["<v Ann>so: one</v><v Ben>two</v>"], (), ["Ann", "Ben"]),
])
def test_who_speaks(tmp_path, texts, names, speakers):
    text = "WEBVTT\n\n" + "\n".join(f"00:{at:02}.000 --> 00:{at:02}.900\n{said}\n" for at, said in enumerate(texts))
    assert [each.speaker for each in read(written(tmp_path, text), names)[0]] == speakers


@pytest.mark.parametrize(("cues", "texts"), [
    ([cue("A", "Open it.", 0, 1), cue("A", "Then close it.", 1, 2)], ["Open it.", "Then close it."]),
    ([cue("A", "open", 0, 1), cue("B", "it", 1, 2)], ["open", "it"]),
    ([cue("A", "open", 0, 1), cue("A", "it", 2.6, 3)], ["open", "it"]),
    ([cue("A", "open...", 0, 1), cue("A", "it", 1.5, 3), cue("A", "now", 3, 4)], ["open... it now"]),
    ([cue("A", "“Open.”", 0, 1), cue("A", "Now", 1, 2)], ["“Open.”", "Now"]),
    ([cue("A", "请打开", 0, 1), cue("A", "这个页面。", 1, 2)], ["请打开这个页面。"]),
    ([cue("A", "on", at, at + 1) for at in range(40)], ["on" + " on" * 14] * 2 + ["on" + " on" * 9]),
    ([cue("A", "x" * 390, 0, 1), cue("A", "y" * 20, 1, 2)], ["x" * 390, "y" * 20]),
])
def test_a_sentence_is_put_together(cues, texts):
    assert [each.text for each in join_cues(cues)] == texts


@pytest.mark.parametrize(("text", "line", "reason"), [
    ("WEBVTT\n\n00:01.000 --> 00:0x.000\nhello\n", 3, "the cue's time cannot be read"),
    ("WEBVTT\n\n00:01.000 -->\nhello\n", 3, "the cue's time cannot be read"),
    ("WEBVTT\n\n00:05.000 --> 00:01.000\nhello\n", 3, "ends before it begins"),
    ("WEBVTT\n\n00:01.000 --> 00:02.000\nhello\n\nlost words\n", 6, "a line such as"),
    ("1\n00:00:01,000 --> 00:00:02,000\nhello\n2\n00:00:03,000 --> 00:00:04,000\nyou\n", 5, "without an empty line"),
    ("1\n00:00:01,000 --> 00:00:02,000\nhello\n\n2\n00:00:03,00", 5, "a line such as"),
    ("1\n25:61:01,000 --> 26:00:02,000\nhello\n", 2, "cannot be read"),
])
def test_a_damaged_cue_is_one_error_with_its_line(tmp_path, text, line, reason):
    with pytest.raises(InputError, match=rf"meeting\.vtt, line {line}: .*{reason}.*--without-speech"):
        read(written(tmp_path, text))


@pytest.mark.parametrize("content", [b"", b"\0\1\2\3", b"Ann: hello\n"])
def test_what_is_no_subtitles_is_one_error(tmp_path, content):
    path = tmp_path / "meeting.vtt"
    path.write_bytes(content)
    with pytest.raises(InputError, match="meeting.vtt: (neither WebVTT nor SubRip|not a text file)"):
        read(path)
    with pytest.raises(InputError, match="neither WebVTT nor SubRip"):
        read(tmp_path)


def test_cues_are_put_in_the_order_of_their_times(tmp_path):
    text = "WEBVTT\n\n00:05.000 --> 00:06.000\nTwo.\n\n00:01.000 --> 00:02.000\nOne.\n\n00:07.000 --> 00:08.000\n\n"
    cues, problems = read(written(tmp_path, text))
    assert [each.text for each in cues] == ["One.", "Two."] and problems == [(9, "a cue without text")]


def test_times_go_through_offset_drift_and_pauses():
    first = VideoSpan(begin=2.0, end=102.0, start=-1.0, rate=1 / 1.0002, confidence=0.9)
    second = VideoSpan(begin=102.2, end=300.0, start=400.0, rate=1 / 1.0002, confidence=0.3)
    clock = Clock([first, second], is_guess=True)
    assert clock.position(2.0) == (-1.0, True)
    assert clock.position(102.0)[0] == pytest.approx(-1 + 100 / 1.0002)
    assert clock.position(0.0)[0] == pytest.approx(-1 - 2 / 1.0002), "before the first one"
    assert clock.position(302.2) == (pytest.approx(400 + 200 / 1.0002), False)
    assert Clock().position(7.0) == (7.0, True) and Clock(is_guess=True).position(7.0) == (7.0, False)


def log(tmp_path, text, speakers=None, duration=60.0, clock=None):
    return speech_log(read_speech(written(tmp_path, text)), clock or Clock(), duration, speakers or {}, None)


def test_who_is_not_named_instructs_unless_told_otherwise(tmp_path):
    text = "WEBVTT\n\n00:01.000 --> 00:02.000\nHello.\n"
    made = log(tmp_path, text)
    assert [line.role for line in made.lines] == ["instructor"] and "--speaker unknown=ROLE" in made.problems[0][1]
    made = log(tmp_path, text, {"unknown": "navigator"})
    assert [(line.role, line.source, line.doubt) for line in made.lines] == [("navigator", "speech", "")]
    assert made.problems == ()


def test_what_lies_far_outside_is_told_and_all_of_it_an_error(tmp_path):
    text = VTT + "\n03:00:00.000 --> 03:00:01.000\n<v Ben>Late.\n"
    assert any("left out: 3.0 hours after the end" in reason for _, reason in log(tmp_path, text).problems)
    with pytest.raises(InputError, match="within an hour of the recording"):
        log(tmp_path, VTT, clock=Clock([VideoSpan(0, 10, 9e6, 1, 1)]))
    assert log(tmp_path, "WEBVTT\n").problems == ((1, "nothing was said"),)
