"""The table of proofs: the result of running demonstrations again."""

from datetime import datetime

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from curator_web.db.columns import ID_LENGTH, Stored
from schemas.types.proof import Proof

from .core import Base


class StoredProof(Base):
    """The last proof of a demonstration; `who` had it made, None for one that came with its recording. Its `made_at` is
    text in `content`."""

    __tablename__ = "proofs"

    demonstration_id: Mapped[str] = mapped_column(ForeignKey("demonstrations.id"), primary_key=True)
    content: Mapped[Proof] = mapped_column(Stored("proof"))
    who: Mapped[str | None] = mapped_column(String(ID_LENGTH))
    made_at: Mapped[datetime]
