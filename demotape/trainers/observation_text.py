"""A page as text and pictures, for interfaces in which an agent is sent messages."""

from replay.agents.episode import Observation


def as_text(shown: Observation) -> str:
    """Why the last action failed, address, title, open tabs, and the accessibility tree or the document."""
    lines = [f"Error: {shown.error}"] if shown.error else []
    lines += [f"URL: {shown.url}", f"Title: {shown.title}"]
    if len(shown.tabs) > 1:
        lines += [f"Tab {number}: {url}" for number, url in enumerate(shown.tabs, 1)]
    return "\n".join([*lines, shown.axtree or shown.dom or ""])


def pictures(shown: Observation) -> list[bytes]:
    """The screenshot, with marks where they were requested, as PNG."""
    return [shown.marks[0]] if shown.marks else [shown.screenshot] if shown.screenshot else []
