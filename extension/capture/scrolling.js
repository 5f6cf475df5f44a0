// Turns of the wheel, and scrolling: whose doing it is. A scroll is a gesture's from its beginning to its end if the
// gesture can scroll and has just acted on what scrolls; else it is the page's, or a driver's.
"use strict";

demotape.scrolling = (function () {
  const WHEEL_GAP_MS = 400; // without a wheel event that end a turn of the wheel
  const BEGIN_MS = 250; // after a wheel, key or press in which its scrolling begins
  const SEND_EVERY_MS = 100; // between scroll events of one element, and between deltas of one turn of the wheel
  const KEYS = new Set(["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "PageUp", "PageDown", "Home", "End", " "]);
  const { own, idleSnapshot, now } = demotape;
  const { scrollCauses: causes } = demotape.shared; // { id, element, until }: what was acted on, and ms since 1970
  const { send, attempt } = demotape.sending;

  const runs = new WeakMap(); // what scrolls -> the gesture that scrolls it, null for none; until its `scrollend`
  const offsets = new WeakMap(); // what has scrolled -> its offsets when it was last heard
  const lastSent = new WeakMap();
  let wheel = null; // the turn of the wheel that goes on

  /** A gesture may scroll `element`, or what it is in, for some time from now on: until it ends, while a button is down. */
  function mayScroll(id, element, forMs = BEGIN_MS) {
    const time = now(), known = causes.find((cause) => cause.id === id);
    const others = causes.filter((cause) => cause !== known && cause.until >= time && (cause.until < Infinity || forMs < Infinity));
    const added = known ?? { id, element };
    causes.splice(0, causes.length, ...others, Object.assign(added, { until: time + forMs }));
  }

  /** What a gesture scrolled has come to its end; what scrolls later is another's doing, unless a button is held. */
  function endCause(id) {
    const index = causes.findIndex((cause) => cause.id === id && cause.until !== Infinity);
    if (index >= 0) causes.splice(index, 1);
  }

  const isScrollKey = (event) => KEYS.has(event.key);

  function onWheel(event) {
    const element = demotape.events.targetOf(event), moved = { x: event.deltaX, y: event.deltaY };
    if (!wheel || event.timeStamp - wheel.last > WHEEL_GAP_MS) return beginWheel(event, element, moved);
    wheel.last = event.timeStamp;
    wheel.unsent = { x: wheel.unsent.x + moved.x, y: wheel.unsent.y + moved.y };
    mayScroll(wheel.id, element, WHEEL_GAP_MS);
    if (event.timeStamp - wheel.sent >= SEND_EVERY_MS) sendWheel();
    else wheel.waiting ??= demotape.later(sendWheel, SEND_EVERY_MS);
  }

  /** The browser scrolls before it tells: the state before is what was seen at rest, unless that has changed since. */
  function beginWheel(event, element, moved) {
    flush();
    const { snapshot, capturedAt, atRest } = idleSnapshot.beforeNow();
    const data = { ...demotape.events.point(event), modifiers: demotape.events.modifiers(event), delta: moved };
    const extras = { snapshot, gesture: null, shown: demotape.paintTracking.documentPainting(atRest ? capturedAt : undefined) };
    const id = (demotape.shared.gesture = send("wheel", event, element, data, extras));
    demotape.hovering.forget();
    wheel = { id, event, element, last: event.timeStamp, sent: event.timeStamp, unsent: { x: 0, y: 0 }, waiting: null, prevented: false };
    mayScroll(id, element, WHEEL_GAP_MS);
  }

  /** Learn whether the page takes a turn of the wheel for itself, which is known after its listeners have run. */
  function watch(event) {
    demotape.later(() => attempt(() => event.defaultPrevented && wheel && !wheel.prevented && notePrevented(wheel)), 0);
  }

  function notePrevented(begun) {
    begun.prevented = true;
    const { scrollLeft: x, scrollTop: y } = own(begun.element);
    send("wheel", begun.event, begun.element, { default_prevented: true, scroll: { x, y } }, { gesture: begun.id });
  }

  function sendWheel() {
    const { id, element, last, unsent, waiting } = wheel;
    waiting?.();
    Object.assign(wheel, { sent: last, waiting: null, unsent: { x: 0, y: 0 } });
    if (unsent.x || unsent.y) attempt(() => send("wheel", { timeStamp: last }, element, { delta: unsent }, { gesture: id }));
  }

  /** Send what is summed up. */
  const flush = () => wheel && sendWheel();

  function onScroll(event) {
    const element = demotape.events.targetOf(event);
    demotape.shared.scrolled.add(element);
    demotape.paintTracking.scrolled(element);
    const begins = !runs.has(element), gesture = causeOf(element);
    const from = offsets.get(element) ?? { x: 0, y: 0 }, to = { x: own(element).scrollLeft, y: own(element).scrollTop };
    runs.set(element, gesture);
    offsets.set(element, to);
    const byPage = wheel?.prevented && wheel.id === gesture; // it scrolls step by step, each with an end
    if (byPage) mayScroll(gesture, element);
    if (event.type === "scrollend") {
      runs.delete(element);
      if (!byPage) endCause(gesture);
      demotape.snapshotCache.scheduleWarming(); // look at it again at rest
    } else if (!begins && event.timeStamp - (lastSent.get(element) ?? -Infinity) < SEND_EVERY_MS) return;
    lastSent.set(element, event.timeStamp);
    const snaps = getComputedStyle(element).scrollSnapType !== "none";
    const data = { scroll: to, ...(gesture && begins ? { scroll_from: from } : {}), ...(gesture && snaps ? { snaps } : {}) };
    send("scroll", event, element, data, { gesture });
  }

  /** The gesture that scrolls an element: the last that acts on something in it, else the one that has begun to. */
  function causeOf(element) {
    const time = now();
    const cause = causes.findLast(({ until, element: acted }) => until >= time && holds(element, acted));
    return cause?.id ?? runs.get(element) ?? null;
  }

  /** Whether what scrolls holds what was acted on; what nothing has the focus of may be anywhere. */
  function holds(scroller, acted) {
    if (acted === own(own(acted).ownerDocument).body) return true;
    for (let at = acted; at; at = demotape.containerOf(at)) if (at === scroller) return true;
    return false;
  }

  return { onWheel, watch, flush, onScroll, mayScroll, isScrollKey };
})();
