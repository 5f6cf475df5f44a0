// The journal of the current recording: numbers the reports and stores them in batches.
import { sha256 } from "./store.js";

export const clock = () => (performance.timeOrigin + performance.now()) / 1000; // wall clock that is never set back

export class Journal {
  #store;
  #id;
  #next = 1;
  #lines = [];
  #blobs = new Map();
  #known = new Set();
  #flushing = null;

  /** @param {import("./store.js").Store} store; `onWritten` gets the number of the last line on disk, `onFailed` the error that ends all writing. */
  constructor(store, id, onWritten, onFailed) {
    this.#store = store;
    this.#id = id;
    this.onWritten = onWritten;
    this.onFailed = onFailed;
    this.failed = null;
    this.bytes = 0; // written so far
    this.pendingSince = Infinity; // when the oldest line that is not on disk was added, ms of performance.now()
  }

  /** Add a line; returns its number. `raw` is JSON text that becomes the field `message` as it is. */
  add(kind, fields = {}, raw = null) {
    const number = this.#next++;
    const text = JSON.stringify({ n: number, at: clock(), kind, ...fields });
    const line = raw === null ? text : `${text.slice(0, -1)},"message":${raw}}`;
    if (this.failed) return number;
    this.#lines.push([number, line]);
    this.pendingSince = Math.min(this.pendingSince, performance.now());
    this.bytes += line.length;
    this.#flushing ??= this.#flush();
    return number;
  }

  /** Keep bytes that a later line names; returns their SHA-256. The same bytes are kept once. */
  async keep(bytes) {
    const name = await sha256(bytes);
    if (!this.#known.has(name) && !this.failed) {
      this.#known.add(name);
      this.#blobs.set(name, bytes);
      this.bytes += bytes.byteLength;
    }
    return name;
  }

  /** Wait until everything told so far is on disk. */
  async settle() {
    while (this.#flushing) await this.#flushing;
    if (this.failed) throw this.failed;
  }

  async #flush() {
    await Promise.resolve(); // what is told in the same breath is written at once
    while (this.#lines.length && !this.failed) {
      const lines = this.#lines, blobs = this.#blobs;
      this.#lines = [];
      this.#blobs = new Map();
      const begun = performance.now();
      try {
        await this.#store.append(this.#id, lines, blobs);
        this.pendingSince = this.#lines.length ? begun : Infinity;
        this.onWritten(lines.at(-1)[0]);
      } catch (error) {
        this.failed = error ?? new Error("Writing failed.");
        this.#lines = [];
        this.#blobs = new Map();
        this.onFailed(this.failed);
      }
    }
    this.#flushing = null;
  }
}
