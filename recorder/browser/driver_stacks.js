// Answers whether a driver's functions are on the stack, for the capture script in a world that does not see them
// (worlds.py): the answer to the event is that its default is prevented.
"use strict";

(() => {
  const OURS = /^\s*at .*\b(?:isDriverOnStack|isAction|isDriversAction|onEvent)\b/;
  if (globalThis.answersStacks) return; // made again for the same document
  globalThis.answersStacks = true;
  addEventListener("NAME", (event) => {
    if (/** @type {CustomEvent} */ (event).detail === "page") return; // asked of the page's own world only
    const others = new Error().stack.split("\n").slice(2).filter((line) => !OURS.test(line));
    if (others.length) event.preventDefault();
  }, true);
})();
