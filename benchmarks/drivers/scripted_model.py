"""A scripted model: an OpenAI-compatible endpoint on loopback that answers with the next action of the script."""

import json
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from .script import SCRIPT

_MAX_LOOKS = 3  # requests for one action whose element is not in the page as shown: the agent scrolls in between
_AGENT_LINE = re.compile(r"\[(\d+)\]<[^\n]*?\bid=(\w+)")
_TREE_LINE = re.compile(r"\[(\d+-\d+)\] ([^:\n]+): ([^\n]*)")
_TEXT_ROLES = ("StaticText", "LabelText", "label")  # in the tree beside the control that they name


class BrowserUseAnswers:
    """What the model answers to browser-use: one action of the script in each step, by the element's index in the page
    as the agent describes it. `memory` of an answer is the number of the action, which the program reports."""

    def __init__(self, values: Sequence[Any]):
        self._values, self._index, self._looks, self._opened = values, 0, 0, False

    def answer(self, messages: str) -> dict[str, Any]:
        """The next step as browser-use's schema describes it; `messages`: the text of the request."""
        while self._index < len(SCRIPT):
            listed = {element_id: int(index) for index, element_id in _AGENT_LINE.findall(messages)}
            action, element = SCRIPT[self._index], listed.get(SCRIPT[self._index].id)
            if action.kind == "drag":  # browser-use has no such tool
                self._index += 1
                continue
            if element is None and action.kind != "back":
                self._looks += 1
                if self._looks <= _MAX_LOOKS:
                    down = action.id == "foot"
                    return self._step(-1, [{"scroll": {"down": down, "pages": 1.0 if self._looks == 1 else 10.0}}])
            number, self._index, self._looks = self._index, self._index + 1, 0
            if element is None and action.kind != "back":
                continue
            return self._step(number, self._actions(number, element or 0))
        return self._step(-1, [{"done": {"text": "done", "success": True}}])

    def _actions(self, number: int, element: int) -> list[dict[str, Any]]:
        action, value = SCRIPT[number], self._values[number]
        match action.kind:
            case "fill" | "frame_fill" | "date" | "range":
                return [{"input": {"index": element, "text": value, "clear": True}}]
            case "select":
                return [{"select_dropdown": {"index": element, "text": value}}]
            case "upload":
                return [{"upload_file": {"index": element, "path": value}}]
            case "press":
                return [{"click": {"index": element}}, {"send_keys": {"keys": value}}]
            case "back":
                return [{"go_back": {}}]
            case _:
                return [{"click": {"index": element}}]

    @staticmethod
    def _step(number: int, actions: list[dict[str, Any]]) -> dict[str, Any]:
        return {"evaluation_previous_goal": "", "memory": str(number), "next_goal": "", "action": actions}


class StagehandAnswers:
    """What the model answers to Stagehand's `act`, whose instruction is an action of the script as JSON."""

    def answer(self, messages: str) -> dict[str, Any]:
        """The action as Stagehand's schema describes it; null where its element is not in the tree."""
        wanted = re.search(r"<<(.*?)>>", messages)
        action = json.loads(wanted[1]) if wanted else {}
        lines = sorted(_TREE_LINE.findall(messages), key=lambda line: line[1] not in _TEXT_ROLES)
        listed = {name.strip(): element for element, _, name in lines}
        element = listed.get(action.get("name", ""))
        if element is None:
            return {"action": None, "twoStep": False}
        method, arguments = self._method(action, listed)
        return {"twoStep": False, "action": {"elementId": element, "description": action["name"], "method": method,
                                             "arguments": arguments}}

    @staticmethod
    def _method(action: dict[str, Any], listed: dict[str, str]) -> tuple[str, list[str]]:
        match action["kind"]:
            case "fill" | "frame_fill" | "date" | "range":
                return "fill", [action["value"]]
            case "select":
                return "selectOptionFromDropdown", [action["value"]]
            case "drag":
                return "dragAndDrop", [listed.get("Target", "")]
            case "enter":
                return "press", [action["value"]]
            case _:
                return "click", []


@contextmanager
def serve_model(answers: BrowserUseAnswers | StagehandAnswers) -> Iterator[str]:
    """Serve a scripted model; yields its address, to be the base URL of an OpenAI client."""
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            text = "\n".join(_text(message["content"]) for message in request["messages"])
            content = json.dumps(answers.answer(text))
            message = {"role": "assistant", "content": content, "refusal": None}
            body = json.dumps({"id": "1", "object": "chat.completion", "created": 0, "model": request["model"],
                               "choices": [{"index": 0, "finish_reason": "stop", "message": message, "logprobs": None}],
                               "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or ())
