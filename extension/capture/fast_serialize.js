// Plain text: the browser's serialisation of a subtree, if it contains everything that is to be recorded. It is many
// times faster than a copy element by element. The uids stand before it, as runs of numbers in document order; the
// receiver puts them in (`numbered` in recorder/building/frame_merging.py).
"use strict";

demotape.fastSerialize = (function () {
  // What a text does not say, or says otherwise than the snapshot cache: state of controls, documents and roots of their own, and
  // what is never kept.
  const UNSUPPORTED = new Set([
    "html", "head", "input", "select", "option", "textarea", "iframe", "frame", "object", "embed", "template", "script",
    "noscript", "style", "link", "xmp", "noembed", "noframes", "plaintext",
  ]);
  const MAX_ELEMENTS = 200; // elements, so that little is told anew when something in it changes
  const MARK = "\u0003"; // before the runs, between them and the text, and behind it
  const OURS = /[\u0001-\u0003]|data-demotape-/; // our marks and attributes, which may stand in a page as well

  const { own } = demotape;

  /** Whether this browser escapes `<` in attributes: else a tag cannot be told from a value. */
  const escapes = (() => {
    const sample = demotape.own(document).createElement("i");
    sample.title = "<";
    return !sample.outerHTML.includes('"<"');
  })();

  /** The marked text of an element; null where it would not say all. */
  function text(element) {
    const node = own(element);
    if (!escapes || UNSUPPORTED.has(node.localName) || own(node.ownerDocument).contentType !== "text/html") return null;
    const below = node.getElementsByTagName("*");
    const { length } = below;
    const { scrolled, focused, lifted, marks } = demotape.shared;
    if (length >= MAX_ELEMENTS || [scrolled, focused.keys(), lifted.keys(), marks.keys()].some((other) => containsAny(other, element))) return null;
    const runs = runsOf(element, below, length);
    if (!runs) return null;
    const html = node.outerHTML;
    return OURS.test(html) || tagsIn(html) !== length + 1 ? null : MARK + runs + MARK + html + MARK;
  }

  /** Start tags in a text; -1 where it holds comments, or tags that begin with no letter. */
  function tagsIn(html) {
    let count = 0;
    for (let at = html.indexOf("<"); at >= 0; at = html.indexOf("<", at + 1)) {
      const code = html.charCodeAt(at + 1) | 32; // of a small letter
      if (code >= 97 && code <= 122) count++;
      else if (code !== 47) return -1; // no end tag either
    }
    return count;
  }

  /** Whether one of these elements is an element or below it. */
  function containsAny(elements, element) {
    for (const other of elements) if (own(element).contains(other)) return true;
    return false;
  }

  /** Numbers of an element and all below it, as "first+count,…"; null where one is not told whole by its text. */
  function runsOf(element, below, length) {
    let runs = "", first = 0, count = 0;
    for (let index = -1; index < length; index++) {
      const at = index < 0 ? element : below[index];
      const tag = own(at).localName;
      if (UNSUPPORTED.has(tag) || demotape.shadowRootOf(at)) return null;
      if ((tag === "img" && mayChoose(at)) || ((tag === "pre" || tag === "listing") && beginsWithBreak(at))) return null;
      if (tag.includes("-")) demotape.unseenState.noteCustom(at, tag);
      const known = demotape.shared.next;
      const number = demotape.number(at);
      if (number < known) demotape.snapshotCache.markCovered(at); // a new one has no text of its own yet
      if (number === first + count) count++;
      else {
        if (count) runs += `${first}+${count},`;
        first = number;
        count = 1;
      }
    }
    return `${runs}${first}+${count}`;
  }

  /** Whether it is not the picture's `src` alone that says what is shown. */
  const mayChoose = (picture) => picture.hasAttribute("srcset") || own(picture.parentNode)?.localName === "picture";

  /** Whether an element begins with a line break, which is swallowed when the text of a `pre` is read. */
  function beginsWithBreak({ firstChild: at }) {
    while (at?.nodeType === Node.TEXT_NODE && !at.data) at = at.nextSibling;
    return at?.nodeType === Node.TEXT_NODE && at.data.startsWith("\n");
  }

  return { text, beginsWithBreak };
})();
