// Questions of the labelling scheme by the keyboard: while a question has the focus, a digit chooses an answer, and the
// next question without an answer gets the focus; every other key does what it does elsewhere on the page.
"use strict";

(() => {
  const ACTIVE = "#questions [data-question]:not(:disabled)";
  const questions = () => [...document.querySelectorAll(ACTIVE)];
  const focused = () => document.activeElement.closest("[data-question]");
  let isAnswering = false; // whether the focus returns to the questions after each answer of the server
  let answered = null; // name of the question that was answered last, until the server has answered
  let shownTurn = null; // id of the turn that the focus was put to

  function focus(question) {
    if (!question) return;
    isAnswering = true;
    shownTurn = document.querySelector("#turn").dataset.turn;
    (question.querySelector("textarea") ?? question).focus();
    question.scrollIntoView({ block: "nearest" });
  }

  /** The first question without an answer after the one with this index, round the end; else none. In a text, keys
   *  are letters: it gets the focus only by a key of its own. */
  function openAfter(index, withTexts = false) {
    const all = questions();
    return [...all.slice(index + 1), ...all.slice(0, index + 1)].find(
      ({ dataset }) => "open" in dataset && (withTexts || dataset.kind !== "text"));
  }

  /** Go to the next question: one without an answer if there is any. */
  function advance() {
    const all = questions(), index = all.indexOf(focused());
    focus(openAfter(index, true) ?? all[(index + 1) % all.length]);
  }

  /** Choose what a digit stands for, or take it back; false where it stands for nothing. */
  function choose(question, digit) {
    const input = question.querySelector(`[data-digit="${digit}"]`);
    if (!input) return false;
    const clears = input.type === "radio" && input.checked && question.querySelector("[data-clears]");
    answered = ["several", "span"].includes(question.dataset.kind) || clears ? null : question.dataset.question;
    (clears || input).click();
    return true;
  }

  document.addEventListener("click", ({ target }) => {
    if (target.closest("[data-answer]")) advance();
  });

  // Before film.js, in which a digit says how often the next key counts.
  document.addEventListener("film:key", (event) => {
    const question = focused();
    if (!question || !/^\d$/.test(event.detail.name) || !choose(question, event.detail.name)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  });

  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.matches?.("[data-question]")) {
      answered = event.target.dataset.question;
      event.target.querySelector("[data-confirms-answer]")?.click();
    }
    if (event.key !== "Escape" || !isAnswering) return;
    isAnswering = false;
    document.querySelector("#turns [aria-current]")?.focus({ preventScroll: true });
  });

  document.addEventListener("pointerdown", () => { isAnswering = false; });

  document.addEventListener("htmx:after:swap", ({ detail: { ctx } }) => {
    if (!isAnswering || ctx.response?.status >= 400) return;
    const { turn } = document.querySelector("#turn").dataset, isOtherTurn = turn !== shownTurn;
    const all = questions(), last = all.findIndex((question) => question.dataset.question === answered);
    answered = null;
    if (isOtherTurn) focus(openAfter(-1) ?? all[0]);
    else focus(last < 0 ? focused() ?? openAfter(-1) ?? all[0] : openAfter(last) ?? all[last]);
  });
})();
