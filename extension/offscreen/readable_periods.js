// Periods in which a tab shows a document that the extension may read. Only frames painted in them are kept: a page of
// Chrome's own, of another extension, or a viewer never gets into a picture. Pure; times are wall clock, in seconds.

const MAX_PERIODS = 16; // closed periods that are remembered
const MAX_DOCUMENTS = 64; // documents with a capture script that are remembered
const CONNECT_TIMEOUT_S = 3; // from the commit of a document until its capture script must have connected
const PAINT_MARGIN_S = 0.1; // after a first paint, by which a frame from before it may carry a later time

/** What the browser and the capture scripts report of one tab's documents, and which frames these permit. */
export class ReadablePeriods {
  #closed = []; // { from, until }, oldest first
  #current = newDocument(null, -Infinity, false);
  #scripted = new Map(); // document -> { readable, painted }: its capture script has connected
  #verifiedUntil = -Infinity;

  /** The tab is new and shows nothing: what comes next need not be painted first. */
  begin() {
    this.#current.blank = this.#current.document === null;
  }

  /** A document took the place of the one before; `blank`: it is an empty one. */
  commit(document, time, blank = false) {
    const current = this.#current;
    if (document === current.document) return void this.#moveCommit(time);
    if (time < current.since) return this.#insertCommit(document, time);
    this.#replace(document, time);
    Object.assign(this.#current, { committed: true, blank: blank && current.blank });
    return undefined;
  }

  /** The capture script runs in the document that the tab shows; `readable`: whether it can read the content. */
  connect(document, time, readable) {
    if (document !== this.#current.document) this.#replace(document, time);
    const { painted = null } = this.#scripted.get(document) ?? {};
    this.#scripted.delete(document);
    this.#scripted.set(document, { readable, painted });
    if (this.#scripted.size > MAX_DOCUMENTS) this.#scripted.delete(this.#scripted.keys().next().value);
  }

  /** The document was on the screen at that time; returns whether frames of it count only from then on. */
  paint(document, time) {
    const script = this.#scripted.get(document), current = this.#current;
    if (!script) return false;
    script.painted = Math.max(time, script.painted ?? time);
    if (document !== current.document || current.painted !== null) return false;
    if (current.committed && time < current.since) return false;
    current.painted = Math.max(time, current.since);
    return !current.follows && script.readable;
  }

  /** A navigation to a page that cannot be read has begun. */
  leave(time) {
    this.#current.until = Math.min(this.#current.until, time);
  }

  /** The navigation has failed: the document stays. */
  stay() {
    this.#current.until = Infinity;
  }

  /** Everything that the browser did until that time has been reported. */
  verify(time) {
    this.#verifiedUntil = Math.max(this.#verifiedUntil, time);
  }

  /** Whether all that was reported covers a time. */
  isVerified = (time) => time <= this.#verifiedUntil;

  /** Whether a frame painted between two times is `kept`, `refused`, or not decided yet (`open`). */
  state(from, until = from) {
    const decided = this.isVerified(until) ? "kept" : "open", current = this.#current;
    if (this.#closed.some((period) => period.from <= from && until < period.until)) return decided;
    if (from < current.since || until >= current.until) return "refused";
    const script = this.#scripted.get(current.document);
    if (!script) return this.#verifiedUntil - current.since > CONNECT_TIMEOUT_S ? "refused" : "open";
    if (!script.readable) return "refused";
    const start = this.#startOfCurrent();
    if (start === null) return "open";
    return from < start ? "refused" : decided;
  }

  /** From when on frames of the current document count; null while that is unknown. */
  #startOfCurrent() {
    const { document, follows, since, painted } = this.#current;
    if (!this.#scripted.get(document)?.readable) return null;
    if (follows) return since;
    return painted === null ? null : painted + PAINT_MARGIN_S;
  }

  #replace(document, time) {
    const from = this.#startOfCurrent(), until = Math.min(time, this.#current.until);
    if (from !== null && from < until) this.#closed = [...this.#closed.slice(1 - MAX_PERIODS), { from, until }];
    this.#current = newDocument(document, time, this.#current.blank || (from !== null && until >= time));
    const { painted = null } = this.#scripted.get(document) ?? {};
    if (painted !== null && painted >= time) this.#current.painted = painted;
  }

  /** The current document was committed earlier than its capture script could report. */
  #moveCommit(time) {
    const current = this.#current, last = this.#closed.at(-1);
    current.committed = true;
    if (time >= current.since) return;
    if (last?.until === current.since) last.until = time;
    current.since = time;
  }

  /** A document was shown before the current one, and is reported only now. */
  #insertCommit(document, time) {
    const last = this.#closed.at(-1);
    if (this.#scripted.get(document)?.readable || (last && time < last.from)) return;
    if (last) last.until = Math.min(last.until, time);
    this.#current.follows = false;
  }
}

/** `follows`: a readable document was shown right before; its frames until then belong to no other page. */
const newDocument = (document, since, follows) =>
  ({ document, since, follows, committed: false, blank: false, painted: null, until: Infinity });
