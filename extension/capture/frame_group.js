// A frame group (same-origin frame group) is a set of frames with access to each other: the topmost reachable frame and
// all that it reaches. One script instance runs in each frame; those of a group share the top one's state, so that an
// element keeps its uid whichever frame asks, and one walk copies the whole group in one task.
//
// This file and its neighbours are plain scripts. They share one isolated world per frame, which the page cannot see.
"use strict";

/**
 * `sendActivity`, where given, is told that something goes on. `framesHaveOffsets`: whether the pictures that are taken tell
 * how far the page was scrolled.
 */
var demotape = (globalThis.demotape = { send: null, sendActivity: null, framesHaveOffsets: false });

/** Do some work in `wait` ms; returns what takes it back. */
demotape.later = (function () {
  function byTimer(work, wait) {
    const timer = setTimeout(work, wait);
    return () => clearTimeout(timer);
  }
  /** Timers stand still in a frame whose sandbox forbids scripts. A task costs the person more time than a timer. */
  function asTask(work, wait) {
    const replaced = new AbortController();
    scheduler.postTask(work, { delay: wait, signal: replaced.signal }).catch(() => {}); // taken back
    return () => replaced.abort();
  }
  return matchMedia("(scripting: none)").matches ? asTask : byTimer;
})();

/** A number as it can be told: a transform makes boxes larger than any number. */
demotape.finite = (value) => Math.min(1e9, Math.max(-1e9, value)) || 0;

/** A box or a point, and what else is said of it, as it can be told. */
demotape.finiteBox = (box) => Object.fromEntries(Object.entries(box).map(([name, value]) =>
  [name, typeof value === "number" ? demotape.finite(value) : value]));

demotape.frameGroup = (function () {
  function reachable(frame) {
    try {
      return Object.hasOwn(frame, "demotape") ? frame.demotape : null; // not a frame of that name
    } catch {
      return null; // another origin
    }
  }

  /** The topmost frame that this frame can reach through its parents, and its script's shared state. */
  function root() {
    /** @type {any} */
    let frame = window;
    while (frame.parent !== frame && reachable(frame.parent)?.shared) frame = frame.parent;
    return frame;
  }

  // An `object` and an `embed` have a frame only while they show a document.
  const FRAME_TAGS = new Set(["iframe", "frame", "object", "embed"]);
  const IMAGE_TYPE = /^image\/(?!svg)/i;

  /** Whether an element is of a kind that may have a frame. */
  const mayHoldFrame = (element) => FRAME_TAGS.has(demotape.own(element).localName);

  /** The frame in a frame element, null where there is none. */
  const windowIn = (frameElement) => namedWindow(frameElement) ?? (isEmbed(frameElement) ? unnamedWindow(frameElement) : null);

  /** The same, except for an `embed` of another origin: an `embed` has no `contentWindow`. */
  function namedWindow(frameElement) {
    if (!isEmbed(frameElement)) return demotape.own(frameElement).contentWindow ?? null;
    const frame = demotape.shared.embedded.get(frameElement);
    return frame && !frame.closed ? frame : null;
  }

  const isEmbed = (element) => demotape.own(element).localName === "embed";

  /** The frame of an `embed` of another origin: those that no element names are in the order of the `embed`s. */
  function unnamedWindow(embed) {
    const frame = frameOf(embed);
    const frameElements = Array.from(demotape.own(frame.document).querySelectorAll([...FRAME_TAGS].join()));
    const named = new Set(frameElements.map(namedWindow));
    const unnamed = Array.from({ length: frame.length }, (_, index) => frame[index]).filter((inner) => !named.has(inner));
    return unnamed[frameElements.filter(mayEmbed).indexOf(embed)] ?? null;
  }

  /** Whether an element is an `embed` that may have a frame of another origin. */
  function mayEmbed(element) {
    if (!isEmbed(element) || namedWindow(element)) return false;
    return element.getClientRects().length > 0 && !IMAGE_TYPE.test(element.type);
  }

  /** Index of the frame in a frame element, see `indexInParent`; null where there is none. */
  function indexIn(frameElement) {
    const frame = windowIn(frameElement);
    if (frame) return indexInParent(frame);
    const isInShadow = demotape.own(frameElement).getRootNode() !== demotape.own(frameElement).ownerDocument;
    return isInShadow && mayEmbed(frameElement) ? -1 : null;
  }

  /** The document in a frame element, when it belongs to this frame group. */
  function documentOf(frameElement) {
    try {
      const { document } = windowIn(frameElement);
      return demotape.own(document).defaultView ? document : null;
    } catch {
      return null;
    }
  }

  /** The frame whose document an element is in. */
  const frameOf = (element) => demotape.own(demotape.own(element).ownerDocument).defaultView;

  /** Index of a frame among its parent's frames, -1 when the parent does not list it, as in a shadow root. */
  function indexInParent(frame) {
    for (let index = 0; index < frame.parent.length; index++) {
      if (frame.parent[index] === frame) return index;
    }
    return -1;
  }

  /** Where a frame group hangs in the page: frame indices from the top document down; [] for the top document. */
  function path(frame) {
    const indices = [];
    for (let at = frame; at.parent !== at; at = at.parent) indices.unshift(indexInParent(at));
    return indices;
  }

  /** Content box of a frame element in the coordinates of its own document, and its scale. */
  function contentBox(frameElement) {
    const box = frameElement.getBoundingClientRect();
    const scaleX = frameElement.offsetWidth ? box.width / frameElement.offsetWidth : 1;
    const scaleY = frameElement.offsetHeight ? box.height / frameElement.offsetHeight : 1;
    const style = frameOf(frameElement).getComputedStyle(frameElement);
    return {
      x: box.x + (frameElement.clientLeft + parseFloat(style.paddingLeft)) * scaleX,
      y: box.y + (frameElement.clientTop + parseFloat(style.paddingTop)) * scaleY,
      width: (frameElement.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)) * scaleX,
      height: (frameElement.clientHeight - parseFloat(style.paddingTop) - parseFloat(style.paddingBottom)) * scaleY,
      scaleX,
      scaleY,
    };
  }

  /** How to get from a frame's coordinates to those of its frame group's root: x' = x * scaleX + x. */
  function transform(frame) {
    const chain = [];
    for (let at = frame; at !== demotape.shared.rootFrame; at = at.parent) {
      if (!at.frameElement) break;
      chain.unshift(contentBox(at.frameElement));
    }
    const total = { x: 0, y: 0, scaleX: 1, scaleY: 1 };
    for (const step of chain) {
      total.x += step.x * total.scaleX;
      total.y += step.y * total.scaleY;
      total.scaleX *= step.scaleX;
      total.scaleY *= step.scaleY;
    }
    return total;
  }

  /** uids of the frame elements from the frame group's root down to a frame. */
  function framePath(frame) {
    const uids = [];
    for (let at = frame; at !== demotape.shared.rootFrame; at = at.parent) {
      if (!at.frameElement) break;
      uids.unshift(demotape.uid(at.frameElement));
    }
    return uids;
  }

  return { root, path, mayHoldFrame, documentOf, frameOf, indexIn, contentBox, transform, framePath };
})();

