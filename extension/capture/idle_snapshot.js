// The last snapshot of the page, taken while it was idle or the pointer was elsewhere. A style sheet may open a menu,
// and the compositor may scroll, before any listener is told; then this is the state before. What the receiver has to
// know before an event comes is told at rest, too.
"use strict";

demotape.idleSnapshot = demotape.ofGroup("idleSnapshot", function () {
  const REPORT_EVERY = 400; // ms
  const FOLLOWED = 300; // ms after something went on in which secret fields are followed
  const { send, attempt } = demotape.sending;
  const UNSEEN = { snapshot: null, version: -1, capturedAt: -Infinity };
  const lastSeen = { ...UNSEEN };

  /** Take a snapshot of what the page shows now. */
  function capture() {
    lastSeen.snapshot = demotape.snapshot.take();
    lastSeen.version = demotape.shared.version;
    lastSeen.capturedAt = demotape.now();
    return lastSeen.snapshot;
  }

  /** What the page showed before the browser acted, as at rest, unless that has changed since: then what it shows now. */
  function beforeNow() {
    attempt(demotape.snapshotCache.update);
    const { snapshot, version, capturedAt } = lastSeen;
    const atRest = snapshot !== null && version === demotape.shared.version;
    return { snapshot: atRest ? snapshot : attempt(demotape.snapshot.take), capturedAt, atRest };
  }

  let reported = -Infinity, cancelReport = null;

  /** The page is idle; `idle`: the root and the rows that it shows now. */
  function onIdle(idle) {
    if (demotape.shared.acted > ahead.acted) attempt(() => sendAhead(idle));
    reportSoon(reported + REPORT_EVERY - performance.now());
  }

  function reportSoon(wait) {
    cancelReport?.();
    cancelReport = wait > 0 ? demotape.later(() => reportSoon(0), wait) : null;
    if (wait <= 0) sendReport();
  }

  /** Send now what the page shows, as far as it was not sent. */
  const sendReport = () => attempt(report);

  /** Send now what the page shows, whether or not it was sent before. */
  const sendSnapshot = () => attempt(() =>
    send("snapshot", { timeStamp: performance.now() }, null, {}, { snapshot: capture(), gesture: null }));

  /**
   * Tell what the page shows at rest: at first and in a new size, so that it is known what in it is secret before a
   * picture of it is kept; where something is secret, always; and on a page of several frame groups, of which none can
   * copy the others at an event, so that the receiver can take of the others what they showed last. Besides, this
   * readies the element table.
   */
  let sentSize = null, secrets = false, positions = "";
  function report() {
    reported = performance.now();
    const snapshot = capture();
    const several = snapshot.frames.length > 0 || demotape.shared.rootFrame !== window.top;
    const size = `${snapshot.viewport.width},${snapshot.viewport.height}`;
    if (size !== sentSize || several || secrets || snapshot.secrets.length) {
      send("snapshot", { timeStamp: reported }, null, {}, { snapshot, gesture: null });
    } else sendAhead(snapshot);
    sentSize = size;
    secrets = snapshot.secrets.length > 0;
    const now = JSON.stringify(snapshot.secrets);
    if (now !== positions) followSecrets();
    positions = now;
    const due = demotape.closedRoots.due();
    if (due === 0) demotape.send({ type: "closedRootCandidates" });
    if (due !== null) reportSoon(Math.max(due, REPORT_EVERY)); // there may be more
  }

  /**
   * Send now what the next event's snapshot would carry, so that the person does not wait for it then: a few times after
   * what the person did, so that a page that changes all the time is not sent all the time.
   */
  const AHEAD = 3;
  let ahead = { acted: -Infinity, left: 0 };
  function sendAhead({ root, rows }) {
    const { acted, prefix } = demotape.shared;
    if (acted > ahead.acted) ahead = { acted, left: AHEAD };
    if (!demotape.sendAheadParts || !ahead.left) return;
    const unsent = demotape.snapshot.ahead({ root, rows });
    if (!unsent.chunks.length && !unsent.rows.length) return;
    ahead.left--;
    demotape.sendAheadParts(prefix, unsent.chunks, unsent.rows);
  }

  /** Something goes on: while secret fields are in sight and move by it, tell each time that the page paints. */
  let followedUntil = -Infinity, following = false;
  function followSecrets() {
    followedUntil = performance.now() + FOLLOWED;
    if (!secrets || following) return;
    following = true;
    requestAnimationFrame(followOn);
  }

  function followOn() {
    following = false;
    if (!secrets || demotape.events.isStopped()) return;
    if (demotape.table.secretsMoved()) sendReport();
    if (following || performance.now() > followedUntil) return;
    following = true;
    requestAnimationFrame(followOn);
  }

  /** Nothing was looked at or told yet. */
  function forget() {
    cancelReport?.();
    Object.assign(lastSeen, UNSEEN);
    sentSize = null;
    secrets = false;
  }

  return { lastSeen, capture, beforeNow, onIdle, sendReport, sendSnapshot, followSecrets, forget };
});
