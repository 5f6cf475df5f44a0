"""Announces the tool calls of a client of a browser's MCP server, such as Playwright MCP or chrome-devtools-mcp."""

import re
from collections.abc import Callable
from typing import Any

from recorder.browser.session import Recorder

from .wrapping import announce_calls

# In names of tools that act in the page, such as browser_fill_form; others navigate, read or wait.
_ACTS = re.compile(r"(?:^|_)(?:click|drag|drop|evaluate|fill|form|hover|key|press|run|select|set|type|upload)"
                   r"(?:_|$)")


def announce(session: Any, recorder: Recorder) -> Callable[[], None]:
    """Announce the tool calls of an `mcp.ClientSession`, or any object with a method `call_tool(name, …)`, that act in
    a page; returns a function that ends it. Raises InputError if there is no such method."""
    def is_action(name: str, *_: Any, **__: Any) -> bool:
        return _ACTS.search(name) is not None

    return announce_calls(session, "call_tool", recorder, is_action)
