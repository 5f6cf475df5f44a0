from .workflow import change_status as change_status
from .workflow import edit as edit
