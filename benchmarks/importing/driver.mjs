// Drives a version of Playwright by the steps in plan.json; prints each with its times, as JSON.
import fs from 'node:fs';

const [, , library, out, site, executablePath] = process.argv;
const playwright = (await import(library)).default;
const browser = await playwright.chromium.launch({executablePath, args: ['--no-sandbox']});
const context = await browser.newContext({viewport: {width: 900, height: 600}});
await context.tracing.start({screenshots: true, snapshots: true});
const page = await context.newPage();
const account = [];

async function note(kind, name, value, action) {
  const begun = Date.now();
  await action();
  account.push([kind, name, value, begun, Date.now()]);
}

await note('goto', '', site, () => page.goto(site));
for (const [kind, name, value] of JSON.parse(fs.readFileSync('plan.json', 'utf-8'))) {
  const target = (name === 'i1' ? page.frameLocator('iframe') : page).locator(`#${name}`);
  await note(kind, name, value, {
    fill: () => target.fill(value), select: () => target.selectOption(value), press: () => target.press(value),
    check: () => value ? target.check() : target.uncheck(), click: () => target.click(),
  }[kind]);
}
await context.tracing.stop({path: out});
await browser.close();
console.log(JSON.stringify(account));
