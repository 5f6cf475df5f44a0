// Closed shadow roots, which scripts cannot access from outside. Elements that may have one are handed to the recorder
// (CDP) or the extension (chrome.dom), a few at a time, which looks into them; what it finds is copied and listened to
// like an open root. An element is looked into again when it has become another in a way that attaching a root brings
// about, as a script may attach one later: a few times, so that what changes all the time costs little.
"use strict";

demotape.closedRoots = (function () {
  // Elements that attachShadow() accepts besides custom ones (DOM standard, section 4.8).
  const HOSTS = new Set([
    "article", "aside", "blockquote", "body", "div", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "main",
    "nav", "p", "section", "span",
  ]);
  const AT_ONCE = 50;
  const QUIET = 1000; // ms without the person's doing: only then are the unlikely ones looked into, which takes time
  const OFTEN = 5; // times that one element is looked into, at most
  const looked = new WeakMap(); // element -> what it was like, and how often it was looked into
  const likely = [], possible = [];

  /** Note an element in sight that may have a closed root. */
  function addCandidate(element) {
    const { localName, firstChild } = demotape.own(element);
    const custom = localName.includes("-");
    if (!custom && !HOSTS.has(localName)) return;
    const isLikely = custom || !firstChild;
    const { like, times } = looked.get(element) ?? { like: "", times: 0 };
    if (times >= OFTEN) return;
    const now = likeness(element, isLikely);
    if (now === like) return;
    looked.set(element, { like: now, times: times + 1 });
    (isLikely ? likely : possible).push(element);
  }

  /** What of an element changes when a root is attached, or its page's scripts have run. */
  function likeness(element, isLikely) {
    const node = demotape.own(element);
    const loaded = String(demotape.own(document).readyState === "complete");
    return isLikely ? [loaded, node.matches(":defined"), node.clientWidth, node.clientHeight].join() : loaded;
  }

  const quiet = () => demotape.now() - demotape.shared.acted > QUIET;

  /** In how many ms there is something to be looked into; null when there is nothing. */
  function due() {
    if (likely.length || (possible.length && quiet())) return 0;
    return possible.length ? QUIET : null;
  }

  /** The elements to be looked into next, the likely ones first; each is given once. */
  function takeCandidates() {
    const batch = likely.splice(0, AT_ONCE);
    if (quiet()) batch.push(...possible.splice(0, AT_ONCE - batch.length));
    return batch.filter((element) => element.isConnected);
  }

  /** Take in what was found in one of them. */
  function adopt(root) {
    demotape.shared.closedRoots.set(root.host, root);
    demotape.snapshotCache.forget(root.host);
    demotape.snapshotCache.scheduleWarming();
  }

  return { addCandidate, due, takeCandidates, adopt };
})();
