"""Subtitles beside a video, with its name: meeting.mp4 has meeting.vtt, meeting.srt or meeting.en.vtt."""

from pathlib import Path

from schemas import InputError
from schemas.files import reason

_ENDINGS = (".vtt", ".srt")
_LONGEST = 12  # characters of a language, such as `pt-BR` or `zh-Hans`


def sidecar_subtitles(video: Path) -> Path | None:
    """The subtitles of a video; None where there are none. Raises InputError where several may be meant."""
    try:
        paths = [path for path in sorted(video.parent.iterdir()) if _belongs(path.name, video.stem) and path.is_file()]
    except OSError as error:
        raise InputError(f"{video.parent}: cannot be read ({reason(error)})") from None
    plain = [path for path in paths if path.stem == video.stem]
    chosen = plain or paths
    if len(chosen) > 1:
        raise InputError(f"{video}: several subtitle files beside the video: "
                         f"{' and '.join(path.name for path in chosen)}; choose one with --speech, or pass "
                         "--without-speech")
    return chosen[0] if chosen else None


def _belongs(name: str, stem: str) -> bool:
    """Whether a name is the video's with the ending of subtitles, perhaps with a language between."""
    path = Path(name)
    if path.suffix.lower() not in _ENDINGS or not name.startswith(stem):
        return False
    dot, language = path.stem[len(stem):][:1], path.stem[len(stem) + 1:]
    return path.stem == stem or (dot == "." and 0 < len(language) <= _LONGEST
                                 and all(part.isalnum() for part in language.split("-")))
