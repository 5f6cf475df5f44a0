"""The table of the keys that people chose for themselves."""

from typing import Any

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from curator_web.db.columns import ID_LENGTH

from .core import Base


class OwnKeys(Base):
    """The keys of somebody that are not the usual ones, by action (`users.own_keys.ACTIONS`); also of who is alone."""

    __tablename__ = "own_keys"

    who: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    content: Mapped[dict[str, Any]]
