import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from lvmkit.cohorts import from_counts, from_events, from_wide
from lvmkit.datasets import (
    fetch_diabetes130,
    fetch_nhds2010,
    fetch_synthea1k,
    load_discharges,
    make_appendix_e,
    make_bernoulli_mixture,
)

EVENTS = pd.DataFrame({"id": ["1", "1", "2"], "dx": ["428", "250", "428"]})
STAYS = pd.DataFrame({"dx1": ["428", "250"], "dx2": ["401", "428"]})
LONG = sparse.csr_array(np.eye(3))
LONG.indices, LONG.indptr = LONG.indices.astype(np.int64), LONG.indptr.astype(np.int64)


def indices(X):
    return X.indices.dtype, X.indptr.dtype


@pytest.mark.parametrize(
    "make",
    [
        lambda: from_events(EVENTS, patient="id", code="dx", min_codes=1),
        lambda: from_events(EVENTS, patient="id", code="dx", min_codes=1, max_codes=1),
        lambda: from_wide(STAYS, codes=["dx1", "dx2"], min_codes=1),
        lambda: from_counts(LONG),
        lambda: from_counts(LONG.toarray(), min_codes=1),
        lambda: from_counts(LONG, feature_names=["428", "V58", "250"], system="icd9"),
        load_discharges,
        lambda: make_appendix_e(50, random_state=0),
        lambda: make_bernoulli_mixture(50, random_state=0),
    ],
)
def test_indices_are_short_as_scikit_learn_wants_them(make):
    assert indices(make().X) == (np.int32, np.int32)


@pytest.mark.usefixtures("real_data")
@pytest.mark.parametrize("fetch", [fetch_diabetes130, fetch_nhds2010, fetch_synthea1k])
def test_indices_of_real_cohorts_are_short(fetch):
    assert indices(fetch().X) == (np.int32, np.int32)
