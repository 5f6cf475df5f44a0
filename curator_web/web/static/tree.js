// The page as a tree, to choose a target in (WAI-ARIA tree pattern). It is a flat list; levels stand in aria-level, and
// what is below a line is asked for when it is opened. A line's box is shown in the picture, a box's line in the tree.
"use strict";

(() => {
  const $ = (selector) => document.querySelector(selector);
  const tree = () => $("#tree");
  const items = () => [...tree().children];
  const level = (item) => Number(item.ariaLevel);
  const PAUSE = 600; // ms after which a letter begins a new word
  const REST = 120; // ms that the pointer rests on a box before its line is asked for
  let typed = "";
  let typedAt = 0;
  let resting = null;

  async function ask(parameters) {
    const answer = await fetch(`${tree().dataset.tree}&${new URLSearchParams(parameters)}`, { headers: { "HX-Request": "true" } });
    if (!answer.ok) throw new Error(`the tree was answered with ${answer.status}`);
    return answer.text();
  }

  /** What is right below an item, and below that, as far as it is shown. */
  function below(item) {
    const descendants = [];
    for (let sibling = item.nextElementSibling; sibling && level(sibling) > level(item); sibling = sibling.nextElementSibling) descendants.push(sibling);
    return descendants;
  }

  function parent(item) {
    let sibling = item.previousElementSibling;
    while (sibling && level(sibling) >= level(item)) sibling = sibling.previousElementSibling;
    return sibling;
  }

  async function open(item) {
    if (item.ariaExpanded !== "false" || item.ariaBusy) return;
    item.ariaBusy = "true";
    try {
      const text = await ask({ node: item.dataset.node });
      if (!item.isConnected || item.ariaExpanded !== "false") return;
      item.insertAdjacentHTML("afterend", text);
      item.ariaExpanded = "true";
    } finally {
      item.ariaBusy = null;
    }
  }

  function close(item) {
    const gone = below(item);
    if (gone.includes(document.activeElement)) focus(item);
    for (const removed of gone) removed.remove();
    item.ariaExpanded = "false";
  }

  /** Put the siblings that were left out in the place of the line that stands for them. */
  async function showMore(item) {
    if (item.ariaBusy) return;
    item.ariaBusy = "true";
    const text = await ask({ node: item.dataset.node, start: item.dataset.start });
    if (!item.isConnected) return;
    const before = item.previousElementSibling;
    item.insertAdjacentHTML("afterend", text);
    item.remove();
    focus(before.nextElementSibling);
  }

  const isMore = (item) => item.hasAttribute("data-start");

  /** The one line that Tab leads to. */
  function reach(item) {
    for (const other of tree().querySelectorAll('[tabindex="0"]')) other.tabIndex = -1;
    item.tabIndex = 0;
  }

  function focus(item) {
    if (!item) return;
    reach(item);
    item.focus({ preventScroll: true });
    item.scrollIntoView({ block: "nearest" });
  }

  // ---- Choosing ----------------------------------------------------------------------------------------------------

  function mean(item) {
    const form = $("#tree-form");
    form.elements.uid.value = item.dataset.uid ?? "";
    form.querySelector("button.primary").disabled = !item.dataset.uid || tree().ariaDisabled === "true";
    outline(item);
  }

  /** A box in the picture: at once, or with Enter and a second click where a choice is confirmed. */
  async function chooseBox(uid) {
    if (!("confirms" in $("#tree-form").dataset) || itemOf(uid) === document.activeElement) return choose(uid);
    await reveal(uid);
    focus(itemOf(uid));
  }

  function choose(uid) {
    if (!uid || tree().ariaDisabled === "true") return;
    $("#tree-form").elements.uid.value = uid;
    $("#tree-form").requestSubmit();
  }

  function act(item) {
    if (isMore(item)) showMore(item);
    else if (item.dataset.uid) choose(item.dataset.uid);
    else if (item.ariaExpanded === "true") close(item);
    else open(item);
  }

  // ---- Keys --------------------------------------------------------------------------------------------------------

  const KEYS = {
    ArrowDown: (item) => focus(item.nextElementSibling),
    ArrowUp: (item) => focus(item.previousElementSibling),
    Home: () => focus(items()[0]),
    End: () => focus(items().at(-1)),
    ArrowRight: (item) => {
      if (item.ariaExpanded === "true") focus(item.nextElementSibling);
      else open(item);
    },
    ArrowLeft: (item) => {
      if (item.ariaExpanded === "true") close(item);
      else focus(parent(item));
    },
    "*": (item) => {
      const above = parent(item);
      for (const other of above ? below(above) : items()) if (level(other) === level(item)) open(other);
    },
    Enter: act,
    " ": act,
  };

  /** Go to the next line whose element or name begins with what was typed. */
  function find(letter, item) {
    const now = performance.now();
    typed = now - typedAt > PAUSE ? letter : typed + letter;
    typedAt = now;
    const wanted = new Set(typed).size === 1 ? letter : typed; // one letter again and again leads on and on
    const all = items();
    const from = all.indexOf(item) + (wanted.length > 1 ? 0 : 1);
    const fits = (candidate) => [...candidate.querySelectorAll("code, .node-label")].some((part) => part.textContent.toLowerCase().startsWith(wanted));
    focus([...all.slice(from), ...all.slice(0, from)].find(fits));
  }

  document.addEventListener("keydown", (event) => {
    const item = event.target.closest?.("#tree [role=treeitem]");
    if (!item || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key in KEYS && !(event.key === " " && typed && performance.now() - typedAt < PAUSE)) {
      typed = "";
      KEYS[event.key](item);
    } else if (event.key.length === 1) find(event.key.toLowerCase(), item);
    else return;
    event.preventDefault();
  });

  // ---- The picture -------------------------------------------------------------------------------------------------

  function outline(item) {
    const rect = $("#tree-box");
    rect.toggleAttribute("hidden", !item?.dataset.box);
    if (!item?.dataset.box) return;
    const [x, y, width, height] = item.dataset.box.split(" ").map(Number);
    for (const [name, value] of Object.entries({ x, y, width, height })) rect.setAttribute(name, value);
  }

  function point(item) {
    for (const other of tree().querySelectorAll(".pointed")) other.classList.remove("pointed");
    outline(item);
    if (!item) return;
    item.classList.add("pointed");
    // Only the tree is scrolled: the picture must stay under the pointer.
    const [inner, outer] = [item.getBoundingClientRect(), tree().getBoundingClientRect()];
    if (inner.top < outer.top) tree().scrollTop -= outer.top - inner.top;
    else if (inner.bottom > outer.bottom) tree().scrollTop += inner.bottom - outer.bottom;
  }

  const itemOf = (uid) => tree().querySelector(`[data-uid="${CSS.escape(uid)}"]`);

  /** Show the line of an element: the tree is opened there when it is not on it. */
  async function reveal(uid) {
    if (!itemOf(uid)) {
      const inside = tree().contains(document.activeElement);
      const text = await ask({ uid });
      if (!tree()) return;
      tree().innerHTML = text;
      reach(itemOf(uid) ?? items()[0]);
      if (inside) (itemOf(uid) ?? items()[0]).focus({ preventScroll: true });
    }
    point(itemOf(uid));
  }

  document.addEventListener("pointerover", ({ target }) => {
    if (!tree()) return;
    clearTimeout(resting);
    const item = target.closest("#tree [role=treeitem]");
    const box = target.closest("#choices .choice");
    if (item) outline(item);
    else if (box && itemOf(box.dataset.uid)) point(itemOf(box.dataset.uid));
    else if (box) resting = setTimeout(() => reveal(box.dataset.uid), REST);
  });

  document.addEventListener("click", ({ target, detail }) => {
    if (!tree()) return;
    const box = target.closest("#choices .choice");
    if (box) chooseBox(box.dataset.uid);
    const item = target.closest("#tree [role=treeitem]");
    if (!item) return;
    focus(item);
    if (isMore(item)) showMore(item);
    else if (detail === 2) choose(item.dataset.uid);
    else if (target.closest(".twist") || !item.dataset.uid) item.ariaExpanded === "true" ? close(item) : open(item);
  });

  document.addEventListener("focusin", ({ target }) => {
    const item = target.closest?.("#tree [role=treeitem]");
    if (item) mean(item);
  });

  /** A tree that has just come onto the page: the present target has the focus, or the first line. */
  function begin() {
    if (!tree() || tree().querySelector('[tabindex="0"]')) return;
    const item = tree().querySelector('[aria-selected="true"]') ?? items()[0];
    if (!item) return;
    reach(item);
    // With a few lines above it; the picture stays in sight.
    tree().scrollTop = item.offsetTop - tree().offsetTop - 3 * item.offsetHeight;
    item.focus({ preventScroll: true });
  }

  document.addEventListener("htmx:after:swap", begin);
  begin();
})();
