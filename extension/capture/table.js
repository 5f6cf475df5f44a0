// The element table: every element with a box in the viewport, frames and shadow roots included. Whole subtrees out of
// sight are passed over without reading their boxes; points of a grid are asked at the end what was missed by that.
"use strict";

demotape.table = demotape.ofGroup("table", function () {
  const WITHOUT_BOX = new Set(["head", "meta", "link", "script", "style", "title", "base", "template", "noscript"]);
  const NAME_LIMIT = 100;
  const LONG_LIST = 120; // children from which a list is searched instead of read through
  const SAMPLES = 16;
  const MARGIN = 8; // children read beyond both ends of what a search found
  const GRID = [6, 4]; // points across and down
  const PROBING = 2; // ms

  /** Where a frame's document stands: transform to the frame group root's coordinates, visible part, frame path. */
  function frameTransform(frame, outer, frameElement) {
    if (!outer) {
      return {
        x: 0, y: 0, scaleX: 1, scaleY: 1, path: [], indices: [], scroll: demotape.paintTracking.scroll(), moving: running(),
        clip: { left: 0, top: 0, right: frame.innerWidth, bottom: frame.innerHeight },
      };
    }
    const content = transformBox(demotape.frameGroup.contentBox(frameElement), outer);
    const { clip } = outer;
    return {
      x: content.x, y: content.y, scaleX: content.scaleX, scaleY: content.scaleY,
      path: [...outer.path, demotape.uid(frameElement)], indices: [...outer.indices, demotape.frameGroup.indexIn(frameElement)],
      scroll: outer.scroll, moving: outer.moving,
      clip: {
        left: Math.max(clip.left, content.x), top: Math.max(clip.top, content.y),
        right: Math.min(clip.right, content.x + content.width), bottom: Math.min(clip.bottom, content.y + content.height),
      },
    };
  }

  function transformBox(box, transform) {
    return {
      x: box.x * transform.scaleX + transform.x, y: box.y * transform.scaleY + transform.y,
      width: box.width * transform.scaleX, height: box.height * transform.scaleY,
      scaleX: (box.scaleX ?? 1) * transform.scaleX, scaleY: (box.scaleY ?? 1) * transform.scaleY,
    };
  }

  const { own } = demotape;

  let nextPoint = 0; // of the grid, to be asked next
  let secretElements = []; // that are in sight, each with its box
  demotape.shared.walks ??= 0; // times that the table was made

  const boxOf = (element) => own(element).getBoundingClientRect();

  const isInViewport = (box, { clip }) =>
    box.x < clip.right && box.y < clip.bottom && box.x + box.width > clip.left && box.y + box.height > clip.top;

  function walk(element, context, transform) {
    const node = own(element);
    if (WITHOUT_BOX.has(node.localName) || context.visited.has(element)) return;
    const rect = node.getBoundingClientRect();
    const hasBox = rect.width > 0 && rect.height > 0;
    const box = transformBox(rect, transform);
    if (hasBox && isInViewport(box, transform)) addRow(element, box, context, transform);
    else if (!reaches(element, rect, hasBox)) {
      context.skipped ||= hasBox && node.firstElementChild !== null;
      return;
    }
    walkInside(element, context, transform);
  }

  function walkInside(element, context, transform) {
    if (demotape.frameGroup.mayHoldFrame(element)) walkFrame(element, context, transform);
    const shadow = demotape.shadowRootOf(element);
    const record = demotape.markup.recordOf(element);
    if (shadow && !record.shadow) {
      demotape.snapshotCache.forget(element); // it came without a mutation that an observer tells
      context.found = true;
    }
    record.shadow = shadow;
    if (shadow) walkChildren(shadow, context, transform);
    else demotape.closedRoots.addCandidate(element);
    walkChildren(element, context, transform);
  }

  /** Whether something inside an element out of sight may be in sight. */
  function reaches(element, rect, hasBox) {
    const node = own(element);
    if (!node.firstElementChild && !demotape.shadowRootOf(element)) return false;
    if (!hasBox) return node.checkVisibility() || getComputedStyle(element).display === "contents";
    return node.scrollHeight > Math.ceil(rect.height) + 1 || node.scrollWidth > Math.ceil(rect.width) + 1;
  }

  function walkChildren(parent, context, transform) {
    const { firstElementChild, childElementCount, children } = own(parent);
    if (!firstElementChild) return;
    if (childElementCount > LONG_LIST && inOrder(children)) {
      const [first, last] = windowOf(children, transform);
      context.skipped = true;
      for (let index = first; index <= last; index++) walk(children[index], context, transform);
    } else {
      for (let at = firstElementChild; at; at = own(at).nextElementSibling) walk(at, context, transform);
    }
  }

  /** Whether a long list runs from top to bottom, by a sample of it. */
  function inOrder(children) {
    let last = -Infinity;
    for (let sample = 0; sample < SAMPLES; sample++) {
      const { top } = boxOf(children[Math.floor((sample * (children.length - 1)) / (SAMPLES - 1))]);
      if (top < last) return false;
      last = top;
    }
    return true;
  }

  /** Indices of the first and last child of a list in order that may be in sight. */
  function windowOf(children, transform) {
    const edge = (test) => {
      let low = 0, high = children.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (test(transformBox(boxOf(children[middle]), transform))) low = middle + 1;
        else high = middle;
      }
      return low;
    };
    const first = edge((box) => box.y + box.height <= transform.clip.top);
    const last = edge((box) => box.y < transform.clip.bottom);
    return [Math.max(0, first - MARGIN), Math.min(children.length - 1, last + MARGIN)];
  }

  function walkFrame(element, context, transform) {
    const inner = demotape.frameGroup.documentOf(element);
    const { documentElement, defaultView } = own(inner) ?? {};
    if (documentElement) {
      const innerTransform = frameTransform(defaultView, transform, element);
      walk(documentElement, context, innerTransform);
      probe(inner, context, innerTransform);
      return;
    }
    const index = demotape.frameGroup.indexIn(element);
    if (index !== null) {
      const box = transformBox(demotape.frameGroup.contentBox(element), transform);
      const { path, indices } = transform;
      const around = indices.length ? { path, indices } : { path };
      context.frames.push(demotape.finiteBox({ uid: demotape.uid(element), index, ...around, ...box }));
    }
  }

  function addRow(element, { x, y, width, height }, context, transform) {
    context.visited.add(element);
    const record = demotape.markup.recordOf(element);
    const facts = factsOf(element, record);
    const box = { x: round(x), y: round(y), width: round(width), height: round(height) };
    context.elements.push(element);
    const visible = own(element).checkVisibility({ opacityProperty: true, visibilityProperty: true });
    const before = record.row;
    if (!isSame(before, facts, box, visible, transform)) record.row = rowOf(element, facts, box, visible, transform);
    const visited = before?.walk === demotape.shared.walks - 1; // it was in sight the last time
    if (!visited || record.row !== before) record.row.since = demotape.paintTracking.sinceOf(element, visited ? before : null, record.row, transform.moving);
    if (visited) context.stayed++;
    record.row.walk = demotape.shared.walks;
    context.rows.push(record.row);
    const secret = demotape.secrets.isSecret(element);
    if (secret) demotape.secrets.report(element);
    if (!secret && !demotape.secrets.repeats(element)) return;
    context.secrets.push(demotape.finiteBox({ x, y, width, height }));
    secretElements.push([element, boxOf(element)]);
  }

  /** Whether a row says the same as the last one of its element: then it is that one, and need not be sent again. */
  function isSame(row, facts, box, visible, transform) {
    if (!row || row.facts !== facts || row.visible !== visible) return false;
    const { bbox, frame } = row.entry;
    return (
      bbox.x === box.x && bbox.y === box.y && bbox.width === box.width && bbox.height === box.height &&
      frame.length === transform.path.length && frame.every((uid, index) => uid === transform.path[index])
    );
  }

  /** A new row. `since`: when its element came to stand there; `scroll`: how far the page had scrolled then. */
  function rowOf(element, facts, bbox, visible, transform) {
    const { tag, role, name, clickable } = facts;
    const entry = { uid: demotape.uid(element), tag, role, name, frame: transform.path, bbox, visible, clickable };
    const number = (demotape.shared.rows = (demotape.shared.rows ?? 0) + 1);
    return { number, facts, visible, entry, sent: false, since: 0, scroll: transform.scroll, walk: 0 };
  }

  const round = (value) => Math.round(demotape.finite(value) * 1000) / 1000;

  /** What is said of an element in its row, remembered until something in it changes. */
  function factsOf(element, record) {
    if (!record.facts) {
      const role = demotape.elements.role(element);
      const name = demotape.elements.name(element, role, NAME_LIMIT);
      const clickable = demotape.elements.clickable(element, role);
      const { row } = record;
      // The same said again is the same: it need not be sent again.
      const same = row && row.entry.role === role && row.entry.name === name && row.entry.clickable === clickable;
      record.facts = same ? row.facts : { tag: own(element).localName, role, name, clickable };
    }
    return record.facts;
  }

  /**
   * Ask a grid of points what stands there: finds what was placed out of an element that was passed over. On pages where
   * the answer takes long, only some points are asked, others the next time.
   */
  function probe(document, context, transform) {
    if (!context.skipped) return;
    context.probed = false;
    const { innerWidth, innerHeight } = own(document).defaultView;
    const [columns, rows] = GRID;
    const until = performance.now() + PROBING;
    for (let count = 0; count < columns * rows && performance.now() < until; count++) {
      nextPoint = (nextPoint + 7) % (columns * rows);
      const x = ((nextPoint % columns) + 0.5) * (innerWidth / columns);
      const y = (Math.floor(nextPoint / columns) + 0.5) * (innerHeight / rows);
      const found = own(document).elementFromPoint(x, y);
      if (found && !context.visited.has(found)) recover(found, context, transform);
      context.probed = count === columns * rows - 1;
    }
  }

  function recover(found, context, transform) {
    let top = found;
    const above = (element) => own(element).parentElement;
    while (above(top) && !context.visited.has(above(top))) top = above(top);
    for (let at = found; at !== above(top); at = above(at)) {
      if (!context.visited.has(at)) walk(at, context, transform);
    }
  }

  /**
   * Rows, frames of other frame groups and boxes of secret fields, in the coordinates of the frame group's root; `found` when
   * shadow roots were met that the snapshot cache does not hold yet. A table that was taken before is given again when nothing
   * was heard that could have changed it, and a sample of its elements stands where it stood.
   */
  function take() {
    const signs = signsOf(demotape.shared.rootFrame);
    const same = last && signs.every((sign, index) => sign === last.signs[index]) && last.sample.every(isUnmoved);
    if (same) {
      demotape.paintTracking.noteTable();
      return last.context;
    }
    const context = walkAll();
    demotape.paintTracking.noteTable(context.stayed < previousRowCount);
    previousRowCount = context.rows.length;
    const final = context.probed && !running();
    last = final ? { context: { ...context, elements: null, found: false }, signs, sample: sampleOf(context) } : null;
    return context;
  }

  let last = null;
  let previousRowCount = 0; // elements, when the table was made the last time
  const SAMPLE = 8; // elements whose boxes are compared

  /** What was heard, and what is seen at a glance. The snapshot cache is up to date. */
  function signsOf(frame) {
    const { shared } = demotape;
    const { activeElement, documentElement, fonts, scrollingElement } = own(frame.document);
    return [
      shared.version, shared.stirred, frame.length, frame.innerWidth, frame.innerHeight, frame.devicePixelRatio, frame.scrollX, frame.scrollY,
      activeElement, documentElement, fonts.size, fonts.status, own(scrollingElement)?.scrollHeight, running(),
    ];
  }

  const running = () => demotape.snapshotCache.animations().length > 0;

  function sampleOf({ elements }) {
    const every = Math.max(1, Math.floor(elements.length / SAMPLE));
    return elements.filter((_, index) => index % every === 0).map((element) => [element, boxOf(element)]);
  }

  function isUnmoved([element, before]) {
    const now = boxOf(element);
    return now.x === before.x && now.y === before.y && now.width === before.width && now.height === before.height;
  }

  function walkAll() {
    const frame = demotape.shared.rootFrame;
    const context = {
      moving: false, rows: [], frames: [], secrets: [], elements: [], visited: new Set(), found: false, skipped: false,
      probed: true, stayed: 0,
    };
    demotape.shared.walks++;
    secretElements = [];
    const transform = frameTransform(frame, null, null);
    context.moving = transform.moving;
    const { documentElement } = own(frame.document);
    if (documentElement) {
      walk(documentElement, context, transform);
      probe(frame.document, context, transform);
    }
    return context;
  }

  /** Whether a secret field in sight stands elsewhere than in the last table. */
  const secretsMoved = () => !secretElements.every(isUnmoved);

  return { take, secretsMoved };
});
