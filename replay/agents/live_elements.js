// Elements of one frame's document by their uids. Runs in the world of the capture script, behind find.js.
"use strict";

globalThis.demotapeLiveElements ??= (function () {
  const MAX_LISTED = 1000; // elements with a uid in an accessibility tree
  const INTERACTIVE =
    "a[href], area[href], button, input, select, textarea, summary, label, option, [role], [tabindex], [onclick], [contenteditable]";
  let listed = [];

  const uidOf = (element) => `${demotape.shared.prefix}-${demotape.shared.numbers.get(element)}`;

  function find(uid) {
    for (const element of demotapeFind.everyElement(demotape.own(document))) if (uidOf(element) === uid) return element;
    return null;
  }

  /** Uids of what a person can act on; `take` gives the elements in the same order. */
  function list() {
    listed = [];
    for (const element of demotapeFind.everyElement(demotape.own(document))) {
      if (listed.length === MAX_LISTED) break;
      if (demotape.own(element).matches(INTERACTIVE) && demotape.shared.numbers.has(element)) listed.push(element);
    }
    return listed.map(uidOf);
  }

  const tagOf = (uid) => demotape.own(find(uid))?.localName ?? null;

  return { find, tagOf, list, take: () => listed };
})();
