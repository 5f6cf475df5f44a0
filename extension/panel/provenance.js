// Consent to publication and licence: asked once, or for each task where its project wants that, and stored in every
// recording.

import { keyOf } from "./account_keys.js";

const ANSWERS = { yes: true, no: false };
const NAME = /^[\p{L}\p{N}_ .,+:/()-]{1,100}$/u; // what recordings take as a licence (schemas/formats/recording.py)

let key = keyOf("provenance", null); // where the answer of who is signed in is stored; of nobody at first
const read = () => JSON.parse(localStorage.getItem(key) ?? "null");

/** Answers belong to an account, or to nobody: ask who signs in for the first time. */
export function useAccount(part, account) {
  const before = key;
  key = keyOf("provenance", account);
  if (key !== before) fillIn(part);
}

/** What a new recording tells: a person acts, and what that person answered. */
export function provenance() {
  return { actor: "person", ...read() };
}

/** Ask, until there is an answer; it can be changed later. */
export function askOnce(part) {
  const { provenance: form, license } = part;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => {
    const named = license.value.trim(), valid = !named || NAME.test(named);
    license.setCustomValidity(valid ? "" : "Use only letters, digits, blanks and .,+:/()-_");
    if (!valid) return void license.reportValidity();
    const consent = ANSWERS[form.elements.consent.value];
    localStorage.setItem(key, JSON.stringify({ ...consent !== undefined && { consent }, ...named && { license: named } }));
    show(part);
  });
  fillIn(part);
}

/** Ask for consent again, for the session of a task whose project wants that; the licence stays. */
export function askAgain(part) {
  const { license } = read() ?? {};
  if (license) localStorage.setItem(key, JSON.stringify({ license }));
  else localStorage.removeItem(key);
  fillIn(part);
  part.publishing.open = true;
}

function fillIn(part) {
  const { provenance: form, license } = part, saved = read();
  part.publishing.open = !saved;
  const answer = Object.keys(ANSWERS).find((name) => ANSWERS[name] === saved?.consent) ?? "";
  for (const radio of form.elements.consent) radio.checked = radio.value === answer; // `consent.value` ignores ""
  license.value = saved?.license ?? "";
  show(part);
}

function show(part) {
  const { consent, license } = read() ?? {};
  const words = { true: "agreed", false: "not agreed" }[String(consent)] ?? "not set";
  part["publishing-told"].textContent = [words, license].filter(Boolean).join(", ");
}
