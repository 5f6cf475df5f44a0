// A snapshot: an island's text, its element table, and what the state says of the tab.
"use strict";

demotape.snapshot = (function () {
  /** The island now. `root` is a chunk; `seal` makes the snapshot ready to be sent. */
  function take() {
    const frame = demotape.shared.rootFrame;
    demotape.mirror.update();
    let root = demotape.mirror.take();
    const { rows, frames, secrets, found } = demotape.table.take();
    if (found) root = demotape.mirror.take();
    const scroller = frame.document.scrollingElement;
    return {
      root, rows, frames, secrets,
      island: demotape.shared.prefix,
      url: frame.location.href,
      title: frame.document.title,
      viewport: { width: frame.innerWidth, height: frame.innerHeight },
      device_pixel_ratio: frame.devicePixelRatio,
      animations: frame.document.getAnimations().filter((animation) => animation.playState === "running").length,
      scroll: { x: scroller?.scrollLeft ?? 0, y: scroller?.scrollTop ?? 0 },
    };
  }

  /** A snapshot as it is sent: with the chunks that were not sent yet; of a row and a chunk that were, only the number. */
  function seal(snapshot) {
    if (!snapshot) return null;
    const rows = snapshot.rows.map((row) => (row.sent ? row.number : [row.number, row.told]));
    for (const row of snapshot.rows) row.sent = true;
    return { ...snapshot, root: snapshot.root.number, rows, chunks: demotape.mirror.unsent(snapshot.root) };
  }

  return { take, seal };
})();
