// Reports a move of the top document through the history: when, and from which entry to which. The browser reports it
// without a time, and answers for its history only later. Reading and listening here has no effect on the page.
"use strict";

demotape.historyMoves = (function () {
  const TRAVERSAL = "traverse";

  /** `left`: the entry that was left, null on another website. An entry that is not of this history has the index -1. */
  function report(send, time, left, { restored }) {
    const from = left?.index ?? -1, to = navigation.currentEntry?.index ?? -1;
    const direction = from < 0 || to < 0 || from === to ? null : from < to ? "forward" : "back";
    send({ type: "moved", source: demotape.shared.prefix, time: performance.timeOrigin + time, restored, direction });
  }

  /** This document has come back from the cache of pages, at `time` (ms of its own clock). */
  const onRestored = (send, time) =>
    window === window.top && report(send, time, navigation.activation?.from, { restored: true });

  /** Report how this document was reached, and its later moves, until the signal. */
  function start(send, signal) {
    if (window !== window.top) return;
    const { activation } = navigation;
    if (activation?.navigationType === TRAVERSAL) report(send, 0, activation.from, { restored: false });
    navigation.addEventListener("currententrychange", ({ navigationType, from, timeStamp }) => {
      if (navigationType === TRAVERSAL) report(send, timeStamp, from, { restored: false });
    }, { signal });
  }

  return { start, onRestored };
})();
