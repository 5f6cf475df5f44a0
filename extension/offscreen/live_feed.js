// Actions of the recording in progress for the panel: each once it is on disk, with its small picture; and the chat.
import { LiveList } from "./live_list.js";

export class LiveFeed {
  #live = new LiveList();
  #unlisted = []; // actions whose lines are not on disk: [line, what the panel shows]
  #chat = [];
  #pictures = new Map(); // line -> small picture

  /** `tell` hands news to the panels. */
  constructor(tell) {
    this.tell = tell;
  }

  /** What a panel gets that is opened only now. */
  history() {
    const pictures = [...this.#pictures].map(([event, small]) => ({ picture: { event, small } }));
    const lines = [...this.#live.all().map((line) => ["line", line]), ...this.#chat.map((chat) => ["chat", chat])];
    lines.sort(([, one], [, other]) => one.time - other.time);
    return [...pictures, ...lines.map(([kind, line]) => ({ [kind]: line }))];
  }

  /** Add an action; it is shown when its line is on disk. */
  addEvent(line, event) {
    const changed = this.#live.addEvent({ ...event, n: line });
    if (changed) this.#unlisted.push([line, changed]);
  }

  /** All lines up to that number are on disk. */
  onWritten(line) {
    while (this.#unlisted.length && this.#unlisted[0][0] <= line) this.tell({ line: this.#unlisted.shift()[1] });
  }

  addChat(chat) {
    this.#chat.push(chat);
    this.tell({ chat });
  }

  addPicture(event, small) {
    this.#pictures.set(event, small);
    this.tell({ picture: { event, small } });
  }

  /** Mark the last action as undone; returns its line, or null when there is none. */
  undo() {
    const line = this.#live.undo();
    if (line) this.tell({ line });
    return line;
  }
}
