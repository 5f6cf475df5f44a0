// Which key was pressed, and what it does: everybody may have other keys than the usual ones, by which scripts know them.
"use strict";

const { keyName, keyOf, isCommand } = (() => {
  const own = new Map(Object.entries(JSON.parse(document.body.dataset.ownKeys || "{}")));

  /** A combination with Ctrl or Meta, which is the browser's. On Windows, AltGr is told as Ctrl and Alt together. */
  const isCommand = (event) => (event.ctrlKey || event.metaKey) && !event.getModifierState("AltGraph");

  /** The pressed key by the character that it gives; Alt counts where it gives none of its own. */
  function keyName(event) {
    const { key } = event;
    const withAlt = event.altKey && !event.getModifierState("AltGraph") && (key.length > 1 || /^[a-z\d]$/i.test(key));
    if (withAlt) return `Alt+${key}`;
    if (event.shiftKey && /^([A-Z]|Arrow(Up|Down)|Home|End)$/.test(key)) return `Shift+${key}`;
    return key;
  }

  /** The usual key of what the pressed one does; empty where it does nothing. */
  function keyOf(event) {
    const name = keyName(event);
    return own.get(name) ?? name;
  }

  return { keyName, keyOf, isCommand };
})();
