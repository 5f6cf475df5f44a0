// Where secret fields stood while a frame was painted: from what the page told before it and after. Pure; the same rules
// as recorder/building/secret_positions.py.

const LAG = 0.5; // seconds from what the page was to the frame that shows it, at most: a busy machine is slow
const AHEAD = 0.05; // seconds by which a frame may be ahead of what its page tells of itself: scrolled, animated
const TELLINGS = 200; // that are remembered

/** The places of one tab's secret fields, as they were told; times in seconds. */
export class SecretPlaces {
  #told = [];
  #knownUntil = -Infinity;
  #document = 0;

  /** Where they stood at a time, in CSS pixels of the viewport: those in sight, in the order of the document. */
  tell(time, boxes, document = this.#document) {
    this.#told.push({ time: Math.max(time, this.#told.at(-1)?.time ?? time), boxes, document });
    if (this.#told.length > TELLINGS) this.#told.shift();
  }

  /** Another document takes the place of this one: nothing moves from the one to the other. */
  leave() {
    this.#document++;
  }

  /** Every frame of the page has told where they stand, at that time or later. */
  confirm(time) {
    this.#knownUntil = Math.max(this.#knownUntil, time);
    const last = this.#told.at(-1);
    if (last) this.tell(time, last.boxes, last.document);
  }

  /** Whether it is known where they stood while a frame of that time was painted. */
  covers = (time) => time + AHEAD <= this.#knownUntil;

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
    const around = this.#around(time), found = [];
    for (let index = 1; index < around.length; index++) {
      if (around[index - 1].document !== around[index].document) continue;
      const before = around[index - 1].boxes, after = around[index].boxes;
      if (before.length === after.length) {
        found.push(...before.map((box, at) => [box, after[at]]).filter(([one, other]) => !isSame(one, other)).map(boxAround));
      } else found.push(...[...before, ...after].map((box) => ({ ...box, y: 0, height })));
    }
    return found;
  }

  /** What was told before and after a frame of that time was painted. */
  #around(time) {
    const told = this.#told, count = (test) => told.filter(test).length;
    const first = Math.max(0, count((each) => each.time <= time - LAG) - 1);
    const last = Math.min(told.length, count((each) => each.time < time + AHEAD) + 1);
    return told.slice(first, last);
  }
}

const isSame = (one, other) => ["x", "y", "width", "height"].every((side) => one[side] === other[side]);

/** The box around two. */
function boxAround([one, other]) {
  const x = Math.min(one.x, other.x), y = Math.min(one.y, other.y);
  const right = Math.max(one.x + one.width, other.x + other.width);
  const bottom = Math.max(one.y + one.height, other.y + other.height);
  return { x, y, width: right - x, height: bottom - y };
}
