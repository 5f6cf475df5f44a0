// A worker: the painted frames of the recorded tabs. Gives for each event the newest frame not later than it, and the
// shown tab's frames as a video. What is secret is blackened before anything leaves this worker.
import { releaseBuffer } from "./frame_buffers.js";
import { FRESH_S, FrameRing, LATE_S, now, streamClock } from "./frame_ring.js";
import { blackened, copyOf, decoded, learnColours, png, shown, thumbnail } from "./pixels.js";
import { Video } from "./video.js";
import { sleep } from "../sleep.js";

const ARRIVAL_TIMEOUT_S = 0.4; // seconds that a frame painted before an event may arrive after it
const LAST_ARRIVAL_TIMEOUT_S = 0.15; // the same, at the end of the recording
const DUE_TIMEOUT_S = 0.5; // seconds from when an event is told to when a frame must have come of what changed before it
const FOLLOWED_TIMEOUT_S = 0.4; // seconds more that a page has to tell how long it stayed as it was
const COLOURS_TIMEOUT_S = 1.5; // seconds that a frame waits to be known how to be read
const COMPARISON_WINDOW_S = 0.6; // seconds that a true picture is compared with the frames that come
const HOLD_TIMEOUT_S = 3; // seconds that a picture waits until it is known what in it is secret
const ASK_INTERVAL_S = 0.06; // seconds
const UNGUARDED_ASK_INTERVAL_S = 0.4; // the same where nothing secret is known
const UNGUARDED_AGE_S = 0.15; // of a frame, before that is asked: most often an event reports it before
const THUMBNAIL_PX = 176; // pixels
const WAITED_S = 0.002; // seconds from a request for a frame until it is there, below which it had been waiting
const SHORTEST_WAIT_S = 0.015; // between two frames that is waited for at all
const VERIFY_INTERVAL_S = 0.1; // between requests for what the browser has done until now
const FILM_MARGIN_S = 0.15; // from a first paint until frames are requested anew
const MAX_BACKLOG_BYTES = 64e6; // of frames that wait to be made into pictures; beyond that, pictures are left out

const tabs = new Map();
const video = new Video((segment, bytes) => postMessage({ segment, bytes }, { transfer: [bytes] }));
let shownTab = 0, paused = false;
let coloursKnown = false, comparing = Promise.resolve();
let verifying = false, verifiedAt = -Infinity; // what the browser has done is being reported; when that was last requested
let truth = null; // { tab, blob, until }: what a tab showed, for frames of that moment to be compared with
let encoding = Promise.resolve(), backlogBytes = 0; // pictures are made one after the other
const answering = new Set(); // what is being made of them

/** The frames of one tab, and the events that wait for a picture of it. */
class Tab extends FrameRing {
  constructor(number) {
    super(number);
    this.guarded = false; // something secret was in sight, which may move
    this.requestedAt = -Infinity; // when the page was last requested to report that
    this.known = true; // whether this document has told where its secrets are
    this.leftAt = 0; // when the last document was left
    this.waiting = []; // events whose picture is looked for
    this.begun = ""; // whether the first picture that is kept was announced: "still" or "stream"
    this.reader = null; // of its stream
    this.closed = false;
  }

  add(entry) {
    this.push(entry);
    this.ask();
    this.serve();
    toVideo(this);
    this.verify();
  }

  /** Have what the browser has done reported when there are frames for which that is not known. */
  verify() {
    const newest = this.ring.at(-1);
    if (!newest || verifying || now() - verifiedAt < VERIFY_INTERVAL_S || this.stateOf(newest) !== "open") return;
    verifying = true;
    verifiedAt = now();
    postMessage({ verify: true });
  }

  /** A closed tab is forgotten once the events that wait are answered. */
  finishClosed() {
    const isOpen = ({ time }) => this.isOpen(time) && now() - time < HOLD_TIMEOUT_S;
    if (!this.closed || this.waiting.some(isOpen)) return;
    for (const wanted of this.waiting.splice(0)) answer(this, wanted);
    this.clear();
    tabs.delete(this.number);
  }

