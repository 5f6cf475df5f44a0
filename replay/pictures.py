"""How alike two pictures of a page are: SSIM (Wang et al., 2004) at half size in grey, as for external videos."""

import cv2
import numpy as np
from skimage.metrics import structural_similarity

from schemas import limits

_LEAST = 14  # pixels of a side, below which SSIM has no window


def likeness(one: bytes | None, other: bytes | None) -> float | None:
    """SSIM of two image files from -1 to 1; None where one is missing or cannot be read. Another size is scaled."""
    pictures = [_grey(content) for content in (one, other)]
    if pictures[0] is None or pictures[1] is None:
        return None
    height, width = pictures[0].shape
    if min(height, width) < _LEAST:
        return None
    second = cv2.resize(pictures[1], (width, height), interpolation=cv2.INTER_AREA)
    return round(float(structural_similarity(pictures[0], second, data_range=255)), 4)


def _grey(content: bytes | None) -> np.ndarray | None:
    if not content:
        return None
    try:
        picture = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_GRAYSCALE)
    except cv2.error:
        return None
    if picture is None or picture.size > limits.PIXELS:
        return None
    height, width = picture.shape
    return cv2.resize(picture, (max(1, width // 2), max(1, height // 2)), interpolation=cv2.INTER_AREA)
