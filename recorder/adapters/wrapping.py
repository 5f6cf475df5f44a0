"""Replaces a method of one object, so that its calls are announced as actions."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from recorder.browser.session import Recorder
from schemas import InputError


def announce_calls(target: Any, method: str, recorder: Recorder, is_action: Callable[..., bool]) -> Callable[[], None]:
    """Announce the calls of an asynchronous method of an object for whose arguments `is_action` is true.

    Returns a function that restores the method. Raises InputError if the object has no such method.
    """
    called = _method(target, method)

    @wraps(called)
    async def announced(*arguments: Any, **options: Any) -> Any:
        if not is_action(*arguments, **options):
            return await called(*arguments, **options)
        async with recorder.action():
            return await called(*arguments, **options)

    return _replace(target, method, announced)


def announce_blocking_calls(target: Any, method: str, recorder: Recorder,
                            is_action: Callable[..., bool]) -> Callable[[], None]:
    """As `announce_calls`, for a method that blocks, in a thread that is not the recorder's."""
    called = _method(target, method)

    @wraps(called)
    def announced(*arguments: Any, **options: Any) -> Any:
        if not is_action(*arguments, **options):
            return called(*arguments, **options)
        with recorder.action_from_thread():
            return called(*arguments, **options)

    return _replace(target, method, announced)


def _method(target: Any, method: str) -> Callable[..., Any]:
    called = getattr(target, method, None)
    if not callable(called):
        raise InputError(f"{type(target).__name__} has no method {method}: this version is not supported; use "
                         "Recorder.action() around its actions")
    return called


def _replace(target: Any, method: str, announced: Callable[..., Any]) -> Callable[[], None]:
    object.__setattr__(target, method, announced)  # also where the class validates its fields
    return lambda: object.__delattr__(target, method)
