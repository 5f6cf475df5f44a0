#!/bin/sh
# Monaco 0.57 puts into its EditContext what the browser has put there already: after "ab" is typed into an empty
# editor, the editor's value is "ab", but the text of its EditContext is "aba" when the browser reports the second
# letter. What a key brought is known only from the updates (`textupdate`), not from the context's text. The updates
# reach listeners of isolated worlds, too. Seen with monaco-editor 0.57, puppeteer-core 24.43.1 and Chromium 156.
#
# Needs node, npm and a Chromium (CHROMIUM, else `chromium` on the path). Fails if the behaviour changes.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-fund --no-audit monaco-editor@0.57.0 puppeteer-core@24.43.1 esbuild@0.25.12 >/dev/null
cat >page.js <<'PAGE'
import * as monaco from "monaco-editor";
self.MonacoEnvironment = { getWorker: () => new Worker(URL.createObjectURL(new Blob([""]))) };
window.editor = monaco.editor.create(document.querySelector("#e"), { value: "", language: "plaintext" });
PAGE
npx esbuild page.js --bundle --outfile=out.js --loader:.ttf=dataurl --log-level=error
cat >index.html <<'PAGE'
<!DOCTYPE html><meta charset=utf-8><link rel=stylesheet href=out.css><div id=e style="width:500px;height:200px"></div>
<script src=out.js></script>
PAGE
cat >run.mjs <<'RUN'
import puppeteer from "puppeteer-core";
const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--allow-file-access-from-files"] });
const page = await browser.newPage();
await page.goto(`file://${process.cwd()}/index.html`);
await page.waitForSelector(".native-edit-context");
const session = await page.createCDPSession();
const { frameTree } = await session.send("Page.getFrameTree");
const { executionContextId: contextId } = await session.send("Page.createIsolatedWorld", { frameId: frameTree.frame.id });
const evaluate = async (expression) => (await session.send("Runtime.evaluate", { expression, contextId, returnByValue: true })).result.value;
await evaluate(`globalThis.texts = [];
  const context = document.querySelector(".native-edit-context").editContext;
  context.addEventListener("textupdate", (event) => texts.push([event.text, event.updateRangeStart, context.text]))`);
await page.focus(".native-edit-context");
await page.keyboard.type("ab", { delay: 50 });
await page.waitForFunction("editor.getValue() === 'ab'");
console.log(JSON.stringify(await evaluate("texts")));
await browser.close();
RUN
CHROMIUM=${CHROMIUM:-$(command -v chromium)} node run.mjs >seen
cat seen
[ "$(cat seen)" = '[["a",0,"a"],["b",1,"aba"]]' ]
