// Closed shadow roots, which no script sees from outside. Elements that seem to have one are handed to the recorder (CDP)
// or the extension (chrome.dom), which looks into them; what it finds is copied and listened to like an open root.
"use strict";

demotape.closed = (function () {
  // Elements that attachShadow() accepts besides custom ones (DOM standard, section 4.8).
  const HOSTS = new Set([
    "article", "aside", "blockquote", "body", "div", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "main",
    "nav", "p", "section", "span",
  ]);
  const looked = new WeakSet();
  let suspects = [];

  /** Note an element with a box whose children do not explain what it shows. */
  function suspect(element) {
    if (looked.has(element)) return;
    const custom = element.localName.includes("-");
    if (!custom && !HOSTS.has(element.localName)) return;
    if (!custom && !isHollow(element)) return;
    looked.add(element);
    suspects.push(element);
  }

  function isHollow(element) {
    for (let child = element.firstChild; child; child = child.nextSibling) {
      if (child.nodeType === Node.TEXT_NODE && child.data.trim()) return false;
      if (child.nodeType === Node.ELEMENT_NODE && child.checkVisibility()) return false;
    }
    return true;
  }

  const any = () => suspects.length > 0;

  /** The elements to be looked into; each is given once. */
  function take() {
    const taken = suspects.filter((element) => element.isConnected);
    suspects = [];
    return taken;
  }

  /** Take in what was found in one of them. */
  function adopt(root) {
    demotape.shared.closedRoots.set(root.host, root);
    demotape.mirror.forget(root.host);
    demotape.mirror.warmSoon();
  }

  return { suspect, any, take, adopt };
})();
