import inspect
import json
import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import altair as alt
import numpy as np
import pandas as pd
import pytest

from lvmkit import charts
from lvmkit.charts._frame import fitted, text_width
from lvmkit.charts.theme import INK
from lvmkit.scores import CodeCounts

K = [1, 2, 16, 40]
SELECTION = pd.DataFrame(
    {
        "n_components": [2, 5, 8],
        "coherence": [-171.1, -196.0, np.nan],
        "stability": [0.9, 0.9, np.nan],
        "description_length": [1.05e6, 9.9e5, np.nan],
        "recommended": [False, True, False],
    }
)
Maker = Callable[[CodeCounts, int], alt.LayerChart]


def records(counts: CodeCounts) -> tuple[np.ndarray, np.ndarray]:
    """Data whose counts are about these."""
    labels = np.repeat(counts.clusters, 60)
    random = np.random.default_rng(0)
    return random.random((len(labels), len(counts.codes))) < 0.3, labels


def age(counts: CodeCounts, width: int) -> alt.LayerChart:
    labels = records(counts)[1]
    values = np.random.default_rng(1).normal(60, 15, len(labels)).round()
    table = charts.attributes_table(values, labels, clusters=counts.clusters, names=counts.names)
    return charts.attributes_chart(table, width=width)


def sex(counts: CodeCounts, width: int) -> alt.LayerChart:
    labels = records(counts)[1]
    values = np.random.default_rng(1).choice(["female", "male", ""], len(labels))
    table = charts.attributes_table(values, labels, names=counts.names, suppress_below=11)
    return charts.attributes_chart(table, title="Sex", unit="", width=width)


def heat(counts: CodeCounts, width: int) -> alt.LayerChart:
    data, labels = records(counts)
    found = charts.heatmap_matrix(
        data, labels, feature_names=counts.codes, titles=counts.titles, names=counts.names
    )
    return charts.heatmap_chart(found, width=width, height=300)


MAKERS: dict[str, Maker] = {
    "sizes": lambda c, w: charts.sizes_chart(charts.sizes_table(c), selected=0, width=w),
    "frequencies": lambda c, w: charts.frequencies_chart(charts.frequencies_table(c), width=w),
    "relevance": lambda c, w: charts.relevance_chart(charts.relevance_table(c, 0), width=w),
    "comparison": lambda c, w: charts.comparison_chart(charts.comparison_table(c, 0), width=w),
    "profile": lambda c, w: charts.code_profile_chart(charts.code_profile_table(c, "401"), width=w),
    "stability": lambda c, w: charts.stability_chart(
        charts.stability_table({"ours": [0.9, 0.95], "k-means": [0.4]}), width=w
    ),
    "selection": lambda _, w: charts.selection_chart(charts.selection_table(SELECTION), width=w),
    "age": age,
    "sex": sex,
    "heat": heat,
}
EVERY = pytest.mark.parametrize("name", MAKERS)


@EVERY
@pytest.mark.parametrize("k", K)
def test_charts_are_valid_titled_described_and_small(
    name: str, k: int, make_counts: Callable[..., CodeCounts]
) -> None:
    spec = MAKERS[name](make_counts(k), 560).to_dict()
    assert spec["title"]["text"]
    assert spec["description"]
    assert all(len(rows) <= 5_000 for rows in spec["datasets"].values())


@EVERY
def test_charts_of_suppressed_counts_are_valid(
    name: str, make_counts: Callable[..., CodeCounts]
) -> None:
    assert MAKERS[name](make_counts(5).suppress(), 390).to_dict()["title"]["text"]


@EVERY
@pytest.mark.parametrize("width", [390, 1100])
def test_pictures_fit_a_page(name: str, width: int, counts: CodeCounts) -> None:
    picture = charts.svg(MAKERS[name](counts, width))
    root = ElementTree.fromstring(picture)
    assert float(root.attrib["width"]) == pytest.approx(width, abs=1)
    assert root.attrib["aria-label"]
    assert INK not in picture
    assert "currentColor" in picture
    assert 'fill="white"' not in picture
    assert "<script" not in picture
    texts = "".join(root.itertext())
    assert not re.search("[À-ÖØ-öø-ÿ]", texts)


@EVERY
def test_links_stay_in_the_page_and_each_target_is_one_tab_stop(
    name: str, counts: CodeCounts
) -> None:
    picture = charts.svg(MAKERS[name](counts, 560))
    assert "vega.github.io" not in picture
    links = re.findall(r"<a ([^>]*)>", picture)
    targets = [re.search(r'href="([^"]*)"', link)[1] for link in links]  # type: ignore[index]
    assert all(re.fullmatch(r"#(code|cluster)=[\w.%-]*", target) for target in targets)
    stops = [t for t, link in zip(targets, links, strict=True) if "tabindex" not in link]
    assert len(stops) == len(set(stops)) == len(set(targets))
    assert picture.count("<a ") == picture.count("<title>")
    assert bool(links) == (name not in {"stability", "selection"})


