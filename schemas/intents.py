"""Intents: the kinds of browser action, and what each becomes in WebLINX and Mind2Web.

WebLINX's thirteen (appendix A.6, table 6) are kept under their own names. What has no equal there maps to
the nearest intent that its readers understand, or to None: such turns are left out of that export and stay
in its side file.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Intent:
    """One kind of action. `weblinx` and `mind2web` name its equal there, None where there is none."""

    name: str
    weblinx: str | None
    mind2web: str | None
    needs_element: bool


_TABLE = (
    #      name         WebLINX       Mind2Web   acts on an element
    Intent("say", "say", None, False),
    Intent("click", "click", "CLICK", True),
    Intent("hover", "hover", "HOVER", True),
    Intent("textInput", "textInput", "TYPE", True),
    Intent("change", "change", "SELECT", True),
    Intent("load", "load", None, False),
    Intent("submit", "submit", "ENTER", True),
    Intent("scroll", "scroll", None, False),
    Intent("copy", "copy", None, False),
    Intent("paste", "paste", None, False),
    Intent("tabcreate", "tabcreate", None, False),
    Intent("tabremove", "tabremove", None, False),
    Intent("tabswitch", "tabswitch", None, False),
    Intent("dblclick", "click", "CLICK", True),
    Intent("press", None, "ENTER", False),
    Intent("drag", None, None, True),
    Intent("upload", None, None, True),
    Intent("dialog", None, None, False),
    Intent("back", "load", None, False),
    Intent("forward", "load", None, False),
    Intent("reload", "load", None, False),
)

INTENTS: dict[str, Intent] = {intent.name: intent for intent in _TABLE}
BROWSER_INTENTS: tuple[str, ...] = tuple(name for name in INTENTS if name != "say")
