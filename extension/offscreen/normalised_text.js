// Normalised text: what a text says without its encodings, and where each part is in the text. The same rules as
// schemas/normalised_text.py, but for quoted-printable, spaces of parameters and most named references
// (tests/cases/secret_values.json).
const MAX_NESTED = 4; // encodings inside one another that are undone
const ESCAPE = new RegExp([
  "(?<percent>%[0-7][0-9a-f]|%[cd][0-9a-f]%[89ab][0-9a-f]|%e[0-9a-f](?:%[89ab][0-9a-f]){2}|%f[0-4](?:%[89ab][0-9a-f]){3})",
  "(?<decimal>&#[0-9]{1,7};?)|(?<hexadecimal>&#x[0-9a-f]{1,6};?)|(?<named>&[a-z]{2,6};)",
  "(?<script>\\\\u[0-9a-f]{4}|\\\\u\\{[0-9a-f]{1,6}\\}|\\\\x[0-9a-f]{2})",
  "(?<style>\\\\0{0,4}(?:40|2[0bde]|3[0-9])(?![0-9a-f]) ?)",
  "(?<plain>\\\\[ -/:-@\\[-`{-~])|(?<space>\\\\[nrt])"].join("|"), "gi");
const REFERENCES = new Map(Object.entries({ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", shy: "\u00ad",
  commat: "@", period: ".", excl: "!", num: "#", dollar: "$", percnt: "%", lpar: "(", rpar: ")", ast: "*", plus: "+",
  comma: ",", sol: "/", colon: ":", semi: ";", equals: "=", quest: "?", lsqb: "[", bsol: "\\", rsqb: "]", lowbar: "_",
  lcub: "{", verbar: "|", rcub: "}", zwnj: "\u200c", zwj: "\u200d" }));
const INVISIBLE = new RegExp("[\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e" +
  "\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufff8\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}" +
  "\\u{e0000}-\\u{e0fff}]+", "gu");
const DECOMPOSED = /[A-Za-z\u00c0-\u024f\u0370-\u04ff][\u0300-\u036f]{1,4}|[\u3040-\u30ff][\u3099\u309a]|[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?/g;
const DASH_IN_NUMBER = /(?<=[0-9)])[\u2012-\u2015\u2212\u30fc](?=[0-9(])/g;
// Inside a word of wide letters and digits, every wide sign is a part of it.
const WIDE_INSIDE = /(?<=[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a])[\uff01-\uff5e](?=[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a])/g;
const SIGNS = new Map(Object.entries({ "＠": "@", "﹫": "@", "．": ".", "﹒": ".", "․": ".", "＋": "+", "﹢": "+", "％": "%", "﹪": "%",
  "＿": "_", "－": "-", "﹣": "-", "‐": "-", "‑": "-", "／": "/", "（": "(", "）": ")" }));
const WHITE_SPACE = { n: "\n", r: "\r", t: "\t" };
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** A step back: for every character of the output, start and end of what it was made from. */
class Steps {
  #steps = [];

  /** The text with matches of a pattern replaced; those stay for which `by` returns null. */
  replace(text, pattern, by) {
    const parts = [], step = [];
    let position = 0, moved = 0;
    for (const match of text.matchAll(pattern)) {
      const decoded = by(match);
      if (decoded === null) continue;
      const start = match.index, end = start + match[0].length;
      parts.push(text.slice(position, start), decoded);
      const outStart = start + moved;
      moved += decoded.length - match[0].length;
      step.push([outStart, end + moved, start, end]);
      position = end;
    }
    if (!parts.length) return text;
    this.#steps.push(step);
    return parts.join("") + text.slice(position);
  }

  /** Start and end in the raw text of a span that is not empty. */
  rawSpan(start, end) {
    let last = end - 1;
    for (const step of this.#steps.toReversed()) {
      start = locate(step, start)[0];
      last = locate(step, last)[1] - 1;
    }
    return [start, last + 1];
  }
}

/** Start and end before a step of the character at a position behind it. */
function locate(step, position) {
  let low = 0, high = step.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (step[middle][0] <= position) low = middle + 1;
    else high = middle;
  }
  if (!low) return [position, position + 1];
  const [, outEnd, start, end] = step[low - 1];
  if (position < outEnd) return [start, end];
  return [end + position - outEnd, end + position - outEnd + 1];
}

/** `text`: without encodings; `rawSpan(start, end)`: the way back. Null for a text that says what it says. */
export function normalise(raw) {
  if (!/[%&\\]|[^\x00-\x7f]/.test(raw)) return null;
  const steps = new Steps();
  let text = raw;
  for (let nested = 0; nested < MAX_NESTED && /[%&\\]/.test(text); nested++) {
    const before = text;
    text = steps.replace(text, ESCAPE, unescaped);
    if (text === before) break;
  }
  if (/[^\x00-\x7f]/.test(text)) {
    text = steps.replace(text, INVISIBLE, () => "");
    const changing = [...new Set(text)].filter((character) => usualForm(character) !== character);
    if (changing.length) {
      text = text.replace(WIDE_INSIDE, (sign) => String.fromCharCode(sign.charCodeAt(0) - 0xfee0));
      const any = new RegExp(changing.join("|"), "gu"); // none is a sign of patterns
      text = steps.replace(text, any, ([character]) => usualForm(character));
    }
    text = steps.replace(text, DECOMPOSED, ([letters]) => letters.normalize("NFC"));
    text = text.replace(DASH_IN_NUMBER, "-");
  }
  return text === raw ? null : { text, rawSpan: (start, end) => steps.rawSpan(start, end) };
}

function usualForm(character) {
  if (character < "\x80") return character;
  if (/\p{Nd}/u.test(character)) return digit(character);
  if (/\p{Zs}/u.test(character)) return " ";
  if (/[\p{L}\uff9e\uff9f]/u.test(character)) {
    const usual = character.normalize("NFKC");
    return [...usual].length === 1 || /[\ufb00-\ufb06]/.test(character) ? usual : character;
  }
  return SIGNS.get(character) ?? character;
}

/** A decimal digit: those of a script are ten in a row, and mathematical ones ten after ten. */
function digit(character) {
  const usual = character.normalize("NFKC");
  if (/^[0-9]$/.test(usual)) return usual;
  let value = 0, code = character.codePointAt(0);
  while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - 1))) {
    value++;
    code--;
  }
  return String(value);
}

function unescaped({ 0: escape, groups }) {
  if (groups.percent) {
    try {
      return utf8.decode(Uint8Array.from(escape.slice(1).split("%"), (code) => parseInt(code, 16)));
    } catch {
      return null;
    }
  }
  if (groups.named) return REFERENCES.get(escape.slice(1, -1)) ?? null;
  if (groups.plain) return escape[1];
  if (groups.space) return WHITE_SPACE[escape[1].toLowerCase()];
  const code = parseInt(escape.match(/[0-9a-f]+(?=[^0-9a-f]*$)/i)[0], groups.decimal ? 10 : 16);
  return code && code <= 0x10ffff ? String.fromCodePoint(code) : null;
}
