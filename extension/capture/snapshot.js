// A snapshot: a frame group's text, its element table, and the state of the tab.
"use strict";

demotape.snapshot = demotape.ofGroup("snapshot", function () {
  /** The frame group as it was before a control was set, by what was seen of the control last. */
  function takeWithOldValue(control) {
    demotape.shared.set = control;
    try {
      return take();
    } finally {
      demotape.shared.set = null;
    }
  }

  /** The frame group now. `root` is a chunk; `seal` makes the snapshot ready to be sent. */
  function take() {
    const frame = demotape.shared.rootFrame;
    demotape.snapshotCache.update();
    let root = demotape.snapshotCache.take();
    const { rows, frames, secrets, found } = demotape.table.take();
    if (found) root = demotape.snapshotCache.take();
    const document = demotape.own(frame.document);
    const scroller = demotape.own(document.scrollingElement); // a body may be it, and nothing in that is named
    return {
      root, rows, frames, secrets,
      frame_group: demotape.shared.prefix,
      url: frame.location.href,
      title: document.title,
      viewport: { width: frame.innerWidth, height: frame.innerHeight },
      device_pixel_ratio: frame.devicePixelRatio,
      animations: demotape.snapshotCache.animations().filter(({ playState }) => playState === "running").length,
      scroll: { x: scroller?.scrollLeft ?? 0, y: scroller?.scrollTop ?? 0 },
      ...(demotape.unseenState.isPartial() ? { rendered: "partial" } : {}),
    };
  }

  /**
   * A snapshot as it is sent: with the rows and chunks that were not sent yet, of the others only the numbers; and where
   * the receiver follows what is sent ahead, with the numbers that will not come again.
   */
  function seal(snapshot) {
    if (!snapshot) return null;
    const { root, rows } = snapshot;
    const sealed = { ...snapshot, root: root.number, rows: rows.map(sealRow), chunks: unsentChunks(root) };
    const gone = { rows: sentRows.gone(), chunks: sentChunks.gone() };
    return gone.rows.length || gone.chunks.length ? { ...sealed, gone } : sealed;
  }

  /** What of a snapshot was not sent yet, to be sent before it is sealed: [number, text] and [number, row]. */
  const ahead = ({ root, rows }) => ({ chunks: unsentChunks(root), rows: rows.filter((row) => !row.sent).map(sealRow) });

  const sentRows = followed(), sentChunks = followed();

  /**
   * What was sent, by its number, to learn when nobody holds it any more: no later snapshot can be made of it then, and
   * the receiver need not keep it. A FinalizationRegistry would run in pages that are kept for going back to them, and
   * the browser throws a page out in which a script runs.
   */
  function followed() {
    const LEAST = 200, SHARE = 8; // how many are looked at a time: so many, or one in so many
    const refs = new Map();
    let next = refs.entries();

    /** The numbers of those that are gone, among the next few. */
    function gone() {
      const numbers = [];
      for (let left = Math.max(LEAST, refs.size / SHARE); left > 0; left--) {
        const { done, value } = next.next();
        if (done) {
          next = refs.entries();
          break;
        }
        if (!value[1].deref()) numbers.push(value[0]);
      }
      for (const number of numbers) refs.delete(number);
      return numbers;
    }

    return { add: (number, item) => void refs.set(number, new WeakRef(item)), gone };
  }

  /** A row as it is sent: whole the first time, then by its number. */
  function sealRow(row) {
    if (row.sent) return row.number;
    row.sent = true;
    if (demotape.sendAheadParts) sentRows.add(row.number, row);
    return [row.number, row.entry];
  }

  /** A chunk and those marked in it, if they were not sent yet; they count as sent from now on. */
  function unsentChunks(root) {
    const found = [], waiting = [root];
    while (waiting.length) {
      const chunk = waiting.pop();
      if (chunk.sent) continue;
      found.push([chunk.number, chunk.text]);
      if (chunk.chunks) waiting.push(...chunk.chunks);
      chunk.sent = true;
      chunk.text = ""; // nobody asks again
      if (demotape.sendAheadParts) sentChunks.add(chunk.number, chunk);
    }
    return found;
  }

  return { take, takeWithOldValue, seal, ahead };
});
