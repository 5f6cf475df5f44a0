// Pointing at the navigator's screen: a press marks a point, a drag marks a box, and so do the arrow keys and Enter. The
// picture is frozen until the message with that region is sent.
"use strict";

/** `area`: the layer over the picture that is pressed; `ring`: the mark in it; `onMark`: called when a region is marked. */
function createPointing({ button, area, ring, hint, cancel, picture, texts, onMark }) {
  const CLICK_PIXELS = 6; // of a hand that trembles
  const STEP = 0.02, BOX_STEP = 0.02; // of the picture, for a key
  let region = null, start = null, isMarked = false;
  let release = null, free = Promise.resolve();

  const between = (value) => Math.min(1, Math.max(0, value));

  function begin() {
    end();
    free = new Promise((resolve) => (release = resolve));
    region = { picture: Number(picture.dataset.number), x: 0.5, y: 0.5, width: 0, height: 0 };
    button.setAttribute("aria-pressed", "true");
    area.hidden = false;
    show(texts.aiming);
    ring.hidden = true;
    area.focus({ preventScroll: true });
  }

  /** Point at nothing; the picture goes on. */
  function end() {
    region = start = null;
    isMarked = false;
    button.setAttribute("aria-pressed", "false");
    area.hidden = cancel.hidden = true;
    hint.textContent = "";
    release?.();
    release = null;
  }

  function show(words) {
    Object.assign(ring.style, Object.fromEntries([["left", "x"], ["top", "y"], ["width", "width"], ["height", "height"]].map(
      ([side, name]) => [side, `${region[name] * 100}%`])));
    ring.classList.toggle("point", !region.width && !region.height);
    ring.hidden = cancel.hidden = false;
    hint.textContent = words;
  }

  function mark() {
    isMarked = true;
    show(texts.marked);
    onMark();
  }

  function positionOf({ clientX, clientY }) {
    const box = area.getBoundingClientRect();
    return { x: between((clientX - box.x) / box.width), y: between((clientY - box.y) / box.height), clientX, clientY };
  }

  function drag(event) {
    const now = positionOf(event);
    const isClick = Math.hypot(now.clientX - start.clientX, now.clientY - start.clientY) < CLICK_PIXELS;
    const [x, y] = isClick ? [start.x, start.y] : [Math.min(start.x, now.x), Math.min(start.y, now.y)];
    const [width, height] = isClick ? [0, 0] : [Math.abs(now.x - start.x), Math.abs(now.y - start.y)];
    region = { ...region, x, y, width, height };
    show(texts.aiming);
  }

  const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  function move([across, down], enlarges) {
    if (enlarges) {
      region.width = Math.min(1 - region.x, Math.max(0, region.width + across * BOX_STEP));
      region.height = Math.min(1 - region.y, Math.max(0, region.height + down * BOX_STEP));
    } else {
      region.x = Math.min(1 - region.width, between(region.x + across * STEP));
      region.y = Math.min(1 - region.height, between(region.y + down * STEP));
    }
    show(texts.aiming);
  }

  button.addEventListener("click", () => (region ? end() : begin()));
  cancel.addEventListener("click", () => {
    end();
    button.focus();
  });
  area.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    event.preventDefault();
    area.setPointerCapture(event.pointerId);
    start = positionOf(event);
    drag(event);
  });
  area.addEventListener("pointermove", (event) => start && drag(event));
  area.addEventListener("pointerup", (event) => {
    if (!start) return;
    drag(event);
    start = null;
    mark();
  });
  area.addEventListener("pointercancel", () => (start = null));
  area.addEventListener("keydown", (event) => {
    if (event.key in MOVES) move(MOVES[event.key], event.shiftKey);
    else if (event.key === "Enter") mark();
    else if (event.key === "Escape") cancel.click();
    else return;
    event.preventDefault();
  });

  return {
    end,
    /** Resolves when the picture may change. */
    whenFree: () => free,
    /** Whether there is something to point at, and somebody to see it. */
    allow: (possible) => (button.disabled = !possible || !picture.dataset.number),
    /** The region that the next message points at, once; null for none. */
    take() {
      const marked = isMarked ? region : null;
      if (isMarked) end();
      return marked;
    },
  };
}
