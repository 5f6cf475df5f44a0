"""Performs a script by an agent of browser-use: browser_use_driver.py CDP_URL SITE SCRIPT.json MODEL

The model at the address MODEL decides on each step; the script only names the files that may be uploaded.
"""

import asyncio
import json
import os
import sys
from pathlib import Path

os.environ |= {"ANONYMIZED_TELEMETRY": "false", "BROWSER_USE_LOGGING_LEVEL": "result",
               "BROWSER_USE_CLOUD_SYNC": "false", "BROWSER_USE_SETUP_LOGGING": "false"}

from browser_use import Agent, Browser, ChatOpenAI  # noqa: E402 - its settings are read when it is imported

MAX_STEPS = 60


async def main(address: str, site: str, script: str, model: str) -> None:
    actions = json.loads(Path(script).read_text())
    browser = Browser(cdp_url=address, keep_alive=True)
    agent = Agent(
        "Perform the script", llm=ChatOpenAI(model="scripted", base_url=model, api_key="none"), browser=browser,
        initial_actions=[{"navigate": {"url": site, "new_tab": False}}], use_vision=False, use_judge=False,
        available_file_paths=[action["value"] for action in actions if action["kind"] == "upload"],
        loop_detection_enabled=False, enable_planning=False, directly_open_url=False, max_failures=50,
        message_compaction=False, max_history_items=6)
    history = await agent.run(max_steps=MAX_STEPS)
    for step in history.history:
        number = step.model_output.memory if step.model_output else None
        if number and number.lstrip("-").isdigit() and int(number) >= 0:
            errors = [result.error for result in step.result if result.error]
            print(json.dumps({"failed": int(number), "error": errors[0][:200]} if errors else {"done": int(number)}),
                  flush=True)
    await browser.kill()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
