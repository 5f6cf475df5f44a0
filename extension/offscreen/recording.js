// The current recording: receives reports of pages, browser and person, and writes them to the journal.
import { FrameGroups } from "./frame_groups.js";
import { Journal, clock } from "./journal.js";
import { LiveFeed } from "./live_feed.js";
import { LoadedResources } from "./loaded_resources.js";
import { Navigations } from "./navigations.js";
import { PageAccess } from "./page_access.js";
import { Pictures } from "./pictures.js";
import { PositionRequests } from "./position_requests.js";
import { Secrets } from "./secret_values.js";
import { Tabs } from "./tabs.js";
import { sleep } from "../sleep.js";

const UNREADABLE = // addresses that no extension may read
  /^(chrome|chrome-[a-z]+|devtools|view-source|edge|brave|about):|^https:\/\/(chromewebstore\.google\.com\/|chrome\.google\.com\/webstore)/;
const CALM = 300; // ms without anything moving after which the screen shows what the page knows
const FOLLOWED = 64; // events of which it may still be told for how long their page stayed as it was
const BEGINNINGS = new Set(["pointerdown", "keydown", "wheel"]);
const CLOCK_SET = 1000; // ms between a page's clock and this one that mean that one was set
const SETTLE_TIMEOUT_MS = 800; // that the service worker has at the end to report what the browser did
const VERIFY_TIMEOUT_MS = 10_000; // that the browser may take, after Stop, to report what it did until then
const RESTING = 500; // ms that frames have to fall silent at the end
const LOOKING = 20_000; // ms that the last look at what tabs have loaded may take; a page that hangs tells nothing

/** Time of a page, in ms, as this clock would tell it: the page's may have been set since. */
function truly(time, sent) {
  const skew = clock() * 1000 - sent;
  return Math.abs(skew) > CLOCK_SET ? time + skew : time;
}

export class Recording {
  /**
   * `facts`: id, task, started_at …; `ask` asks the service worker for something; `tell` hands news to the panel;
   * `onFailed` gets the error after which nothing can be written; `onEmpty`: no recorded tab is left.
   */
  constructor(store, facts, window, { ask, tell, onFailed, onEmpty }) {
    this.facts = facts;
    this.ask = ask;
    this.tell = tell;
    this.paused = false;
    this.ended = false;
    this.stopped = 0; // when nothing more was taken in
    this.onEmpty = onEmpty;
    this.acknowledged = 0;
    this.tabs = new Tabs(window);
    this.feed = new LiveFeed(tell);
    this.access = new PageAccess(this);
    this.navigations = new Navigations();
    this.secrets = new Secrets();
    this.pictures = new Pictures(this);
    this.journal = new Journal(store, facts.id, (line) => this.#onWritten(line), onFailed);
    this.ports = new Map(); // port -> { number, frame, session, owed: [[line, message]…] }
    this.positions = new PositionRequests(this.ports, (tab, time) => this.pictures.confirm(tab, time));
    this.resources = new LoadedResources(this);
    this.frameGroups = new Map(); // tab -> FrameGroups
    this.documents = new Map(); // tab -> the top document's id, as Chrome names it
    this.seen = new Map(); // session of a frame -> number of its last message
    this.begun = new Map(); // id of a message that began a gesture -> its tab and line
    /** @type {PromiseWithResolvers<void>} */
    this.heard = Promise.withResolvers(); // kept when a page has told all that it shows
  }

  /** Seconds since the beginning. */
  get elapsed() {
    return clock() - this.facts.started_at;
  }

  // Tabs.

  /** Take in a tab that appears, and have it heard and seen. */
  addTab(tab) {
    const known = this.tabs.number(tab.chromeTab);
    if (known) return known;
    const opener = this.tabs.number(tab.opener) ?? null, before = this.tabs.current;
    const number = this.tabs.add(tab);
    this.frameGroups.set(number, new FrameGroups());
    const line = this.journal.add("tab", { tab: number, opener, url: this.paused ? "" : this.secrets.inAddress(tab.url) });
    if (number === 1) this.tabs.current = 1;
    else if (!this.paused) {
      this.pictures.want(opener ?? before, line, clock());
      this.feed.addEvent(line, { time: this.elapsed, type: "tabcreate", tab: number, gesture: null, target: null, data: { tab: number } });
    }
    if (tab.isNew || tab.url === "about:blank") this.pictures.onDisplay(number, "begin", {});
    this.pictures.follow(number, tab);
    this.access.check(number);
    return number;
  }

  showTab(chromeTab) {
    const number = this.tabs.number(chromeTab);
    if (!number || number === this.tabs.current) return;
    const origin = this.tabs.current;
    this.tabs.current = number;
    this.pictures.show(number);
    this.access.tell();
    if (this.paused) return;
    const line = this.journal.add("show", { tab: number });
    this.pictures.want(origin, line, clock());
    this.feed.addEvent(line, { time: this.elapsed, type: "tabswitch", tab: number, gesture: null, target: null, data: { tab: number } });
  }

  // What frames tell.

  /** A frame has opened its line to the offscreen document. */
  onPort(port) {
    const { tab, frameId, documentId, documentLifecycle } = port.sender;
    const facts = { chromeTab: tab.id, window: tab.windowId, opener: tab.openerTabId ?? null, active: tab.active,
      url: tab.url ?? tab.pendingUrl ?? "" };
    if (this.ended || (!this.tabs.number(tab.id) && !this.tabs.belongs(facts))) return port.postMessage({ record: "off" });
    const number = this.addTab(facts);
    const early = documentLifecycle === "prerender"; // nobody sees it yet
    const [, session, began] = port.name.split(":"); // a page from the cache tells anew when it began, in the same session
    const frame = { number, frame: frameId, document: documentId, session, began: Number(began), owed: [], resting: false, early };
    this.ports.set(port, frame);
    if (frameId === 0 && !early) this.#onDocument(number, documentId, port.sender.url, Number(began) / 1000);
    port.onMessage.addListener((message) => this.#onMessage(port, frame, message));
    port.onDisconnect.addListener(() => this.ports.delete(port));
    port.postMessage({ record: this.paused || early ? "wait" : "on" });
  }

  /** What was rendered before it was asked for is shown now. */
  #onActivated(documentId) {
    for (const [port, frame] of this.ports) {
      if (!frame.early || frame.document !== documentId) continue;
      Object.assign(frame, { early: false, frame: 0 });
      if (frame.display) this.#onDisplay(frame, frame.display);
      if (!this.paused) port.postMessage({ record: "on" });
    }
  }

  /** A tab shows another document, which began at a time, in seconds. */
  #onDocument(number, documentId, url, began) {
    if (this.documents.get(number) === documentId) return;
    this.documents.set(number, documentId);
    this.frameGroups.get(number).leave(began);
    this.resources.forgetDocument(number);
    this.pictures.onDocument(number, /^(https?|file):/.test(url ?? ""), began);
  }

