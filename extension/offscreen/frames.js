// A worker: the painted frames of the recorded tabs. Gives for each event the newest frame not later than it, and the
// shown tab's frames as a video. What is secret is blackened before anything leaves this worker.
import { blackened, copyOf, decoded, learnColours, png, shown, thumbnail } from "./pixels.js";
import { SecretFieldPositions } from "./secret_positions.js";
import { Video } from "./video.js";
import { sleep } from "../sleep.js";

const FRESH = 0.6; // seconds of which every frame is held
const BUFFER_S = 2.5; // seconds of which some frames are held: a page that is busy tells late of what was done
const BUFFER_INTERVAL_S = 0.15; // seconds between those
const MIN_SHOWN_S = 0.1; // seconds; a frame that stood longer is held
const ON_ITS_WAY = 0.4; // seconds that a frame painted before an event may arrive after it
const LAST_WAIT = 0.15; // the same, at the end of the recording
const DUE = 0.5; // seconds from when an event is told to when a frame must have come of what changed before it
const LATE = 0.1; // seconds that a frame takes to come from which on the browser may have dropped later ones meanwhile
const DRAWN = 0.03; // seconds from a page's third paint after a change until that is on the screen
const WITHHOLD_S = 0.3; // the same where the browser may see an animation
const WHILE = 1, MANY = 12; // seconds, and frames in them, from which on the browser may see an animation: of what else
// is painted it sends none until that is over
const FOLLOWED = 0.4; // seconds more that a page has to tell how long it stayed as it was
const COLOURS = 1.5; // seconds that a frame waits to be known how to be read
const TRUE = 0.6; // seconds that a true picture is compared with the frames that come
const HOLD = 3; // seconds that a new document has to tell what in it is secret
const ASK_EVERY = 0.06; // seconds
const THUMBNAIL = 176; // pixels

const now = () => (performance.timeOrigin + performance.now()) / 1000;
const tabs = new Map();
const video = new Video((segment, bytes) => postMessage({ segment, bytes }, { transfer: [bytes] }));
let shownTab = 0, paused = false;
let coloursKnown = false, comparing = Promise.resolve();
let offset = Infinity; // of wall clock and the streams' own clock, in seconds: of the frame, of any tab, that came soonest
let truth = null; // { tab, blob, until }: what a tab showed, for frames of that moment to be compared with

/** The frames of one tab. */
class Tab {
  constructor(number) {
    this.number = number;
    this.ring = []; // { copy, ticks | time, came, steady, filmed, picture }
    this.times = []; // of the last frames
    this.places = new SecretFieldPositions();
    this.guarded = false; // something secret was in sight: frames wait until it is known where it stood
    this.asked = -Infinity; // when the page was last asked for that
    this.width = this.height = 0; // of the viewport, CSS pixels
    this.known = true; // whether this document has told where its secrets are
    this.unknownSince = 0;
    this.waiting = []; // events whose picture is looked for
    this.readers = new Set();
  }

  /** Wall clock of a frame. A frame is never taken for older than it is. */
  timeOf = (entry) => entry.time ?? entry.ticks + offset;

  add(entry) {
    this.times = [...this.times.slice(1 - MANY), this.timeOf(entry)];
    entry.steady = this.times.length === MANY && this.times.at(-1) - this.times[0] <= WHILE;
    this.ring.push(entry);
    this.thin();
    this.ask();
    this.serve();
    toVideo(this);
  }

  /** Let go of frames that nobody will ask for, and of some that stood on the screen for a moment only. */
  thin() {
    const until = now();
    let last = -Infinity;
    this.ring = this.ring.filter((entry, index) => {
      const time = this.timeOf(entry);
      if (index === this.ring.length - 1 || until - time < FRESH) return true;
      const next = this.timeOf(this.ring[index + 1]);
      if (until - next > BUFFER_S || (next - time < MIN_SHOWN_S && next - last < BUFFER_INTERVAL_S)) return false;
      last = time;
      return true;
    });
  }

  /** Whether a frame so many seconds old is to be read as well as is known by now. */
  readable = (age) => coloursKnown || !this.readers.size || age > COLOURS;

