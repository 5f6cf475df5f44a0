// The package of a recording: a zip file (APPNOTE 6.3.3) with its journal, the referenced blobs, and a manifest. Any
// part of it can be made at any time: the whole never stands in memory, and an upload can go on where it stopped.
import { crc32 } from "./crc32.js";
import { sha256 } from "./store.js";

const FORMAT = "demotape/package", VERSION = 3;
const LINES_AT_ONCE = 200;
const STORED = 0, DEFLATED = 8;
const EPOCH = [0, 0x21]; // time and date of every entry: 1980-01-01, the first that a zip can tell
const MOST_ENTRIES = 65535, MOST_BYTES = 0xffffffff;
const utf8 = new TextEncoder();

export class Packing {
  /** Prepare the package of a recording. */
  static async of(store, id) {
    const packing = new Packing();
    const facts = await store.recording(id), lines = await store.lastLine(id);
    const journal = await journalOf(store, id, lines);
    const files = [];
    for (const name of await store.blobNames(id)) {
      const bytes = await store.blob(id, name);
      files.push({ name: `blobs/${name}`, size: bytes.byteLength, sha256: name });
      packing.#add(`blobs/${name}`, STORED, bytes.byteLength, crc32(new Uint8Array(bytes)), bytes.byteLength,
        async () => new Uint8Array(await store.blob(id, name)));
    }
    files.push({ name: "journal.jsonl", size: journal.size, sha256: journal.sha256 });
    packing.#add("journal.jsonl", DEFLATED, journal.size, journal.crc, journal.packed.length, async () => journal.packed);
    const { task, started_at, ended, provenance, secret_digests } = facts;
    const manifest = utf8.encode(JSON.stringify({
      format: FORMAT, version: VERSION, id, task, started_at, ended, lines, files, provenance,
      ...secret_digests?.salt && { secret_digests } })); // without a salt: an earlier version's
    packing.#add("manifest.json", STORED, manifest.length, crc32(manifest), manifest.length, async () => manifest);
    packing.#close();
    return packing;
  }

  #parts = []; // { at, length, read }
  #directory = [];
  size = 0;

  #put(length, read) {
    this.#parts.push({ at: this.size, length, read });
    this.size += length;
  }

  #add(name, method, size, crc, packed, read) {
    const fields = [20, 0x0800, method, ...EPOCH], sizes = [crc, packed, size], title = utf8.encode(name);
    const local = record(0x04034b50, fields, sizes, [title.length, 0], title);
    this.#directory.push(record(0x02014b50, [20, ...fields], sizes, [title.length, 0, 0, 0, 0], title, [0, this.size]));
    this.#put(local.length, async () => local);
    this.#put(packed, read);
  }

  #close() {
    const count = this.#directory.length, begin = this.size;
    for (const entry of this.#directory) this.#put(entry.length, async () => entry);
    if (count > MOST_ENTRIES || begin > MOST_BYTES) throw new Error("The recording is too large for one package.");
    const end = new Uint8Array(22), view = new DataView(end.buffer);
    view.setUint32(0, 0x06054b50, true);
    view.setUint16(8, count, true);
    view.setUint16(10, count, true);
    view.setUint32(12, this.size - begin, true);
    view.setUint32(16, begin, true);
    this.#put(end.length, async () => end);
  }

  /** Bytes of the package from one place to another. */
  async slice(from, to) {
    const bytes = new Uint8Array(Math.min(to, this.size) - from);
    for (const { at, length, read } of this.#parts) {
      if (at + length <= from || at >= to) continue;
      const part = (await read()).subarray(Math.max(0, from - at), Math.min(length, to - at));
      bytes.set(part, Math.max(0, at - from));
    }
    return bytes;
  }

  /** The whole package. */
  async blob() {
    const pieces = [];
    for (const { read } of this.#parts) pieces.push(new Blob([await read()])); // a Blob need not stay in memory
    return new Blob(pieces, { type: "application/zip" });
  }
}

/** A header of a zip entry; `place` is what only the directory tells: attributes and where the entry begins. */
function record(signature, shorts, longs, lengths, title, place = []) {
  const bytes = new Uint8Array(4 + 2 * shorts.length + 4 * longs.length + 2 * lengths.length + 4 * place.length + title.length);
  const view = new DataView(bytes.buffer);
  let at = 4;
  view.setUint32(0, signature, true);
  for (const value of shorts) at = (view.setUint16(at, value, true), at + 2);
  for (const value of longs) at = (view.setUint32(at, value, true), at + 4);
  for (const value of lengths) at = (view.setUint16(at, value, true), at + 2);
  for (const value of place) at = (view.setUint32(at, value, true), at + 4);
  bytes.set(title, at);
  return bytes;
}

/** The journal's lines as one file: packed, with its size, CRC and SHA-256. */
async function journalOf(store, id, lines) {
  const whole = [];
  for (let from = 1; from <= lines; from += LINES_AT_ONCE) {
    const some = await store.lines(id, from, Math.min(LINES_AT_ONCE, lines - from + 1));
    whole.push(some.map((line) => `${line}\n`).join(""));
  }
  const content = new Blob(whole), bytes = new Uint8Array(await content.arrayBuffer());
  const packed = new Response(content.stream().pipeThrough(new CompressionStream("deflate-raw")));
  return { size: bytes.length, crc: crc32(bytes), sha256: await sha256(bytes), packed: new Uint8Array(await packed.arrayBuffer()) };
}
