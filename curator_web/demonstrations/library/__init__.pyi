from .export_sources import exportable as exportable
from .library import current as current
from .library import import_recording as import_recording
