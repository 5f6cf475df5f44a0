"""Values of a page that cannot be read, assembled or written: each is omitted, and all are counted."""

from collections.abc import Callable
from typing import Any

_MAX_PROBLEMS = 20  # values that are described


class LostValues:
    """Counts them. A sentence for each of the first ones is added to `problems`. When `count` has grown, `note` is
    called with a function that returns the facts, and not again until that function was called."""

    def __init__(self, problems: list[str], note: Callable[[Callable[[], dict[str, Any]]], None]):
        self.count = 0
        self._problems = problems
        self._note = note
        self._note_pending = False

    def add(self, description: str) -> None:
        """One more; `description`: a sentence, without anything of the page."""
        self.count += 1
        if self.count <= _MAX_PROBLEMS:
            self._problems.append(description)
        if not self._note_pending:
            self._note_pending = True
            self._note(self._facts_to_write)

    def _facts_to_write(self) -> dict[str, Any]:
        """The facts at the time of writing; what is lost later has to be noted again."""
        self._note_pending = False
        return self.facts()

    def facts(self) -> dict[str, Any]:
        """Fields of recording.json: the number of lost values, if there are any."""
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
