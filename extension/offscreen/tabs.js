// The recorded tabs of the browser: those of the window where the recording began, once activated or opened, and tabs
// that these open in other windows. No browser in here: it is told.

export class Tabs {
  #windows;
  #numbers = new Map(); // chrome's id -> number
  current = 0; // number of the tab that is shown

  constructor(window) {
    this.#windows = new Set([window]);
  }

  /** Number of a tab, from 1 in order of appearance; undefined when it is not recorded. */
  number = (chromeTab) => this.#numbers.get(chromeTab);

  /** How many recorded tabs are open. */
  get count() {
    return this.#numbers.size;
  }

  /** Chrome's id of a number. */
  chromeTab = (number) => [...this.#numbers].find(([, known]) => known === number)?.[0];

  /** Whether a tab that is not known yet belongs to the recording: it is new or shown. */
  belongs = ({ window, opener, active }) => this.#numbers.has(opener) || (this.#windows.has(window) && active);

  inScope = ({ window }) => this.#windows.has(window);

  /** Record a window as a whole from now on. */
  addWindow(window) {
    this.#windows.add(window);
  }

  /** Take a tab in; returns its number. */
  add({ chromeTab, window }) {
    this.#windows.add(window);
    this.#numbers.set(chromeTab, ++this.#last);
    return this.#last;
  }

  #last = 0; // number of the last tab

  /** A tab goes on under another id. */
  replace(removed, added) {
    const number = this.#numbers.get(removed);
    if (number === undefined) return;
    this.#numbers.delete(removed);
    this.#numbers.set(added, number);
  }

  remove(chromeTab) {
    this.#numbers.delete(chromeTab);
  }
}
