"""The review app: where people make a recording into a demonstration.

`create_app` builds the Flask app; `curator_web.demonstrations` holds the same abilities as plain functions. Names are
imported when they are first used, so that `python -m curator_web.vendor` starts fast.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
