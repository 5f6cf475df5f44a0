// Sends events, one message each. What of it cannot be read costs that value, not the message.
"use strict";

demotape.sending = (function () {
  const MAX_STACK_LINES = 3; // of an error that are told

  /** Do our own work: no error of it reaches the page. Where it fails, `otherwise` stands for what it would give. */
  function attempt(work, otherwise = null) {
    try {
      return work();
    } catch (error) {
      demotape.send({ type: "error", message: described(error) });
      return otherwise;
    }
  }

  /** An error by its kind and places: its text may hold what the page holds. */
  function described(error) {
    const stackLines = String(error?.stack ?? "").split("\n").filter((line) => line.startsWith("    at "));
    return [error?.name ?? "Error", ...stackLines.slice(0, MAX_STACK_LINES).map((line) => line.trim())].join(" ");
  }

  /** Send one event; returns its id within the frame group. `gesture`: id of the event that began its gesture, null for itself. */
  function send(type, event, element, data, { snapshot = null, gesture = null, target = null, shown = null } = {}) {
    const { shared } = demotape;
    const id = `${shared.prefix}:${++shared.messages}`;
    if (element) demotape.driverActions?.noteActed(element);
    demotape.send({
      id,
      type,
      time: performance.timeOrigin + event.timeStamp,
      gesture,
      path: demotape.frameGroup.path(shared.rootFrame),
      target: target ?? (element ? attempt(() => demotape.elements.describe(element, event)) : null),
      data,
      ...(event.isTrusted === false ? { trusted: false } : {}),
      snapshot: demotape.snapshot.seal(snapshot),
      ...(shown ? { shown } : {}),
    });
    return id;
  }

  // What the receiver is told so that it knows how closely to look: that the pointer moves ("acting"), that the page
  // changes ("changing"), that what was pressed may lead to another document ("leading").
  const STIR_EVERY = 400; // ms
  const stirred = { acting: -Infinity, changing: -Infinity, leading: -Infinity };
  function stir(what) {
    if (!demotape.sendActivity || performance.now() - stirred[what] < STIR_EVERY) return;
    stirred[what] = performance.now();
    demotape.sendActivity(what);
  }

  return { send, attempt, stir };
})();
