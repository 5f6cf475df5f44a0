// Hears what a driver does to a control by script. Playwright and Puppeteer choose from lists, set dates, colours and
// ranges and give files from a world of their own, by events that are not trusted: they stand for what a person does.
//
// A page's scripts dispatch the same events, most of them after something trusted. What tells them apart is the stack:
// from here the functions of other isolated worlds are seen, those of the page's own world are not.
"use strict";

demotape.driven = (function () {
  const TYPES = new Set(["input", "change"]);
  const CONTROLS = new Set(["input", "select", "textarea"]);
  const OURS = ["Error", "isAction", "onEvent"]; // the lines of a stack with nobody else on it
  const { own } = demotape;
  let last = null; // that was a driver's
  let begun = null; // the control of which a driver's `input` was told last

  /** Whether a driver dispatched it: itself, not a listener of the page's that its event has called. */
  function isAction(event) {
    if (!TYPES.has(event.type) || event === last) return false; // a shadow root tells it again
    if (!CONTROLS.has(own(event.composedPath()[0])?.localName)) return false;
    const within = last !== null && last.eventPhase !== Event.NONE;
    if (within || new Error().stack.split("\n").length <= OURS.length) return false;
    last = event;
    return true;
  }

  /** Whether an event of a driver's is the first of what it did: a `change` follows from the `input` before it. */
  function begins(event) {
    const control = event.composedPath()[0];
    const follows = event.type === "change" && begun === control && demotape.shared.gestureType === "input";
    begun = event.type === "input" ? control : null;
    return !follows;
  }

  return { isAction, begins };
})();
