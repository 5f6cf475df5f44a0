// Reads text that is typed, whether the browser edits and reports `input`, the editor handles `keydown` or `beforeinput`,
// or an EditContext reports `textupdate`.
"use strict";

demotape.typing = (function () {
  const CHECKS_MS = [0, 30, 100]; // after a key, when an editor that tells nothing may have taken its text in
  const MAX_TEXT_CHARS = 20000;
  const NOT_TYPED_IN = new Set(globalThis.demotapeShared.not_typed_in);
  const SILENT_KEYS = new Set(globalThis.demotapeShared.silent_keys);
  const DELETION_KEYS = new Set(globalThis.demotapeShared.deletion_keys);
  const { own, secrets, shared } = demotape;
  const reported = new WeakMap(); // element -> its value when its last `input` was sent
  let runs = new WeakMap(); // EditContext -> what was typed into it without a break
  let listening = new AbortController(); // takes the listeners to them away
  let pending = null; // a key of which the editor has not said whether it brought text
  let settling = null; // a value that the page may put in another form

  /** Whether a person types into an element. */
  function isEditable(element) {
    const { localName, isContentEditable, editContext } = own(element) ?? {};
    if (localName === "input") return !NOT_TYPED_IN.has(/** @type {any} */ (element).type);
    return localName === "textarea" || Boolean(isContentEditable || editContext);
  }

  /** The text in an element as it is, also a secret one: it stays here. Without line breaks where these need a layout. */
  function textIn(element) {
    const node = own(element);
    return String(node.value ?? editContextText(node.editContext) ?? (node.isContentEditable ? node.textContent : ""));
  }

  /** The text in an EditContext, undefined without one. */
  function editContextText(context) {
    const run = context && runs.get(context);
    return run && !run.reliable ? run.text : context?.text;
  }

  /**
   * A key has gone down in `element`, which holds `before`: whether it brings text is known later, if the browser does
   * not tell.
   */
  function onKey(event, element, gesture, before) {
    if (!isEditable(element)) return;
    listenToEditContext(element);
    const { key = "", ctrlKey, metaKey } = event;
    if (!SILENT_KEYS.has(key)) noteAct(element);
    const edits = key.length === 1 || key === "Enter" || DELETION_KEYS.has(key);
    if (!edits || ctrlKey || metaKey) return;
    const check = { element, event, gesture, before };
    pending = check;
    shared.pendingText = { flush };
    for (const wait of CHECKS_MS) demotape.later(() => pending === check && sendIfChanged(wait === CHECKS_MS.at(-1)), wait);
  }

  /** Send what an editor has taken in without a word; `last`: it is not waited for any longer. */
  function sendIfChanged(last) {
    const { element, event, gesture, before } = pending;
    const text = textIn(element);
    if (text !== before && !isRemovedByPage(event.key, text, before)) {
      pending = null;
      reported.set(element, text);
      demotape.values.sendValue(element, gesture, event.timeStamp);
    } else if (last) pending = null;
  }

  /** Whether a page has removed text on a key that brings some: an Enter or a comma that sends what was typed. */
  function isRemovedByPage(key, text, before) {
    return !DELETION_KEYS.has(key) && text.length <= before.length && (key === "Enter" || !text.includes(key));
  }

  /** Send what the last key has brought; `last`: another gesture begins, so it is not waited for any longer. */
  function flush(last) {
    if (pending) sendIfChanged(last);
    if (settling) sendSettled();
  }

  /** The browser or an EditContext has told of text in `element`. */
  function onInput(event, element, gesture) {
    if (pending?.element === element) pending = null;
    const value = textIn(element);
    reported.set(element, value);
    const check = { element, event, gesture, value };
    settling = check;
    shared.pendingText = { flush };
    demotape.later(() => settling === check && sendSettled(), 0);
  }

  /** Send the value as the page has put it in form. */
  function sendSettled() {
    const { element, event, gesture, value } = settling;
    settling = null;
    const text = textIn(element);
    if (text === value || lettersOf(text) !== lettersOf(value)) return;
    reported.set(element, text);
    demotape.values.sendValue(element, gesture, event.timeStamp);
  }

  const lettersOf = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");

  const rewritten = new WeakMap(); // element -> what the page has put in place of the value that was sent last

  /** A key or text is about to come: returns what an element holds, and notes it if that is not what was sent last. */
  function noteValueBefore(element) {
    if (!isEditable(element)) return "";
    const value = textIn(element);
    if (reported.has(element) && value !== reported.get(element)) rewritten.set(element, value);
    else rewritten.delete(element);
    return value;
  }

  /** What is sent of it with the next `input`. */
  function valueBefore(element) {
    const value = rewritten.get(element);
    if (value === undefined) return {};
    rewritten.delete(element);
    return { value_before: value && secrets.isSecret(element) ? secrets.REDACTED : value.slice(0, MAX_TEXT_CHARS) };
  }

  /** An EditContext reports text to all who listen to it, in any world. */
  function listenToEditContext(element) {
    const context = own(element)?.editContext;
    if (!context || runs.has(context)) return;
    runs.set(context, { start: 0, text: "", known: context.text, reliable: true, acts: 0 });
    context.addEventListener("textupdate", (event) => {
      updateRun(context, event);
      demotape.values.onTextUpdate(event, element);
    }, { signal: listening.signal });
  }

  /** Listen to nothing any more. */
  function stop() {
    listening.abort();
    listening = new AbortController();
    runs = new WeakMap();
    pending = settling = null;
  }

  /**
   * Keep what was typed into an EditContext without a break. Its `text` holds the whole content, unless the page puts
   * other text in it (Monaco adds what the browser has added already): then the run is the value.
   */
  function updateRun(context, { updateRangeStart: start, updateRangeEnd: end, text }) {
    const run = runs.get(context), last = run.start + run.text.length;
    run.reliable &&= context.text === run.known.slice(0, start) + text + run.known.slice(end);
    const continues = start >= run.start && end <= last && run.acts <= 1; // others have moved the caret or the text
    run.text = continues ? run.text.slice(0, start - run.start) + text + run.text.slice(end - run.start) : text;
    if (!continues) run.start = start;
    run.known = context.text;
    run.acts = 0;
  }

  /** Somebody acts in an element; what brings no text breaks the run. */
  function noteAct(element) {
    const run = runs.get(own(element)?.editContext);
    if (run) run.acts++;
  }

  const isReported = (element) => reported.has(element);

  return { isEditable, isReported, editContextText, noteAct, onKey, onInput, noteValueBefore, valueBefore, listenToEditContext, stop };
})();
