// Style sheets, images and fonts that the recorded tabs have loaded: requested from the browser now and then, and each
// stored once.

const INTERVAL_MS = 1500; // between two requests for one tab

export class LoadedResources {
  #known = new Set(); // address and content of those that are stored
  #timers = new Map(); // tab -> timer of its next request
  #requestedAt = new Map(); // tab -> when the last was

  /** @param {import("./recording.js").Recording} recording */
  constructor(recording) {
    this.recording = recording;
  }

  /** Request what a tab has loaded: at once for a new document, at intervals for one that goes on loading. */
  schedule(tab) {
    if (this.#timers.has(tab)) return;
    const wait = Math.max(0, (this.#requestedAt.get(tab) ?? -Infinity) + INTERVAL_MS - performance.now());
    this.#timers.set(tab, setTimeout(() => this.#store(tab), wait));
  }

  /** A tab shows another document. */
  forgetDocument(tab) {
    this.#requestedAt.delete(tab);
  }

  /** Request now what was scheduled. */
  finish = () => Promise.all([...this.#timers.keys()].map((tab) => this.#store(tab)));

  async #store(tab) {
    clearTimeout(this.#timers.get(tab));
    this.#timers.delete(tab);
    this.#requestedAt.set(tab, performance.now());
    const { recording } = this, chromeTab = recording.tabs.chromeTab(tab), isOver = () => recording.ended || recording.paused;
    if (isOver() || !chromeTab) return;
    const resources = await recording.ask("resources", { chromeTab }).catch(() => []);
    for (const { url, type, content } of resources) {
      const name = `${url} ${content.length} ${content.slice(0, 200)} ${content.slice(-200)}`;
      if (this.#known.has(name) || isOver()) continue;
      this.#known.add(name);
      const blob = await recording.journal.keep(Uint8Array.from(atob(content), (c) => c.charCodeAt(0)).buffer);
      recording.journal.add("resource", { url: recording.secrets.inText(url), content_type: type, blob });
    }
  }
}
