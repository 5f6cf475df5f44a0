"""Adapters that announce actions of drivers: the examples of docs/agents.md, where the drivers are installed.

The page inserts a script, so that scripts of a driver in its world are not recognised without an announcement.
"""

import asyncio
import json
import re
import shutil
import socket
import subprocess
import urllib.error
import urllib.request
from types import SimpleNamespace

import pytest
from playwright.async_api import async_playwright

from benchmarks.drivers.scripted_model import serve_model
from pipeline.turns.folding import fold
from recorder import Recorder, Recording
from recorder.adapters import browser_use, mcp
from recorder.adapters.wrapping import announce_calls
from recorder.browser.launching import launch_context
from schemas import InputError
from tests.support.checkout import ROOT
from tests.support.samples.traps import line

PAGE = """<!DOCTYPE html><title>Form</title><input id=name aria-label=Name>
<select id=town aria-label=Town><option>Rome<option>Oslo</select><p id=out></p><script>
const inserted = document.createElement('script');
inserted.textContent = 'window.analytics = true';
onload = () => document.head.append(inserted);
setInterval(() => town.dispatchEvent(new Event('change', { bubbles: true })), 50);
</script>"""
SET_NAME = "document.querySelector('#name').value = 'Ann'"
SECTION = (ROOT / "docs/agents.md").read_text(encoding="utf-8").partition("## Drivers that announce")[2]


def example(heading: str, language: str = "python") -> str:
    """The code of an example in the section of docs/agents.md."""
    return re.search(rf"### {re.escape(heading)}.*?```{language}\n(.*?)```", SECTION, re.DOTALL)[1]


def defined(heading: str, function: str):
    """A function of an example."""
    names: dict = {}
    exec(compile(example(heading), "docs/agents.md", "exec"), names)
    return names[function]


def recorded(site, tmp_path, work) -> list[str]:
    """The turns of `work(context, directory, cdp)` on elements of a page that is open, as lines."""
    site.pages["/"] = PAGE

    async def run():
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        async with async_playwright() as playwright:
            context = await launch_context(playwright, tmp_path / "profile", headless=True,
                                           arguments=[f"--remote-debugging-port={port}"])
            await context.pages[0].goto(site.origin)
            await context.pages[0].wait_for_function("window.analytics")
            await work(context, tmp_path / "rec", f"http://127.0.0.1:{port}")
            await context.close()

    asyncio.run(run())
    turns = [turn for turn in fold(Recording(tmp_path / "rec").events) if turn["element"]]
    assert all(turn.get("trusted") is False for turn in turns if turn["intent"] in ("change", "textInput"))
    return [line(turn) for turn in turns if turn["intent"] in ("change", "textInput")]


TURNS = ["textInput input#name text='Ann'", "change select#town value='Oslo'"]


def test_programs_announce_over_http(site, tmp_path):
    record_program = defined("Stagehand and other programs", "record_program")

    def request(method: str, address: str) -> int:
        try:
            with urllib.request.urlopen(urllib.request.Request(address, method=method)) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    async def work(context, directory, cdp):
        async def run(address):
            assert await asyncio.to_thread(request, "POST", address.rpartition("/")[0] + "/other") == 404
            for script in (SET_NAME, "town.value = 'Oslo'"):
                assert await asyncio.to_thread(request, "POST", address) == 204
                await context.pages[0].evaluate(script)
                assert await asyncio.to_thread(request, "DELETE", address) == 204
            assert await asyncio.to_thread(request, "DELETE", address) == 204  # nothing has begun
            await context.pages[0].evaluate("document.querySelector('#name').value = 'Bo'")  # not announced
            assert await asyncio.to_thread(request, "POST", address) == 204  # ends with the recording

        await record_program(context, directory, cdp, run)

    assert recorded(site, tmp_path, work) == TURNS


@pytest.mark.parametrize("adapter", ["browser-use", "mcp"])
def test_calls_that_act_are_announced_and_others_are_not(site, tmp_path, adapter):
    """Objects with the methods of the drivers, which evaluate scripts without an event."""
    async def work(context, directory, cdp):
        async def call(action, *_):
            name = action if isinstance(action, str) else next(iter(action.model_dump(exclude_unset=True)))
            script = SET_NAME if name.endswith("evaluate") else "town.value = 'Oslo'"
            await context.pages[0].evaluate(script)

        async with Recorder(context, directory, cdp=cdp) as recorder:
            if adapter == "mcp":
                target = SimpleNamespace(call_tool=call)
                mcp.announce(target, recorder)
                await target.call_tool("browser_snapshot")
                await target.call_tool("browser_evaluate")
                return
            agent = SimpleNamespace(tools=type("Tools", (), {"act": staticmethod(call)})())
            end = browser_use.announce(agent, recorder)
            for tool in ("navigate", "evaluate"):
                await agent.tools.act(SimpleNamespace(model_dump=lambda exclude_unset, tool=tool: {tool: {}}))
            end()
            assert agent.tools.act is call

    assert recorded(site, tmp_path, work) == TURNS[:1]


