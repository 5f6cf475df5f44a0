// The ring of one tab's last frames, bounded in seconds and in bytes, and the choice of the frame that shows the page
// before an event. Times are wall clock, in seconds.
import { releaseBuffer } from "./frame_buffers.js";
import { ReadablePeriods } from "./readable_periods.js";
import { SecretFieldPositions } from "./secret_positions.js";

export const FRESH_S = 0.6; // seconds of which every frame is held
const BUFFER_S = 2.5; // seconds of which some frames are held: a page that is busy tells late of what was done
const BUFFER_INTERVAL_S = 0.15; // seconds between those
const MIN_SHOWN_S = 0.1; // seconds; a frame that stood longer is held
const FRESH_BYTES = 100e6; // bytes of the frames of the last FRESH_S seconds: of large frames, not every one is copied
const RING_BYTES = 72e6; // bytes of all frames of a tab
const HIDDEN_BYTES = 24e6; // bytes of all frames of a tab that is not shown
const MAX_COPY_INTERVAL_S = 0.08; // seconds between two copies of frames: a frame that waits longer would count as late
export const LATE_S = 0.1; // seconds of delay of a frame, from which the browser may have dropped later ones meanwhile
const DRAWN_S = 0.03; // seconds from a page's third paint after a change until that is on the screen
const WITHHOLD_S = 0.3; // the same where the browser may see an animation
// With so many frames in so many seconds the browser may see an animation: until that is over it sends no frame of what
// else is painted.
const ANIMATION_WINDOW_S = 1, MIN_ANIMATION_FRAMES = 12;
const FRAMES_PER_S = 30; // that a stream has at most

export const now = () => (performance.timeOrigin + performance.now()) / 1000;

/** Of all streams: `offset` of wall clock and the streams' own clock, in seconds: of the frame, of any tab, that came soonest. */
export const streamClock = { offset: Infinity };

export class FrameRing {
  constructor(number) {
    this.number = number;
    this.ring = []; // { copy, ticks | from and time, came, waited, steady, filmed, picture, users }
    this.taken = []; // of the frames of the last ANIMATION_WINDOW_S: { time, painted: how many may have been painted since the one before }
    this.places = new SecretFieldPositions();
    this.periods = new ReadablePeriods();
    this.width = this.height = 0; // of the viewport, CSS pixels
    this.isShown = false;
  }

  /** Wall clock of a frame. A frame is never taken for older than it is. */
  timeOf = (entry) => entry.time ?? entry.ticks + streamClock.offset;

  /** From when on a still capture may have been taken; of a frame its time. */
  fromOf = (entry) => entry.from ?? this.timeOf(entry);

  /** Whether a frame is of a page that may be read: `kept`, `refused` or `open`. */
  stateOf = (entry) => this.periods.state(this.fromOf(entry), this.timeOf(entry));

  get newest() {
    return this.ring.length ? this.timeOf(this.ring.at(-1)) : -Infinity;
  }

  /** Add a frame, which is the newest. */
  push(entry) {
    entry.steady = this.#mayBeAnimated(entry);
    entry.users = 0;
    this.ring.push(entry);
    this.#thin();
  }

