// A snapshot: an island's text, its element table, and what the state says of the tab.
"use strict";

demotape.snapshot = (function () {
  /** The island now. `root` is a chunk's number; `seal` adds the chunks that the receiver does not have yet. */
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

  /** A snapshot as it is sent. */
  function seal(snapshot) {
    return snapshot && { ...snapshot, chunks: demotape.mirror.unsent(snapshot.root) };
  }

  return { take, seal };
})();
