// The live list for the recorded person: one plain line for each action, without typed text. The same rules as
// recorder/building/live_list.py (tests/cases/live_list.json); the folding into turns is done later, from the
// recording.
import "../shared.js";

const { controls, deletion_keys, live_list, not_typed_in, silent_keys } = globalThis.demotapeShared;
const SILENT_KEYS = new Set([...silent_keys, "Character"]); // one of a secret
const CONTROLS = new Set(controls), NOT_TYPED_IN = new Set(not_typed_in), DELETIONS = new Set(deletion_keys);
const JOINED = new Set(live_list.joined); // many events in a row on one element are one line
const QUICK = live_list.double_click_seconds; // between the presses of a double click
const UNSURE = 99;

export class LiveList {
  #lines = [];
  #byGesture = new Map();
  #begun = new Map(); // id of a gesture's first event -> its number

  /**
   * The line that an event adds or changes, null when it changes none. An event is a page's message with `n`, the number
   * of its line in the journal, and its time in seconds. A line: `line` its number, `event` (n) of the last gesture in it,
   * `time`, `word` (an intent), `name` of the target, `undone`.
   */
  addEvent(event) {
    const word = wordOf(event), gesture = event.gesture ?? event.id ?? event.n;
    if (!this.#begun.has(gesture)) this.#begun.set(gesture, event.n);
    if (!word) return null;
    let line = this.#byGesture.get(gesture);
    if (!line) line = this.#sameAsLast(event, word) ?? this.#add(event, word);
    else if (!JOINED.has(line.word) && !better(line, event, word)) return null;
    line.event = this.#begun.get(gesture);
    this.#byGesture.set(gesture, line);
    return shown(line);
  }

  /** Mark the last line that still stands; returns it, or null when there is none. */
  undo() {
    const line = this.#lines.findLast((line_) => !line_.undone);
    if (!line) return null;
    line.undone = true;
    return shown(line);
  }

  /** All lines so far. */
  all = () => this.#lines.map(shown);

  #add(event, word) {
    const line = {
      line: this.#lines.length + 1, event: event.n, time: event.time, word, name: nameOf(event), undone: false,
      of: `${event.tab} ${event.target?.uid ?? ""}`, beganBy: event.type, rank: UNSURE,
    };
    this.#lines.push(line);
    return line;
  }

  #sameAsLast(event, word) {
    const last = this.#lines.at(-1);
    if (!last || last.undone || last.of !== `${event.tab} ${event.target?.uid ?? ""}` || last.word !== word) return null;
    const quick = event.type === "pointerdown" && event.time - last.time < QUICK;
    return JOINED.has(word) || quick ? last : null;
  }
}

const shown = ({ line, event, time, word, name, undone }) => ({ line, event, time, word, name, undone });

/** Give a line the word of a later event of its gesture, if that is surer; returns whether it is. */
function better(line, event, word) {
  const rank = (live_list.surest_first[line.beganBy] ?? []).indexOf(word);
  if (rank < 0 || rank >= line.rank) return false;
  Object.assign(line, { word, name: nameOf(event), rank });
  return true;
}

/** The intent that an event is likely to become; null when it shows nothing of its own. */
function wordOf(event) {
  const { type, data } = event;
  if (type === "input" || type === "change") return valueWord(event);
  if (type === "keydown") return keyWord(event);
  if (type === "scroll") return event.gesture ? "scroll" : null; // a page that scrolls itself is nobody's action
  if (type === "navigate") return live_list.transitions[data.transition] ?? null;
  return live_list.intents[type] ?? null;
}

function valueWord({ type, data, target }) {
  if (data.files?.length) return "upload";
  if (isTypedIn(target)) return type === "input" ? "textInput" : null;
  return "change";
}

function keyWord({ data: { key, modifiers = [], prevented }, target }) {
  if (SILENT_KEYS.has(key)) return prevented ? "press" : null;
  const withModifiers = modifiers.some((name) => name !== "Shift"), tag = target?.tag ?? "";
  const brings = key.length === 1 || DELETIONS.has(key) || (key === "Enter" && tag !== "input");
  if (!withModifiers && brings && (CONTROLS.has(tag) || isTypedIn(target))) return null; // told by its `input`
  return "press";
}

/** Whether a person types into it. */
function isTypedIn(element) {
  if (!element) return false;
  const { tag, attributes } = element;
  if (tag === "input") return !NOT_TYPED_IN.has((attributes.type ?? "text").toLowerCase());
  return tag === "textarea" || (attributes.contenteditable ?? "false").toLowerCase() !== "false";
}

/** What it was done to. Never a value or a key that could be part of one; of an address only the host. */
function nameOf({ type, data, target }) {
  if (type === "keydown" && data.key.length > 1) return data.key;
  if (type === "navigate") return URL.canParse(data.url) ? new URL(data.url).hostname.slice(0, live_list.name_limit) : "";
  if (type.startsWith("tab")) return `Tab ${data.tab}`;
  if (type === "dialog") return data.message.slice(0, live_list.name_limit);
  return target ? (target.name || target.role || target.tag).slice(0, live_list.name_limit) : "";
}
