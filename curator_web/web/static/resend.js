// A change that the server did not take because it, or what it needs, is away is kept here and sent again until it is
// answered. It carries a key of its own, so sent twice it is made once; what follows it waits for it in its order.
"use strict";

(() => {
  const PAUSES = [1000, 2000, 4000, 5000]; // ms between tries; the last one counts from then on
  const PATIENCE = 30_000; // ms that one answer may take
  const LATER = new Set([502, 503, 504]); // what proxies say, too

  let unsent = 0;

  function showNotice(isSent) {
    const noticeArea = document.querySelector("#notice");
    if (!noticeArea) return;
    const notice = document.createElement("div");
    notice.className = "notice";
    notice.append(Object.assign(document.createElement("p"), { textContent: isSent ? noticeArea.dataset.answersAgain : noticeArea.dataset.kept }));
    noticeArea.replaceChildren(notice);
  }

  async function once(address, request) {
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), PATIENCE);
    try {
      return await fetch(address, { ...request, signal: stop.signal });
    } finally {
      clearTimeout(timer);
    }
  }

  async function untilAnswered(address, request) {
    for (let tries = 0; ; tries += 1) {
      const answer = await once(address, request).catch(() => null);
      if (answer && !LATER.has(answer.status)) {
        if (tries) unsent -= 1;
        if (tries && answer.ok) setTimeout(showNotice, 0, true); // after the answer is on the page
        return answer;
      }
      if (!tries) unsent += 1;
      showNotice(false);
      await new Promise((done) => { setTimeout(done, PAUSES[Math.min(tries, PAUSES.length - 1)]); });
    }
  }

  document.addEventListener("htmx:before:request", ({ detail: { ctx } }) => {
    if (ctx.request.method !== "POST" || !ctx.request.body?.has?.("key")) return;
    clearTimeout(ctx.requestTimeout); // each try has a time of its own
    ctx.fetch = untilAnswered;
  });

  window.addEventListener("beforeunload", (event) => {
    if (unsent) event.preventDefault(); // the browser asks
  });
})();
