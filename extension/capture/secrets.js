// What must never leave the page: passwords, one-time codes, card data, and fields that the site or the lab marked.
"use strict";

demotape.secrets = (function () {
  const { redacted: REDACTED } = globalThis.demotapeShared;
  const AUTOCOMPLETE = /(^|\s)(current-password|new-password|one-time-code|cc-(number|csc|exp(-month|-year)?))(\s|$)/i;
  const NAMES = /(^|[^a-z])(otp|totp|mfa|2fa|one-?time-?(code|password|pin)|cvv2?|cvc2?|csc|card-?(number|no|num)|passcode|pin-?code)([^a-z]|$)/i;
  const spaced = (name) => name.replace(/([a-z0-9])([A-Z])/g, "$1-$2").replace(/_/g, "-");

  const open = new WeakMap(); // element -> at which version of the DOM it was no secret

  /** Whether a control's value is secret: once a password field, always one, also after "show password". */
  function isSecret(element) {
    const { oncePassword, version } = demotape.shared;
    if (oncePassword.has(element)) return true;
    if (open.get(element) === version) return false;
    const secret =
      (demotape.shared.masks && demotape.own(element).closest("[data-demotape-mask]")) ||
      (element.localName === "input" &&
        (element.type === "password" ||
          AUTOCOMPLETE.test(element.getAttribute("autocomplete") ?? "") ||
          NAMES.test(spaced(element.name ?? "")) ||
          NAMES.test(spaced(element.id ?? ""))));
    if (secret && (element.localName === "input" || element.localName === "textarea")) oncePassword.add(element);
    if (!secret) open.set(element, version);
    return Boolean(secret);
  }

  /** A control's value, masked when secret; an empty field stays empty. */
  function valueOf(element) {
    const own = demotape.own(element);
    const value = own.value ?? (own.isContentEditable ? own.innerText : "");
    return value && isSecret(element) ? REDACTED : String(value);
  }

  const TELL_LIMIT = 50; // texts of one marked element

  /**
   * Let the recorder know what a secret field holds, so that it is found in requests and addresses as well. It stays in
   * the recorder's memory; `demotape.tellSecret` is there only where the receiver can promise that.
   */
  function tell(element) {
    if (!demotape.tellSecret) return;
    const { value } = demotape.own(element);
    if (value !== undefined) tellOnce(demotape.uid(element), String(value));
    else tellTexts(element);
  }

  function tellOnce(field, value) {
    const { toldSecrets } = demotape.shared;
    if ((toldSecrets.get(field) ?? "") === value) return;
    toldSecrets.set(field, value);
    demotape.tellSecret(field, value);
  }

  function tellTexts(element) {
    const walker = demotape.elements.textsIn(element);
    for (let count = 0; count < TELL_LIMIT && walker.nextNode(); count++) {
      const text = walker.currentNode.data.trim();
      if (text.length > 3) tellOnce(`${demotape.uid(element)}/${count}`, text);
    }
  }

  return { REDACTED, isSecret, valueOf, tell };
})();