  /**
   * The frame that shows the page before an event: the newest not later than it, if that shows its target where it stood;
   * else the first later one that does, while the page stayed as it was; else that newest one, which is stale.
   */
  choose(wanted) {
    const { time, until = time } = wanted;
    const index = this.ring.findLastIndex((entry) => this.timeOf(entry) <= time);
    if (index >= 0 && !this.doubt(wanted, index, time)) {
      const agrees = wanted.allPainted > 0 && this.shows(index, wanted.allPainted, wanted.allSince, time);
      return { entry: this.ring[index], facts: agrees ? { screenshot_agrees: true } : {} };
    }
    for (let later = index + 1; later < this.ring.length && this.timeOf(this.ring[later]) <= until; later++) {
      if (!this.doubt(wanted, later, until)) return { entry: this.ring[later], facts: { unchanged_until: until } };
    }
    return { entry: this.ring[index] ?? null, facts: { stale_because: this.doubt(wanted, Math.max(index, 0), time) ?? "moved" } };
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
    const entry = this.ring[index], next = this.ring[index + 1], time = this.timeOf(entry);
    if (time >= painted) return true;
    if (entry.came - time > LATE && since < entry.came) return false; // the frame that shows it may have been dropped
    return Math.min(next ? this.timeOf(next) : Infinity, bound) >= painted + (entry.steady ? WITHHOLD_S : DRAWN);
  }

  get newest() {
    return this.ring.length ? this.timeOf(this.ring.at(-1)) : -Infinity;
  }

  /** Whether the page has changed before an event, no frame has come since, and one still may. */
  isDue = ({ since, wantedAt }) => this.readers.size > 0 && this.newest < since && now() - wantedAt < DUE;

  /** Answer the events for which no better frame can come. */
  serve() {
    const { newest } = this, at = now();
    const isKnown = this.known || at - this.unknownSince > HOLD;
    const ready = this.waiting.filter((wanted) => {
      const { time } = wanted, sleep = newest > time || at - time > ON_ITS_WAY;
      if (!isKnown || !this.readable(at - time) || !sleep || this.isDue(wanted)) return false;
      const { entry } = this.choose(wanted);
      if (entry && !this.isCovered(entry) && at - time < HOLD) return false;
      return !this.choose(wanted).facts.stale_because || at - time > ON_ITS_WAY + FOLLOWED;
    });
    if (!ready.length) return;
    this.waiting = this.waiting.filter((wanted) => !ready.includes(wanted));
    for (const wanted of ready) answer(this, wanted);
  }

  scale = (entry) => (this.width ? entry.copy.width / this.width : 1);

  /** Whether it is known where secrets stood while a frame was painted. */
  isCovered = (entry) => !this.guarded || this.places.covers(this.timeOf(entry));

  /** Have the page tell where secrets stand, when there are frames for which that is not known. */
  ask() {
    const newest = this.ring.at(-1);
    if (!newest || this.isCovered(newest) || now() - this.asked < ASK_EVERY) return;
    this.asked = now();
    postMessage({ ask: this.number, time: this.asked });
  }

  /** A frame without its secrets. */
  clean(entry) {
    return blackened(entry.copy, this.places.during(this.timeOf(entry), this.height), this.scale(entry));
  }
}

/** Whether the middle of a target is in a box. */
function hides(box, target) {
  const across = target.x + target.width / 2, down = target.y + target.height / 2;
  return box.x <= across && across <= box.x + box.width && box.y <= down && down <= box.y + box.height;
}

function tabOf(number) {
  if (!tabs.has(number)) tabs.set(number, new Tab(number));
  return tabs.get(number);
}

/** Hand out the picture of an event; the same frame is made into a picture once. */
async function answer(tab, wanted) {
  const { event } = wanted, { entry, facts } = tab.choose(wanted);
  if (!entry || !tab.isCovered(entry)) return postMessage({ event, tab: tab.number, picture: null });
  entry.picture ??= pictureOf(tab.clean(entry));
  const { bytes, small } = await entry.picture;
  postMessage({ event, tab: tab.number, picture: { bytes, small, time: tab.timeOf(entry), still: entry.time !== undefined, facts } });
}

async function pictureOf(copy) {
  return { bytes: await png(copy), small: await thumbnail(copy, THUMBNAIL) };
}

/** Give the video the frames that are old enough for their secrets to be told. */
function toVideo(tab, all = false) {
  if (tab.number !== shownTab || paused) return;
  const isKnown = tab.known || now() - tab.unknownSince > HOLD;
  for (const [index, entry] of tab.ring.entries()) {
    const time = tab.timeOf(entry);
    const age = now() - time;
    if (!isKnown || !tab.isCovered(entry) || (!all && (age < FRESH / 2 || !tab.readable(age)))) break;
    const next = tab.ring[index + 1];
    if (entry.filmed || !video.wants(time, next ? tab.timeOf(next) : Infinity)) continue;
    entry.filmed = true;
    const frame = shown(tab.clean(entry), Math.round(time * 1e6));
    video.add(frame);
  }
}