  /**
   * Whether the browser may see an animation. Of frames that were waiting when the one before was done, others may have
   * been dropped before: they count with as many as may have been painted.
   */
  #mayBeAnimated(entry) {
    const time = this.timeOf(entry), before = this.taken.at(-1)?.time ?? time;
    const painted = entry.waited ? Math.max(1, Math.round((time - before) * FRAMES_PER_S)) : 1;
    this.taken = [...this.taken.filter((frame) => time - frame.time <= ANIMATION_WINDOW_S), { time, painted }];
    return this.taken.reduce((sum, frame) => sum + frame.painted, 0) >= MIN_ANIMATION_FRAMES;
  }

  /** Seconds between two copies of frames of this size, so that the fresh ones fit into their memory. */
  copyInterval(bytes) {
    return this.isShown ? Math.min(MAX_COPY_INTERVAL_S, (bytes * FRESH_S) / FRESH_BYTES) : MAX_COPY_INTERVAL_S;
  }

  /** Let go of frames that nobody will ask for, and of some that stood on the screen for a moment only. */
  #thin() {
    const until = now(), before = this.ring;
    let last = -Infinity;
    const thinned = before.filter((entry, index) => {
      const time = this.timeOf(entry);
      if (index === before.length - 1 || until - time < FRESH_S) return true;
      const next = this.timeOf(before[index + 1]);
      if (until - next > BUFFER_S || (next - time < MIN_SHOWN_S && next - last < BUFFER_INTERVAL_S)) return false;
      last = time;
      return true;
    });
    const limit = this.isShown ? RING_BYTES : HIDDEN_BYTES;
    let bytes = 0;
    const first = thinned.findLastIndex((entry) => (bytes += entry.copy.bytes.byteLength) > limit);
    this.ring = thinned.slice(Math.min(first + 1, thinned.length - 1));
    const remaining = new Set(this.ring);
    for (const entry of before) if (!remaining.has(entry)) this.#release(entry);
  }

  /** Forget all frames. */
  clear() {
    for (const entry of this.ring.splice(0)) this.#release(entry);
  }

  #release(entry) {
    entry.removed = true;
    if (!entry.users) releaseBuffer(entry.copy.bytes);
  }

  /** Use a frame while `work` lasts: its memory is not given to another one meanwhile. */
  async use(entry, work) {
    entry.users++;
    try {
      return await work();
    } finally {
      if (!--entry.users && entry.removed) releaseBuffer(entry.copy.bytes);
    }
  }

  /**
   * The frame that shows the page before an event: the newest not later than it, if that shows its target where it stood;
   * else the first later one that does, while the page stayed as it was; else that newest one, which is stale.
   */
  choose(wanted) {
    const { time, until = time } = wanted;
    const index = this.ring.findLastIndex((entry) => this.timeOf(entry) <= time);
    const isPermitted = index >= 0 && this.stateOf(this.ring[index]) === "kept";
    if (isPermitted && !this.doubt(wanted, index, time)) {
      const agrees = wanted.allPainted > 0 && this.shows(index, wanted.allPainted, wanted.allSince, time);
      return { entry: this.ring[index], facts: agrees ? { screenshot_agrees: true } : {} };
    }
    for (let later = index + 1; later < this.ring.length && this.timeOf(this.ring[later]) <= until; later++) {
      if (this.stateOf(this.ring[later]) !== "kept" || this.doubt(wanted, later, until)) continue;
      return { entry: this.ring[later], facts: { unchanged_until: until } };
    }
    return { entry: isPermitted ? this.ring[index] : null,
      facts: { stale_because: this.doubt(wanted, Math.max(index, 0), time) ?? "moved" } };
  }

  /**
   * Why a frame may not show the target where it stood, see `stale_because` in docs/format.md; `bound`: until when the page
   * is known to have been as it was.
   */
  doubt({ placed, painted, since, target }, index, bound) {
    const entry = this.ring[index];
    if (entry && target && this.places.path(this.timeOf(entry), this.height).some((box) => hides(box, target))) return "hidden";
    return !placed || (painted !== null && this.shows(index, painted, since, bound)) ? null : "moved";
  }

  /** Whether a frame shows what is so since a time and was painted by another. */
  shows(index, painted, since, bound) {
    const entry = this.ring[index], next = this.ring[index + 1];
    if (this.fromOf(entry) >= painted) return true;
    if (entry.from !== undefined) return false; // of a still capture it is not known when it was painted
    if (entry.came - this.timeOf(entry) > LATE_S && since < entry.came) return false; // the frame that shows it may have been dropped
    return Math.min(next ? this.timeOf(next) : Infinity, bound) >= painted + (entry.steady ? WITHHOLD_S : DRAWN_S);
  }

  /** Whether it is not known yet of which page the newest frame of a time is. */
  isOpen(time) {
    const entry = this.ring.findLast((one) => this.timeOf(one) <= time);
    return entry !== undefined && this.stateOf(entry) === "open";
  }
}

/** Whether the middle of a target is in a box. */
function hides(box, target) {
  const across = target.x + target.width / 2, down = target.y + target.height / 2;
  return box.x <= across && across <= box.x + box.width && box.y <= down && down <= box.y + box.height;
}
