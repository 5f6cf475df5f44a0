// What Python and JavaScript share: schemas/shared.json, written by `python -m schemas.write_shared`.
globalThis.demotapeShared = {
 "uid_attribute": "data-demotape-uid",
 "redacted": "[REDACTED]",
 "intents": [
  {"name": "say", "label": "Say", "family": "say", "weblinx": "say", "mind2web": null, "browsergym": "send_msg_to_user", "playwright": null, "acts_on_element": false},
  {"name": "click", "label": "Click", "family": "pointer", "weblinx": "click", "mind2web": "CLICK", "browsergym": "click", "playwright": "locator.click", "acts_on_element": true},
  {"name": "hover", "label": "Hover", "family": "pointer", "weblinx": "hover", "mind2web": "HOVER", "browsergym": "hover", "playwright": "locator.hover", "acts_on_element": true},
  {"name": "textInput", "label": "Typing", "family": "typing", "weblinx": "textInput", "mind2web": "TYPE", "browsergym": "fill", "playwright": "locator.fill", "acts_on_element": true},
  {"name": "change", "label": "Change", "family": "typing", "weblinx": "change", "mind2web": "SELECT", "browsergym": "select_option", "playwright": "locator.select_option", "acts_on_element": true},
  {"name": "load", "label": "Load", "family": "page", "weblinx": "load", "mind2web": null, "browsergym": "goto", "playwright": "page.goto", "acts_on_element": false},
  {"name": "submit", "label": "Submit", "family": "page", "weblinx": "submit", "mind2web": "ENTER", "browsergym": "press", "playwright": "locator.press", "acts_on_element": true},
  {"name": "scroll", "label": "Scroll", "family": "other", "weblinx": "scroll", "mind2web": null, "browsergym": "scroll", "playwright": "mouse.wheel", "acts_on_element": false},
  {"name": "copy", "label": "Copy", "family": "typing", "weblinx": "copy", "mind2web": null, "browsergym": "keyboard_press", "playwright": "keyboard.press", "acts_on_element": false},
  {"name": "paste", "label": "Paste", "family": "typing", "weblinx": "paste", "mind2web": null, "browsergym": "keyboard_press", "playwright": "keyboard.press", "acts_on_element": false},
  {"name": "tabcreate", "label": "New tab", "family": "tab", "weblinx": "tabcreate", "mind2web": null, "browsergym": "new_tab", "playwright": "context.new_page", "acts_on_element": false},
  {"name": "tabremove", "label": "Tab closed", "family": "tab", "weblinx": "tabremove", "mind2web": null, "browsergym": "tab_close", "playwright": "page.close", "acts_on_element": false},
  {"name": "tabswitch", "label": "Tab shown", "family": "tab", "weblinx": "tabswitch", "mind2web": null, "browsergym": "tab_focus", "playwright": "page.bring_to_front", "acts_on_element": false},
  {"name": "dblclick", "label": "Double click", "family": "pointer", "weblinx": "click", "mind2web": "CLICK", "browsergym": "dblclick", "playwright": "locator.dblclick", "acts_on_element": true},
  {"name": "press", "label": "Key", "family": "typing", "weblinx": null, "mind2web": "ENTER", "browsergym": "press", "playwright": "locator.press", "acts_on_element": false},
  {"name": "drag", "label": "Drag", "family": "pointer", "weblinx": null, "mind2web": null, "browsergym": "drag_and_drop", "playwright": "locator.drag_to", "acts_on_element": true},
  {"name": "upload", "label": "Upload", "family": "typing", "weblinx": null, "mind2web": null, "browsergym": "upload_file", "playwright": "locator.set_input_files", "acts_on_element": true},
  {"name": "dialog", "label": "Dialog", "family": "other", "weblinx": null, "mind2web": null, "browsergym": null, "playwright": "dialog.accept", "acts_on_element": false},
  {"name": "back", "label": "Back", "family": "page", "weblinx": "load", "mind2web": null, "browsergym": "go_back", "playwright": "page.go_back", "acts_on_element": false},
  {"name": "forward", "label": "Forward", "family": "page", "weblinx": "load", "mind2web": null, "browsergym": "go_forward", "playwright": "page.go_forward", "acts_on_element": false},
  {"name": "reload", "label": "Reload", "family": "page", "weblinx": "load", "mind2web": null, "browsergym": null, "playwright": "page.reload", "acts_on_element": false}
 ],
 "silent_keys": ["Shift", "Control", "Alt", "Meta", "AltGraph", "CapsLock", "NumLock", "ScrollLock", "Fn", "Tab", "Dead", "Process", "Unidentified", "Compose"],
 "deletion_keys": ["Backspace", "Delete"],
 "controls": ["input", "textarea", "select"],
 "not_typed_in": ["button", "submit", "reset", "image", "checkbox", "radio", "range", "color", "date", "time", "month", "week", "datetime-local", "file", "hidden"],
 "live_list": {
  "intents": {"pointerdown": "click", "click": "click", "auxclick": "click", "contextmenu": "click", "dblclick": "dblclick", "dragstart": "drag", "drop": "drag", "hover": "hover", "submit": "submit", "copy": "copy", "cut": "copy", "paste": "paste", "tabcreate": "tabcreate", "tabremove": "tabremove", "tabswitch": "tabswitch", "dialog": "dialog"},
  "transitions": {"typed": "load", "reload": "reload", "back": "back", "forward": "forward"},
  "joined": ["textInput", "scroll"],
  "surest_first": {"pointerdown": ["upload", "change", "drag", "dblclick", "click", "scroll"], "keydown": ["copy", "paste", "submit", "change", "textInput", "click", "scroll"]},
  "double_click_seconds": 0.5,
  "name_limit": 80
 },
 "secrets": {
  "names": "(^|[^a-z])(pass(word|wd|phrase|code|wort|ord)?|pwd|mdp|kennwort|mot-?de-?passe|contrase(n|ñ)a|senha|palavra-?passe|wachtwoord|has(l|ł)o|heslo|salasana|l(o|ö)senord|adgangskode|parola|(s|ş)ifre|jelsz(o|ó)|secret|otp|totp|mfa|2fa|one-?time-?(code|password|pin)|pin(-?code)?|cvv2?|cvc2?|csc|card-?(number|no|num)|(access|refresh|id|auth|session|api|csrf|xsrf)-?(token|key)|(verification|security|auth|authentication|confirmation)-?code|token|authorization|jwt|session-?id|sid)([^a-z]|$)|пароль|密码|密碼|パスワード|暗証番号|비밀번호",
  "labels": "(^|[^a-z])((pass(word|code|phrase|wort|ord)|kennwort|mot de passe|contrase(n|ñ)a|senha|palavra-passe|wachtwoord|hasło|heslo|salasana|lösenord|adgangskode|parola|şifre|jelszó|otp|one[ -]time[ -](code|password|pin|passcode)|(verification|security|authentication|confirmation|authenticator|login|sms|2fa|mfa)[ -]code|(bestätigungs|sicherheits|einmal|verifizierungs|zugangs)code|(karten)?prü(f|fungs)(nummer|ziffer)|code (de (sécurité|vérification|confirmation)|secret|pin)|código de (seguridad|verificación|confirmación|segurança|verificação)|codice di (sicurezza|verifica)|beveiligingscode|verificatiecode|cvv2?|cvc2?|csc|card[ -]?(number|no|num)|(credit|debit|bank)[ -]card|(kredit)?karten(nummer|nr)|kreditkarte|numéro de (la )?carte|número de (la )?tarjeta|número do cartão|numero (della |di )?carta|kaartnummer|kortnummer|numer karty|social security number|ssn)([^a-z]|$)|pin([ -]?(code|number|nummer))?[^a-z]*$)|пароль|пин-?код|номер карты|код подтверждения|密码|密碼|验证码|驗證碼|卡号|卡號|パスワード|暗証番号|認証コード|カード番号|비밀번호|인증번호|카드 ?번호|كلمة ال(مرور|سر)|รหัสผ่าน|סיסמ",
  "shortest_value": 3,
  "distinct_value": 6
 },
 "secret_digests": {
  "cost": 16384,
  "block_size": 8,
  "salt_bytes": 16,
  "digest_bytes": 16,
  "longest": 200,
  "most": 50
 }
};
