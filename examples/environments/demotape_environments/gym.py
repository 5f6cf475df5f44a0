"""A recorded task as an environment of gymnasium: pictures in, mouse and keys out."""

import io
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from PIL import Image
from playwright.sync_api import Error, Page, sync_playwright

from .api import Api

KINDS = ("click", "double_click", "type", "press", "scroll", "wait", "answer")
_RESTS = 500  # ms that a page has after an action


class AnyText(spaces.Space[str]):
    """Any text; gymnasium's own knows sets of characters only."""

    def __init__(self) -> None:
        super().__init__((), np.str_)

    def contains(self, x: Any) -> bool:
        return isinstance(x, str)

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        return "".join(self.np_random.choice(list("abcdefghijklmnopqrstuvwxyz "), 8))

    @property
    def is_np_flattenable(self) -> bool:
        return False


class RecordedTaskEnv(gymnasium.Env):
    """What `demotape replay serve RECORDING --cdp 0` serves at `address`.

    An action has a `kind` (its number in KINDS), a place `x`, `y` in CSS pixels, and a `text`: what is typed, the key
    that is pressed, the answer. `scroll` turns the wheel by `y` at the middle of the page. The reward is 1 once the
    outcome checks hold; an answer ends the episode.
    """

    metadata = {"render_modes": ["rgb_array"]}
    render_mode = "rgb_array"

    def __init__(self, address: str, width: int = 1280, height: int = 720):
        self._api, self._size = Api(address), (width, height)
        self._playwright = sync_playwright().start()
        self._browser: Any = None
        self.observation_space = spaces.Dict({
            "goal": AnyText(), "url": AnyText(),
            "screenshot": spaces.Box(0, 255, (height, width, 3), np.uint8)})
        self.action_space = spaces.Dict({
            "kind": spaces.Discrete(len(KINDS)), "x": spaces.Box(-10_000, 10_000, (), np.float32),
            "y": spaces.Box(-10_000, 10_000, (), np.float32), "text": AnyText()})

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], dict]:
        super().reset(seed=seed)
        if self._browser:
            self._browser.close()
        run = self._api.reset(opened=True)
        told = self._api.goal()
        self._goal = told["goal"]
        self._browser = self._playwright.chromium.connect_over_cdp(told["cdp"])
        return self._observation(), {"run": run, "said": told["said"]}

    def step(self, action: dict[str, Any]) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        kind, text, failed = KINDS[int(action["kind"])], str(action["text"]), ""
        try:
            self._act(kind, float(action["x"]), float(action["y"]), text)
        except Error as error:  # a key that is none, a page that has gone
            failed = str(error).splitlines()[0]
        answered = kind == "answer"
        score = self._api.score(text if answered else "", ended=answered)
        return self._observation(), float(score or 0), answered or score == 1, False, {"score": score, "error": failed}

    def render(self) -> np.ndarray:
        return self._picture(self._page())

    def close(self) -> None:
        if self._browser:
            self._browser.close()
        self._playwright.stop()

    def _act(self, kind: str, x: float, y: float, text: str) -> None:
        page = self._page()
        match kind:
            case "click":
                page.mouse.click(x, y)
            case "double_click":
                page.mouse.dblclick(x, y)
            case "type":
                page.keyboard.type(text)
            case "press":
                page.keyboard.press(text)
            case "scroll":
                page.mouse.move(self._size[0] / 2, self._size[1] / 2)
                page.mouse.wheel(x, y)
        page.wait_for_timeout(_RESTS)
        page.wait_for_load_state()

    def _page(self) -> Page:
        """The newest tab."""
        return self._browser.contexts[0].pages[-1]

    def _observation(self) -> dict[str, Any]:
        page = self._page()
        return {"goal": self._goal, "url": page.url, "screenshot": self._picture(page)}

    def _picture(self, page: Page) -> np.ndarray:
        shown = Image.open(io.BytesIO(page.screenshot(scale="css"))).convert("RGB")
        return np.asarray(shown.resize(self._size) if shown.size != self._size else shown)
