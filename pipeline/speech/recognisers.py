"""Interface of speech recognisers, and the available ones: demotape's and plug-ins (docs/plugins.md)."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from pipeline import plugins
from pipeline.plugins import Plugin
from schemas import InputError

from . import faster_whisper
from .segments import Segment

if TYPE_CHECKING:
    import numpy as np

    from .audio import Track


class Recogniser(Protocol):
    """Finds what was said in a track of sound."""

    def __call__(self, samples: "np.ndarray", track: "Track", /) -> Iterable[Segment]:
        """Segments of mono float32 samples at 16 kHz, from the file's start on."""
        ...


Load = Callable[[str | None], Recogniser]  # with the model that the user named; raises InputError
OWN: dict[str, Load] = {"faster-whisper": faster_whisper.load}


@dataclass(frozen=True)
class InstalledRecogniser:
    """A recogniser that can be loaded. `stamp` tells it and its version."""

    name: str
    stamp: str
    plugin: Plugin | None
    load: Load

    def segments(self, recogniser: Recogniser, samples: "np.ndarray", track: "Track") -> Iterator[Segment]:
        """Segments as the contract has them; raises InputError, which names the recogniser, for anything else."""
        try:
            for segment in recogniser(samples, track):
                if wrong := _wrong(segment):
                    raise InputError(f"{track.path}: {self._package()} returned {wrong}")
                yield segment
        except InputError:
            raise
        except Exception as error:  # foreign code
            raise InputError(f"{track.path}: {self._failure(error)}") from error

    def load_model(self, model: str | None) -> Recogniser:
        """The recogniser with a model; raises InputError when it cannot be loaded."""
        try:
            return self.load(model)
        except InputError:
            raise
        except Exception as error:  # foreign code
            raise InputError(self._failure(error)) from error

    def _package(self) -> str:
        return str(self.plugin) if self.plugin else f"recogniser {self.name!r}"

    def _failure(self, error: Exception) -> str:
        if self.plugin:
            return plugins.failure(self.plugin, error)
        return f"{self._package()} failed: " + " ".join(f"{type(error).__name__}: {error}".split())[:300]


def find(name: str) -> InstalledRecogniser:
    """The recogniser of a name; raises InputError when there is none, or a plug-in's does not work."""
    if name in OWN:
        plugins.shadowed(plugins.RECOGNISERS, name)
        return InstalledRecogniser(name, name, None, OWN[name])
    got = plugins.get(plugins.RECOGNISERS, name, lambda _, value: "" if callable(value) else "it is no function")
    if got is None or not callable(got[1]):
        known = ", ".join([*OWN, *plugins.names(plugins.RECOGNISERS, OWN)])
        raise InputError(f"unknown recogniser {name!r}; choose one of {known}")
    return InstalledRecogniser(name, str(got[0]), got[0], got[1])


def _wrong(segment: object) -> str:
    """What is not as the contract has it; empty when all is."""
    if not isinstance(segment, Segment) or not isinstance(segment.text, str):
        return "a value that is not a Segment with a text"
    if segment.speaker is not None and not isinstance(segment.speaker, str):
        return "a segment whose speaker is not a text"
    numbers = all(isinstance(time, int | float) and math.isfinite(time) for time in (segment.start, segment.end))
    if not numbers or not 0 <= segment.start <= segment.end:
        return "a segment with invalid times"
    return ""
