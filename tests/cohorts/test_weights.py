"""Weights of records: where a cohort keeps them, and which are refused."""

import re

import anndata
import numpy as np
import pandas as pd
import pytest

from lvmkit.cohorts import from_counts, from_events, from_wide, sample_weight
from lvmkit.cohorts.open_file import Layout, open_cohort
from lvmkit.cohorts.subset import Subset
from lvmkit.cohorts.view import CohortView
from lvmkit.datasets import fetch_nhds2010

STAYS = pd.DataFrame(
    {
        "id": ["b", "a", "c"],
        "dx1": ["428", "", "428"],
        "dx2": ["250", "", "401"],
        "w": [3.5, 2.0, 0.0],
    }
)
EVENTS = pd.DataFrame({"id": list("bbac"), "dx": ["428", "250", "428", "401"], "w": [3, 3, 2, 4]})


def test_wide_tables_keep_the_weights_of_the_records_that_are_kept():
    cohort = from_wide(STAYS, codes=["dx1", "dx2"], patient="id", weight="w", min_codes=1)
    assert cohort.obs_names.tolist() == ["b", "c"]
    assert sample_weight(cohort).tolist() == [3.5, 0]
    assert cohort.uns["cohort"]["weight"] == "w"
    assert sample_weight(cohort[[1, 0]]).tolist() == [0, 3.5]


def test_events_take_weights_from_their_columns_or_from_the_table_of_attributes():
    ways = [
        {},
        {"attributes": ["w"]},
        {"attributes": EVENTS[["id", "w"]].drop_duplicates("id")},
    ]
    for way in ways:
        source = (
            EVENTS
            if "attributes" not in way or isinstance(way["attributes"], list)
            else EVENTS[["id", "dx"]]
        )
        cohort = from_events(source, patient="id", code="dx", weight="w", min_codes=1, **way)
        assert sample_weight(cohort).tolist() == [2, 3, 4]
        assert cohort.obs.columns.tolist() == ["w"]


def test_matrices_take_weights_from_obs_and_from_a_cohort_that_has_some():
    obs = pd.DataFrame({"w": [1.5, 2.5]}, index=["a", "b"])
    cohort = from_counts(np.eye(2), obs=obs, weight="w")
    assert sample_weight(cohort).tolist() == [1.5, 2.5]
    assert sample_weight(from_counts(cohort)).tolist() == [1.5, 2.5]
    assert sample_weight(from_counts(cohort, obs=obs)) is None


def test_cohorts_without_weights_say_so():
    assert sample_weight(from_counts(np.eye(2))) is None
    assert sample_weight(anndata.AnnData(np.eye(2))) is None


def test_files_are_opened_with_weights_and_keep_them(tmp_path):
    STAYS.to_csv(tmp_path / "stays.csv", index=False)
    layout = Layout("wide", ("dx1", "dx2"), "id", weight="w")
    assert layout.text.endswith("; weighted by w")
    cohort = open_cohort(tmp_path / "stays.csv", layout=layout, min_codes=1)
    assert sample_weight(cohort).tolist() == [3.5, 0]
    cohort.write_h5ad(tmp_path / "stays.h5ad")
    assert sample_weight(open_cohort(tmp_path / "stays.h5ad")).tolist() == [3.5, 0]
    EVENTS.to_csv(tmp_path / "events.csv", index=False)
    layout = Layout("events", ("dx",), "id", weight="w")
    assert sample_weight(
        open_cohort(tmp_path / "events.csv", layout=layout, min_codes=1)
    ).tolist() == [2, 3, 4]
    pd.DataFrame({"x": [1, 0], "y": [1, 1], "w": [5, 6]}).to_csv(
        tmp_path / "counts.csv", index=False
    )
    layout = Layout("counts", ("x", "y"), weight="w")
    assert sample_weight(
        open_cohort(tmp_path / "counts.csv", layout=layout, min_codes=0)
    ).tolist() == [5, 6]


@pytest.mark.parametrize(
    ("weights", "told"),
    [
        (
            [1.0, -2.0],
            "weight='w' must hold finite numbers of 0 or more; found -2.0 in 1 record ('b')",
        ),
        (
            [1.0, None],
            "weight='w' must hold finite numbers of 0 or more; found nan in 1 record ('b')",
        ),
        (
            ["heavy", "1"],
            "weight='w' must hold finite numbers of 0 or more; found 'heavy' in 1 record ('a')",
        ),
        ([0, 0], "weight='w' is 0 for every record"),
    ],
)
def test_weights_that_cannot_be_are_refused(weights, told):
    obs = pd.DataFrame({"w": weights}, index=["a", "b"])
    with pytest.raises(ValueError, match=re.escape(told)):
        from_counts(np.eye(2), obs=obs, weight="w")


def test_weights_that_are_gone_are_missed():
    cohort = from_wide(STAYS, codes=["dx1", "dx2"], weight="w", min_codes=1)
    del cohort.obs["w"]
    with pytest.raises(ValueError, match="weight='w' is no column of obs"):
        sample_weight(cohort)


def test_columns_of_weights_that_do_not_exist_are_named():
    told = "weight='no such' is "
    with pytest.raises(ValueError, match=told):
        from_wide(STAYS, codes=["dx1", "dx2"], weight="no such", min_codes=1)
    with pytest.raises(ValueError, match=told):
        from_events(EVENTS, patient="id", code="dx", weight="no such", min_codes=1)
    with pytest.raises(ValueError, match=told):
        from_events(
            EVENTS,
            patient="id",
            code="dx",
            attributes=EVENTS.drop_duplicates("id"),
            weight="no such",
            min_codes=1,
        )
    with pytest.raises(ValueError, match=told):
        from_counts(np.eye(2), weight="no such")


def test_dashboards_read_the_weights_of_a_subset():
    cohort = from_wide(STAYS, codes=["dx1", "dx2"], weight="w", min_codes=1)
    view = CohortView(cohort)
    assert view.weighted_by == "w"
    assert view.weights(Subset(having=["401"])).tolist() == [0]
    assert CohortView(from_counts(np.eye(2))).weights(Subset()) is None


@pytest.mark.usefixtures("real_data")
def test_discharges_of_2010_bring_the_weights_of_the_survey():
    cohort = fetch_nhds2010(heart_failure=True)
    weight = sample_weight(cohort)
    np.testing.assert_array_equal(weight, cohort.obs["weight"])
    assert weight.sum() > 100 * cohort.n_obs
