from .app import create_app as create_app
from .settings import DEFAULT_DATA_DIR as DEFAULT_DATA_DIR
from .settings import default_db as default_db
from .settings import default_db_url as default_db_url
