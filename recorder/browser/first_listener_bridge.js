// Receives events from `first_listener.js`, if it runs: in documents whose listeners were added before the capture
// script's.
"use strict";

demotape.firstListener = (function () {
  const heard = new Map(); // type -> the last event of it that was heard, by its time and how it came
  let name = "";

  /** An event as far as it was told: what the capture script reads of one. */
  function eventOf(told, reporter) {
    const { altKey, ctrlKey, metaKey, shiftKey } = told;
    const pressed = { Alt: altKey, Control: ctrlKey, Meta: metaKey, Shift: shiftKey };
    return {
      ...told,
      told: true,
      timed: told.timeStamp !== undefined,
      timeStamp: told.timeStamp ?? reporter.timeStamp,
      target: reporter.target,
      composedPath: () => reporter.composedPath(),
      getModifierState: (name) => Boolean(pressed[name]),
      clipboardData: { getData: () => told.pasted },
      dataTransfer: { files: (told.files ?? []).map((name) => ({ name })) },
    };
  }

  /** The teller's default is prevented to say that we are here, or that the page is not to have the event. */
  function onReport(reporter) {
    if (typeof reporter.detail !== "string" || !reporter.detail) return reporter.preventDefault();
    const event = eventOf(JSON.parse(reporter.detail), reporter);
    if (demotape.steering.handle(event)) reporter.preventDefault();
    else demotape.events.hear(event);
  }

  /**
   * Whether an event came the other way, too: the page may let it come to us, before or after we are told of it. Where
   * its time is not told, it is the next one of its type.
   */
  function isRepeated({ type, isTrusted, timeStamp, told = false, timed = true }) {
    const last = heard.get(type);
    const isSameEvent = last?.timeStamp === timeStamp || (isTrusted && !(timed && last?.timed));
    if (last && last.told !== told && isSameEvent) return heard.delete(type);
    heard.set(type, { timeStamp, told, timed });
    return false;
  }

  /** The event's name; `listen` comes after it, and again when document.open() has taken all listeners away. */
  const start = (eventName) => void (name = eventName);
  const listen = (signal) => addEventListener(name, onReport, { capture: true, signal });

  return { start, listen, isRepeated };
})();
