"""How long a request takes that our server answers, beside one that Playwright's `route` answers, in the same run."""

import statistics
from typing import Any

from playwright.async_api import Browser, Route, async_playwright

from recorder.browser import launch
from replay.archive.exchanges import Archive, Recorded
from replay.running.offline import open_browser
from replay.serving.server import ReplayServer

_ORIGIN = "https://shop.example"
_FILES, _AT_ONCE, _ROUNDS = 200, 100, 5
_ASK = """async ([files, atOnce]) => {
  const one = [];
  for (let number = 0; number < files; number++) {
    const began = performance.now();
    await (await fetch(`/file-${number}`)).text();
    one.push(performance.now() - began);
  }
  const began = performance.now();
  await Promise.all([...Array(atOnce).keys()].map((number) =>
    fetch(`/file-${number}?again`).then((answer) => answer.text())));
  return [one, performance.now() - began];
}"""


def _archive() -> Archive:
    def exchange(number: int, path: str, content: bytes, kind: str) -> Recorded:
        return Recorded(number, float(number), "GET", _ORIGIN + path, 200, lambda: content,
                        (("Content-Type", "text/html" if kind == "document" else "application/json"),
                         ("Cache-Control", "no-store")), kind=kind, top=kind == "document")

    files = [exchange(2 + number, f"/file-{number}{query}", b'{"number": 1}' * 200, "fetch")
             for query in ("", "?again") for number in range(_FILES)]
    return Archive((exchange(1, "/", b"<p>Hello", "document"), *files))


async def measure() -> dict[str, Any]:
    """Medians of a request and of a hundred at once, in ms, and their ratios to Playwright's `route`."""
    archive = _archive()
    contents = {each.url: each for each in archive.exchanges}

    async def fulfil(route: Route) -> None:
        each = contents[route.request.url]
        await route.fulfill(status=200, headers=dict(each.answer_headers), body=each.answer() or b"")

    async with ReplayServer(archive) as server, async_playwright() as playwright:
        ours = await open_browser(playwright, server, headless=True)
        theirs = await launch(playwright, headless=True)
        told: dict[str, list[tuple[float, float]]] = {"ours": [], "route": []}
        for _ in range(_ROUNDS):
            server.reset()
            told["ours"].append(await _once(ours, None))
            told["route"].append(await _once(theirs, fulfil))
        await ours.close()
        await theirs.close()
    one, many = ({name: statistics.median(pair[index] for pair in pairs) for name, pairs in told.items()}
                 for index in (0, 1))
    return {"request_ms": round(one["ours"], 2), "route_request_ms": round(one["route"], 2),
            "request_ratio": round(one["ours"] / one["route"], 3), "hundred_ms": round(many["ours"], 1),
            "route_hundred_ms": round(many["route"], 1), "hundred_ratio": round(many["ours"] / many["route"], 3)}


async def _once(browser: Browser, fulfil: Any) -> tuple[float, float]:
    context = await browser.new_context()
    if fulfil:
        await context.route("**/*", fulfil)
    page = await context.new_page()
    await page.goto(_ORIGIN + "/")
    one, many = await page.evaluate(_ASK, [_FILES, _AT_ONCE])
    await context.close()
    return statistics.median(one), many
