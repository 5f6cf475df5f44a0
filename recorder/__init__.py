"""`Recorder` writes what happens in a browser context to a recording, `Recording` reads it back.

Names are imported when they are first used: reading needs no browser library.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
