"""What a saved report may tell: read as somebody would who wants to find a patient in it."""

import base64
import json
import re

import anndata
import numpy as np
import pandas as pd
import pytest

import lvmkit
from lvmkit.cohorts.subset import Subset
from lvmkit_widgets.clusters.dashboard import ClusterExplorer
from lvmkit_widgets.clusters.sidebar import subtitle

CODES = ["042", "250", "272", "401", "428", "486", "584", "585", "V27"]
SIZES = (300, 250, 200, 7)  # the last can be found from the others if all their sizes show


@pytest.fixture(scope="module")
def cohort():
    rng = np.random.default_rng(3)
    labels = np.repeat(np.arange(4), SIZES)
    centers = np.full((4, 9), 0.04)
    for j in range(4):
        centers[j, 2 * j + 1 : 2 * j + 3] = [0.95, 0.9]
    X = (rng.random((len(labels), 9)) < centers[labels]).astype(np.float32)
    X[:, 0] = 0
    X[:3, 0] = 1
    age = rng.integers(30, 80, len(labels)).astype(float)
    age[5:9] = np.nan  # four of the first cluster
    age[20] = 103
    obs = pd.DataFrame(
        {"age": age, "sex": rng.choice(["female", "male"], len(labels))},
        index=[f"secret-{i}" for i in range(len(labels))],
    )
    var = pd.DataFrame({"title": [f"Disease {code}" for code in CODES]}, index=CODES)
    return anndata.AnnData(X, obs=obs, var=var)


def explorer(cohort):
    centers = np.full((4, 9), 0.04)
    for j in range(4):
        centers[j, 2 * j + 1 : 2 * j + 3] = [0.95, 0.9]
    weights = np.array(SIZES) / sum(SIZES)
    model = lvmkit.BernoulliMixture.from_parameters(weights, centers, feature_names=CODES)
    return ClusterExplorer(model, cohort)


@pytest.fixture(scope="module")
def board(cohort):
    """The explorer that is saved."""
    return explorer(cohort)


@pytest.fixture(scope="module")
def report(board, tmp_path_factory):
    """Text and fields of a report, after everything private was on the screen."""
    folder = tmp_path_factory.mktemp("report")
    for tab in range(8):
        board.open_tab("main", tab)
    row = board.components["borderline"].rows[0]["row"]
    board.components["borderline"].fire("pick", row)
    form = board.components["newcomer"]
    form.values = {**form.values, "typed": "585 private-words"}
    form.fire("pressed", "assign")
    board.state = board.state.replace(autosave=str(folder / "private-place.npz"))
    board.state = board.state.disclose(on_screen=False)
    text = board.to_html(folder / "report.html").read_text("utf-8")
    state = json.loads(re.search(r'id="lvmkit-state">(.*?)</script>', text).group(1))
    return text, state


def array(state, name, dtype):
    return np.frombuffer(base64.b64decode(state[name]["$bytes"]), dtype)


def pictures(state):
    found = [value for key, value in state.items() if key.endswith("_svg")]
    cases = [case for group in state["stage_cases"] for case in group["cases"].values()]
    return [*found, *(value for case in cases for key, value in case.items() if "svg" in key)]


def hidden_clusters(board):
    counts = board.state.for_others.counts()
    return counts, np.isnan(counts.sizes)


def test_it_holds_nothing_of_single_patients(report):
    text, state = report
    assert "secret-" not in text
    assert "private-" not in text
    assert "Patient in row" not in text
    for name in ("typical", "borderline", "why_codes", "posteriors", "arithmetic_codes", "taken"):
        assert state[f"{name}_rows"] == []
    for name in ("newcomer", "refit", "autosave", "python"):
        assert state[f"{name}_values"] == {}
        assert state[f"{name}_controls"] == []
    assert "103" not in re.sub(r"<[^>]*>", " ", "".join(pictures(state)))  # the oldest patient


def test_no_count_of_1_to_10_is_in_it(report):
    _, state = report
    counts = array(state, "relevance_counts", np.int32)
    assert not ((counts >= 1) & (counts < 11)).any()
    said = [int(n.replace(",", "")) for n in re.findall(r"\(([\d,]+) of [\d,]+\)", str(state))]
    said += [int(n.replace(",", "")) for n in re.findall(r">([\d,]+) / [\d,]+<", str(state))]
    said += [row["n"] for row in state["sizes_items"]] + [row["n"] for row in state["summary_rows"]]
    said += [band["n"] for band in state["heat_bands"]]
    rows = [*state["evidence_rows"]]
    for group in state["stage_cases"]:
        rows += [row for case in group["cases"].values() for row in case["evidence.rows"]]
    said += [row["n_in"] for row in rows]
    numbers = [n for n in said if not isinstance(n, str)]
    assert len(numbers) > 20
    assert not [n for n in numbers if 1 <= n < 11]
    assert {n for n in said if isinstance(n, str)} <= {"<11", "hidden"}


