// Agreement to what is collected: required before the first recording of an account, or of nobody.
import { keyOf } from "./account_keys.js";

let key = keyOf("agreed", null);

/** Ask an account that has not agreed yet. */
export function useAgreement(part, account) {
  key = keyOf("agreed", account);
  show(part);
}

/** Store that who starts a recording has agreed; the form requires it. */
export function noteAgreement(part) {
  if (part.agree.checked) localStorage.setItem(key, new Date().toISOString());
  show(part);
}

function show(part) {
  const agreed = localStorage.getItem(key) !== null;
  part.agreement.hidden = agreed;
  part.agree.required = !agreed;
}
