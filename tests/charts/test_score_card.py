import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lvmkit import charts
from lvmkit.charts.score_card import score_card_chart, score_card_table
from lvmkit.charts.theme import OTHER, PICKED

PATIENTS = np.array([[0, 1], [5, 0], [2, 0], [2, 0], [0, 0], [1, 0], [0, 0], [2, 3]])
CODES = np.array([[1, 0], [0, 0], [3, 0], [1, 0]])
DRUGS = np.array([[0, 0], [0, 0], [4, 0]])
MODES = ["patient", "diagnosis", "medication"]
LABELS = [None, ["401", "428", "272", 'a<b>&"c'], ["C03", "C07", "C10"]]
TITLES = [None, {"272": "Disorders of lipid metabolism", "401": "401"}, {"C10": "Statins"}]


def made(component: int = 0, **options: Any) -> pd.DataFrame:
    given: dict[str, Any] = {"modes": MODES, "labels": LABELS, "titles": TITLES, "max_score": 5}
    return score_card_table([PATIENTS, CODES, DRUGS], [7, 1], component, **(given | options))


def rows_of(spec: dict[str, Any], mark: str) -> list[dict[str, Any]]:
    """Return the rows that the first layer of a mark draws."""
    layer = next(layer for layer in spec["layer"] if layer["mark"]["type"] == mark)
    rows: list[dict[str, Any]] = spec["datasets"][layer["data"]["name"]]
    return rows


def test_the_table_has_the_features_by_mode_and_the_patients_at_each_score() -> None:
    table = made(name="Hyperlipidemia")
    features = table[table["mode"] != "patient"]
    assert features[["mode", "label", "score", "most"]].to_numpy().tolist() == [
        ["diagnosis", "272 · Disorders of lipid metabolism", 3, 5],
        ["diagnosis", "401", 1, 5],
        ["diagnosis", 'a<b>&"c', 1, 5],
        ["medication", "C10 · Statins", 4, 5],
    ]
    levels = table[table["mode"] == "patient"]
    assert levels["score"].tolist() == [1, 2, 3, 4, 5]
    assert levels["n"].tolist() == [1, 3, 0, 0, 1]
    assert levels["share"].tolist() == [0.125, 0.375, 0, 0, 0.125]
    assert set(table["weight"]) == {7}
    assert set(table["prevalence"]) == {0.625}
    assert set(table["name"]) == {"Hyperlipidemia"}


def test_titles_may_be_a_column_with_gaps() -> None:
    titles = pd.Series({"272": "Lipids", "401": np.nan})
    table = made(titles=[None, titles, None])
    assert table["label"].tolist()[:3] == ["272 · Lipids", "401", 'a<b>&"c']


def test_cards_of_all_phenotypes_make_one_file() -> None:
    cards = pd.concat([made(0), made(1)], ignore_index=True)
    assert cards.groupby("component")["prevalence"].first().tolist() == [0.625, 0.25]
    assert cards.loc[
        (cards["component"] == 1) & (cards["mode"] == "diagnosis"), "label"
    ].tolist() == ["none"]
    with pytest.raises(ValueError, match="a card shows one phenotype; the table has 2"):
        score_card_chart(cards)


def test_negative_scores_are_features_and_levels() -> None:
    table = score_card_table([[[-1], [0], [2]], [[-2], [1]]], [1], 0)
    assert table["score"].tolist() == [-2, 1, -1, 1, 2]
    assert table["label"].tolist() == ["0", "1", "score −1", "score 1", "score 2"]
    assert table["prevalence"].iloc[0] == pytest.approx(2 / 3)
    dots = rows_of(score_card_chart(table).to_dict(), "point")
    assert [dot["fill"] for dot in dots] == [OTHER, OTHER, PICKED, "transparent"]


def test_few_patients_are_hidden_so_that_nobody_can_subtract_them() -> None:
    scores = np.repeat([0, 1, 2, 3], [500, 300, 40, 4])[:, None]
    table = score_card_table([scores, [[1], [2]]], [2], 0, threshold=11)
    levels = table[table["mode"] == "patients"].set_index("score")
    assert np.isnan(levels.loc[3, "n"])
    assert np.isnan(levels.loc[2, "n"])  # or 3 would be found as what is missing
    assert levels.loc[1, "n"] == 300
    assert table["prevalence"].iloc[0] == pytest.approx(344 / 844)
    picture = charts.svg(score_card_chart(table))
    assert "– · –" in picture
    assert "too few to show" in picture
    few = score_card_table([scores[-20:], [[1], [2]]], [2], 0, threshold=11)
    assert few["prevalence"].isna().all() or (few["n"].dropna() != 4).all()


