// Sends what controls and editors hold: values that the browser reports, and those that only show afterwards.
"use strict";

demotape.values = (function () {
  const MAX_TEXT_CHARS = 20000;
  const { own, gestures, typing } = demotape;
  const { send } = demotape.sending;

  /** What a control or an editor holds, as it is sent. */
  function valueData(element) {
    const { localName } = own(element);
    if (gestures.isFileInput(element)) {
      return { files: Array.from(element.files, (file) => file.name) };
    }
    if (localName === "input" && (element.type === "checkbox" || element.type === "radio")) {
      return { checked: element.checked, value: element.value };
    }
    const secret = demotape.secrets.isSecret(element);
    if (secret) demotape.secrets.report(element);
    const data = { value: demotape.secrets.valueOf(element).slice(0, MAX_TEXT_CHARS), ...(secret ? { secret } : {}) };
    if (localName !== "select") return data;
    const chosen = Array.from(element.selectedOptions, ({ label, value }) => ({ label, value }));
    const label = chosen.map((option) => option.label).join(", ");
    return { ...data, label, ...(element.multiple ? { chosen_values: chosen.map((option) => option.value) } : {}) };
  }

  /** An `input` or `change`. */
  function onValue(event, data) {
    const element = demotape.events.targetOf(event);
    if (!event.isTrusted) return onDriven(event, element, data);
    const fields = () => ({ ...valueData(element), ...typing.valueBefore(element), ...data });
    const owner = gestures.ownerOf(event, element) ?? ownerOfValue(event, element);
    if (owner === null || (owner === undefined && isCommandOfPage(event, element))) return;
    if (owner) send(event.type, event, element, fields(), { gesture: owner });
    const gesture = owner === undefined ? beginWithValue(event, element, data) : owner;
    if (event.type === "input" && typing.isEditable(element)) typing.onInput(event, element, gesture);
  }

  /**
   * The gesture that a value belongs to which came later than what led to it: by a chooser, a list, leaving a field; null
   * for what is nobody's action.
   */
  function ownerOfValue(event, element) {
    const { shared } = demotape, isChange = event.type === "change";
    if (gestures.isFileInput(element)) return gestures.chooserOpener(element, isChange);
    if (demotape.events.isClickedByScript(element)) return null; // the page's own
    if (isChange && typing.isEditable(element) && typing.isReported(element)) return shared.gesture;
    return gestures.wasLastOn(element) && !typing.isEditable(element) ? shared.gesture : undefined;
  }

  /**
   * Whether a script of the page has edited by `document.execCommand`: text that comes without a `beforeinput`. A
   * driver's script may do the same, which is an action.
   */
  function isCommandOfPage(event, element) {
    if (event.type !== "input" || !("inputType" in event) || !typing.isEditable(element)) return false;
    return demotape.driven?.isPageOnStack() ?? true;
  }

  function beginWithValue(event, element, data) {
    const gesture = demotape.events.begin("text", event, element, { ...valueData(element), ...data }, { set: element });
    gestures.endAfterTask(gesture);
    return gesture.id;
  }

  /** A driver's script has set a control: a `change` follows from the `input` before it. */
  function onDriven(event, element, data) {
    const fields = { ...valueData(element), ...data };
    const opener = gestures.isFileInput(element) ? gestures.chooserOpener(element, event.type === "change") : undefined;
    const owner = opener ?? demotape.driven.gestureOf(event);
    if (owner) send(event.type, event, element, fields, { gesture: owner });
    else demotape.driven.noteBegun(event, demotape.events.begin("driven", event, element, fields, { set: element }).id);
  }

  /** Send the value that an editor or the page has put in a field without the browser's telling of it. */
  function sendValue(element, gesture, timeStamp) {
    const data = { ...valueData(element), ...typing.valueBefore(element), input_type: "" };
    send("input", { timeStamp }, element, data, { gesture });
  }

  /** A driver has announced an action and set a control without an event; `snapshot`: before that. */
  function sendChange(control, snapshot, timeStamp) {
    const event = { timeStamp, isTrusted: false };
    const shown = demotape.paintTracking.targetPainting(control, 0);
    demotape.shared.gesture = send("change", event, control, valueData(control), { snapshot, shown });
  }

  /** An EditContext has taken text in; the page may have shown it already. */
  function onTextUpdate(event, element) {
    if (!event.isTrusted) return;
    const input = { type: "input", timeStamp: event.timeStamp, isTrusted: true, inputType: "insertText" };
    const data = { ...valueData(element), ...typing.valueBefore(element), input_type: "" };
    const owner = gestures.ownerOf(input, element);
    if (owner) send("input", input, element, data, { gesture: owner });
    const gesture = owner ?? demotape.events.begin("text", input, element, data, { atRest: true });
    if (!owner) gestures.endAfterTask(gesture);
    typing.onInput(input, element, owner ?? gesture.id);
  }

  return { onValue, sendValue, sendChange, onTextUpdate };
})();
