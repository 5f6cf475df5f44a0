// Decides which events are one physical action; the rules are a table in docs/actions.md. An event never belongs to a
// gesture because that was the last one, but to the last one begun that has not ended and accepts its type; else it
// begins one.
"use strict";

demotape.gestures = demotape.ofGroup("gestures", function () {
  const KEY_EFFECT_MS = 1000; // after a key went down or repeated, in which it brings text while it is held
  const POINTER = new Set(["pointerup", "click", "dblclick", "auxclick", "contextmenu", "dragstart", "dragend"]);
  const EFFECTS = new Set(["beforeinput", "input", "change", "submit", "copy", "cut", "paste", "click", "contextmenu"]);
  const BRINGS_TEXT = new Set(["paste", "drop", "dragstart"]); // with a pointer that is down

  const { own } = demotape;

  let active = []; // gestures that have not ended, in the order in which they began
  let lastPointer = null, last = null;
  const chooserOpeners = new WeakMap(); // file input -> id of the gesture in which it was clicked

  /** A gesture has begun with the event of this id. `kind`: pointer, key, text, drop, autofill or driven. */
  function begin(kind, id, element) {
    const gesture = { kind, id, element, effectsUntil: performance.now() + KEY_EFFECT_MS, released: false, bringsText: false };
    if (ACCEPTS[kind]) active = [...active.filter((other) => other.kind !== kind), gesture];
    if (kind === "pointer") lastPointer = gesture;
    return (last = gesture);
  }

  const activeOf = (kind) => active.find((gesture) => gesture.kind === kind);

  /** What the browser makes of the event belongs to the gesture; what comes in a later task does not. */
  function endAfterTask(gesture) {
    if (!gesture) return;
    gesture.released = true;
    demotape.later(() => (active = active.filter((other) => other !== gesture)), 0);
  }

  const isText = ({ type, inputType }) => type === "beforeinput" || (type === "input" && Boolean(inputType));

  const ACCEPTS = {
    pointer: (gesture, event) => POINTER.has(event.type) || (event.type === "drop" && gesture.bringsText) ||
      (EFFECTS.has(event.type) && (gesture.bringsText || gesture.released || !isText(event))),
    key: (gesture, event) => EFFECTS.has(event.type) &&
      (gesture.released ? !isText(event) : performance.now() < gesture.effectsUntil),
    text: (gesture, event, element) => EFFECTS.has(event.type) && isSameOrInside(gesture.element, element),
    drop: (gesture, event) => EFFECTS.has(event.type),
    autofill: (gesture, event, element) => EFFECTS.has(event.type) && gesture.element === element,
  };

  /** Whether one element is the other or in it: an editor's events are told of its host or of a paragraph in it. */
  const isSameOrInside = (first, second) => own(first).contains(second) || own(second).contains(first);

  /** Whether the last gesture was on a control, or on its label: then the list or picker that it opened sets it. */
  function wasLastOn(control) {
    if (!last) return false;
    return isSameOrInside(last.element, control) || Array.from(own(control).labels ?? []).some((label) => own(label).contains(last.element));
  }

  /** The id of the gesture that an event belongs to, undefined when it belongs to none. */
  function ownerOf(event, element) {
    const byPointer = POINTER.has(event.type) && event.pointerId !== -1; // -1: made by a key, a label or a tool
    if (byPointer && lastPointer) return note(lastPointer, event).id;
    const accepting = active.findLast((gesture) => ACCEPTS[gesture.kind](gesture, event, element));
    return accepting && note(accepting, event).id;
  }

  function note(gesture, event) {
    gesture.bringsText ||= BRINGS_TEXT.has(event.type);
    return gesture;
  }

  /** A key repeats, or is about to bring a character: its effect may come now. */
  function extendKey() {
    const key = activeOf("key");
    if (key) key.effectsUntil = performance.now() + KEY_EFFECT_MS;
    return key?.id;
  }

  const endKey = () => endAfterTask(activeOf("key"));
  const endPointer = () => endAfterTask(activeOf("pointer"));

  const isFileInput = (element) => own(element)?.localName === "input" && element.type === "file";

  /** A click on a file input, be it the page's own, opens its chooser: the files belong to the gesture of the click. */
  function noteChooser(element, event) {
    if (!isFileInput(element)) return;
    const opener = ownerOf(event, element);
    if (opener) chooserOpeners.set(element, opener);
  }

  /** The gesture that opened the chooser of a file input, undefined when nothing did. `ends`: the files are chosen. */
  function chooserOpener(element, ends) {
    const opener = chooserOpeners.get(element);
    if (ends) chooserOpeners.delete(element);
    return opener;
  }

  return { begin, activeOf, endAfterTask, isFileInput, endKey, endPointer, extendKey, ownerOf, noteChooser, chooserOpener, wasLastOn };
});
