// Absolutely positioned elements (CSS Positioned Layout, `position: fixed` and `absolute`) stand where nothing around them
// does: inside what is out of sight they are looked for by their styles, as no box and no scroll size tells. Reads only.
"use strict";

demotape.positioned = demotape.ofGroup("positioned", function () {
  const { own, shared } = demotape;
  const BUDGET = 2; // ms for one element table; what takes longer goes on with the next
  const EVERY = 32; // elements between looks at the clock
  const MOST = 64; // of them in one element
  const POSITIONS = new Set(["fixed", "absolute"]);
  let walks = -1, left = 0;

  /** The outermost such elements in an element. Remembered until something in it changes. */
  function inside(element) {
    const record = demotape.markup.recordOf(element);
    if (record.positioned?.done || !own(element).firstElementChild) return record.positioned?.found ?? [];
    if (walks !== shared.walks) [walks, left] = [shared.walks, BUDGET];
    if (left <= 0) return record.positioned?.found ?? [];
    record.positioned ??= begin(element);
    look(record.positioned);
    return record.positioned.found;
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
      const isPositioned = POSITIONS.has(getComputedStyle(search.next).position);
      if (isPositioned) found.push(search.next);
      search.next = isPositioned ? after(walker) : walker.nextNode();
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

  /** Whether there was time enough for the element table that is being made. */
  const hadTime = () => walks !== shared.walks || left > 0;

  return { inside, hadTime };
});