def consistent(shown: list[float], prevalence: float, total: int) -> list[tuple[int, ...]]:
    """Return all numbers of patients at each score, 0 first, that the reader of a table may still believe in."""
    known = [None if np.isnan(n) else n for n in (total * (1 - prevalence), *shown)]
    least = 0 if all(n is None for n in known) else 1
    ranges = [range(least, total + 1) if n is None else [round(n)] for n in known]
    return [counts for counts in itertools.product(*ranges) if sum(counts) == total]


def test_no_hidden_number_follows_from_the_prevalence() -> None:
    threshold = 4
    for counts in itertools.product([0, 1, 3, 4, 6, 9], repeat=3):
        if sum(counts) < 2 * threshold:
            continue
        scores = np.repeat(range(3), counts)[:, None]
        table = score_card_table([scores, [[1], [2]]], [2], 0, threshold=threshold)
        shown = table.loc[table["mode"] == "patients", "n"].tolist()
        possible = consistent(shown, table["prevalence"].iloc[0], sum(counts))
        having = {sum(case[1:]) for case in possible}
        for level, n in [*enumerate(counts), (None, sum(counts[1:]))]:
            if 0 < n < threshold:
                seen = having if level is None else {case[level] for case in possible}
                assert seen >= set(range(1, threshold)), (counts, shown)


def test_the_card_shows_scores_as_dots_with_their_number() -> None:
    spec = score_card_chart(made(name="Hyperlipidemia")).to_dict()
    dots = pd.DataFrame(rows_of(spec, "point"))
    filled = dots[dots["fill"] != "transparent"].groupby("hover", sort=False).size()
    assert filled.to_dict() == {
        "272 · Disorders of lipid metabolism: score 3": 3,
        "401: score 1": 1,
        'a<b>&"c: score 1': 1,
        "C10 · Statins: score 4": 4,
    }
    assert dots.groupby("hover").size().tolist() == [5, 5, 5, 5]
    assert spec["title"]["text"] == ["0 · Hyperlipidemia"]
    assert spec["title"]["subtitle"] == ["λ = 7. 62 % of patients have a score."]
    assert spec["description"].startswith("Phenotype 0 Hyperlipidemia, λ 7: 272 · Disorders")
    bars = rows_of(spec, "bar")
    assert [bar["hover"] for bar in bars][1] == "score 2: 38 % · 3"


def test_the_card_is_a_picture_without_markup_from_the_data() -> None:
    picture = charts.svg(score_card_chart(made(name="<script>alert(1)</script>")))
    assert "<script" not in picture
    assert "a&lt;b&gt;" in picture
    for text in ("diagnosis", "medication", "patient", "38 % · 3"):
        assert f">{text}</text>" in picture
    assert charts.png(score_card_chart(made()))[1:4] == b"PNG"


def test_long_cards_name_what_they_leave_out() -> None:
    scores = np.arange(40)[:, None] % 5 + 1
    table = score_card_table([np.zeros((4, 1)), scores], [1], 0, max_score=[20, 5])
    picture = charts.svg(score_card_chart(table, top=6))
    assert ">and 34 more</text>" in picture
    assert "score 20" not in picture  # nobody has it, and there are many
    spec = score_card_chart(table, top=6).to_dict()
    assert len(rows_of(spec, "point")) == 30
    with pytest.raises(ValueError, match="top is the number of features"):
        score_card_chart(table, top=0)


def test_hidden_levels_are_drawn_also_where_those_of_nobody_are_not() -> None:
    scores = np.repeat([0, 1, 14], [500, 300, 4])[:, None]
    table = score_card_table([scores, [[1]]], [1], 0, max_score=[20, 5], threshold=11)
    picture = charts.svg(score_card_chart(table))
    assert ">score 14</text>" in picture
    assert ">score 13</text>" not in picture


def test_an_empty_phenotype_is_drawn() -> None:
    table = score_card_table([np.zeros((0, 1)), np.zeros((3, 1))], [1], 0)
    assert table["label"].iloc[0] == "none"
    assert np.isnan(table["prevalence"].iloc[0])
    assert ">none</text>" in charts.svg(score_card_chart(table))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"component": 2}, "component counts from 0 to 1; found 2"),
        ({"component": -1}, "component counts from 0 to 1"),
        ({"modes": ["a", "b"]}, "modes has 2 entries for 3 modes"),
        ({"modes": ["a", "b", "b"]}, "modes must have different names"),
        (
            {"labels": [None, ["x"], None]},
            "labels of mode 'diagnosis' name 1 features; the factor has 4",
        ),
        ({"titles": [None]}, "titles has 1 entries for 3 modes"),
        ({"max_score": [5, 5]}, "max_score has 2 entries for 3 modes"),
    ],
)
def test_what_does_not_fit_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        made(**options)
    with pytest.raises(ValueError, match="one column for each of the 1 weights"):
        score_card_table([PATIENTS, CODES], [1], 0)
