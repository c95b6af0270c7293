"""The bundled cohort: synthetic discharges that look like those of a US hospital."""

from importlib.resources import as_file, files

import numpy as np
import pandas as pd
from anndata import AnnData
from scipy import sparse

from lvmkit.cohorts.counts import from_counts

__all__ = ["load_discharges"]


def load_discharges() -> AnnData:
    """Return 20,000 synthetic hospital discharges of adults, with the state each was drawn from.

    Drawn once, with a seed, from a 14-state mixture fitted to the adults of the National Hospital Discharge
    Survey 2010; frequencies of codes, codes per record, age, sex, stay and status follow the survey, and no
    record is real. ``data/make_discharges.py`` rebuilds it.

    Returns
    -------
    AnnData
        X (20000, d) CSR float32, 0/1, by ICD-9-CM category; ``obs``: age (years), sex, stay (days),
        status (at discharge) and planted, the state that the record was drawn from.

    Examples
    --------
    >>> cohort = load_discharges()
    >>> cohort.n_obs, cohort.var.loc["428", "title"]
    (20000, 'Heart failure')
    """
    with as_file(files("lvmkit_data") / "discharges.npz") as path, np.load(path) as stored:
        parts = {name: stored[name] for name in stored.files}
    n = len(parts["n_codes"])
    starts = np.concatenate([[0], np.cumsum(parts["n_codes"], dtype=np.int64)])
    X = sparse.csr_array(
        (np.ones(len(parts["code"]), np.float32), parts["code"].astype(np.int32), starts),
        shape=(n, len(parts["codes"])),
    )
    obs = pd.DataFrame(
        {
            "age": parts["age"].astype(np.int64),
            "sex": pd.Categorical.from_codes(parts["sex"], parts["sexes"]),
            "stay": parts["stay"].astype(np.int64),
            "status": pd.Categorical.from_codes(parts["status"], parts["statuses"]),
            "planted": parts["planted"].astype(np.int64),
        },
        index=[f"D{i:05}" for i in range(1, n + 1)],
    )
    cohort = from_counts(
        X, feature_names=parts["codes"].tolist(), obs=obs, system="icd9", level="category"
    )
    cohort.uns["cohort"]["source"] = "synthetic discharges bundled with lvmkit"
    return cohort
