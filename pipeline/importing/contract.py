"""The contract of importers: what one is, and what it makes of foreign data. Plug-ins import it (docs/plugins.md).

An importer reads and never writes: it yields what a session consists of, in order, one state in memory at a time.
`writing.py` makes a recording of that, in the same process, which has limits.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from schemas import UID_ATTRIBUTE
from schemas.types.recordings import Box, Element


@dataclass(frozen=True)
class Item:
    """One demonstration in a file or folder.

    `name`: its id at the source, or a name that no other demonstration of the source has. `position`: whatever the
    importer needs to find it again: numbers and texts.
    """

    path: Path
    name: str
    position: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Observation:
    """One tab before an action; what the source does not have stays empty.

    `page`: HTML as UTF-8 whose elements have their uid in `uid_attribute`. `boxes`: by uid, CSS pixels relative to the
    viewport. `screenshot`: a picture file. `is_late`: the source says that it shows another moment. `scroll`: offsets
    of the page. `viewport`: width and height in CSS pixels.
    """

    url: str = ""
    title: str = ""
    tab: int = 1
    viewport: tuple[int, int] = (0, 0)
    zoom: float = 1.0
    device_pixel_ratio: float = 1.0
    scroll: tuple[float, float] = (0.0, 0.0)
    page: bytes | None = None
    uid_attribute: str = UID_ATTRIBUTE
    boxes: Mapping[str, Box] | None = None
    screenshot: bytes | None = None
    is_late: bool = False


@dataclass(frozen=True)
class Utterance:
    """Something that was said. `time`: seconds since the session started; None where the source has no times. `id`: of
    the turn at the source, where it has one. `extra`: other fields of a chat turn (docs/format.md)."""

    text: str
    speaker: Literal["instructor", "navigator"] = "instructor"
    time: float | None = None
    id: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Action:
    """Something that was done. `intent` and `arguments` as in docs/actions.md.

    `target`: uid of the element in the state's page, from which the rest of the element is read, without a state in the
    page before it; or `element`, if the source describes it. `box`: of the target, where the state's boxes lack it.
    `state`: before the action. `time` and `id` as of Utterance. A `change` of a list has `label` or `value`, whichever
    the source has; the other is read from the page. A click without `x` and `y` is in the middle of its target.
    `is_script`: a script acted, not input of a person or a device. `report`: what an agent reports of the step, fields
    of TurnReport but `step` (docs/format.md).
    """

    intent: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    target: str | None = None
    element: Element | None = None
    box: Box | None = None
    state: Observation | None = None
    time: float | None = None
    id: str = ""
    is_script: bool = False
    report: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Session:
    """One demonstration at its source.

    `steps`: in order, read once. `version`: of the source's format, as it states it. `provenance`: fields of docs/
    format.md. `left_out`: what the source has and the demonstration has not, by reason; complete after the last step.
    """

    task: str
    steps: Iterable[Utterance | Action]
    version: str = ""
    started_at: datetime | None = None
    user_agent: str = ""
    browser: str = ""
    provenance: Mapping[str, Any] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)


def single_item(path: Path) -> Iterator[Item]:
    """The items of a file or folder that is one demonstration."""
    yield Item(path, path.stem)


@dataclass(frozen=True)
class Importer:
    """Foreign data of one kind.

    `accepts`: what it takes, for people, in a few words. `detect(path)`: whether a file or folder is of this kind; it
    reads little and raises nothing. `items(path)`: the demonstrations in it. `read(item)`: one of them; it raises
    schemas.InputError, also while its steps are read.
    """

    accepts: str
    detect: Callable[[Path], bool]
    read: Callable[[Item], Session]
    items: Callable[[Path], Iterable[Item]] = single_item
