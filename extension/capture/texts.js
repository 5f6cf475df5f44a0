// Where the text of an element stands that its box does not tell of: it has none (`display: contents`, no height), or
// the text reaches out of it. Reads only.
"use strict";

demotape.texts = (function () {
  const { own } = demotape;
  const NEAR = 2; // CSS pixels that letters may reach out of a box

  /** The box around the text that stands in an element itself, in its document's coordinates; null where none does. */
  function boxOf(element) {
    let found = null;
    for (let child = own(element).firstChild; child; child = own(child).nextSibling) {
      if (child.nodeType !== Node.TEXT_NODE || !child.data.trim()) continue;
      const range = new Range();
      range.selectNodeContents(child);
      const rect = range.getBoundingClientRect();
      if (rect.width && rect.height) found = around(found, rect);
    }
    return found;
  }

  function around(one, { left, top, right, bottom }) {
    if (!one) return { x: left, y: top, width: right - left, height: bottom - top };
    const x = Math.min(one.x, left), y = Math.min(one.y, top);
    return { x, y, width: Math.max(one.x + one.width, right) - x, height: Math.max(one.y + one.height, bottom) - y };
  }

  /**
   * The same where it reaches out of the element's box and can be seen there; else null. Remembered, relative to that
   * box, until something in the element changes or it has another size.
   */
  function outOf(element, box) {
    const record = demotape.markup.recordOf(element);
    if (record.text?.width !== box.width || record.text.height !== box.height) {
      const { width, height } = box, text = mayReachOut(element) ? boxOf(element) : null;
      const out = text && reachesOut(text, box) && !isCut(element);
      record.text = { width, height, out: out ? { ...text, x: text.x - box.x, y: text.y - box.y } : null };
    }
    const { out } = record.text;
    return out && { ...out, x: out.x + box.x, y: out.y + box.y };
  }

  /** Whether the text of an element may reach out of its box, by what costs less to ask than where it stands. */
  function mayReachOut(element) {
    const { clientWidth, clientHeight, scrollWidth, scrollHeight } = own(element);
    if (scrollWidth > clientWidth || scrollHeight > clientHeight) return true;
    const { display, textIndent } = getComputedStyle(element);
    return display !== "inline" && (clientWidth === 0 || textIndent.startsWith("-"));
  }

  const reachesOut = (text, box) =>
    text.x < box.x - NEAR || text.y < box.y - NEAR ||
    text.x + text.width > box.x + box.width + NEAR || text.y + text.height > box.y + box.height + NEAR;

  function isCut(element) {
    const { overflowX, overflowY } = getComputedStyle(element);
    return overflowX !== "visible" && overflowY !== "visible";
  }

  return { boxOf, outOf };
})();
