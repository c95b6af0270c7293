"""Types that the signatures of lvmkit share."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

Array = npt.NDArray[np.floating[Any]]
Labels = npt.NDArray[np.integer[Any]]
Counts = sparse.csr_array | sparse.csr_matrix | Array
RandomState = int | np.random.RandomState | np.random.Generator | None
Progress = Callable[[str, float], None]
"""Called with the name of the stage and the fraction done, 0 to 1; raising from it cancels the work."""
