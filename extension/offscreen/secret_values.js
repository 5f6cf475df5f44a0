// Content of the pages' secret fields: in memory only, to replace other occurrences before anything is written. The
// same rules as recorder/privacy/secret_values.py (tests/cases/secret_values.json).
import "../shared.js";
import { normalise } from "./normalised_text.js";
import { numbered } from "./numbering.js";
import { scrypt } from "./scrypt.js";

const { redacted: REDACTED, secrets, secret_digests: digests } = globalThis.demotapeShared;
const FEWEST = secrets.shortest_value; // characters of a value that is looked for at all
const DISTINCT = secrets.distinct_value; // characters from which on a value is looked for inside other text
const NAMES = new RegExp(secrets.names);

/** Whether a parameter of that name is likely to hold a secret. */
const isSecretName = (name) => NAMES.test(name.replace(/([a-z0-9])([A-Z])/g, "$1-$2").replace(/_/g, "-").toLowerCase());

export class Secrets {
  #byField = new Map();
  #values = new Set();
  #left = []; // those of them that a field held
  #inside = null;
  #wholeWords = null;
  #wholeValues = null;

  /** A secret field holds a value now; what it held before stays secret, unless it was a beginning of it. */
  addFieldValue(field, value) {
    const before = this.#byField.get(field) ?? "";
    if (value === before) return;
    if (before && !value.startsWith(before) && !before.startsWith(value)) this.#remember(before);
    if (value || !before) this.#byField.set(field, value);
    else {
      this.#remember(before);
      this.#byField.delete(field);
    }
    this.#compile();
  }