def test_what_the_page_does_in_an_announced_action_is_no_turn(site, tmp_path):
    """It responds to trusted input by events and by values of its own."""
    responding = PAGE.replace("</script>", "document.querySelector('#name').oninput = () => { town.value = 'Oslo';"
                              "town.dispatchEvent(new Event('input', { bubbles: true })) }</script>")

    async def work(context, directory, cdp):
        site.pages["/responding"] = responding
        page = context.pages[0]
        await page.goto(site.origin + "/responding")
        async with Recorder(context, directory, cdp=cdp) as recorder, recorder.action():
            await page.evaluate(SET_NAME)
            await page.press("#name", "e")

    assert recorded(site, tmp_path, work) == ["textInput input#name text='eAnn'"]


def test_an_object_without_the_method_is_one_clear_error():
    with pytest.raises(InputError, match="no method act"):
        browser_use.announce(SimpleNamespace(tools=SimpleNamespace()), None)
    with pytest.raises(InputError, match="no method call_tool"):
        announce_calls(object(), "call_tool", None, lambda: True)


def test_actions_of_browser_use_are_announced(site, tmp_path):
    library = pytest.importorskip("browser_use", reason="browser-use is not installed")
    record_agent = defined("browser-use", "record_agent")

    class Answers:
        steps = 0

        def answer(self, messages: str) -> dict:
            self.steps += 1
            listed = re.findall(r"\[(\d+)\]<select", messages)
            actions = {1: {"evaluate": {"code": f"(() => {{ {SET_NAME} }})()"}},
                       2: {"select_dropdown": {"index": int(listed[-1]), "text": "Oslo"}}}
            action = actions.get(self.steps, {"done": {"text": "done", "success": True}})
            return {"evaluation_previous_goal": "", "memory": "", "next_goal": "", "action": [action]}

    async def work(context, directory, cdp):
        with serve_model(Answers()) as model:
            llm = library.ChatOpenAI(model="scripted", base_url=model, api_key="none")
            await record_agent(context, directory, cdp, "Fill in the form", llm)

    assert recorded(site, tmp_path, work) == TURNS


def test_tools_of_playwright_mcp_are_announced(site, tmp_path):
    pytest.importorskip("mcp", reason="mcp is not installed")
    cli = shutil.which("mcp-server-playwright")
    if not cli:
        pytest.skip("mcp-server-playwright (npm: @playwright/mcp) is not on the path")
    record_tools = defined("Playwright MCP and other MCP servers", "record_tools")

    async def use(session):
        await session.call_tool("browser_snapshot", {})
        for script in (SET_NAME, "town.value = 'Oslo'"):
            await session.call_tool("browser_evaluate", {"function": f"() => {{ {script} }}"})

    async def work(context, directory, cdp):
        await record_tools(context, directory, cdp, [cli], use)

    assert recorded(site, tmp_path, work) == TURNS


def test_commands_of_selenium_are_announced(site, tmp_path):
    library = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    if not shutil.which("chromedriver"):
        pytest.skip("chromedriver is not on the path")
    from selenium.webdriver.support.select import Select

    record_driver = defined("Selenium", "record_driver")

    def use(driver):
        driver.execute_script(SET_NAME)
        Select(driver.find_element("id", "town")).select_by_visible_text("Oslo")

    async def work(context, directory, cdp):
        options = library.ChromeOptions()
        options.debugger_address = cdp.removeprefix("http://")
        service = library.ChromeService(shutil.which("chromedriver"))
        driver = await asyncio.to_thread(library.Chrome, options=options, service=service)
        await record_driver(context, directory, cdp, driver, use)

    assert recorded(site, tmp_path, work) == TURNS


def test_stagehand_announces_over_http(site, tmp_path):
    """The function of the example, with an object of Stagehand's interface: Node only."""
    node = shutil.which("node")
    if not node:
        pytest.skip("node is not on the path")
    (tmp_path / "announce.mjs").write_text(example("Stagehand and other programs", "js"))
    program = tmp_path / "program.mjs"
    record_program = defined("Stagehand and other programs", "record_program")

    async def work(context, directory, cdp):
        page = context.pages[0]

        async def act(reader, writer):
            script = json.loads(await reader.readline())
            await page.evaluate(script)
            writer.write(b"done\n")
            writer.close()

        server = await asyncio.start_server(act, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        program.write_text(f"""import net from "node:net"; import {{ announce }} from "./announce.mjs";
const act = (script) => new Promise((resolve) => {{ const to = net.connect({port}, "127.0.0.1");
  to.on("close", resolve); to.resume(); to.write(JSON.stringify(script) + "\\n"); }});
const stagehand = {{ act }};
announce(stagehand, process.argv[2]);
for (const script of {json.dumps([SET_NAME, "town.value = 'Oslo'"])}) await stagehand.act(script);
process.exit(0);""")

        async def run(address):
            done = await asyncio.create_subprocess_exec(node, str(program), address, stderr=subprocess.PIPE)
            _, error = await done.communicate()
            assert done.returncode == 0, error

        await record_program(context, directory, cdp, run)
        server.close()

    assert recorded(site, tmp_path, work) == TURNS
