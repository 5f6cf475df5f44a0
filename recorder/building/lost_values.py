"""Values of a page that cannot be read, assembled or written: each is omitted, and all are counted."""

from collections.abc import Callable
from typing import Any

_MAX_PROBLEMS = 20  # of which it is told what they were


class LostValues:
    """`problems` is given a sentence for each of the first ones; `note` is called with what gives the facts when
    `count` has grown, and not again until that was asked."""

    def __init__(self, problems: list[str], note: Callable[[Callable[[], dict[str, Any]]], None]):
        self.count = 0
        self._problems = problems
        self._note = note
        self._noting = False

    def add(self, description: str) -> None:
        """One more; `description`: a sentence, without anything of the page."""
        self.count += 1
        if self.count <= _MAX_PROBLEMS:
            self._problems.append(description)
        if not self._noting:
            self._noting = True
            self._note(self.facts)

    def facts(self) -> dict[str, Any]:
        """What recording.json tells of them."""
        self._noting = False
        return {"lost_values": self.count} if self.count else {}

    def add_error(self, error: Exception) -> None:
        """One more, lost to this error, of which only its kind is told: its text may hold what the page holds."""
        self.add(f"a value could not be recorded ({type(error).__name__})")

    def succeeds(self, work: Callable[[], None]) -> bool:
        """Do `work`; returns whether it could be done."""
        try:
            work()
        except Exception as error:
            self.add_error(error)
            return False
        return True

    def attempt(self, work: Callable[[], Any], otherwise: Any) -> Any:
        """What `work` gives, or `otherwise` when it fails."""
        try:
            return work()
        except Exception as error:
            self.add_error(error)
            return otherwise
