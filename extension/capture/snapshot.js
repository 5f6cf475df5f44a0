// A snapshot: a frame group's text, its element table, and what the state says of the tab.
"use strict";

demotape.snapshot = demotape.ofGroup("snapshot", function () {
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
      animations: document.getAnimations().filter((animation) => animation.playState === "running").length,
      scroll: { x: scroller?.scrollLeft ?? 0, y: scroller?.scrollTop ?? 0 },
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
    if (!gone.rows.length && !gone.chunks.length) return sealed;
    return { ...sealed, gone: { rows: gone.rows.splice(0), chunks: gone.chunks.splice(0) } };
  }

  /** What of a snapshot was not sent yet, to be sent before it is sealed: [number, text] and [number, row]. */
  const ahead = ({ root, rows }) => ({ chunks: unsentChunks(root), rows: rows.filter((row) => !row.sent).map(sealRow) });

  // Nobody holds them any more, so that no later snapshot can be made of them: the receiver need not keep them.
  const gone = { rows: [], chunks: [] };
  const goneRows = new FinalizationRegistry((number) => gone.rows.push(number));
  const goneChunks = new FinalizationRegistry((number) => gone.chunks.push(number));

  /** A row as it is sent: whole the first time, then by its number. */
  function sealRow(row) {
    if (row.sent) return row.number;
    row.sent = true;
    if (demotape.tellAhead) goneRows.register(row, row.number);
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
      if (demotape.tellAhead) goneChunks.register(chunk, chunk.number);
    }
    return found;
  }

  return { take, seal, ahead };
});
