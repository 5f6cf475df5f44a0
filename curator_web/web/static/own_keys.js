// Choosing keys by pressing them. Without this script, one types what a key gives.
"use strict";

(() => {
  const fields = [...document.querySelectorAll("[data-press]")];
  const LEFT_ALONE = ["Tab", "Enter", "Escape", "Shift", "Control", "Alt", "AltGraph", "Meta", "Dead", "Process", "Unidentified", "F1", "F3", "F5", "F6", "F11", "F12"];
  const keyOfField = (field) => field.value || field.placeholder;

  const inUse = (key, action) => fields[0].form.dataset.inUse.replace(/\{(key|action)\}/g, (_, name) => (name === "key" ? key : action));

  function reportClash(field) {
    const other = fields.find((input) => input !== field && keyOfField(input) === keyOfField(field));
    const problem = document.getElementById(`${field.name}-problem`);
    problem.textContent = other ? inUse(keyOfField(field), other.dataset.press) : "";
    field.setAttribute("aria-invalid", String(Boolean(other)));
  }

  document.addEventListener("keydown", (event) => {
    const field = event.target;
    if (!fields.includes(field) || isCommand(event) || event.isComposing || LEFT_ALONE.includes(event.key)) return;
    event.preventDefault();
    field.value = event.key === "Backspace" ? "" : keyName(event);
    if (field.value === field.placeholder) field.value = "";
    for (const input of fields) if (input === field || input.getAttribute("aria-invalid") === "true") reportClash(input);
  });

  document.addEventListener("focusin", ({ target }) => {
    if (fields.includes(target)) target.select();
  });
})();
