"""Device pixel ratio of a page."""

from recorder.devtools.sessions import Session


async def ratio_and_zoom(session: Session) -> tuple[float, float]:
    """Pixels of the screen for one of the page, and how much of that is the browser's zoom; raises ProtocolError."""
    ratio, before = await _ratio(session), 0.0
    while ratio != before:  # a driver may set the screen that it emulates just now
        metrics = await session.send("Page.getLayoutMetrics")
        ratio, before = await _ratio(session), ratio
    return ratio, metrics["cssVisualViewport"]["zoom"]


async def _ratio(session: Session) -> float:
    answer = await session.send("Runtime.evaluate", {"expression": "devicePixelRatio", "returnByValue": True})
    return answer["result"]["value"]
