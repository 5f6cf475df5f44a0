// Consent to publication and licence: asked once, and stored in every recording.

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

function fillIn(part) {
  const { provenance: form, license } = part, saved = read();
  part.publishing.open = !saved;
  form.elements.consent.value = Object.keys(ANSWERS).find((answer) => ANSWERS[answer] === saved?.consent) ?? "";
  license.value = saved?.license ?? "";
  show(part);
}

function show(part) {
  const { consent, license } = read() ?? {};
  const words = { true: "agreed", false: "not agreed" }[String(consent)] ?? "not set";
  part["publishing-told"].textContent = [words, license].filter(Boolean).join(", ");
}
