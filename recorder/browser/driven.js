// Reports what a driver's scripts do by synthetic events: they choose from lists, set dates, colours and ranges, give
// files and click, in place of what a person does.
//
// A page's scripts dispatch the same events, most of them after something trusted. The stack distinguishes them: from
// here the functions of other isolated worlds are visible; the page's own world is asked for its own (page_stacks.js).
"use strict";

demotape.driven = (function () {
  const TYPES = new Set(["input", "change", "click"]);
  const CONTROLS = new Set(["input", "select", "textarea"]);
  const OURS = ["Error", "isAction", "isDriversAction", "onEvent"]; // the lines of a stack with nobody else on it
  const { own } = demotape;
  const LEADING = ["focus", "blur", "focusout", "focusin"]; // what a driver's `focus()` has the page hear, on the same stack
  let last = null; // that was a driver's
  let leading = null; // the last of those
  let begun = null; // the last gesture that began with a driver's `input`, and its control

  const going = (event) => event !== null && event.eventPhase !== Event.NONE;

  /** Whether a driver dispatched it: itself, not a listener of the page's that it has called. */
  function isAction(event) {
    if (!TYPES.has(event.type) || event === last) return false; // a shadow root tells it again
    if (event.type !== "click" && !CONTROLS.has(own(event.composedPath()[0])?.localName)) return false;
    if (going(last) || going(leading)) return false;
    if (new Error().stack.split("\n").length <= OURS.length && !isDriverOnStack()) return false;
    last = event;
    return true;
  }

  /** The same, asked of worlds that see what this one may not (driver_stacks.js, page_stacks.js). */
  const isDriverOnStack = () =>
    !window.dispatchEvent(new CustomEvent("STACKS_EVENT", { cancelable: true, detail: insertsScripts ? "named" : "" }));

  /** Whether a script of the page that has an address is on the stack. */
  const isPageOnStack = () => !window.dispatchEvent(new CustomEvent("STACKS_EVENT", { cancelable: true, detail: "page" }));

  // Functions of a script that a page has inserted have no address, as those of a driver.
  let insertsScripts = false;
  const insertions = new MutationObserver((records) => {
    if (document.readyState === "loading") return; // the parser's have the document's address
    insertsScripts ||= records.some(({ addedNodes }) => Array.from(addedNodes).some((node) =>
      own(node).localName === "script" && !own(node).hasAttribute("src")));
    if (insertsScripts) insertions.disconnect();
  });

  /** The gesture that an event of a driver's follows from; undefined when it is the first of what the driver did. */
  function gestureOf(event) {
    const follows = event.type === "change" && begun?.control === event.composedPath()[0] && begun.id === demotape.shared.gesture;
    return follows ? begun.id : undefined;
  }

  /** A gesture of this id has begun with an event of a driver's. */
  function noteBegun(event, id) {
    begun = event.type === "input" ? { id, control: event.composedPath()[0] } : null;
  }

  function listen(signal) {
    if (!insertsScripts) insertions.observe(document, { childList: true, subtree: true });
    signal.addEventListener("abort", () => insertions.disconnect());
    for (const type of LEADING) addEventListener(type, (event) => void (leading = event), { capture: true, passive: true, signal });
  }

  /** The recording has ended: no world needs to answer any more. */
  const end = () => void window.dispatchEvent(new CustomEvent("STACKS_EVENT", { detail: "end" }));

  return { isAction, isPageOnStack, end, gestureOf, noteBegun, listen };
})();
