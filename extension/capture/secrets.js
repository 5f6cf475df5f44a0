// Data that must not leave the page: passwords, one-time codes, card data, and fields that the site or the lab marked.
"use strict";

demotape.secrets = (function () {
  const { redacted: REDACTED, secrets: RULES, not_typed_in } = globalThis.demotapeShared;
  const AUTOCOMPLETE = /(^|\s)(one-time-code|cc-(number|csc|exp(-month|-year)?))(\s|$)/i;
  const PASSWORD = /(^|\s)(current|new)-password(\s|$)/i;
  const NAMES = new RegExp(RULES.names), LABELS = new RegExp(RULES.labels);
  const NOT_TYPED_IN = new Set(not_typed_in);
  const LETTERS = [4, 8]; // fields of one letter that make a code, at least and at most
  const LEVELS = 4; // above a field of one letter, in which the others are looked for
  const { own } = demotape;

  const spaced = (name) => name.replace(/([a-z0-9])([A-Z])/g, "$1-$2").replace(/_/g, "-").toLowerCase();

  const open = new WeakMap(); // element -> at which version of the DOM, and with what value, it was no secret

  /** Whether a control's value is secret: once it is, always, also after "show password". */
  function isSecret(element) {
    const { oncePassword, version } = demotape.shared;
    if (oncePassword.has(element)) return true;
    const known = open.get(element);
    if (known?.version === version) return false;
    const { localName, value } = own(element);
    const typed = localName === "input" || localName === "textarea";
    // What it takes time to see is looked at first, and when the value has changed.
    const changed = !known || known.value !== value;
    const secret = isMarked(element) || (typed && (isSecretByName(element) || (changed && isCalledSecret(element))));
    if (secret && typed) oncePassword.add(element);
    if (!secret) open.set(element, { version, value: typed ? value : undefined });
    return Boolean(secret);
  }

  /** Somebody acts in a control: look at it again, and at all that may tell that it is secret. */
  const doubt = (element) => open.delete(element);

  const isMarked = (element) => demotape.shared.masks && own(element).closest("[data-demotape-mask]");

  /** By what the control itself says. */
  function isSecretByName(element) {
    if (element.type === "password") return true;
    if (element.type !== "hidden" && NOT_TYPED_IN.has(element.type)) return false;
    const autocomplete = element.getAttribute("autocomplete") ?? "";
    return (
      AUTOCOMPLETE.test(autocomplete) || (PASSWORD.test(autocomplete) && !searches(element)) ||
      NAMES.test(spaced(element.name ?? "")) || NAMES.test(spaced(element.id ?? ""))
    );
  }

  /** Whether it finds something in a list or a page: many such fields say "new-password" to keep the browser's own list
   * of what was typed before away, and no password is typed into one. Selectize's has no role, and says autofill=no. */
  const searches = (element) =>
    element.type === "search" || element.getAttribute("role") === "combobox" ||
    element.getAttribute("autofill") === "no" ||
    ["list", "both"].includes(element.getAttribute("aria-autocomplete"));

  /** By its label, by what shows its letters as dots, or as one of the fields that take a code letter by letter. */
  function isCalledSecret(element) {
    if (NOT_TYPED_IN.has(element.type)) return false;
    return (
      LABELS.test(demotape.elements.name(element).toLowerCase()) ||
      LABELS.test((element.getAttribute("placeholder") ?? "").toLowerCase()) ||
      ["disc", "circle", "square"].includes(getComputedStyle(element).getPropertyValue("-webkit-text-security")) ||
      lettersBeside(element).length > 0
    );
  }

  /** The fields of one letter that make a code with this one, itself included; none when it is no such field. */
  function lettersBeside(element) {
    let above = element;
    for (let level = 0; element.maxLength === 1 && level < LEVELS && above; level++) {
      above = own(above).parentElement;
      const found = above ? Array.from(own(above).querySelectorAll("input[maxlength='1']"), (input) => input) : [];
      if (found.length > LETTERS[1]) return [];
      if (found.length >= LETTERS[0]) return found;
    }
    return [];
  }

  /** A control's value, masked when secret; an empty field stays empty. */
  function valueOf(element) {
    const node = own(element);
    const value = node.value ?? demotape.typing.editContextText(node.editContext) ?? (node.isContentEditable ? node.innerText : "");
    return value && isSecret(element) ? REDACTED : String(value);
  }

  const MAX_TEXTS = 50; // texts of one marked element

  /**
   * Let the recorder know what a secret field holds, so that it is found in requests and addresses as well. It stays in
   * the recorder's memory; `demotape.sendSecret` is there only where the receiver can promise that.
   */
  function report(element) {
    if (!demotape.sendSecret) return;
    const { value } = own(element);
    if (value !== undefined) reportOnce(demotape.uid(element), String(value));
    const letters = value === undefined ? [] : lettersBeside(element);
    if (letters.length) reportOnce(`${demotape.uid(letters[0])}/code`, letters.map((letter) => letter.value).join(""));
    else reportTexts(element);
  }

  function reportOnce(field, value) {
    const { reportedSecrets } = demotape.shared;
    if ((reportedSecrets.get(field) ?? "") === value) return;
    reportedSecrets.set(field, value);
    demotape.sendSecret(field, value);
  }

  function reportTexts(element) {
    const walker = demotape.elements.textsIn(element);
    for (let count = 0; count < MAX_TEXTS && walker.nextNode(); count++) {
      const text = walker.currentNode.data.trim();
      if (text.length > 3) reportOnce(`${demotape.uid(element)}/${count}`, text);
    }
  }

  /** Whether the page shows in an element, in clear, what a secret field of it holds. */
  function repeats(element) {
    const { reportedSecrets } = demotape.shared;
    if (!reportedSecrets.size) return false;
    const { childNodes, value } = own(element);
    const texts = Array.from(childNodes, (node) => (node.nodeType === Node.TEXT_NODE ? node.data : ""));
    if (typeof value === "string") texts.push(value);
    const shown = texts.filter((text) => text.length >= RULES.distinct_value);
    return shown.length > 0 && [...reportedSecrets.values()].some((secret) =>
      secret.length >= RULES.distinct_value && shown.some((text) => text.includes(secret)));
  }

  return { REDACTED, isSecret, doubt, valueOf, report, repeats };
})();
