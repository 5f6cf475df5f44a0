// The lines of the live list, as the panel and the Playwright recorder's control page show them. A plain script, after shared.js.
"use strict";

globalThis.demotapeLines = (function () {
  const INTENTS = new Map(globalThis.demotapeShared.intents.map((intent) => [intent.name, intent]));
  for (const speaker of ["Instructor", "Navigator"]) {
    INTENTS.set(speaker.toLowerCase(), { ...INTENTS.get("say"), label: speaker });
  }

  /** Seconds as minutes and seconds, with hours where there are any. */
  function clock(seconds) {
    const whole = Math.floor(seconds), two = (number) => String(number).padStart(2, "0");
    const hours = Math.floor(whole / 3600), minutes = Math.floor(whole / 60) % 60;
    return hours ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
  }

  const span = (kind, text) => Object.assign(document.createElement("span"), { className: kind, textContent: text });

  /** Make a list item tell one line; `word` is an intent or a speaker. */
  function fill(item, word, text, time, undone = false) {
    const { family = "other", label = word } = INTENTS.get(word) ?? {};
    item.className = `family-${family}${undone ? " undone" : ""}`;
    item.replaceChildren(span("kind", label), span("time", clock(time)), span("label", text));
    if (undone) item.firstChild.append(span("visually-hidden", " (undone)"));
  }

  return { clock, fill };
})();
