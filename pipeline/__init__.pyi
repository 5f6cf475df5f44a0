from .context import Context as Context
from .processing import STAGES as STAGES
from .processing import derive as derive
from .processing import process as process
from .processing import refresh as refresh
