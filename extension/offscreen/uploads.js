// Uploads recordings to the review app, one after the other, chunk by chunk. What has arrived is not sent again; where
// the network goes away, it goes on when it is back, also after the browser was closed.
import { ownerOf, ownershipOf } from "./ownership.js";
import { Packing } from "./packing.js";
import { sha256 } from "./store.js";

const CHUNK = 2 * 1024 * 1024; // bytes
const PAUSES = [1, 2, 4, 8, 15, 30]; // seconds before it is tried again
const ASK_EVERY = 500; // ms, whether the review app has taken it in

/** The review app, or the way to it, is not there: to be tried again. */
class Unreachable extends Error {}

export class Uploads {
  #store;
  #onChange;
  #finished;
  #queue = [];
  #working = false;
  #changed = Promise.resolve(); // changes of the account come one after the other, and who asks for it waits for them

  /** `store` is a promise; `onChange` is called when something is to be shown; `finished` waits until a recording is written. */
  constructor(store, onChange, finished) {
    this.#store = store;
    this.#finished = finished;
    this.#onChange = onChange;
  }

  get busy() {
    return this.#working;
  }

  /** Who is signed in where, and the projects that they may send to; without the token. null for nobody. */
  async account() {
    await this.#changed;
    const account = await (await this.#store).setting("account");
    if (!account) return null;
    const { server, name, projects = [], project = null } = account;
    return { server, name, projects, project };
  }

  async signIn({ server, token }) {
    const account = { server: addressOf(server), token };
    const answer = await ask(account, "GET", "account").catch((error) => {
      throw error instanceof Unreachable ? new Error(`${account.server} does not respond.`) : error;
    });
    await this.#storeAccount(account, answer);
  }

  /** Learn which projects there are by now; what cannot be asked stays as it was. */
  async refresh() {
    const account = await (await this.#store).setting("account");
    const answer = account && (await ask(account, "GET", "account").catch(() => null));
    if (!answer) return;
    await this.#change((now) => now?.token === account.token && this.#storeAccount(now, answer));
  }

  /** Send to this project from now on. */
  choose({ project }) {
    return this.#change((now) => now?.projects?.some(({ id }) => id === project) && this.#storeAccount({ ...now, project }, now));
  }

  #change(work) {
    const done = this.#changed.then(async () => work(await (await this.#store).setting("account")));
    this.#changed = done.then(() => {}, () => {});
    return done;
  }

  async #storeAccount({ server, token, project = null }, { name, projects = [] }) {
    const known = projects.map(({ id, name }) => ({ id, name }));
    const chosen = known.some(({ id }) => id === project) ? project : (known[0]?.id ?? null);
    await (await this.#store).saveSetting("account", { server, token, name, projects: known, project: chosen });
    this.#onChange();
    await this.resume(); // what waits for this account
  }

  async signOut() {
    await (await this.#store).saveSetting("account", null);
    this.#onChange();
  }

  /**
   * The next task to record in the chosen project: text, where it begins, what a recording of it tells, its answer, and
   * when the project requests consent.
   */
  async nextTask() {
    const { project } = await this.#signedIn();
    const where = project ? `?project=${encodeURIComponent(project)}` : "";
    const { id, name, text, url, answer = "", consent_prompt } = await this.#askNow(`tasks/next${where}`);
    return { id, name, text, url, answer, consent_prompt };
  }

  /** Leave a task to others; `unachievable`: it cannot be done, for a reason. */
  async giveBack({ id, reason, unachievable }) {
    await this.#askNow(`tasks/${encodeURIComponent(id)}/back`, { reason, unachievable });
  }

  async #signedIn() {
    const account = await (await this.#store).setting("account");
    if (!account) throw new Error("Sign in to the review app first.");
    return account;
  }

  /** What somebody waits for: it is not tried again. */
  async #askNow(path, body) {
    return ask(await this.#signedIn(), "POST", path, body).catch((error) => {
      throw error instanceof Unreachable ? new Error("The review app does not respond.") : error;
    });
  }

