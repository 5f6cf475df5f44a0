"""Recognition with faster-whisper, if it is installed, with the user's model: nothing is downloaded."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline import extras
from schemas import InputError

from .segments import Segment

if TYPE_CHECKING:
    import numpy as np

    from .audio import Track

_TOKENIZER = "tokenizer.json"  # without it faster-whisper downloads one


def load(model: str | None) -> "Callable[[np.ndarray, Track], Iterator[Segment]]":
    """A recogniser with a model: its folder, in CTranslate2's format, or the name of one that is there already.

    Raises InputError when faster-whisper is not installed, or there is no such model on this machine.
    """
    with extras.importing("speech"):
        from faster_whisper import WhisperModel
    if not model:
        raise InputError("--recogniser faster-whisper requires a model; pass its folder with --speech-model")
    folder = _folder(model)
    try:
        whisper = WhisperModel(str(folder), local_files_only=True)
    except (RuntimeError, ValueError, OSError) as error:
        raise InputError(f"{folder}: not a model that faster-whisper can load ({error})") from None

    def recognise(samples: "np.ndarray", track: "Track") -> Iterator[Segment]:
        segments, _ = whisper.transcribe(samples, vad_filter=True)
        for segment in segments:
            yield Segment(segment.start, max(segment.start, segment.end), segment.text)

    return recognise


def _folder(model: str) -> Path:
    """The folder of a model, or that of a name in the cache of models; raises InputError when it is not whole."""
    folder = Path(model)
    if not folder.is_dir():
        from faster_whisper.utils import download_model

        try:
            folder = Path(download_model(model, local_files_only=True))
        except (ValueError, OSError) as error:
            raise InputError(f"--speech-model {model}: not a folder and not the name of a model on this machine "
                             f"({type(error).__name__}); models are never downloaded: install the model "
                             "first") from None
    if not (folder / _TOKENIZER).is_file():
        raise InputError(f"{folder}: contains no {_TOKENIZER}; pass the complete folder of a model in CTranslate2's "
                         "format")
    return folder