def test_shares_give_no_small_count_away(board, report):
    _, state = report
    counts, _ = hidden_clusters(board)
    shares = array(state, "relevance_centers", np.float32).reshape(counts.counts.shape)
    have = np.round(shares * counts.sizes[:, None])
    lack = counts.sizes[:, None] - have
    assert np.isnan(shares[np.isnan(counts.counts)]).all()
    assert not ((have >= 1) & (have < 11)).any()
    assert not ((lack >= 1) & (lack < 11)).any()


def test_the_size_of_a_small_cluster_cannot_be_subtracted(board, report):
    _, state = report
    counts, hidden = hidden_clusters(board)
    assert hidden.sum() >= 2
    private = {int(id) for id in counts.clusters[hidden]}
    assert {row["n"] for row in state["sizes_items"] if row["id"] in private} <= {"<11", "hidden"}
    assert not private & {band["id"] for band in state["heat_bands"]}
    real = board.state.assignment.sizes[hidden]
    for name in ("attribute0", "attribute1"):
        texts = re.findall(r'aria-label="([^"]*)"', state[f"{name}_svg"])
        assert not [text for text in texts for n in real if f"of {n})" in text]
        assert not [t for t in texts for id in private if re.match(rf"{id} ·", t)]


def test_few_without_an_age_cannot_be_subtracted(board, report):
    _, state = report
    counts, hidden = hidden_clusters(board)
    sizes = {int(n) for n in counts.sizes[~hidden]}
    told = {int(n) for n in re.findall(r"\([\d–,]+ of (\d+)\)", state["attribute0_svg"])}
    assert told
    assert told <= sizes | {sum(sizes)}


def test_the_heat_map_counts_nobody(board, report):
    _, state = report
    counts, _ = hidden_clusters(board)
    cells = array(state, "heat_cells", np.uint8).reshape(-1, len(state["heat_columns"]))
    assert set(np.unique(cells)) <= {0, 62, 63, 64, 65, 127, 128, 190, 191, 192, 255}
    columns = [counts.column(column["code"]) for column in state["heat_columns"]]
    for band in state["heat_bands"]:
        row = counts.row(band["id"])
        assert band["n"] == counts.sizes[row]
        assert band["n"] // (band["stop"] - band["start"]) >= 44
        for place, column in enumerate(columns):
            secret = np.isnan(counts.counts[row, column])
            assert secret == ([band["id"], place] in state["heat_hidden"])
            if secret:
                assert not cells[band["start"] : band["stop"], place].any()


def test_a_page_without_python_says_what_is_hidden_and_lists_differences(report):
    _, state = report
    assert "some others" in state["stage_footer"]
    assert state["differences_total"] is None
    assert len(state["differences_rows"]) > 3


def test_what_was_on_the_screen_is_there_again(board, report):
    assert not board.state.disclosure.on_screen
    assert board.components["typical"].rows
    assert board.components["newcomer"].values["typed"] == "585 private-words"
    assert "Small counts are shown" in board.stage.footer


def test_few_shown_or_few_left_out_are_not_counted_in_the_heading(cohort):
    board = explorer(cohort)
    state = board.state.show(Subset(having=("042",)))
    assert subtitle(state).startswith("<11 of 757 patients (")
    state = state.show(Subset(lacking=("042",)))
    assert subtitle(state).startswith("754 patients (")
    board.state = state.disclose(on_screen=False)
    assert board.stage.subtitle.startswith("754 of 757 patients (")


def test_a_report_that_fails_leaves_the_screen_as_it_was(cohort, tmp_path):
    board = explorer(cohort)
    board.state = board.state.disclose(on_screen=False)
    with pytest.raises(ValueError, match="no folder"):
        board.to_html(tmp_path / "gone" / "report.html")
    assert not board.state.disclosure.on_screen


def test_sums_of_counts_are_never_said_to_be_small(board):
    table = board.state.for_others.association()
    assert "<11" in set(table["n_in"])
    assert "<11" not in set(table["n_out"]) | set(table["size_out"])
