// Elements that stand where nothing around them does (`position: fixed`, `absolute`): inside what is out of sight they are
// looked for by their styles, as no box and no scroll size tells of them. Reads only.
"use strict";

demotape.loose = demotape.ofGroup("loose", function () {
  const { own, shared } = demotape;
  const BUDGET = 2; // ms for one element table; what takes longer goes on with the next
  const EVERY = 32; // elements between looks at the clock
  const MOST = 64; // of them in one element
  const POSITIONS = new Set(["fixed", "absolute"]);
  let walks = -1, left = 0;

  /** The outermost such elements in an element. Remembered until something in it changes. */
  function inside(element) {
    const record = demotape.markup.recordOf(element);
    if (record.loose?.done || !own(element).firstElementChild) return record.loose?.found ?? [];
    if (walks !== shared.walks) [walks, left] = [shared.walks, BUDGET];
    if (left <= 0) return record.loose?.found ?? [];
    record.loose ??= begin(element);
    look(record.loose);
    return record.loose.found;
  }

  function begin(element) {
    const walker = own(own(element).ownerDocument).createTreeWalker(element, NodeFilter.SHOW_ELEMENT);
    return { found: [], walker, next: walker.nextNode(), done: false };
  }

  /** Go on looking as long as there is time. */
  function look(search) {
    const { walker, found } = search, begun = performance.now();
    for (let count = 1; search.next && found.length < MOST; count++) {
      if (count % EVERY === 0 && performance.now() - begun > left) break;
      const isLoose = POSITIONS.has(getComputedStyle(search.next).position);
      if (isLoose) found.push(search.next);
      search.next = isLoose ? after(walker) : walker.nextNode();
    }
    search.done = !search.next || found.length >= MOST;
    if (search.done) search.walker = search.next = null;
    left -= performance.now() - begun;
  }

  /** The next element that is not inside the walker's. */
  function after(walker) {
    do {
      const sibling = walker.nextSibling();
      if (sibling) return sibling;
    } while (walker.parentNode());
    return null;
  }

  return { inside };
});
