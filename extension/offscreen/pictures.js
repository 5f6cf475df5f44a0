// Sources of pictures: the stream of each tab for which Chrome gives one; for the others still captures, twice a
// second.
import { clock } from "./journal.js";
import { sleep } from "../sleep.js";

const STILL_EVERY = 600; // ms; Chrome refuses more than two in a second
const ANY_SIZE = { maxWidth: 3840, maxHeight: 2160, minWidth: 16, minHeight: 16 }; // then frames have the page's own size
const FRAMES = 30; // a second
const FIRST = 1000; // ms that a first picture may take
const MAX_ATTEMPTS = 10, RETRY_INTERVAL_MS = 50; // ms

export class Pictures {
  #worker = new Worker("frames.js", { type: "module" });
  #streams = new Map(); // tab -> MediaStream
  #windows = new Map(); // tab -> window
  #stills;
  #finished = null;
  #coloursKnown = false;
  #stillAt = -Infinity;
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
  async follow(tab, { chromeTab, window }) {
    if (window) this.#windows.set(tab, window);
    if (!this.shown) this.show(tab);
    if (this.#streams.has(tab)) return;
    this.#streams.set(tab, null);
    const stream = await this.#streamOf(chromeTab);
    if (!stream || !this.#windows.has(tab)) {
      stream?.getTracks().forEach((track) => track.stop());
      this.#streams.delete(tab);
      if (this.shown === tab) this.#takeStill();
    } else {
      this.#streams.set(tab, stream);
      const { readable } = new MediaStreamTrackProcessor({ track: stream.getVideoTracks()[0] });
      this.#order("follow", { tab, readable }, [readable]);
    }
    this.#tellStream();
  }

  /** Look once with Chrome's own eyes at what is shown, to learn how to read the colours of frames. */
  learnColours() {
    const due = performance.now() - this.#stillAt >= STILL_EVERY;
    if (!this.#coloursKnown && this.#streams.get(this.shown) && due) this.#comparing = this.#compare();
    return this.#comparing;
  }

  async #compare() {
    const { shown } = this, window = this.#windows.get(shown);
    this.#stillAt = performance.now();
    const blob = await this.#still(window);
    if (blob && shown === this.shown) this.#order("compare", { tab: shown, blob });
  }

  /** A picture of what a window shows; null for a page of Chrome's own, or beyond the limit. */
  async #still(window) {
    try {
      return await (await fetch(await this.recording.ask("still", { window }))).blob();
    } catch {
      return null;
    }
  }

  /** Kept when there is a first picture, or none can be had soon. */
  ready = () => Promise.race([this.#begun.promise, sleep(FIRST)]);

  /** The stream of a tab; null without a click on the toolbar. A tab that changes its renderer is asked again. */
  async #streamOf(chromeTab) {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS && !this.#finished; attempt++) {
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

  onDocument = (tab, tells) => this.#order("document", { tab, tells });

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
    this.#streams.delete(tab);
    this.#flowing.delete(tab);
    this.#seen.delete(tab);
    this.#windows.delete(tab);
    this.#order("forget", { tab });
  }

  async finish() {
    clearInterval(this.#stills);
    if (!this.recording.paused) await this.learnColours();
    await new Promise((done) => {
      this.#finished = done;
      this.#order("finish");
    });
    await Promise.all(this.#pending);
    for (const tab of [...this.#streams.keys()]) this.forget(tab);
    this.#worker.terminate();
  }

  /** Where no stream flows: it is withheld, or its first frame was lost and the page paints nothing more. */
  async #takeStill() {
    const { recording, shown } = this, window = this.#windows.get(shown);
    if (this.#flowing.has(shown) || recording.paused || !window) return;
    const blob = await this.#still(window);
    if (!blob || this.shown !== shown) return;
    this.#order("still", { tab: shown, blob, time: clock() });
    this.#seen.add(shown);
    this.#begun.resolve();
  }

  #hear(said) {
    if (said.finished) return this.#finished?.();
    if (said.begun) {
      this.#flowing.add(said.begun);
      this.#seen.add(said.begun);
      return this.#begun.resolve();
    }
    if (said.ask) return this.recording.askPlaces(said.ask, said.time);
    if (said.late) return this.recording.tellLate(said.late);
    if (said.coloursKnown) return (this.#coloursKnown = true);
    if (said.ended) {
      this.#flowing.delete(said.ended);
      this.#streams.delete(said.ended);
      const chromeTab = this.recording.tabs.chromeTab(said.ended);
      if (chromeTab) return void this.follow(said.ended, { chromeTab, window: undefined }); // its renderer was changed
      return this.#tellStream();
    }
    const work = this.#keep(said).finally(() => this.#pending.delete(work));
    this.#pending.add(work);
    return undefined;
  }

  async #keep({ event, tab, picture, segment, bytes }) {
    const { journal, tell } = this.recording;
    if (segment) return void journal.add("video", { blob: await journal.keep(bytes), ...segment });
    if (!picture) return undefined;
    const blob = await journal.keep(picture.bytes);
    journal.add("picture", { tab, event, time: picture.time, still: picture.still, blob, ...picture.facts });
    this.recording.small.set(event, picture.small);
    tell({ picture: { event, small: picture.small } });
    return undefined;
  }
}
