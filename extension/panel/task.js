// The task from the review app: its text in the form, the task of the recording, and returning it.

let given = null; // id, name and text of the task

/**
 * Have the button ask for the next task; another text in the form is no longer that task. `ask` returns it, or nothing;
 * `giveBack` leaves it to others, and tells whether that was done.
 */
export function watchTask(part, ask, giveBack) {
  part["next-task"].addEventListener("click", async () => {
    part["next-task"].disabled = true;
    const task = await ask();
    part["next-task"].disabled = false;
    if (task) show(part, task);
  });
  part.task.addEventListener("input", () => (part.given.hidden = part.back.hidden = !isGiven(part)));
  part.cannot.addEventListener("click", () => (part["why-not"].required = true)); // the form asks for it then
  part["give-back"].addEventListener("submit", async (event) => {
    event.preventDefault();
    const unachievable = event.submitter === part.cannot;
    if (!(await giveBack({ id: given.id, reason: part["why-not"].value.trim(), unachievable }))) return;
    part.task.value = "";
    forgetTask(part);
    part["next-task"].focus();
  });
  part["give-back"].querySelector("button").addEventListener("click", () => (part["why-not"].required = false));
}

/** The form is of no task that was given any more. */
export function forgetTask(part) {
  given = null;
  part.given.hidden = part.back.hidden = true;
  part.back.open = false;
  part["give-back"].reset();
}

/** What a recording tells of it. */
export const taskGiven = (part) => (isGiven(part) ? { task_id: given.name } : {});

const isGiven = (part) => given !== null && part.task.value.trim() === given.text.trim();

function show(part, task) {
  given = task;
  part.task.value = task.text;
  part.given.hidden = part.back.hidden = false;
  part["given-answer"].textContent = `Expected answer: ${task.answer}`;
  part["given-answer"].hidden = !task.answer;
  const link = part["given-at"];
  link.hidden = !URL.canParse(task.url);
  if (!link.hidden) Object.assign(link, { href: task.url, textContent: `Start page: ${new URL(task.url).host}` });
  part.start.focus();
}
