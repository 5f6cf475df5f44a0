"""WebLINX's grammar, as in the output of its models: `click(uid="…")`, `say(speaker="navigator", utterance="…")`."""

from datetime import UTC, datetime

from pipeline.export.formats.weblinx_turns import UID, browser_turn, chat_turn, why_left_out
from pipeline.export.model_input.records import action
from schemas.intents import INTENTS

from .acts import Act, NoForm

ABOUT = """Answer with one action:
click(uid="…"), hover(uid="…"), textInput(text="…", uid="…"), change(value="…", uid="…"), submit(uid="…"),
load(url="…"), scroll(x=…, y=…), copy(text="…"), paste(text="…"), tabcreate(target=…), tabswitch(origin=…, target=…),
tabremove(target=…), say(speaker="navigator", utterance="…")
A uid is that of an element in sight; scroll tells the offsets to reach; target and origin are numbers of tabs."""
_NOWHERE = datetime.fromtimestamp(0, UTC)  # of what the grammar does not write


def write(act: Act) -> str:
    """The action; raises NoForm."""
    turn = act.turn
    if turn["type"] == "chat":
        return action(chat_turn(turn))
    if reason := why_left_out(turn, act.url):
        raise NoForm(reason)
    element = {"attributes": {UID: act.target()}} if INTENTS[act.intent].acts_on_element else None
    return action(browser_turn(turn, state={}, element=element, started_at=_NOWHERE,
                               viewport={"width": 0, "height": 0}, url=act.url))
