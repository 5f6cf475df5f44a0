"""Wait for a condition, as long as a busy machine may need: no test waits for a fixed time."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

PATIENCE_S = 60.0
_PAUSE_S = 0.02

Result = TypeVar("Result")


def wait_until(condition: Callable[[], Result], *, seconds: float = PATIENCE_S, what: str = "the condition") -> Result:
    """Evaluate a condition until it is true; returns its value. Raises TimeoutError with the last value otherwise."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what} was not met in {seconds:.0f} s; last value: {value!r}")
        time.sleep(_PAUSE_S)
    return value


async def wait_until_async(condition: Callable[[], Awaitable[Result] | Result], *, seconds: float = PATIENCE_S,
                           what: str = "the condition") -> Result:
    """`wait_until` on an event loop; the condition may be asynchronous."""
    value = None
    try:
        async with asyncio.timeout(seconds):
            while True:
                answer = condition()
                value = await answer if asyncio.iscoroutine(answer) or isinstance(answer, Awaitable) else answer
                if value:
                    return value
                await asyncio.sleep(_PAUSE_S)
    except TimeoutError as error:
        raise TimeoutError(f"{what} was not met in {seconds:.0f} s; last value: {value!r}") from error
