// The lines of the live list, as the panel and the Playwright recorder's control page show them. A plain script.
"use strict";

globalThis.demotapeLines = (function () {
  const WORDS = {
    click: "Click", dblclick: "Double click", drag: "Drag", hover: "Hover", textInput: "Typing", change: "Change",
    submit: "Submit", scroll: "Scroll", press: "Key", copy: "Copy", paste: "Paste", upload: "Upload", load: "Load",
    back: "Back", forward: "Forward", reload: "Reload", tabcreate: "New tab", tabremove: "Tab closed",
    tabswitch: "Tab shown", dialog: "Dialog", instructor: "Instructor", navigator: "Navigator",
  };
  const FAMILIES = {
    click: "pointer", dblclick: "pointer", drag: "pointer", hover: "pointer", textInput: "typing", change: "typing",
    press: "typing", paste: "typing", upload: "typing", load: "page", back: "page", forward: "page", reload: "page",
    submit: "page", tabcreate: "tab", tabremove: "tab", tabswitch: "tab", instructor: "say", navigator: "say",
  };

  /** Seconds as minutes and seconds, with hours where there are any. */
  function clock(seconds) {
    const whole = Math.floor(seconds), two = (number) => String(number).padStart(2, "0");
    const hours = Math.floor(whole / 3600), minutes = Math.floor(whole / 60) % 60;
    return hours ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
  }

  const span = (kind, text) => Object.assign(document.createElement("span"), { className: kind, textContent: text });

  /** Make a list item tell one line. */
  function fill(item, word, text, time, undone = false) {
    item.className = `family-${FAMILIES[word] ?? "other"}${undone ? " undone" : ""}`;
    item.replaceChildren(span("kind", WORDS[word] ?? word), span("time", clock(time)), span("label", text));
    if (undone) item.firstChild.append(span("visually-hidden", " (undone)"));
  }

  return { clock, fill };
})();
