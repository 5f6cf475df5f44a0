"""A recorded task in BrowserGym: its observations, actions and agents, in the browser of a recording."""

from collections.abc import Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import browsergym.core.env as core
import gymnasium
from browsergym.core.env import BrowserEnv
from browsergym.core.task import AbstractBrowserTask

from .api import Api

_INFEASIBLE = "N/A"  # the answer of who says that it cannot be done


class RecordedTask(AbstractBrowserTask):
    """What `demotape replay serve RECORDING --cdp 0` serves at `address`. The reward is 1 once the outcome checks hold;
    a message to the user is the answer, and ends the task."""

    @classmethod
    def get_task_id(cls) -> str:
        return "demotape.recorded"

    def __init__(self, seed: int, address: str):
        super().__init__(seed)
        self.slow_mo = 100  # ms
        self._api = Api(address)

    def setup(self, page: Any) -> tuple[str, dict[str, Any]]:
        told = self._api.goal()
        page.goto(told["start_url"])
        return told["goal"], {"said": told["said"]}

    def validate(self, page: Any, chat_messages: list[Any]) -> tuple[float, bool, str, dict[str, Any]]:
        last = chat_messages[-1] if chat_messages else {"role": "user"}
        answered = last["role"] in ("assistant", "infeasible")
        answer = "" if not answered else _INFEASIBLE if last["role"] == "infeasible" else last["message"]
        score = self._api.score(answer, ended=answered)
        return float(score or 0), answered or score == 1, "", {"score": score}


class RecordedTaskEnv(BrowserEnv):
    """BrowserGym's environment, connected to the browser of the recorded task instead of one of its own. Size, language
    and time zone are the recording's."""

    def __init__(self, address: str, **options: Any):
        super().__init__(partial(RecordedTask, address=address), **options)
        self._api = Api(address)

    def reset(self, *args: Any, **kwargs: Any) -> Any:
        if self.task:  # it lets go of its browser first: the new run has tabs of its own
            super().close()
        self._api.reset(opened=False)
        with _instead_of_launching(self._api.goal()["cdp"]):
            return super().reset(*args, **kwargs)


def register(addresses: Mapping[str, str]) -> list[str]:
    """Register recorded tasks by name, with the addresses of their environments: `gymnasium.make` and AgentLab know
    them as `browsergym/demotape.NAME`, the names that are returned."""
    names = [f"browsergym/demotape.{name}" for name in addresses]
    for name, address in zip(names, addresses.values(), strict=True):
        gymnasium.register(id=name, entry_point=RecordedTaskEnv, kwargs={"address": address}, nondeterministic=True)
    return names


@contextmanager
def _instead_of_launching(cdp: str):
    """What BrowserGym starts as a browser meanwhile is a connection to one."""
    before = core._get_global_playwright
    core._get_global_playwright = lambda: _Playwright(before(), cdp)
    try:
        yield
    finally:
        core._get_global_playwright = before


class _Other:
    """Something of Playwright's, but for what is defined here."""

    def __init__(self, real: Any):
        self._real = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


class _Playwright(_Other):
    def __init__(self, real: Any, cdp: str):
        super().__init__(real)
        self.chromium = _Chromium(real.chromium, cdp)


class _Chromium(_Other):
    def __init__(self, real: Any, cdp: str):
        super().__init__(real)
        self._cdp = cdp

    def launch(self, *, slow_mo: float | None = None, **_: Any) -> Any:
        return _Browser(self._real.connect_over_cdp(self._cdp, slow_mo=slow_mo))


class _Browser(_Other):
    def new_context(self, **_: Any) -> Any:
        return _Context(self._real.contexts[0])


class _Context(_Other):
    def __eq__(self, other: object) -> bool:
        return self._real is other or self is other

    __hash__ = object.__hash__

    def new_page(self) -> Any:
        return self._real.pages[0]  # the run begins with one empty tab

    def close(self) -> None:
        """The context is the environment's."""
