#!/bin/sh
# puppeteer-core 24.43.1: `locator.fill("")` empties a field by script without any event, neither `input` nor `change`, and
# `locator.fill("b")` in a field with "a" empties it in the same way before it types. A page or a recorder that relies
# on events does not learn of the first; Playwright's `fill("")` sends an `input`. Seen with Chromium 156.
#
# Needs node, npm and a Chromium (CHROMIUM, else `chromium` on the path). Fails if the behaviour changes.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-fund --no-audit puppeteer-core@24.43.1 >/dev/null
cat >run.mjs <<'RUN'
import puppeteer from "puppeteer-core";
const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
const page = await browser.newPage();
await page.setContent("<input id=f value=a>");
await page.evaluate(() => {
  window.seen = [];
  for (const type of ["beforeinput", "input", "change"]) addEventListener(type, (event) => seen.push(`${type} ${event.target.value}`), true);
});
await page.locator("#f").fill("");
console.log(JSON.stringify(await page.evaluate("[document.querySelector('#f').value, seen]")));
await browser.close();
RUN
CHROMIUM=${CHROMIUM:-$(command -v chromium)} node run.mjs >seen
cat seen
[ "$(cat seen)" = '["",[]]' ]
