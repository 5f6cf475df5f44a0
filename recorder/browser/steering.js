// The keys that control the recording, in the recorded page: the page does not receive them, and they are not actions.
// The extension has commands of the browser for it.
"use strict";

demotape.steering = (function () {
  const COMMANDS = { KeyP: "pause", KeyZ: "undo", KeyS: "stop" };
  let obey = null;

  /** Whether a key steers; it is obeyed when it goes down. */
  function handle(event) {
    if (event.type !== "keydown" && event.type !== "keyup") return false;
    const others = event.ctrlKey || event.metaKey || event.shiftKey || event.getModifierState("AltGraph");
    const command = event.isTrusted && event.altKey && !others && COMMANDS[event.code];
    if (!command || !obey) return false;
    if (event.type === "keydown" && !event.repeat) obey(command);
    return true;
  }

  function onKey(event) {
    if (!handle(event)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  /** Hear the keys before anybody else does; again when document.open() has taken all listeners away. */
  function listen(signal) {
    for (const type of ["keydown", "keyup"]) window.addEventListener(type, onKey, { capture: true, signal });
  }

  /** `obey` is called with each command; until then the keys are the page's. */
  const start = (handler) => void (obey = handler);

  return { start, listen, handle };
})();
