// The viewer of a bundle: shows the runs whose data follow it in the document. It runs while these are being parsed.
"use strict";
(() => {
  const ESCAPE = 61, SHIFT = 64; // as in encoding.py
  const REFERENCE = /\ue000([0-9a-f]+)\ue001/g; // as in page_parts.py
  const MAX_LABEL = 80; // characters
  const byId = (id) => document.getElementById(id);

  // Data

  const codes = new Map(Array.from(new TextDecoder("windows-1252").decode(Uint8Array.from({ length: 256 }, (_, byte) => byte)), (letter, byte) => [letter, byte]));

  /** The bytes that a script element contains. */
  function decode(text) {
    const bytes = new Uint8Array(text.length);
    let length = 0;
    for (let index = 0; index < text.length; index++) {
      const byte = codes.get(text[index]);
      bytes[length++] = byte === ESCAPE ? (codes.get(text[++index]) - SHIFT) & 255 : byte;
    }
    return bytes.subarray(0, length);
  }

  const isParsed = (element) => element && (element.nextElementSibling || document.readyState !== "loading");
  const parsed = new Promise((resolve) => {
    document.addEventListener("DOMContentLoaded", resolve);
  });

  /** The element with a part, when the document is parsed so far. */
  async function element(id) {
    if (!isParsed(byId(id))) await parsed;
    return byId(id);
  }

  const texts = new Map();

  async function text(id) {
    if (!texts.has(id)) {
      const stream = new Blob([decode((await element(id)).textContent)]).stream();
      texts.set(id, await new Response(stream.pipeThrough(new DecompressionStream("gzip"))).text());
    }
    return texts.get(id);
  }

  const pictures = new Map();

  async function picture(id) {
    if (!pictures.has(id)) {
      const { textContent, dataset } = await element(id);
      pictures.set(id, URL.createObjectURL(new Blob([decode(textContent)], { type: dataset.media })));
    }
    return pictures.get(id);
  }

  async function page(id) {
    const source = await text(id);
    const parts = new Map();
    for (const [, part] of source.matchAll(REFERENCE)) if (!parts.has(part)) parts.set(part, await text(part));
    return source.replace(REFERENCE, (_, part) => parts.get(part));
  }

  // Words

  function make(tag, properties = {}, ...children) {
    const result = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name in result) result[name] = value;
      else result.setAttribute(name, value);
    }
    result.append(...children);
    return result;
  }

  const shorten = (value) => (value.length > MAX_LABEL ? `${value.slice(0, MAX_LABEL)}\u2026` : value);
  const rounded = (_, value) => (typeof value === "number" ? Math.round(value * 100) / 100 : value);
  const inWords = (value) => (typeof value === "string" ? value : JSON.stringify(value, rounded));

  function clock(seconds) {
    const tenths = Math.round(seconds * 10);
    return `${Math.floor(tenths / 600)}:${String(((tenths % 600) / 10).toFixed(1)).padStart(4, "0")}`;
  }

  function detailOf(turn) {
    if (turn.type === "chat") return turn.utterance;
    const { element: target, arguments: given } = turn;
    const name = target ? target.name || target.text || `<${target.tag}>` : "";
    const value = given.value ?? given.text ?? given.url ?? given.key ?? "";
    return [shorten(name), value === "" ? "" : shorten(inWords(value))].filter(Boolean).join(" \u2190 ");
  }

  const kindOf = (turn) => (turn.type === "chat" ? turn.speaker : turn.intent);
  const signOf = (turn) => JSON.stringify([kindOf(turn), detailOf(turn)]);

  /** The number of turns with which two runs begin alike. */
  function sameTurns(first, second) {
    let count = 0;
    while (count < first.turns.length && count < second.turns.length && signOf(first.turns[count]) === signOf(second.turns[count])) count++;
    return count;
  }

  const actorOf = ({ actor, agent }) => [actor === "unknown" ? "" : actor, agent].filter(Boolean).join(" ");

  function factsOf(run) {
    const facts = [actorOf(run), run.started.slice(0, 16).replace("T", " "), `${run.turns.length} turns`, run.license, ...run.notes];
    return facts.filter(Boolean).join(" \u00b7 ");
  }

  const outcomeOf = ({ outcome }) => (!outcome ? "" : outcome.holds === null ? "outcome unknown" : outcome.holds ? "success" : "failure");

  // What is shown

  let runs = [], run = null, turn = null, tab = "Picture", shown = 0;

  function showRun(index) {
    run = runs[index];
    byId("task").textContent = run.task || run.id;
    const outcome = outcomeOf(run);
    byId("facts").replaceChildren(...(outcome ? [make("span", { className: run.outcome.holds ? "good" : "bad" }, outcome), " \u00b7 "] : []), factsOf(run));
    const same = index ? sameTurns(runs[0], run) : run.turns.length;
    byId("turns").replaceChildren(...run.turns.flatMap((each, number) => [
      ...(index && number === same ? [make("li", { className: "differs" }, "From here it differs from the first run")] : []), row(each, number)]));
    showTurn(index ? Math.min(same, run.turns.length - 1) : Math.max(0, run.turns.findIndex(showsPage)));
  }

  /** Whether there is more to see of a turn than an empty tab. */
  const showsPage = (each) => each.type === "browser" && each.url && !each.url.startsWith("about:");

  function row(each, number) {
    const button = make("button", { type: "button", className: each.type === "chat" ? "say" : "" },
      make("span", { className: "number" }, String(number + 1)), make("span", { className: "what" }, kindOf(each)),
      make("span", { className: "time" }, clock(each.time)), make("span", { className: "detail" }, detailOf(each)));
    button.addEventListener("click", () => showTurn(number));
    return make("li", {}, button);
  }

  function showTurn(number) {
    turn = run.turns[number];
    const buttons = byId("turns").querySelectorAll("button");
    for (const button of buttons) button.removeAttribute("aria-current");
    if (!turn) return byId("heading").replaceChildren("There are no turns in this run");
    buttons[number].setAttribute("aria-current", "true");
    buttons[number].scrollIntoView({ block: "nearest" });
    byId("heading").textContent = `${number + 1}. ${kindOf(turn)} ${shorten(detailOf(turn))}`;
    showTabs();
  }

  /** What there is to show of a turn: by name, a function that makes it. */
  function views() {
    const result = {};
    if (turn.picture) result.Picture = showPicture;
    if (turn.page) result.Page = showPage;
    if (turn.requests) result.Requests = showRequests;
    result.Details = showDetails;
    if (run.outcome) result.Outcome = showOutcome;
    return result;
  }

  async function showTabs() {
    const all = views();
    const chosen = tab in all ? tab : Object.keys(all)[0];
    byId("tabs").replaceChildren(...Object.keys(all).map((name) => {
      const button = make("button", { type: "button", role: "tab", "aria-selected": String(name === chosen), "aria-controls": "panel", tabIndex: name === chosen ? 0 : -1 }, name);
      button.addEventListener("click", () => {
        tab = name;
        showTabs();
        byId("tabs").querySelector("[aria-selected=true]").focus();
      });
      return button;
    }));
    const number = ++shown;
    byId("panel").setAttribute("aria-label", chosen);
    const view = await all[chosen]();
    if (number !== shown) return;
    byId("panel").replaceChildren(view);
    view.fit?.();
  }

  async function showPicture() {
    const image = make("img", { src: await picture(turn.picture), alt: `The page before the action: ${turn.title}` });
    await image.decode().catch(() => {});
    const result = make("div", { className: "shown" }, image);
    const box = turn.element?.bbox;
    if (box) {
      const { width, height } = turn.viewport;
      const style = { left: box.x / width, top: box.y / height, width: box.width / width, height: box.height / height };
      const frame = make("div", { className: "box" });
      for (const [side, share] of Object.entries(style)) frame.style[side] = `${100 * share}%`;
      result.append(frame);
    }
    return result;
  }

  async function showPage() {
    const { width, height } = turn.viewport;
    const frame = make("iframe", { title: turn.title || "Page", width, height, sandbox: "allow-scripts" });
    frame.srcdoc = await page(turn.page);
    const result = make("div", { className: "page" }, frame);
    result.fit = () => {
      const scale = Math.min(1, byId("panel").clientWidth / width - 0.03);
      frame.style.transform = `scale(${scale})`;
      result.style.width = `${width * scale + 2}px`;
      result.style.height = `${height * scale + 2}px`;
    };
    return result;
  }

  function showRequests() {
    const head = make("tr", {}, ...["Time", "Method", "Address", "Status", "Type", "Bytes", "ms"].map((name) => make("th", { scope: "col" }, name)));
    const rows = turn.requests.map((request) => make("tr", {}, ...[
      clock(request.time), request.method, request.host + request.path, request.status || request.failure, request.type, request.size ?? "", Math.round(request.duration * 1000),
    ].map((value) => make("td", {}, String(value)))));
    return make("div", {}, make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)),
      ...(turn.more_requests > 0 ? [make("p", { className: "empty" }, `and ${turn.more_requests} more`)] : []));
  }

  function listOf(pairs) {
    const filled = pairs.filter(([, value]) => value !== undefined && value !== null && value !== "" && inWords(value) !== "{}");
    return make("dl", {}, ...filled.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, inWords(value))]));
  }

  function showDetails() {
    if (turn.type === "chat") return listOf([["said", turn.utterance], ["time", clock(turn.time)], ["labels", turn.labels]]);
    const target = Object.entries(turn.element ?? {}).map(([name, value]) => [`target ${name}`, value]);
    return listOf([...Object.entries(turn.agent), ...Object.entries(turn.arguments), ...target, ["address", turn.url], ["title", turn.title], ["tab", turn.tab],
      ["by a script", turn.trusted ? "" : "yes"], ["screenshot", turn.screenshot_status], ["labels", turn.labels]]);
  }

  function showOutcome() {
    const word = (holds) => (holds === null ? "unknown" : holds ? "passes" : "fails");
    return listOf([["outcome", outcomeOf(run)], ...run.outcome.checks.map((check) => [check.kind, `${word(check.holds)}${check.reason ? `: ${check.reason}` : ""}`])]);
  }

  // Keys: up and down for turns; left and right within the tabs

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !run || event.target.matches("select")) return;
    const inTabs = event.target.closest("[role=tablist]");
    const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
    if (step && !event.target.closest("#panel")) {
      event.preventDefault();
      showTurn(Math.max(0, Math.min(run.turns.length - 1, run.turns.indexOf(turn) + step)));
    } else if (inTabs && (event.key === "ArrowLeft" || event.key === "ArrowRight")) {
      const buttons = [...inTabs.children];
      buttons[(buttons.indexOf(event.target) + (event.key === "ArrowRight" ? 1 : buttons.length - 1)) % buttons.length].click();
    }
  });
  window.addEventListener("resize", () => byId("panel").firstElementChild?.fit?.());

  async function begin() {
    runs = JSON.parse(await text("runs"));
    byId("run").replaceChildren(...runs.map((each, index) => make("option", { value: index }, `${index + 1}. ${[actorOf(each), each.id, outcomeOf(each)].filter(Boolean).join(", ")}`)));
    byId("choose").hidden = runs.length < 2;
    byId("run").addEventListener("change", () => showRun(Number(byId("run").value)));
    showRun(0);
  }

  begin();
})();
