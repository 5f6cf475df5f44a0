// The pointer rests on something, and the page answers: a menu opens, be it after a delay.
"use strict";

demotape.hovering = (function () {
  const REST_MS = 350; // that the pointer must rest for a hover
  const CHECKS_MS = [REST_MS, 700, 1050, 1500, 2000]; // after it came, when the page may have answered
  const NEAR_PX = 100; // from what is hovered, within which a late answer is shown
  const MAX_NEAR_SHARE = 0.25; // of the window, that what is hovered may cover: everything is near to what is larger
  const SNAPSHOT_EVERY_MS = 120; // between snapshots of a sweeping pointer
  const CAPTURE_MS = 30; // from its coming over something to one: who presses at once is not kept waiting
  const GESTURE_SETTLE_MS = 150; // after a gesture, in which the page reacts to it
  const { idleSnapshot } = demotape;
  const { send, attempt } = demotape.sending;

  let rest = null; // where the pointer is, since when, what the page showed before, and how far it was looked at since
  let cancelCapture = null, cancelRefresh = null, stale = 0;

  /** The pointer truly moves (the browser tells of no move when the page changes beneath a pointer that rests). */
  function onPointerMove(event) {
    if (event.target === rest?.over || event.pointerType !== "mouse" || event.buttons || isUnmoved(event)) return;
    settle(); // what was opened is left for what is in it
    rest?.cancel?.();
    const target = demotape.elements.describe(demotape.events.targetOf(event), event);
    const { snapshot } = idleSnapshot.lastSeen;
    const before = snapshot?.rows.some((row) => row.entry.uid === target.uid) ? snapshot : idleSnapshot.capture();
    const data = { ...demotape.events.pointerData(event), button: 0 };
    const painting = demotape.paintTracking.documentPainting(idleSnapshot.lastSeen.capturedAt);
    rest = { event, over: event.target, target, data, before, painting, since: performance.now(), seen: null, sent: false, cancel: null };
    checkNext(rest, 0);
    cancelCapture ??= demotape.later(captureUnderPointer, CAPTURE_MS);
  }

  /** Whether the browser reports a pointer that was never moved, which is in the corner. */
  function isUnmoved(event) {
    const { x, y } = demotape.events.point(event);
    return x === 0 && y === 0 && !event.movementX && !event.movementY;
  }

  /** Look at the page with the pointer where it is: the state before it moves on. */
  function captureUnderPointer() {
    cancelCapture = null;
    if (demotape.now() - idleSnapshot.lastSeen.capturedAt > SNAPSHOT_EVERY_MS) attempt(idleSnapshot.capture);
  }

  /** Look again at the next of the times, until the page has answered or the pointer has left. */
  function checkNext(pause, index) {
    const wait = pause.since + CHECKS_MS[index] - performance.now();
    pause.cancel = demotape.later(() => {
      if (rest !== pause || attempt(check)) return;
      if (index + 1 < CHECKS_MS.length) checkNext(pause, index + 1);
    }, wait);
  }

  const seenNow = () => `${demotape.shared.version},${demotape.shared.changed}`;

  /** Send a hover if the page shows something else than before the pointer came; returns whether it was sent. */
  function check() {
    const { event, target, data, before, painting, seen, sent } = rest;
    if (sent || seen === seenNow()) return sent;
    rest.seen = seenNow();
    const now = idleSnapshot.capture();
    if (shown(now) === shown(before) || (seen !== null && !changesNear(before, now, target))) return false;
    rest.sent = true;
    send("hover", event, null, { ...data, changed: true }, { snapshot: before, target, shown: painting });
    return true;
  }

  const visible = ({ rows }) => rows.filter((row) => row.visible);
  const shown = (snapshot) => visible(snapshot).map((row) => row.entry.uid).join();

  /** Whether something has come or gone near what is hovered: a page that changes by itself does so anywhere. */
  function changesNear(before, now, { bbox }) {
    const [old, current] = [before, now].map((snapshot) => new Map(visible(snapshot).map((row) => [row.entry.uid, row])));
    const differing = [...current.values()].filter((row) => !old.has(row.entry.uid))
      .concat([...old.values()].filter((row) => !current.has(row.entry.uid)));
    const isSmall = bbox && bbox.width * bbox.height < innerWidth * innerHeight * MAX_NEAR_SHARE;
    return Boolean(isSmall) && differing.some((row) => gap(row.entry.bbox, bbox) <= NEAR_PX);
  }

  /** CSS pixels between two boxes, by the longer of both directions. */
  const gap = (first, second) => Math.max(
    first.x - (second.x + second.width), second.x - (first.x + first.width),
    first.y - (second.y + second.height), second.y - (first.y + first.height));

  /** A gesture makes what was seen before it stale. A timer that runs already is left: each costs the person's time. */
  function forget() {
    for (const cancel of [rest?.cancel, cancelCapture]) cancel?.();
    if (rest) rest.sent = true; // what changes from now on is the gesture's doing
    cancelCapture = null;
    idleSnapshot.lastSeen.snapshot = null;
    stale = performance.now();
    cancelRefresh ??= demotape.later(refresh, GESTURE_SETTLE_MS);
  }

  function refresh() {
    const wait = stale + GESTURE_SETTLE_MS - performance.now();
    cancelRefresh = wait > 0 ? demotape.later(refresh, wait) : null;
    if (wait <= 0) attempt(idleSnapshot.capture);
  }

  /** The pointer leaves what is hovered, or presses: what has opened since the last look is sent first. */
  function settle() {
    if (rest && rest.seen !== null) attempt(check);
  }

  function stop() {
    for (const cancel of [rest?.cancel, cancelCapture, cancelRefresh]) cancel?.();
    rest = cancelCapture = cancelRefresh = null;
  }

  return { onPointerMove, settle, forget, stop };
})();