/** Learn how frames are to be read. The frame that shows what the true picture shows may still be on its way. */
async function compare(tab) {
  const newest = tab.ring.findLast((entry) => entry.time === undefined); // of the stream
  if (!newest || coloursKnown || truth?.tab !== tab.number || now() > truth.until) return;
  if (!(await learnColours(newest.copy, truth.blob)) || coloursKnown) return;
  coloursKnown = true;
  postMessage({ coloursKnown });
}

async function follow(tab, readable) {
  const reader = readable.getReader();
  tab.readers.add(reader);
  for (let frames = 1; ; frames++) {
    const { value: frame, done } = await reader.read();
    if (done) break;
    const ticks = frame.timestamp / 1e6;
    offset = Math.min(offset, now() - ticks);
    const copy = await copyOf(frame);
    frame.close();
    const came = now();
    if (came - ticks - offset > LATE) postMessage({ late: tab.number });
    tab.add({ copy, ticks, came });
    if (!coloursKnown) comparing = compare(tab);
    if (frames === 1) postMessage({ begun: tab.number });
  }
  tab.readers.delete(reader);
  postMessage({ ended: tab.number });
}

const ORDERS = {
  /** A stream of a tab. */
  follow: ({ tab, readable }) => void follow(tabOf(tab), readable),
  /** A picture that was no frame of a stream; `time` is when it was there. */
  async still({ tab, blob, time }) {
    tabOf(tab).add({ copy: await decoded(blob), time, came: time });
  },
  /** A true picture of what a tab shows now. */
  compare({ tab, blob }) {
    truth = { tab, blob, until: now() + TRUE };
    comparing = compare(tabOf(tab));
  },
  /** Another document takes the place of what a tab showed. */
  document({ tab, tells }) {
    tabOf(tab).places.leave();
    Object.assign(tabOf(tab), { known: !tells, unknownSince: now() });
  },
  /** What in a tab is secret, by its own word. */
  secrets({ tab, boxes, width, height, time }) {
    const it = tabOf(tab);
    it.places.addReport(time, boxes);
    if (!it.known) it.places.confirm(time); // the document before is gone
    it.guarded = boxes.length > 0 || (it.known && it.guarded);
    Object.assign(it, { width: width || it.width, height: height || it.height, known: true });
    it.serve();
  },
  /** All that a tab shows has told where its secrets stand, at a time or later. */
  confirm({ tab, time }) {
    tabOf(tab).places.confirm(time);
    tabOf(tab).serve();
  },
  want({ tab, ...wanted }) {
    const it = tabOf(tab);
    it.waiting.push({ ...wanted, wantedAt: now() });
    it.serve();
  },
  /** The page of an event stayed as it was until a time; by when its target was painted, if it was. */
  stayed({ tab, event, until, painted }) {
    const it = tabOf(tab), wanted = it.waiting.find((one) => one.event === event);
    if (wanted) Object.assign(wanted, { until, painted: painted ?? wanted.painted });
    it.serve();
  },
  show({ tab }) {
    shownTab = tab;
  },
  pause() {
    toVideo(tabOf(shownTab), true);
    paused = true;
    video.cut();
  },
  /** What stands on the screen now is where the video goes on from. */
  resume({ time }) {
    paused = false;
    for (const tab of tabs.values()) {
      for (const entry of tab.ring) entry.filmed = true;
      const last = tab.ring.at(-1);
      if (last && tab.number === shownTab) {
        video.add(shown(tab.clean(last), Math.round(time * 1e6)));
      }
    }
  },
  /** A tab is gone. */
  forget({ tab }) {
    for (const wanted of tabOf(tab).waiting) answer(tabOf(tab), wanted);
    tabs.delete(tab);
  },
  /** Nothing more will be done: answer who waits, end the video. */
  async finish() {
    const until = now() + LAST_WAIT;
    const isAwaited = (tab) => tab.waiting.some((wanted) => now() < until || tab.isDue(wanted));
    while ([...tabs.values()].some(isAwaited)) await sleep(20);
    await comparing;
    coloursKnown = true; // better than now they will not be
    for (const tab of tabs.values()) await Promise.all(tab.waiting.splice(0).map((wanted) => answer(tab, wanted)));
    toVideo(tabOf(shownTab), true);
    await video.finish();
    for (const tab of tabs.values()) for (const reader of tab.readers) reader.cancel();
    tabs.clear();
    postMessage({ finished: true });
  },
};

onmessage = ({ data }) => ORDERS[data.order](data);

// Where a page does not paint, nothing but time tells that no frame is on its way any more.
setInterval(() => {
  for (const tab of tabs.values()) {
    tab.serve();
    tab.ask();
    toVideo(tab);
  }
}, 100);
