// The way back from a demonstration to its place in the list: address, scroll offset and row, kept for this tab.
"use strict";

(() => {
  const ORIGIN = "demotape-list-origin";
  const list = document.querySelector("#rows"), demonstration = document.querySelector(".page-tabs[data-demonstration]");
  const origin = JSON.parse(sessionStorage.getItem(ORIGIN) ?? "null"); // { project, address, top, opened, row }
  const tasks = () => [...document.querySelectorAll("#rows a.task")];
  const save = (changes) => sessionStorage.setItem(ORIGIN, JSON.stringify({ ...origin, ...changes }));

  /** Where the row of a demonstration is gone, as its status has changed, the one that took its place gets the focus. */
  function restore() {
    window.scrollTo(0, origin.top);
    const task = document.getElementById(`task-${origin.opened}`) ?? tasks()[Math.min(origin.row, tasks().length - 1)];
    task?.focus({ preventScroll: true });
    task?.closest("tr").scrollIntoView({ block: "nearest" });
  }

  if (demonstration && origin?.project === demonstration.dataset.project) {
    const leadBack = () => {
      for (const link of document.querySelectorAll("[data-to-list]")) link.href = origin.address;
    };
    leadBack();
    document.addEventListener("htmx:after:swap", leadBack); // an edit brings a new header
    save({ opened: demonstration.dataset.demonstration });
  }
  if (list) {
    if (origin?.opened && origin.address === location.pathname + location.search) restore();
    addEventListener("pagehide", () => save({
      project: list.dataset.project, address: location.pathname + location.search, top: scrollY, opened: "",
      row: Math.max(tasks().findIndex((task) => task.closest("tr").contains(document.activeElement)), 0),
    }));
  }
})();
