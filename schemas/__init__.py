"""The formats of demotape: what every file and message looks like, and where each lies.

Names are imported when they are first used: most processes need an error and a path, and no schema.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
