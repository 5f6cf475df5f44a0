"""Structural similarity (Wang et al. 2004) as scikit-image computes it, for displayed, stored and decisive values."""

import numpy as np


def ssim(first: np.ndarray, other: np.ndarray) -> float:
    """Mean structural similarity of two grey pictures, uint8 of one shape (rows, columns); 7 x 7 at least."""
    from skimage.metrics import structural_similarity  # here: it takes a third of a second to load

    return float(structural_similarity(first.astype(np.float32), other.astype(np.float32), data_range=255))