  /** Announce the first picture of the tab that is kept. */
  announce() {
    if (this.begun === "stream") return;
    const permitted = this.ring.filter((entry) => this.stateOf(entry) === "kept");
    const begun = permitted.some((entry) => entry.time === undefined) ? "stream" : permitted.length ? "still" : "";
    if (!begun || begun === this.begun) return;
    this.begun = begun;
    postMessage({ begun: this.number, streamed: begun === "stream" });
  }

  /** Whether a frame so many seconds old is to be read as well as is known by now. */
  readable = (age) => coloursKnown || !this.reader || age > COLOURS_TIMEOUT_S;

  /** Whether the page has changed before an event, no frame has come since, and one still may. */
  isDue = ({ since, wantedAt }) => this.reader !== null && this.newest < since && now() - wantedAt < DUE_TIMEOUT_S;

  /** Answer the events for which no better frame can come. */
  serve() {
    const { newest } = this, at = now();
    const ready = this.waiting.filter((wanted) => {
      const { time, wantedAt } = wanted, hasCome = newest > time || at - time > ARRIVAL_TIMEOUT_S;
      if (!this.readable(at - time) || !hasCome || this.isDue(wanted)) return false;
      if (this.isOpen(time) && at - time < HOLD_TIMEOUT_S) return false;
      const { entry } = this.choose(wanted);
      if (entry && !this.isCovered(entry) && at - wantedAt < HOLD_TIMEOUT_S && !this.places.isLost(this.timeOf(entry))) return false;
      return !this.choose(wanted).facts.stale_because || at - time > ARRIVAL_TIMEOUT_S + FOLLOWED_TIMEOUT_S;
    });
    if (!ready.length) return;
    this.waiting = this.waiting.filter((wanted) => !ready.includes(wanted));
    for (const wanted of ready) answer(this, wanted);
  }

  scale = (entry) => (this.width ? entry.copy.width / this.width : 1);

  /**
   * Whether it is known what was secret, and where, while a frame was painted. A page that is busy for long may show a
   * field that it has not reported yet: no frame is kept before the page has.
   */
  isCovered = (entry) => this.known && this.places.covers(this.timeOf(entry), this.guarded);

  /** Have the page tell where secrets stand, when there are frames for which that is not known. */
  ask() {
    const newest = this.ring.at(-1), at = now();
    if (!newest || this.isCovered(newest)) return;
    if (at - this.requestedAt < (this.guarded ? ASK_INTERVAL_S : UNGUARDED_ASK_INTERVAL_S)) return;
    if (!this.guarded && at - this.timeOf(newest) < UNGUARDED_AGE_S && this.isCovered(this.ring[0])) return;
    this.requestedAt = now();
    postMessage({ ask: this.number, time: this.requestedAt });
  }

  /** What `work` makes of a frame without its secrets. */
  async withClean(entry, work) {
    const copy = blackened(entry.copy, this.places.during(this.timeOf(entry), this.height), this.scale(entry));
    try {
      return await work(copy);
    } finally {
      if (copy !== entry.copy) releaseBuffer(copy.bytes);
    }
  }

  /** A frame without its secrets, for the video; to be closed. */
  videoFrame(entry, time) {
    const copy = blackened(entry.copy, this.places.during(this.timeOf(entry), this.height), this.scale(entry));
    const frame = shown(copy, Math.round(time * 1e6));
    if (copy !== entry.copy) releaseBuffer(copy.bytes);
    return frame;
  }
}

function tabOf(number) {
  if (!tabs.has(number)) tabs.set(number, new Tab(number));
  return tabs.get(number);
}

/** Hand out the picture of an event, which the end of the recording waits for. */
function answer(tab, wanted) {
  const answered = makeAnswer(tab, wanted).finally(() => answering.delete(answered));
  answering.add(answered);
}

