"""The grammars by name."""

from collections.abc import Callable
from dataclasses import dataclass

from . import browsergym, computer_use, weblinx
from .acts import Act


@dataclass(frozen=True)
class Grammar:
    """`write` gives an action's text or raises NoForm; `about` tells a model of it; `by_uid`: targets are uids."""

    write: Callable[[Act], str]
    about: str
    by_uid: bool = True


GRAMMARS: dict[str, Grammar] = {
    "weblinx": Grammar(weblinx.write, weblinx.ABOUT),
    "browsergym": Grammar(browsergym.write, browsergym.ABOUT),
    "computer-use": Grammar(computer_use.write, computer_use.ABOUT, by_uid=False),
}
USUAL = "browsergym"
