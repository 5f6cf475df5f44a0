"""Renders every kept DOM of recordings in a fresh browser without network and holds it against the kept screenshot."""

import statistics
from pathlib import Path

import cv2
import numpy as np
from playwright.async_api import Browser, ViewportSize
from skimage.metrics import structural_similarity

from pipeline.pages.rendering import Resources, render
from pipeline.pages.restoring import PAGE_READY
from pipeline.turns.folding import fold
from recorder import Recording
from schemas.types.recordings import Box, BrowserTurn

_HIT = """([x, y, uid]) => {
  let scope = document, hit = document.elementFromPoint(x, y);
  const chain = [];
  while (hit) {
    for (let at = hit; at; at = at.assignedSlot ?? at.parentElement ?? at.getRootNode().host)
      chain.push(at.dataset.demotapeUid);
    chain.push(hit.closest('label')?.control?.dataset.demotapeUid);
    if (hit.localName === 'iframe' && hit.contentDocument) {
      const b = hit.getBoundingClientRect(), s = getComputedStyle(hit);
      x -= b.x + hit.clientLeft + parseFloat(s.paddingLeft); y -= b.y + hit.clientTop + parseFloat(s.paddingTop);
      hit = hit.contentDocument.elementFromPoint(x, y);
    } else if (hit.shadowRoot && hit.shadowRoot.elementFromPoint(x, y) !== hit) {
      hit = hit.shadowRoot.elementFromPoint(x, y);
    } else break;
  }
  return chain.includes(uid);
}"""

# Where the recorder blackens pictures: fields of passwords, and elements whose value is taken out.
_SECRET = """() => [...document.querySelectorAll('input[type=password], [value="[REDACTED]"]')].map(e => {
  const b = e.getBoundingClientRect(); return [b.x, b.y, b.right, b.bottom]; })"""
_AROUND = 8  # px around a secret field that are black too

_MOVES = "() => document.getAnimations().length > 0 || !!document.querySelector('video, marquee')"


async def compare(browser: Browser, recordings: list[Path], viewport: ViewportSize, apart: bool = True,
                  similarities: dict[tuple[str, str], float] | None = None) -> dict:
    """SSIM of each action's rendered DOM with its screenshot, and whether its target is hit where it was then.

    Pages with video or running animations, which no single moment shows twice, are counted apart if so wished; so
    are states whose screenshot is called stale. `ssim_at_least_0.9_beside_secrets`: without the areas of secret
    fields, which are black in screenshots. `similarities` receives the SSIM by recording and turn.
    """
    scores: list[float] = []
    beside: list[float] = []
    moving: list[float] = []
    hits: list[bool] = []
    worst: list[tuple[float, str]] = []
    canvases = stale = 0
    context = await browser.new_context(viewport=viewport, offline=True)
    page = await context.new_page()
    for path in recordings:
        recording, known = Recording(path), {}
        resources = Resources(recording)
        for turn in fold(recording.events):
            state = turn["state"]
            if not (state and state["dom"] and state["screenshot"]):
                continue
            if state["stale"]:  # it says itself that it is of another moment
                stale += 1
                continue
            key = (state["dom"], state["screenshot"])
            document = render(recording, state, resources)
            await page.goto("about:blank")  # nothing of the one before, such as how far it was scrolled
            await page.set_content(document, wait_until="load")
            await page.mouse.move(*_pointer(turn))  # over this page, as it was when the state was kept
            await page.evaluate(PAGE_READY)
            if key not in known:
                rendered, kept = await page.screenshot(), recording.blob(state["screenshot"])
                secret = await page.evaluate(_SECRET)
                known[key] = ssim(rendered, kept), ssim(rendered, kept, secret) if secret else ssim(rendered, kept)
            canvases += await page.evaluate("!!document.querySelector('canvas')")
            bucket = moving if apart and (state["animations"] or await page.evaluate(_MOVES)) else scores
            bucket.append(known[key][0])
            if bucket is scores:
                beside.append(known[key][1])
            worst.append((known[key][0], f"{path.name} {turn['id']}"))
            if similarities is not None:
                similarities[path.name, turn["id"]] = known[key][1]
            box = turn["element"]["bbox"] if turn["element"] else None
            if bucket is scores and box and (point := _point(turn, box, viewport)):
                hits.append(await page.evaluate(_HIT, [*point, turn["element"]["uid"]]))
                if not hits[-1]:
                    print(f"  {path.name} {turn['id']}: {turn['intent']} on {turn['element']['xpath']} is not hit")
    await context.close()
    for score, name in sorted(worst)[:8]:
        print(f"  rendering {name}: SSIM {score:.3f}")
    return {"rendered": len(scores), "stale": stale, "ssim_median": statistics.median(scores) if scores else None,
            "ssim_at_least_0.9": sum(score >= 0.9 for score in scores) / max(len(scores), 1),
            "ssim_at_least_0.9_beside_secrets": sum(score >= 0.9 for score in beside) / max(len(beside), 1),
            "with_canvas": canvases, "with_video_or_animation": len(moving),
            "their_ssim_median": statistics.median(moving) if moving else None,
            "hit_tests": len(hits), "target_hit": sum(hits) / max(len(hits), 1)}


def ssim(rendered: bytes, screenshot: bytes, left_out: list[list[float]] | None = None) -> float:
    """Structural similarity of two pictures, in grey, at the screenshot's size; boxes `left_out` black in both."""
    ours, kept = (cv2.imdecode(np.frombuffer(image, np.uint8), cv2.IMREAD_GRAYSCALE)
                  for image in (rendered, screenshot))
    if ours.shape != kept.shape:
        ours = cv2.resize(ours, kept.shape[::-1], interpolation=cv2.INTER_AREA)
    for x, y, right, bottom in left_out or ():
        for image in (ours, kept):
            image[max(int(y) - _AROUND, 0):max(int(bottom) + _AROUND, 0),
                  max(int(x) - _AROUND, 0):max(int(right) + _AROUND, 0)] = 0
    return float(structural_similarity(ours, kept))


def _pointer(turn: BrowserTurn) -> tuple[float, float]:
    return turn["arguments"].get("x") or 0, turn["arguments"].get("y") or 0


def _point(turn: BrowserTurn, box: Box, viewport: ViewportSize) -> tuple[float, float] | None:
    """Where the target was hit; the centre of its box when that is not known (it may be covered there or cut off)."""
    x, y = turn["arguments"].get("x"), turn["arguments"].get("y")
    if turn["intent"] == "scroll" or x is None or not (
            0 <= x - box["x"] < box["width"] and 0 <= y - box["y"] < box["height"]):
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    return (x, y) if 0 <= x < viewport["width"] and 0 <= y < viewport["height"] else None
