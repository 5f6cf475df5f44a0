"""The timers and animations of pages that run again: they run on to times of the recording, at which a page may be as
recorded."""

import asyncio
from contextlib import suppress

from playwright.async_api import BrowserContext

_AROUND, _STEP = 0.5, 0.1  # seconds around the recorded time, and between two looks
_EFFECT = 0.2  # seconds after an action in which it has its effect
_MAX_STEPPED_S = 20.0  # seconds of timers that are not run one by one
_CLOCK_READ_TIMEOUT_S = 0.2  # seconds that a page may take to read its clock: one that loads has none yet
_ON = """(milliseconds) => {
  void Date.now();
  const on = (root) => {
    for (const each of root.getAnimations()) {
      const timed = each.timeline === document.timeline && each.playState === "running";
      if (timed) each.currentTime += milliseconds * each.playbackRate;
    }
    for (const { shadowRoot } of root.querySelectorAll("*")) if (shadowRoot) on(shadowRoot);
  };
  on(document);
}"""


def inspection_times(until: float, late: float) -> list[float]:
    """Times at which to look at a page, ascending, whose state was recorded at the time `until`; in seconds of the
    recording's clock, none where it is not known (0).

    Timers that run since before an action should be as they were at that time, those which it began `late` seconds
    later, as it came by so much later than in the recording. Either may be off a little: an action has its effect some
    time after it was told, and a state is as old as its picture.
    """
    if not until:
        return []
    after = [until + _STEP * step for step in range(round(_AROUND / _STEP) + 1)]
    begun = [until + late + _STEP * step - _AROUND for step in range(round((_AROUND + _EFFECT) / _STEP) + 1)]
    return [until - _AROUND, *after, *(start for start in begun if start > after[-1])]


async def run_timers(context: BrowserContext, seconds: float) -> None:
    """Let timers and animations of all pages run on by so many seconds. Raises playwright's Error when one is gone."""
    # Transitions and animations of style sheets are the browser's, which goes by the time of the run: what timers do
    # meanwhile would find the page as it is long before. Those in closed shadow roots are not reached.
    # The clock of a page takes in the time that has passed only each 0.1 s, and when it is read; what it has not taken
    # in when it is told to run on it leaves out.
    frames = [frame for page in context.pages for frame in page.frames]
    milliseconds = int(seconds * 1000)
    with suppress(TimeoutError):
        async with asyncio.timeout(_CLOCK_READ_TIMEOUT_S):
            await asyncio.gather(*(frame.evaluate(_ON, milliseconds) for frame in frames), return_exceptions=True)
    await (context.clock.run_for(milliseconds) if seconds < _MAX_STEPPED_S
           else context.clock.fast_forward(milliseconds))
