// Performs the actions of a script by puppeteer-core in a running browser: node puppeteer.mjs CDP_URL SITE SCRIPT.json
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const puppeteer = createRequire(`${process.cwd()}/`)("puppeteer-core");
const [address, site, script] = process.argv.slice(2);
const browser = await puppeteer.connect({ browserURL: address, defaultViewport: null });
const page = (await browser.pages())[0] ?? (await browser.newPage());
await page.goto(site);
const find = ({ id }) => (id === "inner" ? `#host >>> #${id}` : `#${id}`);
const frame = () => page.frames().find((inner) => inner.url().endsWith("/frame"));

const DOES = {
  fill: async (action) => page.locator(find(action)).fill(action.value),
  date: async (action) => page.locator(find(action)).fill(action.value),
  range: async (action) => page.locator(find(action)).fill(action.value),
  select: async (action) => page.select(find(action), action.value[0].toLowerCase()),
  check: async (action) => page.click(find(action)),
  upload: async (action) => (await page.$(find(action))).uploadFile(action.value),
  click: async (action) => page.locator(find(action)).click(),
  frame_fill: async (action) => (await frame().$(`#${action.id}`)).type(action.value),
  frame_click: async (action) => (await frame().$(`#${action.id}`)).click(),
  drag: async (action) => (await page.$(`#${action.value}`)).drop(await page.$(find(action))),
  dialog: async (action) => {
    const shown = new Promise((resolve) => page.once("dialog", (dialog) => resolve(dialog.accept())));
    await page.click(find(action));
    await shown;
  },
  press: async (action) => (await page.$(find(action))).press(action.value),
  back: async () => page.goBack(),
};
const announcements = process.env.DEMOTAPE_ANNOUNCEMENTS;
const announce = async (method) => announcements && fetch(announcements, { method });
for (const [index, action] of JSON.parse(readFileSync(script, "utf-8")).entries()) {
  try {
    await announce("POST");
    await DOES[action.kind](action).finally(() => announce("DELETE"));
    console.log(JSON.stringify({ done: index }));
  } catch (error) {
    console.log(JSON.stringify({ failed: index, error: String(error).slice(0, 200) }));
  }
}
await browser.disconnect();
process.exit(0);