/** What there is one of in a frame group: the root's. Who had one of a frame's own would lose it where that frame goes. */
demotape.ofGroup = function (name, make) {
  const root = demotape.frameGroup.root();
  return root === window ? make() : root.demotape[name];
};

/** Milliseconds since 1970: the clocks of the frames begin at different times. */
demotape.now = () => performance.timeOrigin + performance.now();

/** State shared by the scripts of one frame group: the elements' numbers, the current gesture, what was scrolled, what is secret. */
demotape.shared = demotape.ofGroup("shared", function () {
  return {
    rootFrame: window,
    prefix: crypto.getRandomValues(new Uint32Array(1))[0].toString(36),
    numbers: new WeakMap(),
    next: 1,
    messages: 0,
    acted: -Infinity, // when the person last did something
    stirred: 0, // counts what may change how the page looks and is no change of the DOM
    gesture: null, // id of the one that began last
    pendingText: null, // `flush` sends text of which nothing was told yet
    scrollCauses: [], // gestures that may scroll something now, the last one last
    scrolled: new Set(),
    oncePassword: new WeakSet(),
    reportedSecrets: new Map(),
    closedRoots: new WeakMap(),
    embedded: new WeakMap(), // `embed` -> its frame, in the same frame group
  };
});

if (window.frameElement?.localName === "embed") demotape.shared.embedded.set(window.frameElement, window);

/** The number of an element in its frame group, for the life of its document. Kept beside the page, never in it. */
demotape.number = function (element) {
  const { shared } = demotape;
  let number = shared.numbers.get(element);
  if (number === undefined) shared.numbers.set(element, (number = shared.next++));
  return number;
};

/** The id of an element: its number, with its frame group's prefix. */
demotape.uid = (element) => `${demotape.shared.prefix}-${demotape.number(element)}`;

/** An element's shadow root, open or closed (closed ones are made known by the recorder). */
demotape.shadowRootOf = function (element) {
  return demotape.own(element).shadowRoot ?? demotape.shared.closedRoots.get(element) ?? null;
};
