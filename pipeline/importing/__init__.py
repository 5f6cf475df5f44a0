"""Import of other tools' data: a file or folder in, recordings with demonstrations out (docs/import.md)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
