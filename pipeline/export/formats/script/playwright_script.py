"""One Playwright script for each demonstration (Python, sync API) that repeats its actions: `<split>/<name>.py`."""

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

from pipeline.export.formats import documents, layouts
from pipeline.export.formats.card import Counted, Words
from pipeline.export.formats.counted_files import CountedFiles
from pipeline.export.grammars.acts import Act, NoForm, Session
from pipeline.export.source import File, Options, Source, Tally
from pipeline.export.states import States
from pipeline.pages.dom import Page
from pipeline.privacy.redacting import has_redactions
from pipeline.turns.first_state import first_state
from schemas import UID_ATTRIBUTE
from schemas.intents import INTENTS
from schemas.types.recordings import BrowserTurn, Element, Turn, TurnState

from .playwright_locators import frames, literal, ways
from .playwright_template import HEAD, HELPERS, TAIL

_WORDS = Words("action", "intent", """One Playwright script (Python, sync API) a demonstration, which does its actions
again. Values that were taken out are read from the environment, as told at the top of each.""")
_BUTTONS = ("left", "middle", "right")
_ROOT_TAGS = ("html", "body")
_AREAS = ("canvas", "svg", "img", "area")  # where it matters which part of the element is clicked
_HTTP = ("http://", "https://")


class Writer(CountedFiles):
    """Writes the scripts, and what describes them."""

    def finish(self) -> None:
        files = {split: f"{split}/*.py" for split in self._counts.splits()}
        documents.write(self.destination, self.options, self._counts, _WORDS, {}, layouts.scripts(files))


def samples(source: Source, options: Options, tally: Tally) -> Iterator[File | Counted]:
    """The script of one demonstration; none where there is nothing to redo."""
    script = _Script(source, options, tally)
    lines = script.lines()
    if tally.turns:
        path = f"{source.split}/{source.name}.py"
        yield File(path, f"{HEAD}{script.constants()}{HELPERS}{lines}{TAIL}".encode("ascii"), tally.turns)
        yield from script.counted
    else:
        tally.notes["demonstration without an action that can be redone"] += 1


