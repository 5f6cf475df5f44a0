// The one state machine of recording: what is in progress, what is being finished, and how the last recording ended if
// the person did not end it. Toolbar and panel show what this reports, and this reports what is on disk.
import { Recording } from "./recording.js";
import { markInterrupted } from "./store.js";
import { sleep } from "../sleep.js";

const BEAT_INTERVAL_MS = 1000; // between two reports to the toolbar and the panels
const WRITE_TIMEOUT_MS = 4000; // that a line may wait for the disk until the recording is shown as delayed
const STOP_TIMEOUT_MS = 2500; // after which Stop is answered, while the rest is finished in the background
const SAVE_TIMEOUT_MS = 10_000; // that the facts of a new recording may take to be written, the second time after an error
const MIN_FREE_BYTES = 1e6; // of the disk, below which it is full
const SIGN_TIMEOUT_MS = 500; // that the toolbar may take until the panel shows the same
const EMPTY_TIMEOUT_MS = 1000; // without any recorded tab, after which the recording ends
const FIRST_MESSAGE_TIMEOUT_MS = 1000; // that a page has to report what it shows, before the recording is said to have begun

export class Session {
  recording = null; // in progress
  #phase = "idle";
  #isStarting = false;
  #ending = null; // how the last recording ended: { phase, task, task_id, full }; until the person has seen it
  #finishing = new Map(); // id -> { facts, done }: stopped, not written completely
  #statusPort = null;

