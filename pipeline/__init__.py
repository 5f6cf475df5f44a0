"""From a recording to a demonstration to a data set. `processing.STAGES` is the whole way in one list."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
