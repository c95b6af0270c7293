import numpy as np
import pytest

from lvmkit.datasets import fetch_nhds2010, load_discharges


@pytest.fixture(scope="module")
def cohort():
    return load_discharges()


def test_it_is_a_cohort_like_any_other(cohort):
    assert cohort.n_obs == 20_000
    assert cohort.X.has_canonical_format
    assert set(cohort.X.data) == {1.0}
    assert list(cohort.var) == ["title", "chapter", "system", "n_records"]
    assert {"age", "sex", "stay", "planted"} <= set(cohort.obs)
    assert cohort.uns["cohort"]["repairs"] == []


def test_values_are_possible(cohort):
    assert cohort.obs["age"].between(18, 99).all()
    assert cohort.obs["stay"].between(1, 90).all()
    lengths = np.diff(cohort.X.indptr)
    assert (lengths.min(), lengths.max()) == (3, 15)
    assert sorted(cohort.obs["planted"].unique()) == list(range(14))
    codes = cohort.to_df().astype(bool)
    male = (cohort.obs["sex"] == "male").to_numpy()
    assert not codes.loc[male, ["V27", "218", "626"]].any(axis=None)
    assert not codes.loc[~male, ["185", "600"]].any(axis=None)


def test_states_differ_as_the_survey_s_do(cohort):
    by_state = cohort.obs.groupby("planted", observed=True)
    assert by_state["age"].mean().max() - by_state["age"].mean().min() > 30
    delivery = cohort.obs["planted"][cohort.to_df()["V27"] > 0].mode()[0]
    assert (cohort.obs["sex"][cohort.obs["planted"] == delivery] == "female").mean() > 0.99


@pytest.mark.slow
@pytest.mark.usefixtures("real_data")
def test_it_looks_like_the_survey(cohort):
    real = fetch_nhds2010(min_prevalence=50 / 129_242)
    assert set(cohort.var_names) <= set(real.var_names)
    ours, theirs = cohort.X.mean(axis=0), real[:, cohort.var_names].X.mean(axis=0)
    np.testing.assert_allclose(ours, theirs, atol=0.01)
    assert np.corrcoef(np.log(ours), np.log(theirs))[0, 1] > 0.98
    for column in ("age", "stay"):
        quantiles = [0.1, 0.25, 0.5, 0.75, 0.9]
        mine, survey = (c.obs[column].quantile(quantiles) for c in (cohort, real))
        np.testing.assert_allclose(mine, survey, atol=1.5)
    lengths = [np.bincount(np.diff(c.X.indptr), minlength=16) / c.n_obs for c in (cohort, real)]
    np.testing.assert_allclose(*lengths, atol=0.01)
    # records of more than a few codes are not those of real people
    rows = {tuple(row) for row in np.split(real.X.indices, real.X.indptr[1:-1])}
    place = real.var_names.get_indexer(cohort.var_names)
    copies = [
        tuple(place[r]) in rows
        for r in np.split(cohort.X.indices, cohort.X.indptr[1:-1])
        if len(r) > 6
    ]
    assert np.mean(copies) < 0.005