  /** Send a recording. */
  async begin(id) {
    const account = await this.account();
    if (!account) throw new Error("Sign in to the review app first.");
    if (this.#queue.includes(id)) return;
    const store = await this.#store, facts = await store.recording(id);
    if (!facts) throw new Error("This recording is not stored any more.");
    if (ownershipOf(facts, account) === "other") throw new Error("This recording belongs to another account.");
    await this.#finished(id);
    await store.saveRecording({ ...(await store.recording(id)), owner: ownerOf(account) });
    await this.#note(id, { state: "queued", done: 0, chunks: 1, error: null, project: account.project });
    this.#queue.push(id);
    this.#work();
  }

  /** Go on with what was not finished when the browser was closed. */
  async resume() {
    const all = await (await this.#store).recordings();
    for (const { id, sent } of all) {
      if (["queued", "sending", "waiting"].includes(sent?.state) && !this.#queue.includes(id)) this.#queue.push(id);
    }
    this.#work();
  }

  async #work() {
    if (this.#working) return;
    this.#working = true;
    for (let attempts = 0; this.#queue.length; ) {
      const [id] = this.#queue;
      try {
        await this.#send(id);
        attempts = 0;
      } catch (error) {
        if (error instanceof Unreachable) {
          await this.#note(id, { state: "waiting" });
          await pause(PAUSES[Math.min(attempts++, PAUSES.length - 1)]);
          continue;
        }
        await this.#note(id, { state: "failed", error: error.message });
      }
      this.#queue.shift();
    }
    this.#working = false;
    this.#onChange();
  }

  async #send(id) {
    await this.#finished(id);
    const store = await this.#store, account = await store.setting("account");
    const facts = await store.recording(id);
    if (!facts) return; // discarded meanwhile
    if (!account || ownershipOf(facts, account) === "other") return void (await this.#note(id, { state: "queued" })); // until its owner signs in
    const packing = await Packing.of(store, id), digests = [];
    const piece = (number) => packing.slice(number * CHUNK, (number + 1) * CHUNK);
    for (let number = 0; number * CHUNK < packing.size; number++) digests.push(await sha256(await piece(number)));
    const project = (await store.recording(id))?.sent?.project; // as it was chosen when it was to be sent
    const address = `uploads/${id}${project ? `?project=${encodeURIComponent(project)}` : ""}`;
    let upload = await ask(account, "PUT", address, { size: packing.size, chunk_size: CHUNK, chunks: digests });
    const received = new Set(upload.received);
    for (const number of digests.keys()) {
      if (upload.state !== "receiving") break;
      await this.#note(id, { state: "sending", done: received.size, chunks: digests.length });
      if (received.has(number)) continue;
      await ask(account, "PUT", `uploads/${id}/chunks/${number}`, await piece(number));
      received.add(number);
    }
    if (upload.state === "receiving") upload = await ask(account, "POST", `uploads/${id}/finish`);
    while (upload.state === "processing") {
      await pause(ASK_EVERY / 1000);
      upload = await ask(account, "GET", `uploads/${id}`);
    }
    if (upload.state !== "imported") throw new Error(upload.error ?? "The review app rejected the recording.");
    await this.#note(id, { state: "imported", done: digests.length, chunks: digests.length, error: null, notice: upload.notice ?? null, at: Date.now() / 1000 });
  }

  /** Remember how far a recording is sent. */
  async #note(id, news) {
    const store = await this.#store, facts = await store.recording(id);
    if (!facts) return;
    await store.saveRecording({ ...facts, sent: { ...facts.sent, ...news } });
    this.#onChange();
  }
}

/** The address of a review app as it is used: without a path, and not open to all who listen. */
function addressOf(text) {
  const url = /^[a-z]+:\/\//i.test(text) ? text : `https://${text}`;
  if (!URL.canParse(url)) throw new Error("Invalid address.");
  const { protocol, hostname, origin } = new URL(url);
  const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
  if (protocol !== "https:" && !(protocol === "http:" && isLocal)) throw new Error("The address must begin with https://.");
  return origin;
}

/** Ask the review app; a body that is not bytes is sent as JSON. */
async function ask({ server, token }, method, path, body) {
  const binary = body instanceof Uint8Array;
  const headers = { Authorization: `Bearer ${token}` };
  if (body) headers["Content-Type"] = binary ? "application/octet-stream" : "application/json";
  let response;
  try {
    response = await fetch(`${server}/api/${path}`, {
      method, headers, body: binary || !body ? body : JSON.stringify(body), credentials: "omit", cache: "no-store", redirect: "error",
    });
    if (response.status === 204) return null;
    const answer = await response.json();
    if (response.ok) return answer;
    const isForPerson = response.status < 500 || response.status === 507; // a full disk is reported, too
    if (isForPerson && answer.message) throw Object.assign(new Error(answer.message), { refused: true });
  } catch (error) {
    if (error.refused) throw error;
  }
  throw new Unreachable();
}

/** Wait for so long, or until the network is back. */
const pause = (seconds) => new Promise((done) => {
  setTimeout(done, seconds * 1000);
  addEventListener("online", done, { once: true });
});
