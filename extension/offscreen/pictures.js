// Sources of pictures: the stream of each tab for which Chrome gives one; for the others still captures, twice a
// second.
import { clock } from "./journal.js";
import { sleep } from "../sleep.js";

const STILL_EVERY = 600; // ms; Chrome refuses more than two in a second
const MAX_COMPARE_INTERVAL_MS = 20_000; // between two comparisons of colours, on a page where they cannot be distinguished
const ANY_SIZE = { maxWidth: 3840, maxHeight: 2160, minWidth: 16, minHeight: 16 }; // then frames have the page's own size
const FRAMES = 30; // a second
const LARGE_PIXELS = 1920 * 1080; // of a frame, above which fewer are requested
const LARGE_FRAMES = 12; // a second
const FIRST = 1000; // ms that a first picture may take
const MAX_ATTEMPTS = 10, RETRY_INTERVAL_MS = 50; // ms

export class Pictures {
  #worker = new Worker("frames.js", { type: "module" });
  #streams = new Map(); // tab -> MediaStream
  #tracks = new Map(); // tab -> the track of its stream that is read
  #tabs = new Set(); // that are filmed
  #stills;
  #finished = null;
  #halted = false;
  #coloursKnown = false;
  #stillAt = -Infinity;
  #compareInterval = STILL_EVERY;
  /** @type {Promise<void>} */
  #comparing = Promise.resolve();
  /** @type {PromiseWithResolvers<void>} */
  #begun = Promise.withResolvers();
  #flowing = new Set(); // tabs of whose stream a frame has come
  #seen = new Set(); // tabs of which there is any picture
  #pending = new Set();

  /** @param {import("./recording.js").Recording} recording */
  constructor(recording) {
    this.recording = recording;
    this.shownAt = 0;
    this.shown = 0;
    this.#worker.onmessage = ({ data }) => this.#hear(data);
    this.#stills = setInterval(() => this.#takeStill(), STILL_EVERY);
  }

  #order = (order, fields = {}, transfer = []) => this.#worker.postMessage({ order, ...fields }, transfer);

  /** Get the stream of a tab, if Chrome gives it. */
  async follow(tab, { chromeTab }) {
    this.#tabs.add(tab);
    if (!this.shown) this.show(tab);
    if (this.#streams.has(tab)) return;
    this.#streams.set(tab, null);
    const stream = await this.#streamOf(chromeTab);
    if (!stream || !this.#tabs.has(tab) || this.#halted) {
      stream?.getTracks().forEach((track) => track.stop());
      this.#streams.delete(tab);
      if (this.shown === tab) this.#takeStill();
    } else {
      this.#streams.set(tab, stream);
      this.#film(tab);
    }
    this.#tellStream();
  }

  /** Hand the frames of a tab's stream to the worker. A new reader gets what the tab shows now, also where nothing is painted. */
  #film(tab) {
    const stream = this.#streams.get(tab);
    if (!stream) return;
    const [source] = stream.getVideoTracks(), track = source.clone(), { width = 0, height = 0 } = source.getSettings();
    if (width * height > LARGE_PIXELS) track.applyConstraints({ frameRate: { max: LARGE_FRAMES } }).catch(() => {});
    const { readable } = new MediaStreamTrackProcessor({ track });
    this.#order("follow", { tab, readable }, [readable]);
    this.#tracks.get(tab)?.stop();
    this.#tracks.set(tab, track);
  }

  /** Look once with Chrome's own eyes at what is shown, to learn how to read the colours of frames. */
  learnColours() {
    const due = performance.now() - this.#stillAt >= this.#compareInterval;
    if (!this.#coloursKnown && this.#streams.get(this.shown) && due) {
      this.#compareInterval = Math.min(MAX_COMPARE_INTERVAL_MS, this.#compareInterval * 2); // a page may have no colours
      this.#comparing = this.#compare();
    }
    return this.#comparing;
  }

