"""Which files beside a video are its subtitles."""

import pytest

from pipeline.chat.sidecar_subtitles import sidecar_subtitles
from schemas import InputError


@pytest.mark.parametrize(("names", "found"), [
    (["meeting.vtt"], "meeting.vtt"), (["meeting.srt"], "meeting.srt"), (["meeting.en.vtt"], "meeting.en.vtt"),
    (["meeting.zh-Hans.SRT"], "meeting.zh-Hans.SRT"), (["meeting.vtt", "meeting.de.vtt"], "meeting.vtt"),
    (["meeting.txt", "meetings.vtt", "meeting..vtt", "meeting.a b.vtt", "meeting2.srt"], None), ([], None),
    (["meeting.in.two.parts.vtt", "other.vtt"], None),
])
def test_the_names_under_which_they_lie(tmp_path, names, found):
    for name in ["meeting.mp4", *names]:
        (tmp_path / name).touch()
    made = sidecar_subtitles(tmp_path / "meeting.mp4")
    assert (made and made.name) == found


def test_several_are_asked_about(tmp_path):
    for names in (("meeting.vtt", "meeting.srt"), ("talk.de.vtt", "talk.en.vtt")):
        for name in names:
            (tmp_path / name).touch()
        with pytest.raises(InputError, match=f"{' and '.join(sorted(names))}; choose one with --speech"):
            sidecar_subtitles(tmp_path / f"{names[0].split('.')[0]}.mp4")