/** The same frame is made into a picture once. */
async function makeAnswer(tab, wanted) {
  const { event } = wanted, { entry, facts } = tab.choose(wanted);
  if (!entry || !tab.isCovered(entry)) return postMessage({ event, tab: tab.number, picture: null });
  if (!entry.picture && backlogBytes > MAX_BACKLOG_BYTES) return postMessage({ event, tab: tab.number, picture: null, omitted: true });
  entry.picture ??= tab.use(entry, () => inTurn(entry, () => tab.withClean(entry, pictureOf)));
  const { bytes, small } = await entry.picture;
  postMessage({ event, tab: tab.number, picture: { bytes, small, time: tab.timeOf(entry), still: entry.time !== undefined, facts } });
}

/** Do the work of a picture after that of the ones before. */
function inTurn(entry, work) {
  const size = entry.copy.bytes.byteLength;
  backlogBytes += size;
  const done = encoding.then(work).finally(() => (backlogBytes -= size));
  encoding = done.catch(() => {});
  return done;
}

async function pictureOf(copy) {
  return { bytes: await png(copy), small: await thumbnail(copy, THUMBNAIL_PX) };
}

/** Give the video the frames that are old enough for their secrets to be told. */
function toVideo(tab, all = false) {
  if (tab.number !== shownTab || paused) return;
  for (const [index, entry] of tab.ring.entries()) {
    const painted = tab.timeOf(entry), time = Math.max(painted, entry.filmedFrom ?? painted);
    const age = now() - time;
    const state = tab.stateOf(entry);
    const isLost = tab.places.isLost(painted), isCovered = isLost || tab.isCovered(entry);
    if (state === "open" || !isCovered || (!all && (age < FRESH_S / 2 || !tab.readable(age)))) break;
    const next = tab.ring[index + 1];
    if (isLost || state === "refused" || entry.filmed || !video.wants(time, next ? tab.timeOf(next) : Infinity)) continue;
    entry.filmed = true;
    video.add(tab.videoFrame(entry, time));
  }
}

/** Learn how frames are to be read. The frame that shows what the true picture shows may still be on its way. */
async function compare(tab) {
  const newest = tab.ring.findLast((entry) => entry.time === undefined); // of the stream
  if (!newest || coloursKnown || truth?.tab !== tab.number || now() > truth.until) return;
  const { blob } = truth;
  if (!(await tab.use(newest, () => inTurn(newest, () => learnColours(newest.copy, blob)))) || coloursKnown) return;
  coloursKnown = true;
  postMessage({ coloursKnown });
}

/** Take the frames of a stream until it ends, or another reader of the tab takes its place. */
async function follow(tab, readable) {
  const reader = readable.getReader();
  tab.reader?.cancel();
  tab.reader = reader;
  for (;;) {
    const begun = now();
    const { value: frame, done } = await reader.read();
    if (done || tab.reader !== reader) {
      frame?.close();
      break;
    }
    await takeFrame(tab, frame, now() - begun < WAITED_S);
  }
  if (tab.reader !== reader) return;
  tab.reader = null;
  postMessage({ ended: tab.number });
}

/** Copy a frame of a stream, unless its page may not be read. While this waits, the browser drops all but the newest frame; `waited`: this one had come while the one before was taken. */
async function takeFrame(tab, frame, waited) {
  const ticks = frame.timestamp / 1e6, begun = now();
  streamClock.offset = Math.min(streamClock.offset, begun - ticks);
  if (tab.closed || tab.periods.state(ticks + streamClock.offset) === "refused") return frame.close();
  const copy = await copyOf(frame);
  frame.close();
  const came = now();
  if (came - ticks - streamClock.offset > LATE_S) postMessage({ late: tab.number });
  tab.add({ copy, ticks, came, waited });
  if (!coloursKnown) comparing = compare(tab);
  const wait = begun + tab.copyInterval(copy.bytes.byteLength) - now();
  if (wait > SHORTEST_WAIT_S) await sleep(wait * 1000);
}

