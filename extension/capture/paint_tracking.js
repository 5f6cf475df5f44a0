// Whether the content of a state is painted. Who acts at once is ahead of the picture: an agent scrolls to a button and
// presses it before anything of that is painted. So an event tells since when its target stands where it does, and by
// when that was painted. Where that is not sure, it is told afterwards for how long the page stayed as it was, so that
// a later picture may show it.
"use strict";

demotape.paintTracking = demotape.ofGroup("paintTracking", function () {
  const PAINTS = 3; // a change is begun to be painted in the first, handed over by the second, drawn by the third
  const HOVERED = 30; // ms after the pointer has moved in which the page shows that it is there
  const EFFECT = 50; // ms after an act in which what changes is counted as its effect
  const ON_SCREEN_MS = 30; // ms more until it is on the screen
  const MAX_PAINT_TIMES = 64; // times of painting that are remembered
  const LOST = 1000; // ms after which a page that painted nothing is asked again
  const LATE = 1000; // ms after pictures were told to come late in which one of before an event may be missing
  const FOLLOWED = 300; // ms after an event in which a picture may come that shows the state before it
  const EVERY = 30; // ms between looks meanwhile
  const TOLERANCE_PX = 2; // CSS pixels by which boxes may differ and stand at the same place
  const COMPARED_STYLES = ["outline", "backgroundColor", "color", "borderColor", "boxShadow", "transform", "opacity", "filter"];
  const { shared, own, now } = demotape;
  const CONTROLS = new Set(globalThis.demotapeShared.controls);
  shared.changed ??= now(); // when something was last heard to change where elements stand: ms since 1970
  shared.painted ??= [{ since: -1, at: 0 }]; // what was there by `since` was painted by `at`; the last times, in order
  shared.paints ??= []; // when the page was last about to paint, as many times as a change takes
  shared.expecting ??= 0; // when it was last asked to paint; 0 when it is not waited for that
  shared.expected ??= 0; // what is to be painted is from then
  shared.begun ??= shared.changed; // when this document began
  shared.first ??= null; // by when that was painted
  shared.turned ??= 0; // when the page itself was last heard to scroll
  shared.late ??= -Infinity; // when pictures were last told to come late
  shared.leaving ??= null; // has the page told at once for how long it stayed as it was, while that is looked at
  shared.offsets ??= new WeakMap(); // element -> its scroll offsets as last heard, and when that was
  shared.moved ??= -Infinity; // when the pointer last did, in any of the frames
  shared.touched ??= new WeakMap(); // element -> when an attribute of it was changed, which may show in all inside it
  shared.filled ??= new WeakMap(); // element -> when its content was changed
  shared.effect ??= 0; // when something last changed right after an act
  shared.noteTable ??= 0; // when the element table was made or found unchanged, the last time before now
  shared.unheard ??= 0; // when something that says something was last found elsewhere, without having been heard to move

  /** Call `work` when the page paints next. A frame whose sandbox forbids scripts is not told of that. */
  const atPaint = matchMedia("(scripting: none)").matches
    ? (work) => void demotape.later(work, ON_SCREEN_MS) : (work) => void requestAnimationFrame(work);

  /** Where elements stand may have changed just now. */
  function change() {
    shared.changed = now();
    expectPaint(shared.changed);
    demotape.idleSnapshot.followSecrets();
  }

  /**
   * A node was changed just now. What changes right after an act is its effect, wherever on the page: the picture before
   * the next act must show it. What changes right after the pointer has moved is how the page answers to that.
   */
  function touch(node, type) {
    if (now() - shared.acted < EFFECT) shared.effect = now();
    else if (now() - shared.moved < HOVERED) return;
    const element = demotape.isElement(node) ? node : own(node).parentNode;
    if (element) (type === "attributes" ? shared.touched : shared.filled).set(element, now());
  }

  /** When an element was last changed, or what it stands in was, as far as that may show in it. */
  function touchedAt(element) {
    let last = shared.filled.get(element) ?? 0;
    for (let at = element; at; at = demotape.containerOf(at)) last = Math.max(last, shared.touched.get(at) ?? 0);
    return last;
  }

  /** Learn by when what is there at a time is painted. */
  function expectPaint(time) {
    shared.expected = Math.max(shared.expected, time);
    if (paintedBy(time) === null && now() - shared.expecting >= LOST) requestPaint();
  }

  function requestPaint() {
    const requestedAt = (shared.expecting = now());
    atPaint(() => {
      if (shared.expecting !== requestedAt || demotape.events.isStopped()) return;
      const paints = (shared.paints = [...shared.paints.slice(1 - PAINTS), now()]);
      if (paints.length === PAINTS) {
        shared.first ??= now();
        shared.painted = [...shared.painted.slice(1 - MAX_PAINT_TIMES), { since: paints[0], at: now() }];
      }
      shared.expecting = 0;
      if (paintedBy(shared.expected) === null) requestPaint();
    });
  }

  /** Resolves when what is there now is on the screen; not in a page that is out of sight. */
  const drawn = () => new Promise((resolve) => {
    const requestedAt = now();
    expectPaint(requestedAt);
    const check = () => (paintedBy(requestedAt) === null ? atPaint(check) : void demotape.later(resolve, ON_SCREEN_MS));
    check();
  });

  const offsetsOf = (element) => `${own(element).scrollLeft},${own(element).scrollTop}`;

  const isTop = () => shared.rootFrame === window.top;

  /** The element whose scrolling the pictures tell of, if any. */
  const pageScroller = () => (demotape.framesHaveOffsets && isTop() ? own(shared.rootFrame.document).scrollingElement : null);

  /** An element has scrolled. */
  function scrolled(element) {
    shared.offsets.set(element, { offsets: offsetsOf(element), heard: now() });
    demotape.idleSnapshot.followSecrets();
    if (element === pageScroller()) shared.turned = now();
    else change();
  }

  /**
   * Look for what has scrolled around an element and was not told yet: the browser tells when it paints. Returns when
   * one of them, but the page, was last heard to scroll: rows may have been made after it did and before that was heard.
   */
  function findScrolls(element) {
    let last = 0;
    for (let at = element; at; at = demotape.containerOf(at)) {
      if (offsetsOf(at) !== (shared.offsets.get(at)?.offsets ?? "0,0")) {
        shared.scrolled.add(at);
        scrolled(at);
      }
      if (at !== pageScroller()) last = Math.max(last, shared.offsets.get(at)?.heard ?? 0);
    }
    return last;
  }

  /**
   * Since when an element stands where its row of the table says: since the last change that was heard, if any was since
   * the table was looked at before. `old`: its row then, if it had one; `moving`: whether something is animated.
   */
  function sinceOf(element, old, row, moving) {
    if (old && stayed(old, row)) return old.since;
    const heard = shared.noteTable && !(old && moving) && (!old || shared.changed > shared.noteTable);
    const since = heard ? shared.changed : now();
    if (!heard && isReadable(element)) shared.unheard = since;
    expectPaint(since);
    return since;
  }

  /** Whether there is something to be read in an element itself. */
  function isReadable(element) {
    if (CONTROLS.has(own(element).localName)) return true;
    for (let child = own(element).firstChild; child; child = own(child).nextSibling) {
      if (child.nodeType === Node.TEXT_NODE && child.data.trim()) return true;
    }
    return false;
  }

  /** The element table was looked at; `gone`: elements that were in sight the last time are not any more. */
  function noteTable(gone = false) {
    if (gone && shared.changed <= shared.noteTable) expectPaint((shared.unheard = now()));
    shared.noteTable = now();
  }

  /** Whether a row differs from the one before by no more than what the page has scrolled. */
  function stayed(old, row) {
    if (old.facts !== row.facts || old.visible !== row.visible || old.entry.frame.join() !== row.entry.frame.join()) return false;
    const first = old.entry.bbox, second = row.entry.bbox;
    const isClose = (before, after) => Math.abs(before - after) <= TOLERANCE_PX;
    return isClose(first.width, second.width) && isClose(first.height, second.height) &&
      isClose(first.x + old.scroll.x, second.x + row.scroll.x) && isClose(first.y + old.scroll.y, second.y + row.scroll.y);
  }

  /** How far the page has scrolled, as the pictures tell. */
  const scroll = () => (pageScroller() ? { x: shared.rootFrame.scrollX, y: shared.rootFrame.scrollY } : { x: 0, y: 0 });

  const paintedBy = (time) => shared.painted.find(({ since }) => since >= time)?.at ?? null;

  /** What an event tells of its target, after the snapshot that goes with it; `least`: it stands there no longer. */
  function targetPainting(target, notBefore) {
    const row = target && demotape.markup.recordOf(target).row;
    const since = Math.max(notBefore, shared.effect, target ? touchedAt(target) : 0, row ? row.since : shared.changed);
    return { since, painted: paintedBy(since), ...pagePainting() };
  }

  /** Since when all that can be read stands where it does, as far as heard and seen, and by when that was painted. */
  function pagePainting(capturedAt = Infinity) {
    const since = Math.max(shared.changed, shared.unheard);
    return { all_since: since, all_painted: since <= capturedAt ? paintedBy(since) : null };
  }

  /**
   * The same of an event whose target may be anywhere: whether the document was painted at all. `taken`: when its state
   * was; what has changed after that is not in it.
   */
  const documentPainting = (capturedAt) => ({ since: shared.begun, painted: shared.first, ...pagePainting(capturedAt) });

  /** After an event: tell for how long the page stays as it was, unless it is surely on the screen already. */
  function follow(id, { since, painted, all_since, all_painted }, target) {
    const begun = now(), isOnScreen = (time) => time !== null && time + ON_SCREEN_MS < begun;
    const isSettled = isOnScreen(painted) && isOnScreen(all_painted) && begun - shared.turned > FOLLOWED;
    if (!isTop() || (isSettled && begun - shared.late > LATE)) return;
    const { appearance: before, moving } = appearanceOf(target);
    let until = 0;
    const ended = new AbortController();
    // By a timer: a page that is asked to paint again and again keeps who acts waiting for its next frame.
    const check = (leaving) => {
      if (ended.signal.aborted || demotape.events.isStopped() || shared.gesture !== id) return finish();
      if (appearanceOf(target).appearance !== before) return finish();
      until = now();
      if (leaving || until - begun > FOLLOWED) return finish();
      demotape.later(() => check(false), EVERY);
    };
    const finish = () => {
      if (ended.signal.aborted) return;
      ended.abort();
      shared.leaving = null;
      const all = moving ? null : paintedBy(all_since); // what is animated was not compared
      if (until) demotape.send({ type: "unchanged", event: id, until, painted: paintedBy(since), all_painted: all });
    };
    const frame = (target && own(own(target).ownerDocument).defaultView) ?? window;
    shared.leaving = () => check(true);
    frame.addEventListener("pagehide", shared.leaving, { signal: ended.signal });
    demotape.later(() => check(false), EVERY);
  }

  /**
   * All that would show in a picture, as far as it can be asked for: equal only when nothing of it has changed. What is
   * animated may go on (`moving`).
   */
  function appearanceOf(target) {
    demotape.snapshotCache.update();
    const { rows, moving } = demotape.table.take();
    const { x, y } = scroll();
    const comparedRows = moving ? [demotape.markup.recordOf(target).row] : rows;
    const styles = [];
    for (let at = target; at && styles.length < COMPARED_STYLES.length * 4; at = own(at).parentElement) {
      const style = getComputedStyle(at);
      styles.push(...COMPARED_STYLES.map((name) => style[name]));
    }
    const appearance = [shared.version, x, y, innerWidth, innerHeight, ...styles, ...comparedRows.map((row) => row?.number)].join();
    return { appearance, moving };
  }

  /** Nothing more will be heard: tell for how long the page has stayed as it was. */
  const leave = () => shared.leaving?.();

  /** Pictures of what is shown now come late. */
  function late() {
    shared.late = now();
  }

  return { change, touch, drawn, leave, late, scrolled, findScrolls, sinceOf, noteTable, scroll, targetPainting, documentPainting, follow };
});
