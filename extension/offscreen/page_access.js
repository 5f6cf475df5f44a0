// Whether the page that a tab shows can be recorded: the capture script does not run in pages of Chrome's own, of other
// extensions, of the Web Store, and cannot read what a viewer shows.

const CONNECT_TIMEOUT_MS = 1500; // from a new document until its capture script must have connected

export class PageAccess {
  #unreadable = new Set(); // tabs

  /** @param {import("./recording.js").Recording} recording */
  constructor(recording) {
    this.recording = recording;
  }

  /** Whether the tab that is shown has a page that cannot be recorded. */
  get isMissing() {
    return this.#unreadable.has(this.recording.tabs.current);
  }

  /** A tab shows a new document: find out whether the capture script connects. */
  check(tab) {
    setTimeout(() => {
      const { documents, ports, tabs } = this.recording, document = documents.get(tab);
      const isOfIt = (frame) => frame.number === tab && frame.frame === 0 && frame.document === document && !frame.early;
      if (tabs.chromeTab(tab)) this.set(tab, [...ports.values()].some((frame) => isOfIt(frame) && !frame.display?.viewer));
    }, CONNECT_TIMEOUT_MS);
  }

  set(tab, isReadable) {
    if (isReadable) this.#unreadable.delete(tab);
    else this.#unreadable.add(tab);
    this.tell();
  }

  tell() {
    this.recording.tell({ unreadable: this.isMissing });
  }
}