const ORDERS = {
  /** A stream of a tab. */
  follow: ({ tab, readable }) => void follow(tabOf(tab), readable),
  /** A picture that was no frame of a stream; `time` is when it was there. */
  async still({ tab, blob, from, time }) {
    tabOf(tab).add({ copy: await decoded(blob), from, time, came: time });
  },
  /** What is reported of a tab's documents. */
  display({ tab, change, document, time, readable, blank }) {
    const { periods } = tabOf(tab);
    if (change === "begin") periods.begin();
    if (change === "commit") periods.commit(document, time, blank);
    if (change === "connect") periods.connect(document, time, readable);
    if (change === "leave") periods.leave(time);
    if (change === "stay") periods.stay();
    if (change !== "paint" || !periods.paint(document, time)) return;
    setTimeout(() => postMessage({ film: tab }), Math.max(0, time + FILM_MARGIN_S - now()) * 1000);
  },
  /** Everything that the browser did until a time has been reported. */
  verify({ time }) {
    for (const tab of tabs.values()) {
      tab.periods.verify(time);
      tab.announce();
      tab.serve();
      tab.finishClosed();
      toVideo(tab);
    }
  },
  verified() {
    verifying = false;
  },
  /** A true picture of what a tab shows now. */
  compare({ tab, blob }) {
    truth = { tab, blob, until: now() + COMPARISON_WINDOW_S };
    comparing = compare(tabOf(tab));
  },
  /** Another document takes the place of what a tab showed. */
  document({ tab, tells, time }) {
    tabOf(tab).places.leave();
    Object.assign(tabOf(tab), { known: !tells, leftAt: time });
  },
  /** What in a tab is secret, by its own word. */
  secrets({ tab, boxes, width, height, time }) {
    const it = tabOf(tab);
    it.places.addReport(time, boxes);
    if (!it.known) {
      it.places.skip(it.leftAt);
      it.places.confirm(time); // the document before is gone
    }
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
    for (const one of tabs.values()) one.isShown = one.number === tab;
    tabOf(tab).isShown = true;
    shownTab = tab;
  },
  pause() {
    toVideo(tabOf(shownTab), true);
    paused = true;
    video.cut();
  },
  /** What is on the screen now is where the video goes on from. */
  resume({ time }) {
    paused = false;
    for (const tab of tabs.values()) {
      for (const entry of tab.ring) entry.filmed = true;
      const last = tab.ring.at(-1);
      if (last && tab.number === shownTab) Object.assign(last, { filmed: false, filmedFrom: time });
    }
  },
  /** A tab is gone. */
  forget({ tab }) {
    tabOf(tab).closed = true;
    tabOf(tab).finishClosed();
  },
  /** No frame is taken any more. */
  halt() {
    for (const tab of tabs.values()) {
      const { reader } = tab;
      tab.reader = null;
      reader?.cancel();
    }
  },
  /** Nothing more will be done: answer who waits, end the video. */
  async finish() {
    const until = now() + LAST_ARRIVAL_TIMEOUT_S;
    const isAwaited = (tab) => tab.waiting.some((wanted) => now() < until || tab.isDue(wanted));
    while ([...tabs.values()].some(isAwaited)) await sleep(20);
    await comparing;
    coloursKnown = true; // better than now they will not be
    for (const tab of tabs.values()) for (const wanted of tab.waiting.splice(0)) answer(tab, wanted);
    await Promise.all(answering);
    do {
      await video.flush();
      toVideo(tabOf(shownTab), true);
    } while (video.isBehind);
    await video.finish();
    for (const tab of tabs.values()) {
      tab.reader?.cancel();
      tab.clear();
    }
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
    tab.verify();
    tab.finishClosed();
    toVideo(tab);
  }
}, 100);
