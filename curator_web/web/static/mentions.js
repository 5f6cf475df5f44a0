// Behind an @ in a comment the names of the project's members are offered, below the field: arrows choose, Enter or Tab
// takes, Escape leaves. Without this one types the name.
"use strict";

(() => {
  const SHOWN = 6;
  const names = Array.from(document.querySelectorAll("#members option"), ({ value }) => value);
  const list = Object.assign(document.createElement("ul"), { id: "mention-list", className: "mention-list", role: "listbox", ariaLabel: "Members" });
  let field = null, from = 0, chosen = 0; // where the name begins, and which of the offered ones is chosen

  /** The place of the name that is being typed before the cursor; null where there is none. */
  function begun({ value, selectionStart, selectionEnd }) {
    if (selectionStart !== selectionEnd) return null;
    const before = value.slice(Math.max(0, selectionStart - 101), selectionStart); // a name is no longer
    const nameMatch = /(?:^|[^A-Za-z0-9._@-])@([A-Za-z0-9._@-]*)$/.exec(before);
    return nameMatch && selectionStart - nameMatch[1].length;
  }

  function close() {
    if (!field) return;
    list.remove();
    for (const name of ["aria-controls", "aria-activedescendant", "aria-autocomplete"]) field.removeAttribute(name);
    field = null;
  }

  function choose(number) {
    chosen = (number + list.children.length) % list.children.length;
    Array.from(list.children, (item, index) => item.setAttribute("aria-selected", String(index === chosen)));
    field.setAttribute("aria-activedescendant", list.children[chosen].id);
    list.children[chosen].scrollIntoView({ block: "nearest" });
  }

  function offer(textarea) {
    const start = begun(textarea);
    const typed = start === null ? "" : plain(textarea.value.slice(start, textarea.selectionStart));
    const fitting = start === null ? [] : names.filter((name) => plain(name).startsWith(typed) && name !== typed).slice(0, SHOWN);
    if (!fitting.length) return close();
    field = textarea;
    from = start;
    list.replaceChildren(...fitting.map((name, number) => Object.assign(document.createElement("li"), { id: `mention-${number}`, role: "option", textContent: name })));
    textarea.after(list);
    textarea.setAttribute("aria-controls", list.id);
    textarea.setAttribute("aria-autocomplete", "list");
    return choose(0);
  }

  function take() {
    field.setRangeText(`${list.children[chosen].textContent} `, from, field.selectionStart, "end");
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
    close();
  }

  const KEYS = { ArrowDown: () => choose(chosen + 1), ArrowUp: () => choose(chosen - 1), Enter: take, Tab: take, Escape: close };

  document.addEventListener("input", ({ target }) => {
    if (target.matches("textarea[data-mentions]")) offer(target);
  });
  // Before the page's own keys: there Enter may send, and Escape leave.
  window.addEventListener("keydown", (event) => {
    const plainly = !event.ctrlKey && !event.metaKey && !event.altKey && !event.shiftKey && !event.isComposing;
    if (event.target !== field || !plainly || !Object.hasOwn(KEYS, event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    KEYS[event.key]();
  }, true);
  list.addEventListener("mousedown", (event) => {
    event.preventDefault(); // the field keeps the focus
    const item = event.target.closest("li");
    if (!item) return;
    choose([...list.children].indexOf(item));
    take();
  });
  document.addEventListener("selectionchange", () => {
    if (field && begun(field) !== from) close();
  });
  document.addEventListener("focusout", ({ target }) => target === field && close());
})();
