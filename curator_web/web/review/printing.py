"""The page of a demonstration for printing: every turn with its picture."""

from flask import Blueprint, render_template, request

from curator_web.access.services import services
from curator_web.demonstrations.library import review_cache

from .presentation import ReviewView

blueprint = Blueprint("printing", __name__)
PART_TURNS = 200  # of one page: a browser lays out and prints so many pictures at once


@blueprint.get("/demonstrations/<demonstration_id>/print")
def show(demonstration_id: str) -> str:
    """The turns of a part of the demonstration (`part`, from 1; most have one part)."""
    review_view = ReviewView(review_cache.cached_review(services().db, demonstration_id))
    parts = max(1, -(-review_view.count // PART_TURNS))
    part = min(max(1, request.args.get("part", 1, int)), parts)
    last = min(part * PART_TURNS, review_view.count)
    turns = [review_view.turn_at(index) for index in range((part - 1) * PART_TURNS, last)]
    return render_template("review/print.html", row=review_view.row, turns=turns, part=part, parts=parts)