class _Script:
    """Writes the actions of one demonstration."""

    def __init__(self, source: Source, options: Options, tally: Tally):
        self.states = States(source, UID_ATTRIBUTE, options, "jpg")
        self.source, self.tally = self.states.source, tally
        tally.redacted += self.states.known.counts
        self.turns = self.source.turns
        self.session = Session(self.turns, source.recording, self.states.known)
        self.placeholders: dict[str, str] = {}
        self._comments: list[str] = []  # comments beside the placeholders
        self.origin = ""
        self._number = 0
        self._tab: int | None = None
        self._page: Page | None = None
        self._frame: list[str] = []  # the line before the action, where its target stands in a frame
        self._answered: set[str] = set()  # ids of dialogs
        self.counted: list[Counted] = []  # the actions that are redone

    def constants(self) -> str:
        """What is told at the top of the script; known when its lines are."""
        first = first_state(turn["state"] for turn in self.turns if turn["type"] == "browser")
        size = first["viewport"] if first else self.source.recording.manifest["viewport"]
        viewport = {"width": size["width"], "height": size["height"]} if size else None
        values = "".join(f"\n    {literal(name)}: {literal(value)},  # {about}"
                         for (name, value), about in zip(self.placeholders.items(), self._comments, strict=True))
        placeholders = f"{{{values}\n}}" if values else "{}"
        return (f"TASK = {literal(self.source.demonstration['task'])}\nPLACEHOLDERS = {placeholders}\n"
                f"RECORDED_ORIGIN = {literal(self.origin)}\nVIEWPORT = {literal(viewport)}\n")

    def lines(self) -> str:
        """The body of the function that redoes the actions."""
        written = self._begin()
        dialogs = self._dialogs()
        frame: list[str] = []  # the last line that told where targets stand
        for index, turn in enumerate(self.turns):
            if turn["type"] == "chat":
                written.append(f"say({literal(turn['speaker'])}, {literal(turn['utterance'])})")
                continue
            state = turn["state"]
            self._page = self.states.page(state) if state else None
            act = self.session.act(index, self._page, None)
            self._number += 1
            self._frame = []
            try:
                lines = self._act(act, turn, state)
            except NoForm as reason:
                self.tally.left_out[str(reason)] += 1
                continue
            written.append(f"# {self._number}: {INTENTS[turn['intent']].label}")
            shown = self._show(turn, state)
            if shown or turn["intent"].startswith("tab"):
                frame = []
            if self._frame and self._frame != frame:
                frame = self._frame
                shown += frame
            written += [*shown, *self._answers(dialogs.get(index, [])), *lines]
            self.tally.turns += 1
            self.counted.append(Counted(turn["intent"], state["screenshot_status"] if state else "none"))
        return "".join(f"    {line}\n" for line in written)

    def _begin(self) -> list[str]:
        """The tabs that were open, at the addresses that they had; the first load goes to its own."""
        written = ["pages = {}"]
        tabs_visited: dict[int, str] = {}
        acted = [turn for turn in self.turns if turn["type"] == "browser"]
        for turn in acted:
            if turn["state"]:
                tabs_visited.setdefault(turn["state"]["tab"], turn["state"]["url"])
        loads = [turn["arguments"]["url"] for turn in acted if turn["intent"] == "load"]
        known = [url for url in (*tabs_visited.values(), *loads) if url.startswith(_HTTP)]
        if known:
            parts = urlsplit(known[0]) if _splits(known[0]) else None
            self.origin = f"{parts.scheme}://{parts.netloc}" if parts else ""
        for number, tab in enumerate(self.session.tabs or [1]):
            written.append(f"pages[{literal(tab)}] = {'context.new_page()' if number else 'page'}")
            url = tabs_visited.get(tab, "")
            first = next((turn for turn in acted if turn["state"] and turn["state"]["tab"] == tab), None)
            if url.startswith(_HTTP) and not (first and first["intent"] == "load"):
                written.append(f"pages[{literal(tab)}].goto({self._address(url, 'Load')})")
        return written

    def _show(self, turn: Turn, state: TurnState | None) -> list[str]:
        """Take the page that the turn is in."""
        if turn["type"] == "chat" or state is None or turn["intent"].startswith("tab") or state["tab"] == self._tab:
            return []
        self._tab = state["tab"]
        return [f"page = pages[{literal(self._tab)}]"]

    def _dialogs(self) -> dict[int, list[BrowserTurn]]:
        """Dialogs by the number of the turn before them, which makes the page ask."""
        dialogs_by_turn: dict[int, list[BrowserTurn]] = {}
        before: int | None = None
        for index, turn in enumerate(self.turns):
            if turn["type"] == "browser" and turn["intent"] == "dialog" and before is not None:
                dialogs_by_turn.setdefault(before, []).append(turn)
            elif turn["type"] == "browser":
                before = index
        return dialogs_by_turn

    def _answers(self, dialogs: list[BrowserTurn]) -> list[str]:
        if not dialogs:
            return []
        self._answered.update(turn["id"] for turn in dialogs)
        dialog_answers = [(turn["arguments"]["accepted"], turn["arguments"].get("text")) for turn in dialogs]
        answers = ", ".join(f"({bool(accepted)}, {None if text is None else self._value(text, 'Dialog')})"
                            for accepted, text in dialog_answers)
        return [f"answer(page, {answers})"]

    def _act(self, act: Act, turn: BrowserTurn, state: TurnState | None) -> list[str]:
        if act.intent not in _FORMS:
            raise NoForm(f"{act.intent}: no equal in Playwright")
        return _FORMS[act.intent](self, act, turn["arguments"], turn["element"])

    def _find(self, act: Act, element: Element | None) -> str:
        """The expression that finds the target; raises NoForm."""
        if element is None:
            raise NoForm(f"{act.intent}: no element")
        if (scope := frames(self._page, element["frame"])) is None:
            raise NoForm(f"{act.intent}: its frame is not known")
        if not (locators := ways(scope, element)):
            raise NoForm(f"{act.intent}: nothing tells where its target is")
        if scope != "page":
            self._frame = [f"frame = {scope}"]
            locators = [f"frame{way[len(scope):]}" for way in locators]
        return f"find({', '.join(locators)})"

    def _value(self, text: str, label: str) -> str:
        """A text as it stands in the script; what was taken out is read from the environment."""
        if not has_redactions(text.encode("utf-8", "replace")):
            return literal(text)
        name = f"DEMOTAPE_VALUE_{len(self.placeholders) + 1}"
        self.placeholders[name] = text
        self._comments.append(f"{self._number}: {label}")
        self.tally.notes["value that was taken out: the script reads it from the environment"] += 1
        return f"VALUES[{literal(name)}]"

    def _address(self, url: str, label: str) -> str:
        if has_redactions(url.encode("utf-8", "replace")):
            return self._value(url, label)
        if self.origin and url.startswith(f"{self.origin}/"):
            return f"ORIGIN + {literal(url[len(self.origin):])}"
        return literal(url)

    # How each intent is written.

    def pointer(self, act: Act, arguments: dict, element: Element | None) -> list[str]:
        """A click, double click or hover; a click without an element by its place."""
        if arguments["button"] >= len(_BUTTONS):
            raise NoForm(f"{act.intent}: another mouse button")
        named: dict[str, Any] = {}
        if arguments["button"] and act.intent != "hover":
            named["button"] = _BUTTONS[arguments["button"]]
        outside = element is None or "point_outside" in element
        if outside and act.intent == "click" and arguments["x"] is not None and arguments["y"] is not None:
            return [f"page.mouse.click({literal(arguments['x'])}, {literal(arguments['y'])}{_named(named)})"]
        locator = self._find(act, element)
        if arguments.get("keyboard"):
            return [f'{locator}.press("Enter")']
        if modifiers := [name for name in ("Alt", "Control", "Meta", "Shift") if name in arguments["modifiers"]]:
            named["modifiers"] = modifiers
        box = element["bbox"] if element else None
        if element and box and element["tag"] in _AREAS and arguments["x"] is not None and arguments["y"] is not None:
            named["position"] = {"x": arguments["x"] - box["x"], "y": arguments["y"] - box["y"]}
        return [f"{locator}.{act.intent}({_named(named)[2:]})"]

    def text_input(self, act: Act, arguments: dict, element: Element | None) -> list[str]:
        return [f"enter({self._find(act, element)}, {self._value(arguments['text'], 'Typing')})"]

    def change(self, act: Act, arguments: dict, element: Element | None) -> list[str]:
        locator = self._find(act, element)
        if "value" not in arguments:
            return [f"tick({locator}, {bool(arguments.get('checked'))})"]
        if "chosen_values" in arguments:
            values = ", ".join(self._value(value, "Change") for value in arguments["chosen_values"])
            return [f"{locator}.select_option([{values}])"]
        method = "select_option" if element and element["tag"] == "select" else "fill"
        return [f"{locator}.{method}({self._value(arguments['value'], 'Change')})"]

    def load(self, act: Act, arguments: dict, element: Element | None) -> list[str]:
        if not arguments["url"].startswith((*_HTTP, "about:")):
            raise NoForm("load: no address of the web")
        return [f"page.goto({self._address(arguments['url'], 'Load')})"]

    def press(self, act: Act, arguments: dict, element: Element | None) -> list[str]:
        if element is None or element["tag"] in _ROOT_TAGS:
            return [f"page.keyboard.press({literal(arguments['key'])})"]
        return [f"{self._find(act, element)}.press({literal(arguments['key'])})"]

    def paste(self, act: Act, arguments: dict, element: Element | None) -> list[str]:
        focus = [] if element is None or element["tag"] in _ROOT_TAGS else [f"{self._find(act, element)}.focus()"]
        return [*focus, f"page.keyboard.insert_text({self._value(arguments['text'], 'Paste')})"]

    def scroll(self, act: Act, arguments: dict, element: Element | None) -> list[str]:
        if delta := arguments.get("delta"):
            point = arguments.get("point")
            here = [f"page.mouse.move({literal(point['x'])}, {literal(point['y'])})"] if point else []
            return [*here, f"page.mouse.wheel({literal(delta['x'])}, {literal(delta['y'])})"]
        to = literal([arguments['x'], arguments['y']])
        if element is None or (not element["frame"] and element["tag"] in _ROOT_TAGS):
            return [f'page.evaluate("([x, y]) => scrollTo(x, y)", {to})']
        return [f'{self._find(act, element)}.evaluate("(part, [x, y]) => part.scrollTo(x, y)", {to})']

    def tab(self, act: Act, arguments: dict, element: Element | None) -> list[str]:
        """A tab that is opened, closed or shown."""
        if act.intent == "tabcreate":
            page = "opened(context, pages)" if act.opened else "context.new_page()"
            return [f"pages[{literal(arguments['tab'])}] = {page}"]
        if act.intent == "tabremove":
            return [f"close(pages.pop({literal(arguments['tab'])}))"] if act.tab_index is not None else _closed(act)
        if act.tab_index is None:
            return _closed(act)
        self._tab = arguments["target"]
        return [f"page = pages[{literal(self._tab)}]", "page.bring_to_front()"]

    def drag(self, act: Act, arguments: dict, element: Element | None) -> list[str]:
        start, end = arguments["from"], arguments["to"]
        return [f"page.mouse.move({literal(start['x'])}, {literal(start['y'])})", "page.mouse.down()",
                f"page.mouse.move({literal(end['x'])}, {literal(end['y'])}, steps=10)", "page.mouse.up()"]

    def dialog(self, act: Act, arguments: dict, element: Element | None) -> list[str]:
        """Nothing: it is answered before what makes the page ask."""
        if act.turn["id"] not in self._answered:
            raise NoForm("dialog: what made the page ask is not in the script")
        return []

    def upload(self, act: Act, arguments: dict, element: Element | None) -> list[str]:
        names = [name.replace("\\", "/").rpartition("/")[2].replace("\0", "") for name in arguments["files"]]
        if element and element["tag"] != "input":
            raise NoForm("upload: dropped from outside, not chosen in a field")
        files = ", ".join(f"FILES / {literal(name)}" for name in names if name not in ("", ".", ".."))
        return [f"{self._find(act, element)}.set_input_files([{files}])"]


def _closed(act: Act) -> list[str]:
    raise NoForm(f"{act.intent}: a tab that was closed")


def _splits(url: str) -> bool:
    try:
        return bool(urlsplit(url).netloc)
    except ValueError:
        return False


def _named(named: dict[str, Any]) -> str:
    return "".join(f", {name}={literal(value)}" for name, value in named.items())


def _always(line: str) -> Callable[..., list[str]]:
    return lambda *_: [line]


_FORMS: dict[str, Callable[..., list[str]]] = {
    "click": _Script.pointer, "dblclick": _Script.pointer, "hover": _Script.pointer, "textInput": _Script.text_input,
    "change": _Script.change, "load": _Script.load, "press": _Script.press, "paste": _Script.paste,
    "scroll": _Script.scroll, "drag": _Script.drag, "upload": _Script.upload, "tabcreate": _Script.tab,
    "tabremove": _Script.tab, "tabswitch": _Script.tab, "dialog": _Script.dialog,
    "submit": _always('page.keyboard.press("Enter")'), "copy": _always('page.keyboard.press("ControlOrMeta+c")'),
    "back": _always("page.go_back()"), "forward": _always("page.go_forward()"), "reload": _always("page.reload()"),
}
