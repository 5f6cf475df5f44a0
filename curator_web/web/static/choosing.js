// Choosing a target: by its box in the picture, or by words, arrows and Enter in the list.
"use strict";

(() => {
  const $ = (selector) => document.querySelector(selector);
  const choice = (uid) => $(`#choices [data-uid="${CSS.escape(uid)}"]`);
  const radio = (uid) => $(`#target-list [value="${CSS.escape(uid)}"]`);

  document.addEventListener("click", ({ target }) => {
    const chosen = target.closest("#choices .choice");
    const input = chosen && radio(chosen.dataset.uid);
    if (!input || input.matches(":disabled")) return;
    const isConfirmed = input.checked || !("confirms" in input.form.dataset); // a second click says that it is meant
    input.closest("label").hidden = false;
    choose($("#target-list"), input);
    if (isConfirmed) input.form.requestSubmit();
    else input.focus({ preventScroll: true }); // Enter says so, too
  });

  /** The box of the element that has the focus, or under the pointer, stands out. */
  function showChoice({ target }) {
    const uid = target.matches?.("#target-list input") ? target.value : target.closest?.("#target-list label")?.querySelector("input").value;
    if (uid === undefined) return;
    for (const other of document.querySelectorAll("#choices .chosen")) other.classList.remove("chosen");
    choice(uid)?.classList.add("chosen");
  }
  for (const type of ["focusin", "change", "pointerover"]) document.addEventListener(type, showChoice);

  /** The first hit is chosen, so that Enter takes it; without a hit there is nothing to take. */
  document.addEventListener("input", ({ target }) => {
    if (!target.dataset.filters) return;
    const list = $(target.dataset.filters), words = plain(target.value).split(/\s+/).filter(Boolean);
    const labels = [...list.querySelectorAll("label")];
    for (const label of labels) label.hidden = !words.every((word) => plain(label.textContent).includes(word));
    const inputs = labels.filter((label) => !label.hidden).map((label) => label.querySelector("input"));
    choose(list, words.length ? inputs[0] : inputs.find((input) => input.defaultChecked));
    list.querySelector("[data-no-hit]").hidden = inputs.length > 0;
  });

  /** Arrows in the field go through the hits. */
  document.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key], selector = event.target.dataset?.filters;
    if (!step || !selector) return;
    event.preventDefault();
    const inputs = [...$(selector).querySelectorAll("label:not([hidden]) input")];
    const next = inputs.findIndex((input) => input.checked) + step;
    if (inputs.length) choose($(selector), inputs[Math.max(0, Math.min(inputs.length - 1, next))]);
  });

  // ---- What was done with an element that an action is added for ---------------------------------------------------

  const fieldOf = (operation) => operation.form.querySelector(`[data-of="${CSS.escape(operation.value)}"] :is(input, select)`);

  /** A letter chooses what was done and leads to the field that goes with it; Enter leads there where it is empty. */
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const { target, key } = event;
    if (key === "Enter" && target.matches?.("#operation-form select")) {
      event.preventDefault();
      return target.form.requestSubmit();
    }
    if (!target.matches?.("#operations input")) return;
    const chosen = key === "Enter" ? target : $(`#operations [data-letter="${CSS.escape(key.toLowerCase())}"]`);
    if (!chosen) return;
    event.preventDefault();
    chosen.checked = true;
    const field = fieldOf(chosen);
    if (key === "Enter" && field?.value !== "") return chosen.form.requestSubmit();
    (field ?? chosen).focus({ preventScroll: true });
    if (field?.matches("[type=text]")) field.select();
  });

  function choose(list, chosen) {
    for (const input of list.querySelectorAll("input")) input.checked = input === chosen;
    $("#retarget-form .primary").disabled = !chosen;
    if (!chosen) return;
    showChoice({ target: chosen });
    chosen.closest("label").scrollIntoView({ block: "nearest" });
  }
})();
