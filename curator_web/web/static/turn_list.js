// The turns as scripts know them, in order: id, marks, words. A page contains the rows of a short session; of a long one
// those around the selected turn, and this script asks for the rows that come into view. Then rows have one height, and
// space above and below stands for the others.
"use strict";

const turnList = (() => {
  const DROPPED = 1, CHECK = 2, STARTS_VISIT = 4; // marks in the server's records
  const MARGIN_ROWS = 20; // asked for beyond the visible ones
  const SPARE_ROWS = 6; // beyond the visible ones; with fewer, others are asked for
  const RETRY_MS = 2000; // until the records are asked for again
  const MAX_ATTEMPTS = 3; // to bring a row into the page while others change the session
  const list = () => document.querySelector("#turns");
  const film = () => document.querySelector(".film");
  const items = () => [...list().querySelectorAll("[data-turn]")];
  const isWindowed = () => list().classList.contains("windowed");
  const search = () => document.querySelector("#film-search");

  let records = []; // { id, isDropped, hasCheck, startsVisit, words, plain }
  let positions = new Map(); // index by id
  let visits = []; // number of the visit by index
  let starts = []; // index of the first turn by visit
  let version = null; // of the records, where the server sent them
  let isReady = false;
  let hits = null; // Set of the indexes that the filter leaves; null without a filter
  let folded = new Set(); // ids of the turns of folded visits
  let current = null; // id of the selected turn
  let layout = { indexes: [], tops: [0] }; // of a long session: the rows and headings, and where they are in the list, px
  let asking = null; // the request for rows that is underway
  let isOutdated = false; // whether the view changed since it was made

  // ---- Records -----------------------------------------------------------------------------------------------------

  const record = ([id, marks, words]) => ({
    id, words, isDropped: Boolean(marks & DROPPED), hasCheck: Boolean(marks & CHECK), startsVisit: Boolean(marks & STARTS_VISIT),
  });

  const recordOf = (item) => ({
    id: item.dataset.turn, words: item.textContent, isDropped: item.classList.contains("dropped"),
    hasCheck: Boolean(item.querySelector(".flag-check")), startsVisit: !item.previousElementSibling,
  });

  function number() {
    positions = new Map(records.map(({ id }, index) => [id, index]));
    starts = records.flatMap(({ startsVisit }, index) => (startsVisit || !index ? [index] : []));
    let visit = -1;
    visits = records.map((_record, index) => (visit += starts[visit + 1] === index ? 1 : 0));
  }

  async function load() {
    isReady = false;
    for (;;) {
      const response = await fetch(list().dataset.index).catch(() => null);
      if (response?.ok) {
        const answer = await response.json();
        ({ version } = answer);
        records = answer.turns.map(record);
        break;
      }
      await new Promise((done) => { setTimeout(done, RETRY_MS); });
    }
    number();
    isReady = true;
    document.dispatchEvent(new CustomEvent("turns:changed"));
    arrange();
    document.dispatchEvent(new CustomEvent("turns:ready"));
  }

  /** Take up what a swap brought: all rows, or what an edit changed in a long session. */
  function takeUp() {
    if (!isWindowed()) {
      records = items().map(recordOf);
      isReady = true;
      return number();
    }
    const shown = Number(list().dataset.version), text = document.querySelector("#turn-changes")?.textContent;
    if (!isReady || shown === version) return;
    const changes = text && JSON.parse(text);
    if (!changes || changes.from !== version) return load();
    records.splice(changes.first, changes.removed, ...changes.added.map(record));
    version = shown;
    number();
  }

  const visitRange = (index) => [starts[visits[index]], starts[visits[index] + 1] ?? records.length];
  const isFolded = (index) => !hits && folded.has(records[index].id) && records.slice(...visitRange(index)).every(({ id }) => folded.has(id));
  const isShown = (index) => !hits || hits.has(index);

  /** Indexes of the turns that the filter leaves. */
  const shownIndexes = () => (hits ? [...hits] : records.map((_record, index) => index));

  function setHits(indexes) {
    const isEnded = hits && !indexes;
    hits = indexes && new Set(indexes);
    arrange();
    if (!isEnded) return;
    unfold(current);
    reveal(current).then((row) => row?.scrollIntoView({ block: "nearest" }));
  }

  // ---- Folding -----------------------------------------------------------------------------------------------------

  function setFolded(index, isClosed) {
    for (const { id } of records.slice(...visitRange(index))) isClosed ? folded.add(id) : folded.delete(id);
  }

  function unfold(id) {
    const index = positions.get(id);
    if (index === undefined || !isFolded(index)) return;
    setFolded(index, false);
    arrange();
  }

  /** Fold the visit of a turn, or all visits; or unfold them where all are folded. Returns whether they are folded. */
  function toggleVisits(index) {
    const isClosed = index === undefined ? !starts.every(isFolded) : !isFolded(index);
    if (index === undefined) folded = new Set(isClosed ? records.map(({ id }) => id) : []);
    else setFolded(index, isClosed);
    arrange();
    return isClosed;
  }

  document.addEventListener("click", ({ target }) => {
    const visit = target.closest("#turns summary")?.parentElement;
    const item = visit?.querySelector("[data-turn]");
    if (!item || !positions.has(item.dataset.turn)) return;
    setFolded(positions.get(item.dataset.turn), visit.open); // the browser opens or closes it after this
    if (isWindowed()) setTimeout(arrange);
  });

  // ---- Rows --------------------------------------------------------------------------------------------------------

  const rowOf = (id) => list().querySelector(`[data-turn="${CSS.escape(id ?? "")}"] > .row`);

  /** Bring the rows in the page into agreement with the records, the filter, the folded visits and the selection. */
  function arrange() {
    for (const item of items()) {
      const index = positions.get(item.dataset.turn);
      item.hidden = index !== undefined && !isShown(index);
      item.firstElementChild.toggleAttribute("aria-current", false);
    }
    rowOf(current)?.setAttribute("aria-current", "true");
    for (const visit of list().querySelectorAll("details")) {
      const first = positions.get(visit.querySelector("[data-turn]").dataset.turn);
      if (first !== undefined) visit.open = !isFolded(first);
      visit.parentElement.hidden = !visit.querySelector("[data-turn]:not([hidden])");
    }
    if (!isWindowed() || !isReady) return;
    measure();
    update();
  }

  function measure() {
    const sizes = getComputedStyle(list());
    const [row, heading] = ["--row-height", "--heading-height"].map((name) => parseFloat(sizes.getPropertyValue(name)) * parseFloat(getComputedStyle(document.documentElement).fontSize));
    const indexes = [], tops = [0];
    let visit = -1, isClosed = false;
    for (const index of hits ?? records.keys()) {
      const isFirst = visits[index] !== visit;
      if (isFirst) {
        visit = visits[index];
        isClosed = isFolded(index);
      } else if (isClosed) continue;
      indexes.push(index);
      tops.push(tops.at(-1) + (isFirst ? heading : 0) + (isClosed ? 0 : row));
    }
    layout = { indexes, tops };
  }

  /** The first line that ends below a height. */
  function lineAt(height) {
    let low = 0, high = layout.indexes.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (layout.tops[middle + 1] > height) high = middle;
      else low = middle + 1;
    }
    return Math.max(low, 0);
  }

  /** The rows that the page contains, as a range of lines; null where they are others than those of the layout. */
  function rendered() {
    const ids = items().filter((item) => !item.hidden).map((item) => item.dataset.turn);
    const first = ids.length ? layout.indexes.indexOf(positions.get(ids[0])) : -1;
    const isSame = first >= 0 && ids.every((id, offset) => records[layout.indexes[first + offset]]?.id === id);
    return isSame ? [first, first + ids.length - 1] : null;
  }

  const listTop = () => list().offsetTop;

  function pad([first, last]) {
    const { style } = document.documentElement;
    style.setProperty("--rows-above", `${layout.tops[first]}px`);
    style.setProperty("--rows-below", `${layout.tops.at(-1) - layout.tops[last + 1]}px`);
  }

  /** The same while the rows stay, which do not move on the screen. */
  function padAround(range) {
    const [row] = items(), before = row.getBoundingClientRect().top;
    pad(range);
    film().scrollTop += row.getBoundingClientRect().top - before;
  }

  /** Ask for the rows in view unless the page contains them. */
  function update(center) {
    if (!isWindowed() || !isReady || Sortable.active) return null;
    const end = layout.indexes.length - 1;
    if (end < 0) return null;
    const present = rendered();
    if (present) padAround(present);
    const top = film().scrollTop - listTop();
    const first = center ?? lineAt(top), last = center ?? lineAt(top + film().clientHeight);
    if (present) {
      const isEnough = present[0] <= Math.max(first - SPARE_ROWS, 0) && present[1] >= Math.min(last + SPARE_ROWS, end);
      if (isEnough) return null;
    }
    isOutdated = Boolean(asking);
    asking ??= ask(Math.max(first - MARGIN_ROWS, 0), Math.min(last + MARGIN_ROWS, end)).finally(() => {
      asking = null;
      if (isOutdated) update();
    });
    return asking;
  }

  async function ask(first, last) {
    const indexes = layout.indexes.slice(first, last + 1);
    const response = await fetch(`${list().dataset.turns}?at=${ranges(indexes)}`).catch(() => null);
    if (!response?.ok) return;
    const text = await response.text();
    const next = new DOMParser().parseFromString(text, "text/html").querySelector("#turns");
    if (Number(next.dataset.version) !== version) return load(); // somebody else changed it
    if (Sortable.active || indexes.some((index) => records[index] === undefined)) return;
    const ids = new Set(indexes.map((index) => records[index].id));
    if ([...next.querySelectorAll("[data-turn]")].some((item) => !ids.has(item.dataset.turn))) return; // asked for before an edit
    put(next);
    pad(rendered() ?? [first, last]);
  }

  const ranges = (indexes) => indexes.reduce((parts, index) => {
    const part = parts.at(-1);
    if (part && part[1] === index - 1) part[1] = index;
    else parts.push([index, index]);
    return parts;
  }, []).map(([first, last]) => (first === last ? first : `${first}-${last}`)).join();

  /** Put rows in the place of those that the page contains; one that is in both stays, with its picture. */
  function put(next) {
    const { activeElement } = document, focused = activeElement.closest("#turns [data-turn]")?.dataset.turn;
    const present = new Map(items().map((item) => [item.dataset.turn, item]));
    for (const item of next.querySelectorAll("[data-turn]")) {
      const same = present.get(item.dataset.turn);
      if (same) item.replaceWith(same);
    }
    list().replaceChildren(...next.children);
    htmx.process(list());
    arrangeRows();
    if (focused && document.activeElement !== activeElement) rowOf(focused)?.focus({ preventScroll: true });
  }

  function arrangeRows() {
    for (const item of items()) {
      item.hidden = !isShown(positions.get(item.dataset.turn));
      item.firstElementChild.toggleAttribute("aria-current", false);
    }
    rowOf(current)?.setAttribute("aria-current", "true");
    for (const visit of list().querySelectorAll("details")) visit.open = !isFolded(positions.get(visit.querySelector("[data-turn]").dataset.turn));
    document.dispatchEvent(new CustomEvent("turns:rendered"));
  }

  /** Scroll to the row of a turn, and ask for it where the page lacks it; resolves with the row, null without one. */
  async function reveal(id) {
    for (let attempt = 0; attempt < MAX_ATTEMPTS && isWindowed(); attempt += 1) {
      while (asking) await asking;
      const line = layout.indexes.indexOf(positions.get(id));
      if (rowOf(id) || line < 0) break;
      film().scrollTop = listTop() + layout.tops[line] - film().clientHeight / 2;
      await update(line);
    }
    return rowOf(id);
  }

  /** Select a turn as a click on its row does. */
  async function go(index) {
    const { id } = records[index];
    let row = rowOf(id);
    if (!row) {
      current = id;
      document.dispatchEvent(new CustomEvent("turns:busy", { detail: id }));
      row = await reveal(id);
      if (row && current === id) press(row);
      document.dispatchEvent(new CustomEvent("turns:idle"));
    } else press(row);
  }

  function press(row) {
    row.click();
    if (document.activeElement?.matches(".row, #turns summary, body")) row.focus({ preventScroll: true });
  }

  // ---- Events ------------------------------------------------------------------------------------------------------

  document.addEventListener("scroll", ({ target }) => {
    if (target === film()) update();
  }, true);
  addEventListener("resize", () => isWindowed() && isReady && arrange());

  document.addEventListener("htmx:after:swap", () => {
    takeUp();
    arrange();
  });

  current = document.querySelector("#turn").dataset.turn ?? null;
  if (search()) isWindowed() ? load() : takeUp();

  return {
    get current() { return current; },
    set current(id) { current = id; },
    get isReady() { return isReady || !search(); },
    get length() { return records.length; },
    at: (index) => records[index],
    indexOf: (id) => positions.get(id) ?? -1,
    plainOf: (index) => (records[index].plain ??= plain(records[index].words + (isWindowed() ? ` ${index + 1}` : ""))),
    shownIndexes, setHits, isFolded, unfold, toggleVisits, rowOf, items, go, reveal, isWindowed,
  };
})();
