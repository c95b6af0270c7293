"""Assembly of a cohort: select codes and records, add titles, wrap as AnnData."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd
from anndata import AnnData

from lvmkit.cohorts import _tables, codes
from lvmkit.cohorts._cleaning_log import Repairs, number_of
from lvmkit.cohorts._entries import INEXACT, Tally
from lvmkit.cohorts._options import check_titles
from lvmkit.core.validation import listed, require_flag, require_number

LEVELS = ("category", "full")


@dataclass(frozen=True)
class CohortOptions:
    """Options of a cohort, kept with it."""

    level: str = "category"
    binary: bool = True
    min_codes: int = 3
    min_prevalence: float = 0.0
    max_codes: int | None = None

    def check(self) -> None:
        """Refuse values out of range before anything is read."""
        if self.level not in LEVELS:
            msg = f"level={self.level!r}; expected 'category' or 'full'."
            raise ValueError(msg)
        require_flag(self.binary, "binary")
        require_number(self.min_codes, "min_codes", least=0, whole=True)
        require_number(self.min_prevalence, "min_prevalence", least=0)
        if self.min_prevalence > 1:
            msg = f"min_prevalence={self.min_prevalence}; expected a share of the records, 0 to 1."
            raise ValueError(msg)
        if self.max_codes is not None:
            require_number(self.max_codes, "max_codes", least=1, whole=True)


def assemble(
    tallied: Tally,
    obs: pd.DataFrame,
    options: CohortOptions,
    *,
    source: str,
    n_input_rows: int,
    titles: Mapping[str, str] | None,
    repairs: Repairs,
) -> AnnData:
    """Drop rare codes, then short records; return the cohort with what was dropped in ``uns``."""
    X = tallied.counts
    wanted = _frequent(X.count_nonzero(axis=0), X.shape[0], options, repairs)
    X = X[:, wanted]
    long_enough = X.count_nonzero(axis=1) >= options.min_codes
    repairs.drop("records_below_min_codes", int((~long_enough).sum()))
    _refuse_empty(X.count_nonzero(axis=1), long_enough, options)
    X = X[np.flatnonzero(long_enough)]
    n_records = X.count_nonzero(axis=0)
    repairs.drop("codes_of_no_kept_record", int((n_records == 0).sum()))
    X = X[:, np.flatnonzero(n_records)].tocsr()
    X.sort_indices()
    if X.nnz < 2**31:  # scikit-learn refuses 64-bit indices
        X.indices, X.indptr = (part.astype(np.int32) for part in (X.indices, X.indptr))
    if options.binary:
        X.data = np.ones_like(X.data)
    if X.shape[0] == 1:
        repairs.tell(
            "The cohort has one record: a saved model can score it, but none can be fitted to it."
        )
    features = tallied.features.iloc[wanted[n_records > 0]]
    var = described(features, check_titles(titles), repairs).assign(
        n_records=n_records[n_records > 0]
    )
    chosen = {name: value for name, value in asdict(options).items() if value is not None}
    about = {
        "source": source,
        "options": chosen,
        "repairs": repairs.told,
        "n_input_rows": n_input_rows,
        "n_dropped": repairs.dropped,
    }
    cohort = AnnData(X=X, obs=obs[long_enough], var=var, uns={"cohort": about})
    _refuse_inexact(cohort)
    return cohort


def _frequent(
    n_records: "np.ndarray[tuple[int], np.dtype[np.int64]]",
    n: int,
    options: CohortOptions,
    repairs: Repairs,
) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """Columns of codes frequent enough, in their order; of equal ones the first by code are kept."""
    keep = n_records >= max(options.min_prevalence * n, 1e-9)
    repairs.drop("codes_below_min_prevalence", int((~keep).sum()))
    columns = np.flatnonzero(keep)
    if options.max_codes is not None and len(columns) > options.max_codes:
        repairs.drop("codes_beyond_max_codes", len(columns) - options.max_codes)
        order = np.argsort(-n_records[columns], kind="stable")
        columns = np.sort(columns[order[: options.max_codes]])
    return columns


def _refuse_empty(
    n_codes: "np.ndarray[tuple[int], np.dtype[np.int64]]",
    kept: "np.ndarray[tuple[int], np.dtype[np.bool_]]",
    options: CohortOptions,
) -> None:
    """Refuse a cohort without records or without codes."""
    if not n_codes.any():
        rare = f", or all are rarer than min_prevalence={options.min_prevalence}"
        msg = (
            f"No code is left in {number_of(len(n_codes), 'record')}: the source holds none in its rows"
            f"{rare if options.min_prevalence else ''}; choose columns that hold some."
        )
        raise ValueError(msg)
    if not kept.any():
        most = int(n_codes.max())
        msg = (
            f"No record has min_codes={options.min_codes} different codes; the longest of "
            f"{number_of(len(n_codes), 'record')} has {most}. Pass a smaller min_codes or min_prevalence."
        )
        raise ValueError(msg)


def _refuse_inexact(cohort: AnnData) -> None:
    """Refuse counts that float32 may have rounded, naming their places."""
    large = np.flatnonzero(cohort.X.data >= INEXACT)
    if len(large):
        rows = np.searchsorted(cohort.X.indptr, large[:5], side="right") - 1
        columns = cohort.X.indices[large[:5]]
        pairs = zip(cohort.var_names[columns], cohort.obs_names[rows], strict=True)
        cells = ", ".join(f"{code!r} of {record!r}" for code, record in pairs)
        msg = (
            f"Counts of {INEXACT:,} or more for {cells}{' and more' if len(large) > 5 else ''} cannot be kept "
            "exactly; correct them, or pass binary=True."
        )
        raise ValueError(msg)


def described(features: pd.DataFrame, titles: Mapping[str, str], repairs: Repairs) -> pd.DataFrame:
    """Name each feature: its title, chapter and system, by code ("system:code" where systems are mixed)."""
    pairs = list(zip(features["code"], features["system"], strict=True))
    mixed = features["system"].nunique() > 1
    index = [f"{system}:{code}" if mixed else code for code, system in pairs]
    unknown = [code for code, system in pairs if _unknown(code, system) and code not in titles]
    if unknown:
        repairs.tell(
            f"{number_of(len(unknown), 'code')} kept without title, as the tables lack the category: {listed(unknown)}."
        )
    return pd.DataFrame(
        {
            "title": [titles.get(code) or _title(code, system) for code, system in pairs],
            "chapter": [_chapter(code, system) for code, system in pairs],
            "system": [system for _, system in pairs],
        },
        index=pd.Index(index, dtype=object),
    )


def _unknown(code: str, system: str) -> bool:
    """Whether a code's system has tables and they lack its category."""
    return system in _tables.SYSTEMS and codes.chapter(code, system) == codes.NO_CHAPTER


def _title(code: str, system: str) -> str:
    """Title of a code; the code itself where its system has no tables."""
    if system == "icd9procedure":
        return _tables.procedure_titles().get(code, code)
    return codes.title(code, system) if system in _tables.SYSTEMS else code


def _chapter(code: str, system: str) -> str:
    """Chapter of a code; "" where its system has no tables."""
    return codes.chapter(code, system) if system in _tables.SYSTEMS else ""
