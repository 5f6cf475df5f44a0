// Consent to publication and licence: asked once, and stored in every recording.

const KEY = "provenance", ANSWERS = { yes: true, no: false };
const NAME = /^[\p{L}\p{N}_ .,+:/()-]{1,100}$/u; // what recordings take as a licence (schemas/formats/recording.py)

const read = () => JSON.parse(localStorage.getItem(KEY) ?? "null");

/** What a new recording tells: a person acts, and what that person answered. */
export function provenance() {
  return { actor: "person", ...read() };
}

/** Ask, until there is an answer; it can be changed later. */
export function askOnce(part) {
  const { provenance: form, license } = part, saved = read();
  part.publishing.open = !saved;
  if (saved) {
    form.elements.consent.value = Object.keys(ANSWERS).find((answer) => ANSWERS[answer] === saved.consent) ?? "";
    license.value = saved.license ?? "";
  }
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => {
    const named = license.value.trim(), valid = !named || NAME.test(named);
    license.setCustomValidity(valid ? "" : "Use only letters, digits, blanks and .,+:/()-_");
    if (!valid) return void license.reportValidity();
    const consent = ANSWERS[form.elements.consent.value];
    localStorage.setItem(KEY, JSON.stringify({ ...consent !== undefined && { consent }, ...named && { license: named } }));
    show(part);
  });
  show(part);
}

function show(part) {
  const { consent, license } = read() ?? {};
  const words = { true: "agreed", false: "not agreed" }[String(consent)] ?? "not set";
  part["publishing-told"].textContent = [words, license].filter(Boolean).join(", ");
}
