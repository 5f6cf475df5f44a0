"""Announces the commands of a Selenium driver that runs in another thread than the recorder."""

from collections.abc import Callable
from typing import Any

from recorder.browser.session import Recorder

from .wrapping import announce_blocking_calls

# Commands that act in the page by scripts; keys and the mouse need no announcement.
COMMANDS = frozenset({"clearElement", "clickElement", "executeScript", "executeAsyncScript", "w3cExecuteScript",
                      "w3cExecuteScriptAsync"})


def announce(driver: Any, recorder: Recorder) -> Callable[[], None]:
    """Announce the commands of a `selenium.webdriver.Chrome`, also those of its elements, lists and listeners; returns
    a function that ends it. Raises InputError if the driver has no method `execute`."""
    def is_action(command: str, *_: Any, **__: Any) -> bool:
        return command in COMMANDS

    return announce_blocking_calls(getattr(driver, "wrapped_driver", driver), "execute", recorder, is_action)