  /** A tab shows a document in which the capture script runs; `painted`: when it was first on the screen, if it was. */
  #onDisplay(frame, display) {
    frame.display = display;
    if (frame.early || frame.frame !== 0) return;
    const { number, document, began } = frame, { viewer, painted, sent } = display;
    this.access.set(number, !viewer);
    this.pictures.onDisplay(number, "connect", { document, time: truly(began, sent) / 1000, readable: !viewer });
    if (painted !== null) this.pictures.onDisplay(number, "paint", { document, time: truly(painted, sent) / 1000 });
  }

  #onMessage(port, frame, message) {
    if (message.resting) frame.resting = true;
    if (message.told) this.positions.onAnswer(port, message.told);
    if (message.resources) this.resources.schedule(frame.number);
    if (message.display) this.#onDisplay(frame, message.display);
    if (!message.number || message.number <= (this.seen.get(frame.session) ?? 0)) return;
    this.seen.set(frame.session, message.number);
    if (message.secret) this.secrets.addFieldValue(message.secret.field, message.secret.value);
    const line = message.text ? this.#addMessage(frame, message) : 0;
    const waitsFor = line || frame.owed.at(-1)?.[0]; // what came before it is not acknowledged with it
    if (waitsFor) frame.owed.push([waitsFor, message.number]);
    else port.postMessage({ acknowledged: message.number });
  }

  /** Take in what a capture script tells; returns the number of its line, 0 when it is not kept. */
  #addMessage({ number, frame, document, early }, { sent, text }) {
    if (this.ended || this.paused || early) return 0;
    const message = this.secrets.any ? this.secrets.inMessage(JSON.parse(text)) : JSON.parse(text);
    if (message.type === "unchanged") return this.#onUnchanged(message, sent);
    if (message.type === "error") return this.problem(`tab ${number}: the capture script failed: ${message.message.slice(0, 500)}`);
    const { snapshot } = message;
    if (snapshot) this.#updateSecrets(number, message.path, snapshot, truly(message.time, sent) / 1000);
    if (snapshot && !message.path.length) this.heard.resolve();
    if (snapshot && BEGINNINGS.has(message.type) && truly(message.time, sent) / 1000 > this.pictures.shownAt) {
      this.showTab(this.tabs.chromeTab(number)); // who acts in a tab sees it
    }
    const line = this.journal.add("page", { tab: number, frame, document, sent: sent / 1000 },
      this.secrets.any ? JSON.stringify(message) : text);
    if (message.type === "snapshot") {
      if (number === this.tabs.current) this.pictures.learnColours(); // the page is at rest
      return line;
    }
    const time = truly(message.time, sent) / 1000;
    if (snapshot) this.pictures.want(number, line, time, this.#paintingOf(message, sent));
    if (message.shown) this.#follow(message.id, { number, line });
    this.feed.addEvent(line, { ...message, time: time - this.facts.started_at, tab: number });
    return line;
  }

  /**
   * Where the target of an event stood, and whether and by when it was painted there, in seconds; the same of all that can
   * be read, where the page was calm before: what scrolls may be on the screen before the page hears of it.
   */
  #paintingOf({ shown, target, path, time }, sent) {
    const place = path.length ? null : target?.bbox; // of a frame's target it is not known here
    if (!shown) return { target: place };
    const { since, painted, all_since: allSince, all_painted: all } = shown;
    const seconds = (at) => at && truly(at, sent) / 1000;
    const allPainted = all && time - allSince > CALM ? seconds(all) : null;
    return { target: place, placed: true, since: seconds(since), painted: seconds(painted), allSince: seconds(allSince), allPainted };
  }

  #follow(event, begun) {
    this.begun.set(event, begun);
    if (this.begun.size > FOLLOWED) this.begun.delete(this.begun.keys().next().value);
  }

  /** A page has stayed as it was before an event: a later picture may show that. */
  #onUnchanged({ event, until, painted }, sent) {
    const begun = this.begun.get(event);
    if (!begun) return 0;
    this.begun.delete(event);
    this.pictures.stayed(begun.number, begun.line, truly(until, sent) / 1000, painted && truly(painted, sent) / 1000);
    return 0;
  }

  /** Pictures of a tab come late, and some may never. */
  tellLate(number) {
    for (const [port, frame] of this.ports) if (frame.number === number) port.postMessage({ late: true });
  }

  #updateSecrets(number, path, snapshot, time) {
    const groups = this.frameGroups.get(number);
    groups.take(path, snapshot, time);
    const size = path.length ? { width: 0, height: 0 } : snapshot.viewport;
    if (groups.hasTop) this.pictures.onSecrets(number, groups.secrets(), size, time);
    if (!path.length && !snapshot.frames.length) this.pictures.confirm(number, time); // this is all of the page
  }

  // What the browser tells.

  onNews(news) {
    const { kind, chromeTab } = news;
    if (this.ended) return;
    if (kind === "created") return void (this.tabs.belongs(news) && this.addTab({ ...news, isNew: true }));
    if (kind === "invoked") return this.#onInvoked(news);
    if (kind === "attached") return void this.#onAttached(news);
    if (kind === "shown" && this.tabs.inScope(news)) return void this.#onShown(news);
    if (kind === "replaced") return this.tabs.replace(news.removed, chromeTab);
    const number = this.tabs.number(chromeTab);
    if (!number) return;
    if (kind === "removed") this.#onRemoved(number, chromeTab);
    if (kind === "zoom" && !this.paused) this.journal.add("zoom", { tab: number, zoom: news.zoom });
    if (kind === "navigating") this.#onNavigating(number, news);
    if (kind === "failed") this.pictures.onDisplay(number, "stay", {});
    if (kind === "navigated") this.#onNavigated(number, news);
  }

  /** The person clicked on the toolbar: now Chrome gives the stream of this tab. */
  #onInvoked(tab) {
    const number = this.tabs.number(tab.chromeTab);
    if (number) this.pictures.follow(number, tab);
  }

  async #onShown(news) {
    if (!this.tabs.number(news.chromeTab)) {
      this.addTab({ ...(await this.ask("shown", { window: news.window })), chromeTab: news.chromeTab });
      await this.ask("inject", { chromeTab: news.chromeTab });
    }
    this.showTab(news.chromeTab);
  }

  /**
   * A recorded tab was moved to another window. A window of recorded tabs only is recorded as a whole from now on; of one
   * that has other tabs, no more than the moved tab.
   */
  async #onAttached({ chromeTab, window, others }) {
    if (!this.tabs.number(chromeTab) || this.tabs.inScope({ window })) return;
    if (!others.every((id) => this.tabs.number(id))) return;
    this.tabs.addWindow(window);
    const shown = await this.ask("shown", { window });
    if (!this.tabs.number(shown.chromeTab)) await this.#onShown(shown); // opened before this was known
  }

  #onNavigating(number, news) {
    this.navigations.begin(number, news);
    if (UNREADABLE.test(news.url)) this.pictures.onDisplay(number, "leave", { time: news.started });
  }

  #onRemoved(number, chromeTab) {
    const line = this.journal.add("gone", { tab: number });
    if (!this.paused) {
      this.pictures.want(number, line, clock());
      this.feed.addEvent(line, { time: this.elapsed, type: "tabremove", tab: number, gesture: null, target: null, data: { tab: number } });
    }
    this.tabs.remove(chromeTab);
    this.pictures.forget(number);
    if (!this.tabs.count) this.onEmpty();
  }

  #onNavigated(number, news) {
    const { transition, started } = this.navigations.finish(number, news);
    if (!news.sameDocument) {
      this.access.check(number);
      this.pictures.onDisplay(number, "commit",
        { document: news.document, time: news.committed, blank: news.url === "about:blank" });
      this.#onDocument(number, news.document, news.url, news.committed);
      this.#onActivated(news.document);
      this.pictures.follow(number, news);
    }
    if (this.paused || news.url === "about:blank") return;
    const { document, sameDocument } = news, url = this.secrets.inAddress(news.url);
    const line = this.journal.add("navigate", {
      tab: number, url, transition, started, committed: news.committed, document, same_document: sameDocument,
    });
    this.pictures.want(number, line, started);
    const time = started - this.facts.started_at;
    this.feed.addEvent(line, { time, type: "navigate", tab: number, gesture: null, target: null, data: { url, transition } });
  }

  // What the person asks for.

  pause() {
    if (this.paused || this.ended) return;
    this.journal.add("pause");
    this.paused = true;
    this.pictures.pause();
    this.#order("wait");
  }

  resume() {
    if (!this.paused || this.ended) return;
    this.paused = false;
    this.journal.add("resume");
    this.pictures.resume(clock());
    this.journal.add("show", { tab: this.tabs.current });
    this.#order("on");
    for (const number of new Set([...this.ports.values()].map((frame) => frame.number))) this.resources.schedule(number);
  }

  say(speaker, utterance) {
    if (this.paused || this.ended) throw new Error("The recording is paused; resume it first.");
    const chat = { speaker, utterance: this.secrets.inText(utterance) };
    this.journal.add("chat", chat);
    this.feed.addChat({ time: this.elapsed, ...chat });
  }

  undo() {
    const line = this.feed.undo();
    if (line) this.journal.add("undo", { event: line.event });
  }

  /** Something went wrong that does not end the recording. */
  problem(message) {
    this.tell({ problem: message });
    return this.journal.add("problem", { message });
  }

  /** Take in and film nothing any more, within seconds. What was taken in is stored by `finish`. */
  async stop() {
    if (this.ended || this.stopped) return;
    this.lastResources = Promise.race([this.resources.finish(), sleep(LOOKING)]);
    await this.positions.finish(this.frameGroups.keys(), RESTING);
    this.#order("off");
    const until = performance.now() + RESTING;
    while ([...this.ports.values()].some((frame) => !frame.resting) && performance.now() < until) {
      await sleep(10);
    }
    await Promise.race([this.ask("settle").catch(() => {}), sleep(SETTLE_TIMEOUT_MS)]);
    if (!this.paused) await Promise.race([this.pictures.learnColours(), sleep(SETTLE_TIMEOUT_MS)]);
    await Promise.race([this.pictures.verify(), sleep(SETTLE_TIMEOUT_MS)]);
    this.stopped = clock();
    this.pictures.halt();
  }

  /** Make the last pictures and write everything: it is on disk when the promise is kept. */
  async finish() {
    await this.lastResources;
    await Promise.race([this.pictures.verify(), sleep(VERIFY_TIMEOUT_MS)]); // again: on a busy machine Stop did not wait for it
    await this.pictures.finish();
    this.ended = true;
    this.journal.add("end");
    await this.journal.settle();
  }

  /** Let go of everything at once: nothing more can be written. */
  abandon() {
    this.ended = true;
    this.#order("off");
    this.pictures.abandon();
    for (const those of [this.ports, this.begun, this.frameGroups]) those.clear();
  }

  #order(record) {
    for (const [port, frame] of this.ports) {
      frame.resting = frame.early;
      if (!frame.early) port.postMessage({ record });
    }
  }

  /** Report to frames and panel how far everything is on disk. */
  #onWritten(line) {
    this.acknowledged = line;
    this.feed.onWritten(line);
    for (const [port, frame] of this.ports) {
      let last = 0;
      while (frame.owed.length && frame.owed[0][0] <= line) last = frame.owed.shift()[1];
      if (last) port.postMessage({ acknowledged: last });
    }
  }
}
