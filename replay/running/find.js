// Finds an element as it was described when it was recorded, in one document and its shadow roots. Runs in the
// world of the capture script, with what that says of elements.
"use strict";

globalThis.demotapeFind ??= (function () {
  const MAX_CANDIDATES = 300; // elements that are compared closely
  const NEAR = 6; // CSS pixels
  // What an element means, and what that weighs; a test id is there to be found by.
  const ATTRIBUTES = {
    "data-testid": 4, "data-test": 4, "data-test-id": 4, "data-qa": 4, "data-cy": 4, id: 3, name: 2.5, href: 2.5, for: 2,
    "aria-label": 2, placeholder: 1.5, title: 1, alt: 1, type: 0.5, src: 1,
  };
  const NAME = 3, TEXT = 2, CLASS = 1, VALUE = 2;
  const XPATH = 3, CSS_PATH = 2, PLACE = 1.5;
  const MEANING = 0.65; // share of what it means in the score, the rest is where it stands; less where little is said
  const FULL_WEIGHT = 4; // weight of what is said from which on it counts whole
  const CHOSEN_BY_VALUE = new Set(["radio", "checkbox", "submit", "button", "reset"]);
  const { own } = demotape;
  let bestElement = null;

  /** Every element of a document and of its shadow roots. */
  function* everyElement(root) {
    for (const element of root.querySelectorAll("*")) {
      yield element;
      const shadow = demotape.shadowRootOf(element);
      if (shadow) yield* everyElement(shadow);
    }
  }

  /** Elements that may be it: of its tag if that is known, those that are most like it first when there are many. */
  function candidates(wanted) {
    const same = [];
    for (const element of everyElement(own(document))) if (isOfTag(element, wanted)) same.push(element);
    if (same.length <= MAX_CANDIDATES) return same;
    const start = wanted.text.slice(0, 40);
    const likely = (element) => Object.keys(ATTRIBUTES).some((key) => wanted.attributes[key] !== undefined &&
      key !== "type" && own(element).getAttribute(key) === wanted.attributes[key]) ||
      (start && own(element).textContent.replace(/\s+/g, " ").trim().startsWith(start));
    const first = new Set(elementsByPath(wanted));
    for (const element of same) if (first.size < MAX_CANDIDATES && likely(element)) first.add(element);
    for (const element of same) if (first.size < MAX_CANDIDATES) first.add(element);
    return [...first];
  }

  function isOfTag(element, wanted) {
    return !wanted.tag || own(element).localName === wanted.tag;
  }

  /** The first element that a selector of a recorded script names; ` >> ` leads into a shadow root. */
  function elementBySelector(selector) {
    return selector.split(" >> ").reduce((scope, part, number) => {
      const root = number ? demotape.isElement(scope) && demotape.shadowRootOf(scope) : own(document);
      return root ? root.querySelector(part) : null;
    }, null);
  }

  /** Elements at the recorded XPath and CSS path. */
  function elementsByPath(wanted) {
    const byPath = [];
    try {
      byPath.push(document.evaluate(wanted.xpath, document, null, XPathResult.FIRST_ORDERED_NODE_TYPE).singleNodeValue);
    } catch {
      // no XPath
    }
    try {
      byPath.push(elementBySelector(wanted.css));
    } catch {
      // no selector
    }
    return byPath.filter((element) => demotape.isElement(element) && isOfTag(element, wanted));
  }

  function classes(text) {
    return new Set((text ?? "").split(/\s+/).filter(Boolean));
  }

  /**
   * How similar an element is to the wanted one, in meaning and in location, with the features that agree. `named`: by
   * selectors of a recorded script, which say nothing else of it; empty for an element that was recorded.
   */
  function likeness(wanted, said, top, element, named) {
    const by = [];
    let meaning = 0, meant = 0, location = 0, locationWeight = 0;
    const weigh = (weight, equal, reason) => {
      meant += weight;
      meaning += weight * equal;
      if (equal === 1 && reason) by.push(reason);
    };
    const before = wanted.attributes, now = said.attributes;
    for (const [key, weight] of Object.entries(ATTRIBUTES)) {
      if (before[key] !== undefined) weigh(weight, Number(before[key] === now[key]), key === "type" ? "" : key);
    }
    if (before.value !== undefined && CHOSEN_BY_VALUE.has(before.type)) {
      weigh(VALUE, Number(before.value === now.value), "value");
    }
    const recorded = classes(before.class), present = classes(now.class);
    if (recorded.size) {
      const both = [...recorded].filter((className) => present.has(className)).length;
      weigh(CLASS, both / (recorded.size + present.size - both), "");
    }
    const isScripted = !wanted.uid;
    const isOfRole = wanted.role === said.role || (isScripted && !wanted.role);
    if (wanted.name) weigh(NAME, Number(wanted.name === said.name && isOfRole), "role and name");
    if (wanted.text && wanted.text !== wanted.name) weigh(TEXT, Number(wanted.text === said.text), "text");
    const weighLocation = (weight, equal, reason) => {
      locationWeight += weight;
      location += weight * equal;
      if (equal) by.push(reason);
    };
    if (isScripted) {
      if (named.length) weighLocation(XPATH, Number(named.includes(element)), "selector");
    } else {
      weighLocation(XPATH, Number(wanted.xpath === said.xpath), "XPath");
      weighLocation(CSS_PATH, Number(wanted.css === said.css), "CSS");
    }
    if (wanted.bbox && said.bbox && top) {
      const near = ["x", "y", "width", "height"].every((key) => Math.abs(wanted.bbox[key] - said.bbox[key]) <= NEAR);
      weighLocation(PLACE, Number(near), "place");
    }
    if (!locationWeight) return { score: meant ? meaning / meant : 0, by };
    const share = MEANING * Math.min(1, meant / FULL_WEIGHT);
    return { score: share * (meant ? meaning / meant : 0) + (1 - share) * (location / locationWeight), by };
  }

  /** The best match in this document: its score, the next best score, and the features that agree; `take` returns it. */
  function find(wanted) {
    const top = window === window.top;
    const named = wanted.uid ? [] : elementsByPath(wanted);
    const scored = candidates(wanted).map((element) => {
      const { score, by } = likeness(wanted, demotape.elements.describe(element), top, element, named);
      return { element, score, by };
    }).sort((first, second) => second.score - first.score);
    bestElement = scored[0]?.element ?? null;
    const [best, next] = scored;
    return { score: best?.score ?? 0, next: next?.score ?? 0, by: best?.by ?? [], depth: demotape.frameGroup.path(window).length };
  }

  return { find, take: () => bestElement, everyElement };
})();