  #remember(before) {
    this.#values.add(before);
    this.#left.push(before);
  }

  /** Digests by which to find in other recordings what was typed here (schemas/secret_digests.py); null for none. */
  async digests() {
    const typed = [...[...this.#byField.values()].reverse(), ...this.#left.toReversed()];
    const distinct = new Set(typed.filter((value) => value.length >= DISTINCT && !isPlain(value)));
    const contents = [...distinct].map((value) => utf8.encode(value)).filter((bytes) => bytes.length <= digests.longest);
    if (!contents.length) return null;
    const salt = crypto.getRandomValues(new Uint8Array(digests.salt_bytes)), hashes = [];
    for (const content of contents.slice(0, digests.most)) {
      hashes.push(hex(await scrypt(content, salt, digests.cost, digests.block_size, digests.digest_bytes)));
    }
    return { salt: hex(salt), digests: hashes.sort() };
  }

  /** Whether there is anything to look for. */
  get any() {
    return this.#wholeWords !== null;
  }

  /** A text with every secret in it replaced. Short or plain words are left: they would be found everywhere. */
  inText = (text) => without(this.#inside, text);

  /** HTML with every secret in it replaced, short and plain ones where they are all of a text or of a value. */
  inMarkup(text) {
    return without(this.#wholeValues, this.inText(text));
  }

  /** An address without secrets, in its parameters (also by their name), its path and its user part. */
  inAddress(url) {
    if (!/^https?:/.test(url)) return this.inText(url);
    if (!URL.canParse(url)) { // it is none, but may hold parameters
      const [start, ...rest] = this.#inRequest(url).split("?");
      return rest.length ? `${start}?${this.#inParameters(rest.join("?"))}` : start;
    }
    const { protocol, host, pathname, search, hash } = new URL(url);
    const parameters = (part) => (part ? part[0] + this.#inParameters(part.slice(1)) : "");
    return `${protocol}//${host}${this.#inRequest(pathname)}${parameters(search)}${parameters(hash)}`;
  }

  /** Any JSON value with every secret in its texts replaced, and addresses without any. */
  inEvent(value) {
    if (typeof value === "string") return /^https?:/.test(value) ? this.inAddress(value) : this.inText(value);
    if (Array.isArray(value)) return value.map((item) => this.inEvent(item));
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.inEvent(item)]));
  }

  /** A capture script's message with every secret in it replaced. */
  inMessage(message) {
    const { snapshot } = message;
    const clean = { ...message, target: this.inEvent(message.target), data: this.inEvent(message.data) };
    if (!snapshot) return clean;
    const { title, url, rows, chunks, frame_group } = snapshot;
    return { ...clean, snapshot: {
      ...snapshot, title: this.inText(title), url: this.inAddress(url), rows: this.inEvent(rows),
      chunks: chunks.map(([number, text]) => [number, this.#inChunk(text, frame_group)]),
    } };
  }

  /** A chunk's text without secrets. What is replaced may be part of a tag: the uids are put in before. */
  #inChunk(text, frameGroup) {
    const clean = this.inMarkup(text);
    return clean === text || !text.includes("\u0003") ? clean : this.inMarkup(numbered(text, frameGroup));
  }

  #inRequest(text) {
    return without(this.#wholeWords, this.inText(text));
  }

  /** `a=b&c=d` with what is secret in it replaced, else letter by letter as it was. */
  #inParameters(query) {
    if (!query.includes("=")) return this.#inRequest(query);
    return query.split("&").map((part) => {
      const [[name, value] = ["", ""]] = [...new URLSearchParams(part)];
      const known = this.#inRequest(value);
      if (!value || (!isSecretName(name) && known === value)) return part;
      return new URLSearchParams([[name, known === value ? REDACTED : known]]).toString();
    }).join("&");
  }

  #compile() {
    const values = [...this.#values, ...this.#byField.values()].filter((value) => value.trim().length >= FEWEST);
    this.#inside = anyOf(values.filter((value) => value.length >= DISTINCT && !isPlain(value)));
    this.#wholeWords = anyOf(values, "(?<![A-Za-z0-9])", "(?![A-Za-z0-9])");
    this.#wholeValues = anyOf(values, "(?:(?<=>)|(?<=value=[\"']))\\s*", "\\s*(?=[<\"'])");
  }
}

const utf8 = new TextEncoder();

const hex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** A word such as `password`, which a page's markup holds as well. */
const isPlain = (value) => /^[A-Za-z]?[a-z]*$/.test(value);

/** The wide form of a sign, which normalised text keeps. */
const wide = (sign) => String.fromCodePoint(sign.codePointAt(0) + 0xfee0);

/** The text with the matches of a pattern replaced, in whatever way they are encoded. */
function without(pattern, text) {
  if (!pattern) return text;
  const clean = text.replace(pattern, REDACTED), normalised = normalise(clean);
  if (!normalised) return clean;
  const parts = [];
  let position = 0;
  for (const match of normalised.text.matchAll(pattern)) {
    const [start, end] = normalised.rawSpan(match.index, match.index + match[0].length);
    if (start < position) continue;
    parts.push(clean.slice(position, start), REDACTED);
    position = end;
  }
  return parts.join("") + clean.slice(position);
}

function anyOf(values, before = "", after = "") {
  const forms = [...new Set(values.flatMap(formsOf))].sort((one, other) => other.length - one.length);
  const escaped = forms.map((form) => form.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&"));
  return forms.length ? new RegExp(`${before}(?:${escaped.join("|")})${after}`, "g") : null;
}

/** How a value may be written: as it is, in HTML, in JSON, in an address, in base64. */
function formsOf(value) {
  const text = value.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const forms = [value, text, text.replace(/"/g, "&quot;"), text.replace(/"/g, "&quot;").replace(/'/g, "&#x27;"),
    JSON.stringify(value).slice(1, -1), encodeURI(value.toWellFormed()), encodeURIComponent(value.toWellFormed()),
    new URLSearchParams([["", value]]).toString().slice(1)];
  const usual = normalise(value)?.text ?? value;
  if (usual.length >= FEWEST) {
    const signs = /[!"#$&'*,:;<=>?[\\\]^`{|}~]/g;
    forms.push(usual, usual.replace(signs, wide), usual.slice(0, -1) + usual.slice(-1).replace(signs, wide));
  }
  if (value.length >= DISTINCT) forms.push(btoa(String.fromCharCode(...new TextEncoder().encode(value))).replace(/=+$/, ""));
  return forms;
}
