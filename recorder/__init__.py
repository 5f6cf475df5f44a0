"""Recording: `Recorder` writes what happens in a browser context, `Recording` reads it back."""

from .reading import Recording

__all__ = ["Recorder", "Recording"]


def __getattr__(name: str):
    # Reading needs no browser library: Playwright is imported only by those who record.
    if name == "Recorder":
        from .session import Recorder
        return Recorder
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