  /** `store` is a promise; `ask` has the service worker do something; `tell` hands news to the panels; `onStored`: the stored recordings have changed. */
  constructor(store, { ask, tell, onStored }) {
    this.store = store;
    this.ask = ask;
    this.tell = tell;
    this.onStored = onStored;
    setInterval(() => this.#beat(), BEAT_INTERVAL_MS);
  }

  /** The last recording was cut off, as found on disk. */
  noteInterrupted(facts) {
    if (facts) this.#ending = { phase: "interrupted", task: facts.task, task_id: facts.provenance?.task_id ?? null, full: false };
    this.report();
  }

  get isBusy() {
    return this.recording !== null || this.#finishing.size > 0;
  }

  isFinishing = (id) => this.#finishing.has(id);

  /** Wait until a stopped recording is written completely. */
  finished = async (id) => this.#finishing.get(id)?.done;

  /** What toolbar and panels show. */
  get phase() {
    if (!this.recording) return this.#ending?.phase ?? "idle";
    const { failed, pendingSince } = this.recording.journal;
    if (failed) return "failed";
    if (this.#phase !== "recording") return this.#phase;
    if (performance.now() - pendingSince > WRITE_TIMEOUT_MS) return "delayed";
    return this.recording.paused ? "paused" : "recording";
  }

  get state() {
    const { recording, phase } = this;
    return {
      phase, ending: this.#ending,
      state: recording && phase !== "failed"
        ? { id: recording.facts.id, task: recording.facts.task, paused: recording.paused, elapsed: recording.elapsed,
          withheld: recording.pictures.withheld, unreadable: recording.access.isMissing }
        : null,
    };
  }

  /** Report the state to toolbar and panels: who sees it in the panel sees it on the toolbar, too. */
  async report() {
    this.#sendPhase();
    await Promise.race([this.ask("sign", { phase: this.phase }).catch(() => {}), sleep(SIGN_TIMEOUT_MS)]);
    this.tell(this.state);
  }

  #beat() {
    const { phase, recording } = this;
    this.tell({ beat: { phase, acknowledged: recording?.acknowledged ?? 0 } });
    this.#sendPhase();
  }

  /** The service worker has connected, and gets the phase from now on. */
  onStatusPort(port) {
    this.#statusPort = port;
    port.onDisconnect.addListener(() => {
      if (this.#statusPort === port) this.#statusPort = null; // the service worker was stopped
    });
    port.postMessage({ phase: this.phase });
  }

  /** Send the phase to the service worker, which is started again if it was stopped. */
  #sendPhase() {
    const { phase } = this;
    if (this.#statusPort) this.#statusPort.postMessage({ phase });
    else if (phase !== "idle") this.ask("watch").catch(() => {});
  }

  /** Start a recording; `beginLine` is the first line of its journal. */
  async start(facts, window, beginLine) {
    if (this.recording || this.#isStarting) throw new Error("A recording is already in progress.");
    this.#isStarting = true;
    try {
      await this.#begin(facts, window, beginLine);
    } finally {
      this.#isStarting = false;
    }
  }

  async #begin(facts, window, beginLine) {
    const store = await this.store;
    this.#phase = "starting";
    await this.#saveFacts(store, facts);
    this.#ending = null;
    // From here on frames may connect: the beginning is in the journal before anything of theirs.
    const recording = (this.recording = new Recording(store, facts, window, {
      ask: this.ask, tell: this.tell, onFailed: (error) => this.#fail(recording, error), onEmpty: () => this.#onEmpty(recording) }));
    recording.journal.add("begin", beginLine);
    try {
      await this.#prepare(recording, window);
    } catch (error) {
      await this.stop();
      throw error;
    }
    if (this.recording !== recording) throw new Error("The recording has ended.");
    this.#phase = "recording";
    await this.report();
  }

  /** Store the facts of a new recording. After an error of the disk, the database has to be opened again. */
  async #saveFacts(store, facts) {
    const save = async () => {
      await store.saveRecording(facts);
      await markInterrupted(store, facts.id); // what could not be marked when the disk was full
    };
    try {
      const late = sleep(SAVE_TIMEOUT_MS).then(() => Promise.reject(new Error("The disk does not respond.")));
      await Promise.race([save().catch(() => {
        store.release();
        return save();
      }), late]);
    } catch (error) {
      if (await isFull(error)) throw new Error("The disk is full. Discard recordings or free space, then start again.");
      throw new Error(`Writing failed: ${error.message}`);
    }
  }

  async #prepare(recording, window) {
    const tab = await this.ask("shown", { window });
    recording.addTab(tab);
    if (tab.zoom !== 1) recording.journal.add("zoom", { tab: 1, zoom: tab.zoom });
    await this.ask("register");
    await this.ask("inject", tab);
    await recording.pictures.ready();
    if (/^(https?|file):/.test(tab.url)) {
      await Promise.race([recording.heard.promise, sleep(FIRST_MESSAGE_TIMEOUT_MS)]);
    }
    if (tab.url.startsWith("http")) await recording.pictures.learnColours();
    await recording.journal.settle();
  }

  async pause() {
    this.recording?.pause();
    await this.report();
  }

  async resume() {
    this.recording?.resume();
    await this.report();
  }

  /** End the recording; answers within seconds, and finishes in the background. */
  async stop() {
    const { recording } = this;
    if (!recording || this.#phase === "stopping") return;
    const begun = performance.now();
    this.#phase = "stopping";
    await this.report();
    await recording.stop();
    if (this.recording !== recording) return; // it has failed meanwhile
    const done = this.#finish(recording);
    this.#finishing.set(recording.facts.id, { done });
    this.recording = null;
    await this.report();
    await this.ask("unregister");
    await this.onStored();
    await Promise.race([done, sleep(Math.max(0, STOP_TIMEOUT_MS - (performance.now() - begun)))]);
  }

  async #finish(recording) {
    const { facts, journal } = recording, { id } = facts;
    try {
      await recording.finish();
      const secret_digests = await recording.secrets.digests();
      await (await this.store).saveRecording({
        ...facts, ended: true, status: "kept", ended_at: recording.stopped, bytes: journal.bytes, secret_digests });
    } catch (error) {
      await this.#fail(recording, error);
    }
    this.#finishing.delete(id);
    await this.onStored();
  }

  /** Nothing more can be written: end the recording with what is on disk, and let go of the rest. */
  async #fail(recording, error) {
    if (recording.failed) return;
    recording.failed = true;
    const { facts } = recording;
    recording.abandon();
    const full = await isFull(error).catch(() => false);
    const isCurrent = this.recording === recording;
    if (isCurrent) this.recording = null;
    this.#ending = { phase: "failed", task: facts.task, task_id: facts.provenance?.task_id ?? null, full };
    this.report();
    if (isCurrent) await this.ask("unregister").catch(() => {});
    const store = await this.store;
    store.release();
    await markInterrupted(store, this.recording?.facts.id).catch(() => {}); // or at the next start
    await this.onStored();
  }

  /** No recorded tab is left, also when the recording's window was closed. */
  async #onEmpty(recording) {
    await sleep(EMPTY_TIMEOUT_MS);
    if (this.recording !== recording || recording.tabs.count) return;
    const { task } = recording.facts;
    await this.stop();
    this.#ending = { phase: "closed", task, task_id: null, full: false };
    this.report();
  }

  /** The person has seen how the last recording ended. */
  dismiss() {
    this.#ending = null;
    this.report();
  }
}

/** Whether writing failed because the disk is full, of which Chrome's errors do not always speak. */
async function isFull(error) {
  if (error?.name === "QuotaExceededError" || /quota|space|full/i.test(error?.message ?? "")) return true;
  const { quota, usage } = await navigator.storage.estimate();
  return quota - usage < MIN_FREE_BYTES;
}
