"""Announces the actions of an agent of browser-use in the same event loop."""

from collections.abc import Callable
from typing import Any

from recorder.browser.session import Recorder

from .wrapping import announce_calls

# Tools that act in the page; others navigate, read or wait, while pages run scripts of their own.
ACTIONS = frozenset({"click", "input", "select_dropdown", "upload_file", "send_keys", "evaluate"})


def announce(agent: Any, recorder: Recorder) -> Callable[[], None]:
    """Announce each action of a `browser_use.Agent` to a recorder; returns a function that ends it.

    Raises InputError if the agent has no tools with a method `act`.
    """
    def is_action(action: Any, *_: Any, **__: Any) -> bool:
        return not ACTIONS.isdisjoint(action.model_dump(exclude_unset=True))

    return announce_calls(getattr(agent, "tools", None), "act", recorder, is_action)
