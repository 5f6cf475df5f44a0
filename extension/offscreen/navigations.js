// Cause of a navigation, from the events of chrome.webNavigation. Keeps each tab's history as far as it was seen.

const TYPED = new Set(["typed", "auto_bookmark", "generated", "keyword", "keyword_generated", "start_page", "auto_toplevel"]);

export class Navigations {
  #started = new Map(); // tab -> { url, started }
  #histories = new Map(); // tab -> { entries: addresses, at: index }

  /** A navigation begins. */
  begin(tab, { url, started }) {
    this.#started.set(tab, { url, started });
  }

  /** It is done: its transition as the format names it, and when it began. */
  finish(tab, { url, committed, transition, qualifiers, sameDocument }) {
    const begun = sameDocument ? null : this.#started.get(tab); // another page may be on its way, or may have been
    if (!sameDocument) this.#started.delete(tab);
    const history = this.#history(tab);
    if (qualifiers.includes("forward_back")) {
      return { transition: this.#move(history, url), started: begun?.started ?? committed };
    }
    this.#push(history, url, transition === "reload" || sameAddress(history, url));
    if (sameDocument) return { transition: "same_document", started: committed };
    return { transition: transitionOf(transition, qualifiers), started: begun?.started ?? committed };
  }

  #history(tab) {
    if (!this.#histories.has(tab)) this.#histories.set(tab, { entries: [], at: -1 });
    return this.#histories.get(tab);
  }

  #push(history, url, replaces) {
    if (!replaces) history.at++;
    history.at = Math.max(0, history.at);
    history.entries.length = Math.min(history.entries.length, replaces ? history.entries.length : history.at);
    history.entries[history.at] = url;
  }

  /** Which way the history moved: the nearest entry with that address, back before forward. */
  #move(history, url) {
    const { entries, at } = history;
    for (let distance = 1; distance <= entries.length; distance++) {
      if (entries[at - distance] === url) {
        history.at = at - distance;
        return "back";
      }
      if (entries[at + distance] === url) {
        history.at = at + distance;
        return "forward";
      }
    }
    return "back"; // to what was there before the recording
  }
}

const sameAddress = ({ entries, at }, url) => entries[at] === url;

function transitionOf(transition, qualifiers) {
  if (qualifiers.includes("client_redirect")) return "script";
  if (qualifiers.includes("from_address_bar") || TYPED.has(transition)) return "typed";
  if (transition === "form_submit") return "form";
  return transition === "reload" ? "reload" : "link";
}
