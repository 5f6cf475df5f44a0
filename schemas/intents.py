"""Intents: the kinds of browser action, and their equivalents in other formats. The table is in shared.json.

WebLINX's thirteen (appendix A.6, table 6) are kept under their own names. What has no equal in WebLINX or Mind2Web maps
to the nearest intent that their readers understand, or to None: such turns are left out of that export and stay in its
side file. BrowserGym's names are those of its high-level actions, Playwright's those of its methods; None where there
is no such action.
"""

from dataclasses import dataclass

from .shared import SHARED


@dataclass(frozen=True)
class Intent:
    """One kind of action. `label` and `family` (its colour) are for people; the rest names its equal elsewhere."""

    name: str
    label: str
    family: str
    weblinx: str | None
    mind2web: str | None
    browsergym: str | None
    playwright: str | None
    acts_on_element: bool


INTENTS: dict[str, Intent] = {row["name"]: Intent(**row) for row in SHARED["intents"]}
BROWSER_INTENTS: tuple[str, ...] = tuple(name for name in INTENTS if name != "say")
