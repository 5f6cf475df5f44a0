"""Default locations of the app's data."""

from pathlib import Path

DEFAULT_DATA_DIR = Path("demotape-data")


def default_db(data_dir: Path) -> Path:
    """The file of the database that is used when none is named: SQLite inside the data folder."""
    return Path(data_dir) / "demotape.db"


def default_db_url(data_dir: Path) -> str:
    """Its URL."""
    return f"sqlite:///{default_db(data_dir)}"
