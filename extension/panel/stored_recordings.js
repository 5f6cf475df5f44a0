// The recordings stored on this computer, and the review app that they are sent to.

const { clock } = globalThis.demotapeLines;

const create = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};

/** Show what is kept, newest first. `part` holds the page's elements by their ids. */
export function showRecordings(part, kept, account, { others, days, ask }) {
  const waiting = kept.filter(({ sent }) => sent?.state !== "imported");
  part.waiting.textContent = String(waiting.length);
  part.waiting.title = `${waiting.length} not sent yet`;
  part["nothing-kept"].hidden = kept.length > 0;
  const newest = [...kept].sort((first, second) => second.started_at - first.started_at);
  const focused = /** @type {HTMLElement} */ (document.activeElement)?.dataset.of;
  part.kept.replaceChildren(...newest.map((facts) => item(facts, account, ask)));
  if (focused) part.kept.querySelector(`[data-of="${CSS.escape(focused)}"]`)?.focus();
  showTotal(part, kept, others, days);
  part["send-needs"].hidden = Boolean(account) || waiting.length === 0;
  part.account.hidden = !account;
  part["sign-in"].hidden = Boolean(account);
  part["next-task"].hidden = !account;
  if (account) part["account-name"].textContent = `Signed in as ${account.name} at ${account.server}`;
  showProjects(part, account);
}

/** How much there is, of whom, and for how long what was sent stays. */
function showTotal(part, kept, others, days) {
  const bytes = kept.reduce((sum, facts) => sum + (facts.bytes ?? 0), 0), sent = kept.filter(({ sent }) => sent?.state === "imported");
  part.total.textContent = `${kept.length} ${kept.length === 1 ? "recording" : "recordings"}, ${megabytes(bytes)}`;
  part.total.hidden = part.retention.hidden = !kept.length;
  part["discard-sent"].hidden = !sent.length;
  part["keep-sent"].value = String(days);
  part.others.hidden = !others;
  part.others.textContent = `${others} more of other accounts. Sign in as their owner to see them.`;
}

const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

/** Obey the choice of how long sent recordings stay, and the button that discards them, which asks once more. */
export function watchRetention(part, ask) {
  const button = part["discard-sent"], select = part["keep-sent"];
  select.addEventListener("change", () => ask("keepSent", { days: JSON.parse(select.value) }));
  button.addEventListener("click", () => confirmed(button, "Discard permanently", "Discard sent recordings", () => ask("discardSent")));
}

/** Where recordings go, for who is in several projects. */
function showProjects(part, account) {
  part.projects.hidden = !account || account.projects.length < 2;
  part.project.replaceChildren(...(account?.projects ?? []).map(({ id, name }) =>
    create("option", { value: id, textContent: name, selected: id === account.project })));
}

function item(facts, account, ask) {
  const { id, task, started_at, ended_at, sent, bytes, finishing, ownership } = facts;
  const when = new Date(started_at * 1000).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  const lasted = ended_at ? `, ${clock(ended_at - started_at)}` : "";
  const size = bytes ? `, ${megabytes(bytes)}` : "";
  const line = create("p", { className: "facts" }, `${when}${lasted}${size} `, ...tag(facts));
  const row = create("div", { className: "row" });
  const button = (word, action, style = "") => {
    const element = create("button", { type: "button", className: `button ${style}`, textContent: word });
    element.dataset.of = `${id} ${word}`;
    element.addEventListener("click", () => action(element));
    row.append(element);
  };
  if (account && !["imported", "queued", "sending", "waiting"].includes(sent?.state)) button(ownership === "nobody" ? `Send as ${account.name}` : "Send", () => ask("upload", { id }), "primary");
  button("Save as file", (element) => save(element, id, ask));
  if (sent?.state !== "sending") button("Discard", (element) => discard(element, id, ask), "danger");
  const entry = create("li", {}, create("p", { className: "name" }, task || "No task"), line);
  if (ownership === "nobody") line.append(" ", create("span", { className: "tag" }, "of no account"));
  if (sent?.state === "sending") entry.append(create("progress", { max: sent.chunks, value: sent.done, ariaLabel: "Sent so far" }));
  if (sent?.error) entry.append(create("p", { className: "why" }, sent.error));
  if (sent?.notice) entry.append(create("p", { className: "notice warn" }, sent.notice));
  if (finishing) entry.append(create("progress", { ariaLabel: "Being finished" }));
  entry.append(row);
  return entry;
}

function tag({ status, sent, finishing }) {
  const [word, style] = {
    imported: ["sent", "good"], sending: [`sending ${Math.floor((100 * sent?.done) / sent?.chunks)} %`, "warn"],
    queued: ["will be sent", "warn"], waiting: ["waits for the network", "warn"], failed: ["refused", "bad"],
  }[sent?.state] ?? (finishing ? ["being finished", "warn"] : status === "interrupted" ? ["interrupted", "warn"] : []);
  return word ? [create("span", { className: `tag ${style}` }, word)] : [];
}

async function save(button, id, ask) {
  button.disabled = true;
  const packed = await ask("pack", { id });
  button.disabled = false;
  if (packed) create("a", { href: packed.url, download: packed.name }).click();
}

const discard = (button, id, ask) => confirmed(button, "Discard permanently", "Discard", () => ask("discard", { id }));

/** The first press asks by another text, the second does it. */
function confirmed(button, question, text, work) {
  const reset = () => {
    delete button.dataset.sure;
    button.textContent = text;
  };
  if (button.dataset.sure) {
    reset();
    return void work();
  }
  button.dataset.sure = "yes";
  button.textContent = question;
  button.addEventListener("blur", reset, { once: true });
  return undefined;
}
