// Dropping packages on the page, and how much of them is sent.
"use strict";

(() => {
  const form = document.getElementById("drop");
  if (!form) return;
  const [field, sent, note] = ["package", "sent", "drop-note"].map((id) => document.getElementById(id));

  for (const type of ["dragenter", "dragover", "dragleave", "drop"]) {
    document.addEventListener(type, (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      form.classList.toggle("over", type === "dragenter" || type === "dragover");
      if (type !== "drop") return;
      field.files = event.dataTransfer.files;
      form.requestSubmit();
    });
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const request = new XMLHttpRequest(); // the only one that tells how much was sent
    request.open("POST", form.action);
    request.setRequestHeader("HX-Request", "true");
    request.setRequestHeader("X-CSRFToken", form.elements.csrf_token.value);
    sent.hidden = false;
    note.className = "hint";
    note.textContent = note.dataset.sending;
    request.upload.addEventListener("progress", ({ loaded, total }) => { sent.value = loaded / total; });
    request.addEventListener("loadend", () => {
      sent.hidden = true;
      const answer = new DOMParser().parseFromString(request.responseText, "text/html");
      if (request.status !== 200) {
        note.className = "bad";
        note.textContent = answer.body.querySelector("p")?.textContent || note.dataset.noAnswer;
        return;
      }
      const refused = answer.querySelectorAll(".refused li").length;
      note.textContent = refused ? note.dataset.refused.replace("{count}", refused) : note.dataset.sent;
      form.reset();
      for (const id of ["refused", "jobs"]) document.getElementById(id).replaceWith(answer.getElementById(id));
      htmx.process(document.getElementById("jobs"));
    });
    request.send(new FormData(form));
  });
})();
