// The task that the review app gave: its text in the form, and of which task the recording is then.

let given = null; // text and name of the task

/** Have the button ask for the next task; another text in the form is no longer that task. `ask` returns it, or nothing. */
export function watchTask(part, ask) {
  part["next-task"].addEventListener("click", async () => {
    part["next-task"].disabled = true;
    const task = await ask();
    part["next-task"].disabled = false;
    if (task) show(part, task);
  });
  part.task.addEventListener("input", () => (part.given.hidden = !isGiven(part)));
}

/** What a recording tells of it. */
export const taskGiven = (part) => (isGiven(part) ? { task_id: given.name } : {});

const isGiven = (part) => given !== null && part.task.value.trim() === given.text.trim();

function show(part, task) {
  given = task;
  part.task.value = task.text;
  part.given.hidden = false;
  const link = part["given-at"];
  link.hidden = !URL.canParse(task.url);
  if (!link.hidden) Object.assign(link, { href: task.url, textContent: `It begins at ${new URL(task.url).host}` });
  part.start.focus();
}
