// Storage of recordings: IndexedDB. Only the offscreen document writes here.
//
// A recording is its facts (`recordings`), its journal (`lines`: numbered from 1 without gaps, each the text of one line)
// and what the lines name by SHA-256 (`blobs`). A line is written together with its blobs or not at all.
import { sleep } from "../sleep.js";

const NAME = "demotape", VERSION = 1;
const STORES = { recordings: "id", settings: null, lines: null, blobs: null };
const ALL = Number.MAX_SAFE_INTEGER;
const RELEASE_MS = 3000; // without a connection, after which Chrome has let go of a database's files, and of their error

/** The storage, with the recordings marked that were interrupted. */
export async function openStore() {
  const store = new Store(await openDatabase());
  return { store, interrupted: await markInterrupted(store) };
}

/** Mark recordings that nobody ended, but the one in progress: their document has gone. Returns the facts of the last one. */
export async function markInterrupted(store, inProgress = null) {
  let last = null;
  for (const facts of await store.recordings()) {
    if (facts.status !== "recording" || facts.id === inProgress) continue;
    const count = await store.lastLine(facts.id);
    if (!count) {
      await store.remove(facts.id);
      continue;
    }
    const [line] = await store.lines(facts.id, count, 1);
    last = { ...facts, status: "interrupted", ended_at: JSON.parse(line).at };
    await store.saveRecording(last);
  }
  return last;
}

/** @returns {Promise<IDBDatabase>} */
function openDatabase() {
  const opening = indexedDB.open(NAME, VERSION);
  opening.onupgradeneeded = () => {
    for (const [name, keyPath] of Object.entries(STORES)) opening.result.createObjectStore(name, keyPath ? { keyPath } : {});
  };
  return answerOf(opening);
}

/** Result of a request. */
export const answerOf = (request) => new Promise((done, failed) => {
  request.onsuccess = () => done(request.result);
  request.onerror = () => failed(request.error);
});

/** A transaction that is on disk when the promise is kept. */
function written(transaction) {
  return new Promise((done, failed) => {
    transaction.oncomplete = done;
    transaction.onabort = () => failed(transaction.error ?? new Error("Writing was aborted."));
  });
}

const everything = (id) => IDBKeyRange.bound([id], [id, []]);

export class Store {
  /** @type {Promise<IDBDatabase> | null} */
  #opened;

  /** @param {IDBDatabase} database */
  constructor(database) {
    this.#opened = Promise.resolve(database);
  }

  /**
   * Close the connection after an error of the disk. The error stays with the database until nobody has had it open for
   * some seconds: what is wanted of the store meanwhile waits, then opens it again.
   */
  release() {
    const closed = Promise.resolve(this.#opened).then((database) => database?.close(), () => {});
    this.#opened = closed.then(() => sleep(RELEASE_MS)).then(openDatabase);
    this.#opened.catch(() => {}); // reported to who wants something of the store
  }

  /** A transaction; the database is opened again if it was released, or Chrome closed the connection. */
  async #transaction(names, mode = undefined, options = undefined) {
    const opened = (this.#opened ??= openDatabase());
    try {
      return (await opened).transaction(names, mode, options);
    } catch (error) {
      if (this.#opened === opened) this.#opened = null;
      if (error.name !== "InvalidStateError") throw error;
    }
    return this.#transaction(names, mode, options);
  }

  /** The answer of a request that is made of a store. */
  async #read(name, request) {
    return answerOf(request((await this.#transaction(name)).objectStore(name)));
  }

  recordings = () => this.#read("recordings", (store) => store.getAll());

  recording = (id) => this.#read("recordings", (store) => store.get(id));

  async saveRecording(facts) {
    const transaction = await this.#transaction("recordings", "readwrite");
    transaction.objectStore("recordings").put(facts);
    await written(transaction);
  }

  setting = (name) => this.#read("settings", (store) => store.get(name));

  async saveSetting(name, value) {
    const transaction = await this.#transaction("settings", "readwrite");
    transaction.objectStore("settings").put(value, name);
    await written(transaction);
  }

  /** Write lines ([number, text]) and blobs ([SHA-256, bytes]) of a recording at once. */
  async append(id, lines, blobs) {
    const transaction = await this.#transaction(["lines", "blobs"], "readwrite", { durability: "strict" });
    for (const [sha256, bytes] of blobs) transaction.objectStore("blobs").put(bytes, [id, sha256]);
    for (const [number, text] of lines) transaction.objectStore("lines").put(text, [id, number]);
    await written(transaction);
  }

  /** Number of a recording's last line; 0 when it has none. */
  async lastLine(id) {
    const range = IDBKeyRange.bound([id, 0], [id, ALL]);
    const cursor = await this.#read("lines", (store) => store.openKeyCursor(range, "prev"));
    return cursor ? cursor.key[1] : 0;
  }

  /** Lines from one number on, at most so many. */
  lines = (id, from, count) => this.#read("lines", (store) => store.getAll(IDBKeyRange.bound([id, from], [id, ALL]), count));

  blob = (id, sha256) => this.#read("blobs", (store) => store.get([id, sha256]));

  /** SHA-256 of all blobs of a recording, in order. */
  async blobNames(id) {
    return (await this.#read("blobs", (store) => store.getAllKeys(everything(id)))).map(([, sha256]) => sha256);
  }

  /** Forget a recording. */
  async remove(id) {
    const transaction = await this.#transaction(["recordings", "lines", "blobs"], "readwrite");
    transaction.objectStore("recordings").delete(id);
    transaction.objectStore("lines").delete(everything(id));
    transaction.objectStore("blobs").delete(everything(id));
    await written(transaction);
  }
}

/** SHA-256 in lower-case hexadecimal. */
export async function sha256(bytes) {
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
