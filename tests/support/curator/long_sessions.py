"""Sessions with more turns than a page of the review app contains."""

import copy
from typing import Any

TURNS_PER_PAGE = 5


def lengthen(count: int):
    """A change for `make_recording`: repeat its turns until there are so many, a new page every few turns. The turns
    are t1, t2, …; every fiftieth has a check, and some of every hundred have a target named so."""
    def change(turns: list[dict[str, Any]]) -> None:
        original = copy.deepcopy(turns)
        turns.clear()
        for index in range(count):
            turn = copy.deepcopy(original[index % len(original)])
            turn |= {"id": f"t{index + 1}", "timestamp": float(index), "checks": []}
            if turn["type"] == "browser":
                turn["events"] = [index]
                if turn["state"]:
                    page = index // TURNS_PER_PAGE
                    turn["state"] |= {"url": f"https://air.example/{page}", "title": f"Page {page}"}
                if turn["element"] and index % 100 == 2:
                    turn["element"] |= {"name": f"hundred {index + 1}"}
            if index % 50 == 49:
                turn["checks"] = [{"kind": "long-gap", "reason": "Long."}]
            turns.append(turn)
    return change
