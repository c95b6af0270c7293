"""How many phenotypes: what several starts found for each number of them, and which number to take."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from lvmkit.core.typing import Array, Labels
from lvmkit.scores.rank.dissimilarity import instability

STABLE = 0.2
"""Up to this mean dissimilarity a number counts as stable: best matches are correlated by 0.8 on average."""
ALIKE = 0.01
"""Mean dissimilarities that differ by no more than this are taken for equal."""


@dataclass(frozen=True, eq=False)
class RankRuns:
    """What several starts found for one number of components. unlike (B, B), fits (B,), nonzeros (B, modes)."""

    n_components: int  # Their number, R
    unlike: Array  # (B, B): Dissimilarity of each pair of starts
    fits: Array  # (B,): Fit that each start reached
    nonzeros: Labels  # (B, modes): Scores that are not 0, by mode
    model: Any  # The one that fits best, the first of several; None if this number failed
    remark: str = ""  # Why it, or one of its starts, failed

    @property
    def dissimilarity(self) -> float:
        """Mean dissimilarity of two starts, Υ; NaN if there are none."""
        return instability(self.unlike)[0]

    @property
    def standard_error(self) -> float:
        """Standard error of Υ; NaN for less than 3 starts."""
        return instability(self.unlike)[1]

    @property
    def fit(self) -> float:
        """Fit of the best start; NaN if there is none."""
        return float(self.fits.max(initial=-np.inf)) if len(self.fits) else np.nan


@dataclass(frozen=True, eq=False, repr=False)
class RankStudy:
    """How reproducible, accurate and concise a factorization is for several numbers of components.

    Parameters
    ----------
    runs : tuple of RankRuns
        One for each number of components that is done, ascending.
    modes : tuple of str
        Names of the modes.
    mode : int
        The mode whose factors are compared.
    n_starts : int
        Starts for each number, B.
    planned : tuple of int
        Numbers of components that were asked for.
    size : int, default=0
        How many entries the mode compared has; 0 if that is not known.

    Notes
    -----
    Perros 2018, section 4.4. The recommended number has the smallest Υ; of those whose Υ exceeds it by no
    more than its standard error, or 0.01 if that is more, it is the one with the largest fit.
    """

    runs: tuple[RankRuns, ...]
    modes: tuple[str, ...]
    mode: int
    n_starts: int
    planned: tuple[int, ...] = field(default=())
    size: int = 0

    def __repr__(self) -> str:
        tried = ", ".join(str(run.n_components) for run in self.runs) or "no"
        return f"RankStudy of {tried} components, {self.n_starts} starts each; best: {self.best}"

    @property
    def complete(self) -> bool:
        """Whether all numbers that were asked for are done."""
        return len(self.runs) >= len(self.planned)

    @property
    def models(self) -> dict[int, Any]:
        """The model that fits best for each number of components."""
        return {run.n_components: run.model for run in self.runs if run.model is not None}

    @property
    def table(self) -> pd.DataFrame:
        """One row per number of components, ascending.

        n_components, dissimilarity (Υ), standard_error, fit (of the best start), mean_fit, nonzeros (of the best
        start), a column "nonzeros of …" for each mode, recommended (True once at most), remark.
        ``attrs["why"]`` is the reason.
        """
        rows = [self._row(run) for run in self.runs]
        table = pd.DataFrame(rows)
        whole = {name: "Int64" for name in table if str(name).startswith("nonzeros")}
        table = table.astype(whole)
        table.insert(len(table.columns) - 1, "recommended", table["n_components"] == self.best)
        table.attrs = {"why": self.reason}
        return table

    @property
    def best(self) -> int | None:
        """The recommended number of components; None if none could be compared."""
        chosen = self._chosen()
        return None if chosen is None else chosen.n_components

    @property
    def reason(self) -> str:
        """The recommendation in words."""
        chosen = self._chosen()
        if chosen is None:
            return "No number of components could be compared."
        least = self._least()
        told = [_why(chosen, least, self.n_starts)]
        tried = [run.n_components for run in self._known()]
        if least.dissimilarity > STABLE + 1e-9:
            told.append(
                f"None is stable: from {tried[0]} to {tried[-1]} other starts find other components "
                f"(Υ above {STABLE:g}). Read them with care."
            )
        elif chosen.n_components == tried[-1] > tried[0]:
            told.append("It is the largest that was tried; more may do as well.")
        if 0 < self.size <= chosen.n_components:
            told.append(
                f"Mode {self.mode} has {self.size} entries: as many components are alike from any start, "
                "whatever the data. Try smaller numbers."
            )
        failed = [run.n_components for run in self.runs if run.model is None]
        if failed:
            told.append(f"Failed: {', '.join(map(str, failed))}.")
        if not self.complete:
            told.append(f"Rests on {len(self.runs)} of the {len(self.planned)} numbers asked for.")
        return " ".join(told)

    def _row(self, run: RankRuns) -> dict[str, Any]:
        """Return what the table says of one number."""
        counts: Any = [pd.NA] * (1 + len(self.modes))
        if run.model is not None:
            best = run.nonzeros[int(np.argmax(run.fits))]
            counts = [best.sum(), *best]
        return {
            "n_components": run.n_components,
            "dissimilarity": run.dissimilarity,
            "standard_error": run.standard_error,
            "fit": run.fit,
            "mean_fit": float(run.fits.mean()) if len(run.fits) else np.nan,
            "nonzeros": counts[0],
            **{f"nonzeros of {m}": n for m, n in zip(self.modes, counts[1:], strict=True)},
            "remark": run.remark,
        }

    def _known(self) -> list[RankRuns]:
        """Return the numbers whose starts could be compared."""
        return [run for run in self.runs if np.isfinite(run.dissimilarity)]

    def _least(self) -> RankRuns:
        """Return the most reproducible one, the smaller of several."""
        return min(self._known(), key=lambda run: run.dissimilarity)

    def _chosen(self) -> RankRuns | None:
        """Return the best fit among those that are as reproducible as the most reproducible one."""
        if not self._known():
            return None
        least = self._least()
        most = least.dissimilarity + max(ALIKE, float(np.nan_to_num(least.standard_error))) + 1e-9
        return max(
            (run for run in self._known() if run.dissimilarity <= most), key=lambda run: run.fit
        )


def _why(chosen: RankRuns, least: RankRuns, n_starts: int) -> str:
    """Say why a number was chosen."""
    found = f"{chosen.n_components}: Υ = {chosen.dissimilarity:.2g} over {n_starts} starts, "
    if chosen is least:
        return f"{found}the smallest of all."
    return (
        f"{found}as good as the smallest ({least.dissimilarity:.2g} at {least.n_components}), and of "
        f"those the best fit ({chosen.fit:.3f})."
    )
