"""Where the app keeps its data when nobody says otherwise."""

from pathlib import Path

DEFAULT_DATA_DIR = Path("demotape-data")


def default_db_url(data_dir: Path) -> str:
    """The database that is used when none is named: SQLite inside the data folder."""
    return f"sqlite:///{Path(data_dir) / 'demotape.db'}"