def test_links_name_codes_and_clusters(counts: CodeCounts) -> None:
    picture = charts.svg(charts.frequencies_chart(charts.frequencies_table(counts)))
    for target in ("#code=E849.0", "#code=a%3Cb%3E%26%22c", "#cluster=0", "#cluster=2"):
        assert f'href="{target}"' in picture
    assert "#code=428" not in picture
    assert "Every record has 428: left out." in picture


def test_clusters_are_shown_by_number_and_name(counts: CodeCounts) -> None:
    texts = "".join(ElementTree.fromstring(charts.svg(MAKERS["sizes"](counts, 1100))).itertext())
    assert "1 · Heart failure with chronic kidney disease and diabetes" in texts
    assert "0 · Childbirth" in texts


def test_shares_are_printed_and_told(counts: CodeCounts) -> None:
    table = charts.frequencies_table(counts)
    cell = table.iloc[0]
    picture = charts.svg(charts.frequencies_chart(table))
    assert f">{100 * cell['share']:.0f}</text>" in picture
    assert f"({cell['n']:.0f} of 60)" in picture


def test_hidden_shares_are_dashes_and_said(make_counts: Callable[..., CodeCounts]) -> None:
    shown = make_counts(5).suppress()
    assert np.isnan(shown.counts).any()
    picture = charts.svg(charts.frequencies_chart(charts.frequencies_table(shown)))
    assert ">–</text>" in picture
    assert "– : too few to show." in picture


def test_only_what_is_selected_has_a_hue(counts: CodeCounts) -> None:
    def colors(**options: Any) -> list[str]:
        spec = charts.sizes_chart(charts.sizes_table(counts), **options).to_dict()
        rows = spec["datasets"][spec["layer"][1]["data"]["name"]]
        return [row["color"] for row in rows]

    assert len(set(colors())) == 1
    assert colors(selected=[1])[0] == colors()[0] != colors(selected=[1])[1]


def test_the_chart_shows_the_table(counts: CodeCounts) -> None:
    table = charts.comparison_table(counts, 0, 1)
    spec = charts.comparison_chart(table).to_dict()
    rows = spec["datasets"][spec["layer"][1]["data"]["name"]]
    assert [row["first"] for row in rows] == table["first"].tolist()
    assert [row["second"] for row in rows] == table["second"].tolist()


def test_a_small_count_of_two_is_text_in_the_chart(few_counts: CodeCounts) -> None:
    table = charts.comparison_table(few_counts.suppress(), 0, 1, whole=few_counts)
    picture = charts.svg(charts.comparison_chart(table, width=720))
    texts = [node.text for node in ElementTree.fromstring(picture).iter() if node.text]
    assert "<11" in texts
    assert "≥ +91" in texts
    assert any("94 % against <11, difference ≥ +91 points" in text for text in texts)
    assert any("<11: too few records to show." in text for text in texts)
    symbols = re.findall(r'<a href="#code=585"[^>]*><title>[^<]*</title><path', picture)
    assert len(symbols) == 1  # of the cluster that is shown
    plain = charts.svg(charts.comparison_chart(charts.comparison_table(few_counts, 0, 1)))
    assert "too few" not in plain


@EVERY
def test_a_specification_can_be_read_back_and_is_json(name: str, counts: CodeCounts) -> None:
    spec = MAKERS[name](counts.suppress(), 560).to_dict()
    assert isinstance(alt.LayerChart.from_dict(spec), alt.LayerChart)
    json.dumps(spec, allow_nan=False)


def test_empty_tables_draw_an_empty_chart(counts: CodeCounts) -> None:
    nothing = charts.relevance_table(counts, 0).head(0)
    assert charts.relevance_chart(nothing).to_dict()["layer"]
    assert charts.comparison_chart(charts.comparison_table(counts, 0).head(0)).to_dict()["layer"]


def test_texts_are_cut_to_their_room_however_long_they_are():
    """Letter after letter was taken away before: a name of 90,000 letters took minutes."""
    cut = fitted("Wide and narrow " * 20_000, 100)
    assert cut.endswith("…")
    assert 90 < text_width(cut) <= 100
    assert fitted("Heart", text_width("Heart")) == "Heart"
    assert fitted("Heart", 0) == "…"


TABLES = [name for name in charts.__all__ if name.endswith("_chart")]


@pytest.mark.parametrize("name", TABLES)
def test_charts_name_the_columns_that_they_need(name):
    chart = getattr(charts, name)
    if "table" not in inspect.signature(chart).parameters:
        pytest.skip("drawn from no table")
    with pytest.raises(ValueError, match=r"^table must have the columns .*; there is no "):
        chart(pd.DataFrame(), **({"title": "Curves"} if name == "curves_chart" else {}))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("certainty_chart", "posterior_histogram_chart"),
        ("merge_tree_table", "dendrogram_table"),
        ("posteriors_table", "structure_plot_table"),
        ("shares_chart", "topic_trends_chart"),
    ],
)
def test_old_names_are_the_new_functions_and_warn(old, new):
    with pytest.warns(FutureWarning, match=f"{old} is now lvmkit.charts.{new}"):
        assert getattr(charts, old) is getattr(charts, new)
