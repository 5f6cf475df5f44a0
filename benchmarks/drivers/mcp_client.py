"""A minimal client of MCP servers over standard input and output, and the two browser servers as drivers."""

import asyncio
import json
import re
from typing import Any

from .script import Action

_ANSWER_TIMEOUT_S = 90
_MAX_LINE_BYTES = 1 << 26


class McpServer:
    """A running MCP server (Model Context Protocol, 2024-11-05, stdio transport)."""

    def __init__(self, command: list[str], folder: str):
        self._command, self._folder, self._number = command, folder, 0

    async def __aenter__(self) -> "McpServer":
        self._process = await asyncio.create_subprocess_exec(
            *self._command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL, cwd=self._folder, limit=_MAX_LINE_BYTES)
        await self._request("initialize", {"protocolVersion": "2024-11-05", "capabilities": {},
                                           "clientInfo": {"name": "benchmark", "version": "1"}})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    async def __aexit__(self, *_: object) -> None:
        self._process.terminate()
        await self._process.wait()

    async def call(self, tool: str, **arguments: Any) -> str:
        """The text that a tool answers with; raises RuntimeError where it reports an error."""
        result = await self._request("tools/call", {"name": tool, "arguments": arguments})
        text = "\n".join(part.get("text", "") for part in result["content"])
        if result.get("isError"):
            raise RuntimeError(f"{tool}: {text[:200]}")
        return text

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(message).encode() + b"\n")

    async def _request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        assert self._process.stdout
        async with asyncio.timeout(_ANSWER_TIMEOUT_S):
            while line := await self._process.stdout.readline():
                answer = json.loads(line)
                if answer.get("id") == self._number:
                    if "error" in answer:
                        raise RuntimeError(f"{method}: {answer['error']}")
                    result: dict[str, Any] = answer["result"]
                    return result
        raise RuntimeError(f"{method}: the server has ended")


async def playwright_mcp(server: McpServer, action: Action, value: Any) -> None:
    """Perform an action by Playwright MCP, which finds elements in its last snapshot."""
    async def ref(name: str) -> str:
        text = await server.call("browser_snapshot")
        found = re.search(rf'"?{re.escape(name)}"?[^\n]*\[ref=(\w+)\]', text)
        if not found:
            raise RuntimeError(f"{name} is not in the snapshot")
        return found[1]

    async def on(tool: str, **arguments: Any) -> None:
        await server.call(tool, element=action.name, target=await ref(action.name), **arguments)

    match action.kind:
        case "open":
            await server.call("browser_navigate", url=value)
        case "fill" | "frame_fill":
            await on("browser_type", text=value)
        case "date" | "range":
            kind = "slider" if action.kind == "range" else "textbox"
            await server.call("browser_fill_form", fields=[{"name": action.name, "type": kind, "element": action.name,
                                                            "target": await ref(action.name), "value": value}])
        case "select":
            await on("browser_select_option", values=[value])
        case "upload":
            await on("browser_click")
            await server.call("browser_file_upload", paths=[value])
        case "drag":
            await server.call("browser_drag", startElement=action.name, startTarget=await ref(action.name),
                              endElement="Target", endTarget=await ref("Target"))
        case "dialog":
            await on("browser_click")
            await server.call("browser_handle_dialog", accept=True)
        case "press":
            await on("browser_click")
            await server.call("browser_press_key", key=value)
        case "back":
            await server.call("browser_navigate_back")
        case _:
            await on("browser_click")


async def chrome_devtools_mcp(server: McpServer, action: Action, value: Any) -> None:
    """Perform an action by chrome-devtools-mcp, which finds elements in its last snapshot."""
    page = int((re.search(r"(\d+): ", await server.call("list_pages")) or ["", "1"])[1])

    async def uid(name: str) -> str:
        text = await server.call("take_snapshot", pageId=page)
        found = re.search(rf'uid=(\w+) \w+ "{re.escape(name)}', text)
        if not found:
            raise RuntimeError(f"{name} is not in the snapshot")
        return found[1]

    async def call(tool: str, **arguments: Any) -> None:
        await server.call(tool, pageId=page, **arguments)

    match action.kind:
        case "open":
            await call("navigate_page", type="url", url=value)
        case "fill" | "frame_fill" | "select" | "date" | "range":
            await call("fill", uid=await uid(action.name), value=value)
        case "upload":
            await call("upload_file", uid=await uid(action.name), filePaths=[value])
        case "drag":
            await call("drag", from_uid=await uid(action.name), to_uid=await uid("Target"))
        case "dialog":
            await call("click", uid=await uid(action.name))
            await call("handle_dialog", action="accept")
        case "press":
            await call("click", uid=await uid(action.name))
            await call("press_key", key=value)
        case "back":
            await call("navigate_page", type="back")
        case _:
            await call("click", uid=await uid(action.name))
