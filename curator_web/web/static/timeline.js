// The time line: the cursor, and the numbers that place the video, with what they change shown at once. What is saved
// is a form as any other; without this script it works by being sent.
"use strict";

(() => {
  const $ = (selector) => document.querySelector(selector);
  const all = (selector) => [...document.querySelectorAll(selector)];
  const line = $("#content.timeline");
  const { start, end, frames, own, duration } = line.dataset;
  const from = Number(start), length = Number(end) - from, last = Number(duration);
  const [wide, high] = line.dataset.page.split(" ").map(Number);
  const cursor = $("#cursor");
  const form = $("#place-form");
  const rows = all("[data-row]");
  const inOrder = [...rows].sort((earlier, later) => timeOf(earlier) - timeOf(later));
  const field = (name) => form.elements[name];
  const initial = new Map(form ? all("#place-form [type=number]").map((input) => [input.name, input.value]) : []);
  const KEYS_OFF = "demotape-keys-off"; // as on the review page
  let cursorTime = Number(line.dataset.at);

  function timeOf(row) {
    return Number(row.dataset.time);
  }

  function clock(seconds) {
    const tenths = Math.round(Math.abs(seconds) * 10);
    const remainder = tenths % 600;
    const sign = seconds < 0 && tenths ? "−" : "";
    return `${sign}${(tenths - remainder) / 600}:${String(Math.floor(remainder / 10)).padStart(2, "0")}.${remainder % 10}`;
  }

  const percent = (time) => `${(100 * (time - from)) / length}%`;

  // ---- The numbers -------------------------------------------------------------------------------------------------

  const changed = (...names) => form && names.some((name) => field(name).value !== field(name).defaultValue);
  const number = (name) => (field(name).value.trim() === "" ? NaN : Number(field(name).value));

  /** The clock in the fields; null when they say nothing of their own, or nothing that can be meant. */
  function clockByHand() {
    if (!changed("offset", "drift")) return null;
    const offset = number("offset"), drift = number("drift");
    return Number.isFinite(offset) && Math.abs(drift) <= 10000 ? { offset, rate: 1 + drift / 1e6 } : null;
  }

  /** The rectangle in the fields, pixels of the frame; null as above. */
  function rectangleByHand() {
    if (!changed("left", "top", "width", "height")) return null;
    const [left, top, width, height] = ["left", "top", "width", "height"].map(number);
    return [left, top, width, height].every(Number.isFinite) && width > 0 && height > 0
      ? { left, top, width, height } : null;
  }

  const stretches = (line.dataset.stretches || "").split(";").filter(Boolean).map((numbers) => numbers.split(" ").map(Number));
  const spans = all("[data-begin]").map((rect) => ({
    rect, begin: Number(rect.dataset.begin), end: Number(rect.dataset.end), numbers: rect.dataset.rectangleOf.split(" ").map(Number),
    x: parseFloat(rect.getAttribute("x")), width: parseFloat(rect.getAttribute("width")),
  }));

  const longest = [...spans].sort((first, second) => (second.end - second.begin) - (first.end - first.begin))[0];

  /** Where a time of the recording is in the video, seconds; null where the video does not have it. */
  function videoTime(time, byHand) {
    if (byHand) {
      const mapped = byHand.offset + time * byHand.rate;
      return mapped >= 0 && mapped <= last ? mapped : null;
    }
    for (const [begin, until, offset, drift] of stretches) {
      const mapped = offset + time * (1 + drift / 1e6);
      if (mapped >= begin && mapped <= until) return mapped;
    }
    return null;
  }

  function showSpans(byHand) {
    for (const { rect, begin, end: until, x, width } of spans) {
      const edges = byHand ? [begin, until].map((time) => Math.min(Math.max(
        (100 * ((time - byHand.offset) / byHand.rate - from)) / length, 0), 100)) : [x, x + width];
      rect.setAttribute("x", `${edges[0]}%`);
      rect.setAttribute("width", `${Math.max(0, edges[1] - edges[0])}%`);
    }
  }

  /** What each turn's cells and bars were before a clock was tried. */
  const cells = new Map(rows.map((row) => [row, ["videoTime", "confidence"].map((name) => {
    const cell = row.querySelector(name === "videoTime" ? "[data-video-time]" : "[data-confidence]");
    return { cell, was: cell?.textContent };
  })]));
  const bars = new Map(all("[data-bar]").map((bar) => [bar.dataset.bar, { bar, y: bar.getAttribute("y1"), low: bar.classList.contains("low") }]));

  function showTurns(byHand) {
    for (const row of rows) {
      const [timeCell, confidenceCell] = cells.get(row);
      if (!timeCell.cell || !timeCell.was.trim()) continue; // chat is in no video
      const time = byHand && videoTime(timeOf(row), byHand);
      timeCell.cell.textContent = byHand ? (time === null ? timeCell.cell.dataset.hidden : clock(time)) : timeCell.was;
      confidenceCell.cell.textContent = byHand ? (time === null ? "0.00" : "1.00") : confidenceCell.was;
      const shown = bars.get(row.dataset.row);
      shown?.bar.setAttribute("y1", byHand ? (time === null ? "94%" : "2%") : shown.y);
      shown?.bar.classList.toggle("low", byHand ? time === null : shown.low);
    }
  }

  function showRectangle(byHand, time) {
    const visibleSpan = spans.find((candidate) => time !== null && time >= candidate.begin && time <= candidate.end);
    const span = visibleSpan ?? longest;
    if (time !== null && !visibleSpan && !byHand) $("#frame-time").textContent += $("#frame-time").dataset.hidden;
    $("#frame .outline")?.classList.toggle("unsure", !visibleSpan && !byHand);
    const usual = span && { left: span.numbers[0], top: span.numbers[1], width: span.numbers[2] * wide, height: span.numbers[3] * high };
    const shown = byHand ?? usual;
    if (!shown) return;
    for (const rect of all("[data-rectangle]")) {
      for (const [name, value] of [["x", shown.left], ["y", shown.top], ["width", shown.width], ["height", shown.height]]) rect.setAttribute(name, value);
    }
    $("#cut")?.setAttribute("viewBox", `${shown.left} ${shown.top} ${shown.width} ${shown.height}`);
  }

  // ---- Pictures ----------------------------------------------------------------------------------------------------

  // One picture is asked for at a time, and after it the last that was wanted meanwhile: a cursor that is dragged asks
  // for no more than the server can give.
  let requested = null, wanted = null;

  function want(address, show) {
    wanted = { address, show };
    if (!requested) next();
  }

  function next() {
    requested = wanted;
    wanted = null;
    if (!requested) return;
    const { address, show } = requested;
    const picture = new Image();
    picture.onload = picture.onerror = () => {
      if (picture.naturalWidth) show(address);
      else if (!wanted && $("#frame-time")) $("#frame-time").textContent += $("#frame-time").dataset.broken;
      next();
    };
    picture.src = address;
  }

  const address = (base, time) => base.replace(/0$/, String(Math.max(0, Math.round(time * 1000))));

  function showFrame(time) {
    const label = $("#frame-time");
    if (label) label.textContent = time === null ? label.dataset.outside : clock(time);
    for (const image of all("[data-frame]")) image.classList.toggle("gone", time === null);
    if (frames && time !== null) {
      want(address(frames, time), (url) => all("[data-frame]").forEach((image) => image.setAttribute("href", url)));
    } else if (own) want(address(own, cursorTime), (url) => { $("#own-frame").src = url; });
  }

  function showScreenshot(row) {
    const picture = $("#screenshot");
    if (!row || !picture || picture.getAttribute("src") === row.dataset.screenshot) return;
    [picture.width, picture.height] = row.dataset.size.split(" ").map(Number);
    picture.src = row.dataset.screenshot;
    const label = $("#shot-turn");
    picture.alt = label.dataset.alt.replace("{number}", row.dataset.row);
    label.textContent = label.dataset.before.replace("{name}", () => row.dataset.name);
  }

  // ---- The cursor --------------------------------------------------------------------------------------------------

  let current = rows.find((row) => row.hasAttribute("aria-current")) ?? null;

  function select(row) {
    current?.removeAttribute("aria-current");
    current = row;
    if (!row) return;
    row.setAttribute("aria-current", "true");
    if (form) field("selected").value = row.dataset.id;
    leadTabsTo(row.dataset.id);
  }

  /** Tell what was said and done last, under the pictures. */
  function showNow() {
    const reached = inOrder.filter((candidate) => timeOf(candidate) <= cursorTime + 1e-6);
    for (const [selector, isChat] of [["#now-said", true], ["#now-turn", false]]) {
      const row = reached.findLast((candidate) => ("said" in candidate.dataset) === isChat);
      const words = row ? [...row.querySelectorAll("a > span")].map((word) => word.cloneNode(true)) : [];
      $(selector).replaceChildren(...words.flatMap((word) => [word, " "]));
    }
  }

  /** Show a moment; `row`: the turn that it belongs to, otherwise the last one before it. */
  function moveTo(time, row) {
    cursorTime = Math.min(Math.max(time, from), from + length);
    cursor.value = cursorTime;
    cursor.setAttribute("aria-valuetext", clock(cursorTime));
    $("#cursor-time").textContent = clock(cursorTime);
    for (const element of all("[data-cursor]")) {
      element.setAttribute("x1", percent(cursorTime));
      element.setAttribute("x2", percent(cursorTime));
    }
    select(row ?? inOrder.findLast((candidate) => timeOf(candidate) <= cursorTime + 1e-6) ?? null);
    const pictured = inOrder.filter((candidate) => candidate.dataset.screenshot);
    showScreenshot((row?.dataset.screenshot ? row : null) ?? pictured.find((candidate) => timeOf(candidate) >= cursorTime - 1e-6) ?? pictured.at(-1));
    showNow();
    showPlace();
  }

  /** Show what the numbers say, at the moment that the cursor is at. */
  function showPlace() {
    const byHand = last ? clockByHand() : null;
    const time = last ? videoTime(cursorTime, byHand) : null;
    showFrame(time);
    if (last) {
      showSpans(byHand);
      showTurns(byHand);
      showRectangle(rectangleByHand(), time);
    }
    const unsaved = $("#unsaved");
    if (unsaved) unsaved.textContent = changed(...initial.keys()) ? unsaved.dataset.unsaved : "";
  }

  cursor.addEventListener("input", () => moveTo(Number(cursor.value)));
  cursor.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: -0.1, ArrowDown: -0.1, ArrowRight: 0.1, ArrowUp: 0.1, PageUp: length / 10, PageDown: -length / 10 };
    if (!(event.key in steps) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    moveTo(cursorTime + steps[event.key]);
  });

  document.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    const link = event.target.closest?.("[data-turn], [data-row] a");
    const track = event.target.closest?.("[data-track]");
    if (link) {
      event.preventDefault();
      const row = link.dataset.turn ? rows.find((candidate) => candidate.dataset.row === link.dataset.turn) : link.closest("[data-row]");
      moveTo(timeOf(row), row);
    } else if (track) {
      const box = track.getBoundingClientRect();
      moveTo(from + (length * (event.clientX - box.left)) / box.width);
    }
  });

  function step(by) {
    const index = current ? inOrder.indexOf(current) + by : 0;
    const row = inOrder[Math.min(Math.max(index, 0), inOrder.length - 1)];
    if (row) moveTo(timeOf(row), row);
  }

  document.addEventListener("keydown", (event) => {
    if (isCommand(event) || event.target.matches("input:not([type=range])")) return;
    if (localStorage.getItem(KEYS_OFF)) return;
    const name = keyOf(event);
    if (name === "j" || name === "k") step(name === "j" ? 1 : -1);
    else if (event.key === "Escape") $("#back").click();
  });

  form?.addEventListener("input", showPlace);
  form?.addEventListener("reset", () => setTimeout(showPlace)); // the fields have their values after it
  cursor.value = cursorTime;
})();
