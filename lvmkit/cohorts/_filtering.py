"""Filtering of rare cells and codes of a counted tensor."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from lvmkit.cohorts._cells import Numbers
from lvmkit.cohorts._cleaning_log import Repairs, number_of
from lvmkit.core.validation import listed, require_number


class Cells(NamedTuple):
    """Counted cells: for each mode, patients first, the numbers of its axis; and how often each was seen."""

    places: tuple[Numbers, ...]
    counts: Numbers

    def only(self, keep: npt.NDArray[np.bool_]) -> "Cells":
        """Return some of the cells."""
        if keep.all():
            return self
        return Cells(tuple(axis[keep] for axis in self.places), self.counts[keep])

    def n_patients(self, mode: int) -> Numbers:
        """Count the patients with each code of a mode."""
        patients, codes = self.places[0], self.places[mode]
        if len(self.places) > 2:
            ones = np.ones(len(codes), dtype=np.int8)
            shape = (patients.max(initial=0) + 1, codes.max(initial=0) + 1)
            seen = sparse.coo_array((ones, (patients, codes)), shape=shape).tocsr()
            seen.sum_duplicates()
            codes = seen.indices
        return np.bincount(codes)


@dataclass(frozen=True)
class Thinning:
    """Options of filtering."""

    min_count: int = 1
    min_patients: int = 1
    max_codes: int | Mapping[str, int] | None = None

    def check(self, modes: tuple[str, ...]) -> None:
        """Refuse values out of range, and modes that there are not."""
        require_number(self.min_count, "min_count", least=1, whole=True)
        require_number(self.min_patients, "min_patients", least=1, whole=True)
        if isinstance(self.max_codes, Mapping):
            known_modes("max_codes", self.max_codes, modes)
        for name in modes:
            most = self.most(name)
            if most is not None:
                require_number(most, "max_codes", least=1, whole=True)

    def most(self, mode: str) -> int | None:
        """Most codes of a mode, None for any number."""
        return self.max_codes.get(mode) if isinstance(self.max_codes, Mapping) else self.max_codes

    def chosen(self) -> dict[str, Any]:
        """Return the options that are kept with the tensor."""
        most = dict(self.max_codes) if isinstance(self.max_codes, Mapping) else self.max_codes
        more = {} if most is None else {"max_codes": most}
        return {"min_count": self.min_count, "min_patients": self.min_patients, **more}


def known_modes(argument: str, given: Mapping[str, object], modes: tuple[str, ...]) -> None:
    """Refuse an option for a mode that there is not."""
    unknown = [name for name in given if name not in modes]
    if unknown:
        msg = f"{argument} names {listed(unknown)}; the modes are {listed(modes)}."
        raise ValueError(msg)


def thinned(
    cells: Cells, modes: tuple[str, ...], options: Thinning, repairs: Repairs
) -> tuple[Cells, list[Numbers]]:
    """Leave out rare cells, then rare codes; number what is left and return the old numbers of each mode."""
    often = cells.only(cells.counts >= options.min_count)
    repairs.drop("cells_below_min_count", len(cells.counts) - len(often.counts))
    kept = _supported(often, options.min_patients)
    for mode, name in enumerate(modes, start=1):
        seen, left = (len(np.unique(c.places[mode])) for c in (often, kept))
        repairs.drop(f"{name}: codes_below_min_patients", seen - left)
    for mode, name in enumerate(modes, start=1):
        kept = _most_frequent(kept, mode, options.most(name), name, repairs)
    kept = _supported(kept, options.min_patients)
    _refuse_empty(len(cells.counts), len(kept.counts), options)
    numbers: list[Numbers] = [np.flatnonzero(np.bincount(axis)) for axis in kept.places]
    return Cells(tuple(map(_renumbered, kept.places, numbers)), kept.counts), numbers


def _supported(cells: Cells, least: int) -> Cells:
    """Leave out codes of fewer patients than `least`, until every one that is left has them."""
    while least > 1:
        common = [cells.n_patients(mode) >= least for mode in range(1, len(cells.places))]
        keep = np.all([c[axis] for c, axis in zip(common, cells.places[1:], strict=True)], axis=0)
        if keep.all():
            break
        cells = cells.only(keep)
    return cells


def _most_frequent(cells: Cells, mode: int, most: int | None, name: str, repairs: Repairs) -> Cells:
    """Keep the codes that most patients have; of equal ones the first by code."""
    if most is None:
        return cells
    n_patients = cells.n_patients(mode)
    rank = np.argsort(-n_patients, kind="stable")
    keep = np.zeros(len(n_patients), dtype=bool)
    keep[rank[:most]] = True
    repairs.drop(f"{name}: codes_beyond_max_codes", int((n_patients[~keep] > 0).sum()))
    return cells.only(keep[cells.places[mode]])


def _refuse_empty(counted: int, kept: int, options: Thinning) -> None:
    """Refuse a tensor in which nothing is left."""
    if not kept:
        msg = (
            f"no patient left: none of {number_of(counted, 'cell')} has min_count={options.min_count} and codes of "
            f"min_patients={options.min_patients} patients each; pass smaller numbers."
        )
        raise ValueError(msg)


def _renumbered(axis: Numbers, numbers: Numbers) -> Numbers:
    """Replace old numbers by their place among those that are left."""
    new = np.zeros(numbers[-1] + 1, dtype=np.int32)
    new[numbers] = np.arange(len(numbers))
    return new[axis]
