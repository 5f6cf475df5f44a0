// Positions of secret fields while a frame was painted: from the page's reports before it and after. Pure; the same
// rules as recorder/building/secret_positions.py.

const LAG_S = 0.5; // seconds from what the page was to the frame that shows it, at most: a busy machine is slow
const AHEAD_S = 0.05; // seconds by which a frame may be ahead of what its page tells of itself: scrolled, animated
const MAX_REPORTS = 200; // that are remembered

/** The places of one tab's secret fields, as they were told; times in seconds. */
export class SecretFieldPositions {
  #reports = [];
  #knownUntil = -Infinity;
  #unknown = { after: 0, until: 0 }; // for this time it is never known
  #document = 0;

  /** Where they stood at a time, in CSS pixels of the viewport: those in sight, in the order of the document. */
  addReport(time, boxes, document = this.#document) {
    this.#reports.push({ time: Math.max(time, this.#reports.at(-1)?.time ?? time), boxes, document });
    if (this.#reports.length > MAX_REPORTS) this.#reports.shift();
  }

  /** Another document takes the place of this one: nothing moves from the one to the other. */
  leave() {
    this.#document++;
  }

  /** What was shown after the last confirmation, until a time, is never known: its document is gone. */
  skip(until) {
    this.#unknown = { after: this.#knownUntil, until };
  }

  /** Every frame of the page has told where they stand, at that time or later. */
  confirm(time) {
    this.#knownUntil = Math.max(this.#knownUntil, time);
    const last = this.#reports.at(-1);
    if (!last) return;
    this.addReport(time, last.boxes, last.document);
    this.#reports.at(-1).confirmed = time;
  }

  /**
   * Whether it is known where they stood while a frame of that time was painted; `mayMove`: there are any, which may be in
   * the frame where the page reports them a little later.
   */
  covers = (time, mayMove = true) => time + (mayMove ? AHEAD_S : 0) <= this.#knownUntil && !this.isLost(time);

  /** Whether it will never be known. */
  isLost = (time) => this.#unknown.after < time && time <= this.#unknown.until;

  /** Boxes that hold every secret field while a frame of that time was painted: the places told before and after it, and
   * the path between. */
  during(time, height) {
    return [...this.#around(time).flatMap(({ boxes }) => boxes), ...this.path(time, height)];
  }

  /**
   * Those of the boxes that hold a path. A field that is in sight at one end of it only may have come from above or below:
   * then it is the whole height of the viewport.
   */
  path(time, height) {
    const around = this.#around(time), swept = [];
    for (let index = 1; index < around.length; index++) {
      if (around[index - 1].document !== around[index].document) continue;
      const before = around[index - 1].boxes, after = around[index].boxes;
      if (before.length === after.length) {
        swept.push(...before.map((box, at) => [box, after[at]]).filter(([first, second]) => !isSame(first, second)).map(boxAround));
      } else swept.push(...[...before, ...after].map((box) => ({ ...box, y: 0, height })));
    }
    return swept;
  }

  /**
   * The reports from before a frame of that time was painted until all frames of the page had reported after it: a report
   * of one frame says nothing of a busy one beside it.
   */
  #around(time) {
    const reports = this.#reports, first = reports.filter((report) => report.time <= time - LAG_S).length - 1;
    const last = reports.findIndex((report) => report.confirmed >= time + AHEAD_S);
    return reports.slice(Math.max(0, first), last < 0 ? undefined : last + 1);
  }
}

const isSame = (first, second) => ["x", "y", "width", "height"].every((side) => first[side] === second[side]);

/** The box around two. */
function boxAround([first, second]) {
  const x = Math.min(first.x, second.x), y = Math.min(first.y, second.y);
  const right = Math.max(first.x + first.width, second.x + second.width);
  const bottom = Math.max(first.y + first.height, second.y + second.height);
  return { x, y, width: right - x, height: bottom - y };
}
