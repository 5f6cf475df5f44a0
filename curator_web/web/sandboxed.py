"""What is worked out of a recording for whoever looks at it: in processes with limits, as nobody's recording may hold
up the app or swell it."""

from collections.abc import Callable
from typing import Any, TypeVar

from curator_web.errors import Busy
from pipeline.sandbox import Allowance, Processes, TooBusy
from recorder.reader import Recording
from schemas import limits

_PROCESSES = Processes(2)
_ALLOWANCE = Allowance(limits.VIEW_SECONDS, limits.WORK_MEMORY, limits.VIEW_CLOCK)
_LISTED = Allowance(limits.VIEW_SECONDS, limits.WORK_MEMORY, limits.VIEW_CLOCK, limits.ELEMENTS)
Value = TypeVar("Value")


def run_sandboxed(function: Callable[..., Value], recording: Recording, *arguments: Any) -> Value:
    """A picture or page that a function makes of a recording; raises InputError as the function does, and when that
    takes more than `schemas.limits` allow; Busy."""
    return _run(_ALLOWANCE, function, recording, *arguments)


def list_sandboxed(function: Callable[..., Value], recording: Recording, *arguments: Any) -> Value:
    """As `made`, for what becomes Python's objects here and may take less room."""
    return _run(_LISTED, function, recording, *arguments)


def _run(allowance: Allowance, function: Callable[..., Value], recording: Recording, *arguments: Any) -> Value:
    try:
        return _PROCESSES.run(allowance, f"recording {recording.id}", function, recording, *arguments)
    except TooBusy as error:
        raise Busy(str(error)) from None