  async #compare() {
    const { shown } = this;
    this.#stillAt = performance.now();
    const still = await this.#still(shown);
    if (still && shown === this.shown) this.#order("compare", { tab: shown, ...still });
  }

  /** A picture of a tab, and the times between which it was taken; null where the tab is not shown, or beyond the limit. */
  async #still(tab) {
    const chromeTab = this.recording.tabs.chromeTab(tab), from = clock();
    if (!chromeTab) return null;
    try {
      const picture = await this.recording.ask("still", { chromeTab }), time = clock();
      return { blob: await (await fetch(picture)).blob(), from, time };
    } catch {
      return null;
    }
  }

  /** Have everything reported that the browser did until now: only then frames of this time are known to be of a page. */
  async verify() {
    const time = clock();
    await this.recording.ask("settle").then(() => this.#order("verify", { time }), () => {});
    this.#order("verified");
  }

  /** Kept when there is a first picture, or none can be had soon. */
  ready = () => Promise.race([this.#begun.promise, sleep(FIRST)]);

  /** The stream of a tab; null without a click on the toolbar. A tab that changes its renderer is asked again. */
  async #streamOf(chromeTab) {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS && !this.#halted; attempt++) {
      try {
        const chromeMediaSourceId = await this.recording.ask("stream", { chromeTab });
        const mandatory = { chromeMediaSource: "tab", chromeMediaSourceId, maxFrameRate: FRAMES, ...ANY_SIZE };
        return await navigator.mediaDevices.getUserMedia(/** @type {any} */ ({ audio: false, video: { mandatory } }));
      } catch (error) {
        if (error.answered) return null;
        await sleep(RETRY_INTERVAL_MS);
      }
    }
    return null;
  }

  /** The tab that the person sees. */
  show(tab) {
    this.shown = tab;
    this.shownAt = clock();
    this.#order("show", { tab });
    this.#tellStream();
  }

  /** Whether Chrome withholds the stream of the tab that is shown; while it is asked for, that is not known yet. */
  get withheld() {
    return !this.#streams.has(this.shown);
  }

  /** Whether there is any picture of the shown tab. */
  get seen() {
    return this.#seen.has(this.shown);
  }

  #tellStream() {
    this.recording.tell({ withheld: this.withheld });
  }

  /** Another document takes the place of what a tab showed until a time; `tells`: whether it reports what it shows. */
  onDocument(tab, tells, time) {
    this.#compareInterval = STILL_EVERY;
    this.#order("document", { tab, tells, time });
  }

  /** What is reported of a tab's documents: `begin`, `commit`, `connect`, `paint`, `leave`, `stay` of ReadablePeriods. */
  onDisplay = (tab, change, fields) => this.#order("display", { tab, change, ...fields });

  onSecrets = (tab, boxes, { width, height }, time) => this.#order("secrets", { tab, boxes, width, height, time });

  /** All that a tab shows has told where its secrets stand. */
  confirm = (tab, time) => this.#order("confirm", { tab, time });

  /** Look for the picture of a line: the newest of a tab that is not later than a time, by when something was painted. */
  want(tab, event, time, shown = {}) {
    if (tab) this.#order("want", { tab, event, time, ...shown });
  }

  /** The page of a line stayed as it was until a time. */
  stayed = (tab, event, until, painted) => this.#order("stayed", { tab, event, until, painted });

  pause = () => this.#order("pause");

  resume = (time) => this.#order("resume", { time });

  forget(tab) {
    this.#streams.get(tab)?.getTracks().forEach((track) => track.stop());
    this.#tracks.get(tab)?.stop();
    for (const those of [this.#streams, this.#tracks, this.#flowing, this.#seen, this.#tabs]) those.delete(tab);
    this.#order("forget", { tab });
  }

  /** Film nothing any more. */
  halt() {
    clearInterval(this.#stills);
    this.#halted = true;
    this.#order("halt");
    for (const stream of this.#streams.values()) stream?.getTracks().forEach((track) => track.stop());
    for (const track of this.#tracks.values()) track.stop();
  }

  /** Make the pictures that are not made yet, and end the video. */
  async finish() {
    await new Promise((done) => {
      this.#finished = done;
      this.#order("finish");
    });
    await Promise.all(this.#pending);
    this.abandon();
  }

  /** Let go of everything at once. */
  abandon() {
    this.halt();
    this.#worker.terminate();
    for (const those of [this.#streams, this.#tracks, this.#tabs]) those.clear();
  }

  /** Where no stream flows: it is withheld, or its first frame was lost and the page paints nothing more. */
  async #takeStill() {
    const { recording, shown } = this;
    if (this.#flowing.has(shown) || recording.paused) return;
    const still = await this.#still(shown);
    if (still && this.shown === shown) this.#order("still", { tab: shown, ...still });
  }

  #hear(said) {
    if (said.finished) return this.#finished?.();
    if (said.begun) {
      if (said.streamed) this.#flowing.add(said.begun);
      this.#seen.add(said.begun);
      return this.#begun.resolve();
    }
    if (said.verify) return void this.verify();
    if (said.film) {
      this.#flowing.delete(said.film);
      return this.#film(said.film);
    }
    if (said.ask) return this.recording.positions.send(said.ask, said.time);
    if (said.late) return this.recording.tellLate(said.late);
    if (said.coloursKnown) return (this.#coloursKnown = true);
    if (said.ended && this.#halted) return undefined;
    if (said.ended) {
      this.#flowing.delete(said.ended);
      this.#streams.delete(said.ended);
      const chromeTab = this.recording.tabs.chromeTab(said.ended);
      if (chromeTab) return void this.follow(said.ended, { chromeTab }); // its renderer was changed
      return this.#tellStream();
    }
    const work = this.#keep(said).finally(() => this.#pending.delete(work));
    this.#pending.add(work);
    return undefined;
  }

  async #keep({ event, tab, picture, segment, bytes }) {
    const { journal, feed } = this.recording;
    if (this.recording.ended) return undefined;
    if (segment) return void journal.add("video", { blob: await journal.keep(bytes), ...segment });
    if (!picture) return undefined;
    const blob = await journal.keep(picture.bytes);
    journal.add("picture", { tab, event, time: picture.time, still: picture.still, blob, ...picture.facts });
    feed.addPicture(event, picture.small);
    return undefined;
  }
}
