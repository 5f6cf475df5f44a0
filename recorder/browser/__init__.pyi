from .launching import has_display as has_display
from .launching import launch as launch
from .launching import launch_context as launch_context
