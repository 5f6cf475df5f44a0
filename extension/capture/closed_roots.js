// Closed shadow roots, which no script sees from outside. Elements that may have one are handed to the recorder (CDP) or
// the extension (chrome.dom), a few at a time, which looks into them; what it finds is copied and listened to like an
// open root. An element is looked into once: a closed root that is attached later is not found.
"use strict";

demotape.closedRoots = (function () {
  // Elements that attachShadow() accepts besides custom ones (DOM standard, section 4.8).
  const HOSTS = new Set([
    "article", "aside", "blockquote", "body", "div", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "main",
    "nav", "p", "section", "span",
  ]);
  const AT_ONCE = 50;
  const QUIET = 1000; // ms without the person's doing: only then are the unlikely ones looked into, which takes time
  const looked = new WeakSet();
  const likely = [], possible = [];

  /** Note an element in sight that may have a closed root. */
  function addCandidate(element) {
    if (looked.has(element)) return;
    const { localName, firstChild } = demotape.own(element);
    const custom = localName.includes("-");
    if (!custom && !HOSTS.has(localName)) return;
    looked.add(element);
    (custom || !firstChild ? likely : possible).push(element);
  }

  const quiet = () => demotape.now() - demotape.shared.acted > QUIET;

  /** In how many ms there is something to be looked into; null when there is nothing. */
  function due() {
    if (likely.length || (possible.length && quiet())) return 0;
    return possible.length ? QUIET : null;
  }

  /** The elements to be looked into next, the likely ones first; each is given once. */
  function take() {
    const taken = likely.splice(0, AT_ONCE);
    if (quiet()) taken.push(...possible.splice(0, AT_ONCE - taken.length));
    return taken.filter((element) => element.isConnected);
  }

  /** Take in what was found in one of them. */
  function adopt(root) {
    demotape.shared.closedRoots.set(root.host, root);
    demotape.snapshotCache.forget(root.host);
    demotape.snapshotCache.warmSoon();
  }

  return { addCandidate, due, take, adopt };
})();
