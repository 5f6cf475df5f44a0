// Performs a script by Stagehand in a running browser: node stagehand.mjs CDP_URL SITE SCRIPT.json MODEL
// The model at the address MODEL answers what `act` asks: it finds the element in Stagehand's description of the page.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [address, site, script, model] = process.argv.slice(2);
const module = `${process.cwd()}/node_modules/@browserbasehq/stagehand/dist/esm/index.js`;
const { Stagehand } = await import(pathToFileURL(module));
const { webSocketDebuggerUrl } = await (await fetch(`${address}/json/version`)).json();
const stagehand = new Stagehand({
  env: "LOCAL", verbose: 0, disablePino: true, selfHeal: false, localBrowserLaunchOptions: { cdpUrl: webSocketDebuggerUrl },
  model: { modelName: "openai/scripted", apiKey: "none", baseURL: model, openaiEndpointFormat: "chat" },
});
await stagehand.init();
const page = stagehand.context.pages()[0] ?? (await stagehand.context.newPage());
await page.goto(site);

/** The answer of a dialog that the next click opens: Stagehand has no call for it. */
async function answerDialog(work) {
  await page.sendCDP("Page.enable");
  const answered = (async () => {
    for (;;) {
      try {
        return await page.sendCDP("Page.handleJavaScriptDialog", { accept: true });
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 50)); // no dialog is open yet
      }
    }
  })();
  await work();
  await answered;
}

async function act(action) {
  const result = await stagehand.act(`<<${JSON.stringify(action)}>>`);
  if (!result.success) throw new Error(result.message);
}

const DOES = {
  upload: async (action) => page.locator(`#${action.id}`).setInputFiles(action.value),
  back: async () => page.goBack(),
  dialog: async (action) => answerDialog(() => act(action)),
  press: async (action) => {
    await act({ ...action, kind: "click" });
    await act({ ...action, kind: "enter" });
  },
};
for (const [index, action] of JSON.parse(readFileSync(script, "utf-8")).entries()) {
  try {
    await (DOES[action.kind] ?? act)(action);
    console.log(JSON.stringify({ done: index }));
  } catch (error) {
    console.log(JSON.stringify({ failed: index, error: String(error).slice(0, 200) }));
  }
}
await stagehand.close().catch(() => {});
process.exit(0);
