from .reading import Recording

__all__ = ["Recording"]
