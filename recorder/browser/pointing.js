// The element at a point of the page, which the instructor of a live room points at. Only reads.
"use strict";

demotape.pointing = (function () {
  const { own, frameGroup } = demotape;

  /**
   * The element at a point of this frame group; null where there is none, and in frame groups at another `path`. x and y are
   * CSS pixels of the group's root; `scroll`, where given: how far that was scrolled when the point was chosen. `below`: if
   * the element has a frame of another group, the path of that one, and the point in it.
   */
  function elementAt(path, x, y, scroll) {
    if (window !== demotape.shared.rootFrame || String(frameGroup.path(window)) !== String(path)) return null;
    const [left, top] = scroll ? [x + scroll.x - scrollX, y + scroll.y - scrollY] : [x, y];
    const hit = innermost(document, left, top);
    if (!hit) return null;
    const { uid, tag, role, name, frame, bbox } = demotape.elements.describe(hit.element);
    return { element: { uid, tag, role, name, frame, bbox }, below: frameBelow(hit) };
  }

  /** Through shadow roots and frames of the group; x and y are CSS pixels of the frame of the document or shadow root. */
  function innermost(scope, x, y) {
    const element = own(scope).elementFromPoint(x, y);
    if (!element || own(element).getRootNode() !== scope) return null; // the shadow root's host
    const shadow = demotape.shadowRootOf(element);
    const hit = { element, x, y };
    if (shadow) return innermost(shadow, x, y) ?? hit;
    const inner = frameGroup.mayHoldFrame(element) ? frameGroup.documentOf(element) : null;
    return inner ? innermost(inner, ...inside(hit)) ?? hit : hit;
  }

  /** A point as the frame in its element has it. */
  function inside({ element, x, y }) {
    const box = frameGroup.contentBox(element);
    return [(x - box.x) / box.scaleX, (y - box.y) / box.scaleY];
  }

  function frameBelow(hit) {
    if (!frameGroup.mayHoldFrame(hit.element) || frameGroup.documentOf(hit.element)) return null;
    const index = frameGroup.indexIn(hit.element);
    if (index === null) return null;
    const [x, y] = inside(hit);
    return { path: [...frameGroup.path(frameGroup.frameOf(hit.element)), index], x, y };
  }

  return { elementAt };
})();
