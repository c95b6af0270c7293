"""Options of the wrong type or out of range are refused by name, before anything is read."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from lvmkit.cohorts import (
    CountTensor,
    codes,
    from_counts,
    from_events,
    from_texts,
    from_wide,
    tensor_from_events,
    tensor_from_wide,
)

EVENTS = pd.DataFrame(
    {"id": ["a", "b"], "dx": ["428", "250"], "rx": ["x", "y"], "day": "2010-01-01"}
)
STAYS = pd.DataFrame({"dx1": ["428", "250"], "dx2": ["585", ""], "age": [70, 54]})
TEXTS = pd.DataFrame({"t": ["one word", "two words"], "n": [1, 2]})


def events(**options):
    return from_events(EVENTS, **({"patient": "id", "code": "dx", "min_codes": 1} | options))


def wide(**options):
    return from_wide(STAYS, **({"codes": ["dx1", "dx2"], "min_codes": 1} | options))


def counts(**options):
    return from_counts([[1, 2], [0, 1]], **options)


def tensor(**options):
    given = {"patient": "id", "modes": {"d": "dx", "r": "rx"}}
    return tensor_from_events(EVENTS, **(given | options))


def tensor_wide(**options):
    return tensor_from_wide(STAYS, **({"modes": {"d": ["dx1", "dx2"]}} | options))


def texts(**options):
    return from_texts(TEXTS, **({"text": "t", "language": None} | options))


SHARED = [
    ({"min_codes": 1.5}, TypeError, "min_codes must be a whole number"),
    ({"min_codes": "3"}, TypeError, "min_codes must be a whole number"),
    ({"min_codes": True}, TypeError, "min_codes must be a whole number"),
    ({"min_codes": -1}, ValueError, "min_codes must be a whole number, at least 0"),
    ({"max_codes": "3"}, TypeError, "max_codes must be a whole number"),
    ({"max_codes": 0}, ValueError, "max_codes must be a whole number, at least 1"),
    ({"max_codes": 2.5}, TypeError, "max_codes must be a whole number"),
    ({"min_prevalence": "half"}, TypeError, "min_prevalence must be a number"),
    ({"min_prevalence": float("nan")}, ValueError, "min_prevalence must be a number"),
    ({"min_prevalence": 2}, ValueError, "min_prevalence=2; expected a share"),
    ({"binary": "no"}, TypeError, "binary is True or False"),
    ({"binary": None}, TypeError, "binary is True or False"),
    ({"level": 3}, ValueError, "level=3; expected 'category' or 'full'"),
    ({"level": ["full"]}, ValueError, "expected 'category' or 'full'"),
    ({"titles": 3}, TypeError, "titles must be a mapping of codes to titles.*found int"),
    ({"titles": "abc"}, TypeError, "titles must be a mapping of codes to titles.*found str"),
    ({"titles": {"428": 3}}, TypeError, "the title of '428' is 3"),
    ({"system": 3}, TypeError, "system must be a text"),
    ({"system": ["icd9"]}, TypeError, "system must be a text"),
]
FILES = [
    ({"attributes": 3}, TypeError, "attributes must be a list of columns; found 3"),
    ({"attributes": [3]}, TypeError, r"attributes must name a column \(str\); found 3"),
]


@pytest.mark.parametrize("make", [events, wide, counts])
@pytest.mark.parametrize(("options", "error", "message"), SHARED)
def test_options_of_every_cohort(make, options, error, message):
    with pytest.raises(error, match=message):
        make(**options)


@pytest.mark.parametrize("make", [events, wide, tensor, tensor_wide])
@pytest.mark.parametrize(("options", "error", "message"), FILES)
def test_options_of_every_table(make, options, error, message):
    with pytest.raises(error, match=message):
        make(**options)


@pytest.mark.parametrize(
    ("make", "options", "error", "message"),
    [
        (events, {"patient": None}, TypeError, "patient must be a text"),
        (events, {"code": 3}, TypeError, "code must be a text"),
        (events, {"date": ["day"]}, TypeError, "date must name a column"),
        (events, {"count": 3}, TypeError, "count must name a column"),
        (wide, {"codes": 3}, TypeError, "codes must be a list of columns"),
        (wide, {"codes": [3]}, TypeError, "codes must name a column"),
        (wide, {"patient": 3}, TypeError, "patient must name a column"),
        (counts, {"feature_names": "ab"}, TypeError, "feature_names must be a list of names"),
        (counts, {"feature_names": 3}, TypeError, "feature_names must be a list of names"),
        (counts, {"feature_names": ["a", " "]}, ValueError, "column 1 of X .* is named ''"),
        (counts, {"obs": [1, 2]}, TypeError, "obs must be a DataFrame"),
        (tensor, {"patient": None}, TypeError, "patient must name a column"),
        (tensor, {"modes": {3: "dx"}}, TypeError, "modes: a name must be a text"),
        (tensor, {"modes": {"d": 3}}, TypeError, "modes: d must name a column"),
        (tensor, {"visit": 3}, TypeError, "visit must name a column"),
        (tensor, {"titles": {"d": 3}}, TypeError, "titles of 'd' must be a mapping"),
        (tensor, {"titles": {"d": {"428": 3}}}, TypeError, "the title of '428' is 3"),
        (tensor, {"system": {"d": 3}}, TypeError, "system of 'd' must be a text"),
        (tensor, {"group": {"d": 3}}, TypeError, "group of 'd' must be"),
        (tensor, {"index": {"d": 3}, "date": "day"}, TypeError, "index must have lists of codes"),
        (tensor, {"index": 3, "date": "day"}, TypeError, "index must be dates by patient"),
        (tensor, {"min_count": 1.5}, TypeError, "min_count must be a whole number"),
        (tensor, {"max_codes": "3"}, TypeError, "max_codes must be a whole number"),
        (tensor_wide, {"modes": {"d": 3}}, TypeError, "modes: d must be a list of columns"),
        (tensor_wide, {"modes": 3}, TypeError, "modes must be a mapping"),
        (texts, {"text": 3}, TypeError, "text must be a text"),
        (texts, {"document": ["n"]}, TypeError, "document must be a text"),
        (texts, {"language": ["english"]}, ValueError, "language=.*expected 'auto'"),
        (texts, {"lowercase": "no"}, TypeError, "lowercase is True or False"),
        (texts, {"stop_words": 3}, TypeError, "stop_words must be a list of words"),
        (texts, {"stop_words": [3]}, ValueError, "stop_words must be a list of words; found 3"),
        (texts, {"vocabulary": 3}, TypeError, "vocabulary must be a list of words"),
        (texts, {"attributes": 3}, TypeError, "attributes must be a DataFrame"),
        (texts, {"encoding": 3}, TypeError, "encoding must be a text"),
        (texts, {"encoding": "utf-99"}, ValueError, "encoding='utf-99' is not known"),
    ],
)
def test_options_of_one(make, options, error, message):
    with pytest.raises(error, match=message):
        make(**options)


@pytest.mark.parametrize("encoding", [3, "hex", "rot13", "idna\0"])
def test_encodings_that_are_none(tmp_path, encoding):
    EVENTS.to_csv(tmp_path / "a.csv", index=False)
    error = ValueError if isinstance(encoding, str) else TypeError
    with pytest.raises(error, match="encoding"):
        from_events(tmp_path / "a.csv", patient="id", code="dx", encoding=encoding)


def test_systems_and_codes_of_other_types():
    for function in (codes.title, codes.chapter):
        with pytest.raises(TypeError, match="system must be a text"):
            function("428", 9)
    with pytest.raises(TypeError, match="codes must be texts; found 3"):
        codes.category(3, "icd9")
    with pytest.raises(TypeError, match=r"found 38\.9 \(float\): numbers have lost zeros"):
        codes.category(["428", 38.9], "icd9")
    with pytest.raises(TypeError, match=r"codes must be texts; found \{\}"):
        codes.category({}, "icd9")
    for function in (codes.title, codes.chapter):
        with pytest.raises(TypeError, match=r"code must be a text \(str\); found 1\.5"):
            function(1.5, "icd9")
    with pytest.raises(TypeError, match="system must be a text"):
        codes.categories(None)


def test_titles_may_be_a_series_with_gaps():
    titles = pd.Series({"428": "Failing heart", "250": None})
    assert events(titles=titles).var["title"].tolist() == ["Diabetes mellitus", "Failing heart"]


def test_texts_of_columns_with_levels_are_refused():
    levels = TEXTS.set_axis(pd.MultiIndex.from_product([["a"], TEXTS.columns]), axis=1)
    with pytest.raises(ValueError, match="column names of 2 levels"):
        from_texts(levels, text="t")


@pytest.mark.parametrize(
    ("counts", "modes", "labels", "error", "message"),
    [
        (np.eye(2), 3, [["a", "b"]] * 2, TypeError, "modes must have one entry for each axis"),
        (np.eye(2), "ab", [["a", "b"]] * 2, TypeError, "modes must have one entry"),
        (np.eye(2), ("p", "c"), 3, TypeError, "labels must have one entry"),
        (np.ma.masked_equal(np.eye(2), 1), ("p", "c"), [["a", "b"]] * 2, ValueError, "masked"),
    ],
)
def test_parts_of_a_tensor(counts, modes, labels, error, message):
    with pytest.raises(error, match=message):
        CountTensor(counts, modes, labels)


def test_indexes_outside_are_refused():
    broken = sparse.csr_array(np.eye(3))
    broken.indices[0] = 10**6
    with pytest.raises(ValueError, match="X is a broken sparse csr_array"):
        from_counts(broken)
    with pytest.raises(ValueError, match="counts is a broken sparse csr_array"):
        CountTensor(broken, ("p", "c"), [list("abc")] * 2)


def test_texts_of_tensors_and_encodings_are_texts():
    table = pd.DataFrame({"id": ["a", "b"], "dx": ["428", "250"]})
    for name in ("date", "visit", "count", "encoding"):
        with pytest.raises(TypeError, match=f"{name} must (be a text|name a column)"):
            tensor_from_events(table, patient="id", modes={"diagnosis": "dx"}, **{name: 3})
    with pytest.raises(TypeError, match="encoding must be a text"):
        from_events(table, patient="id", code="dx", min_codes=1, encoding=None)
    with pytest.raises(TypeError, match="attributes must be a list of columns"):
        from_events(table, patient="id", code="dx", min_codes=1, attributes={})


def test_counts_beyond_exact_numbers_and_other_types_of_numbers():
    with pytest.raises(
        ValueError, match=r"X must hold whole numbers below .*found 1e\+30 in row 1, column 0"
    ):
        from_counts([[1, 2], [1e30, 1]])
    for kind in (np.float16, ">f8", ">i4"):
        assert from_counts(np.array([[1, 0], [0, 2]], dtype=kind)).shape == (2, 2)
