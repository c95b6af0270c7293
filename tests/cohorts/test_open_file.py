import gzip
import io
import os
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lvmkit.cohorts.open_file import Layout, guess, list_files, open_cohort, preview


def packed(name):
    """Zip archive of one file."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr(name, "a,b")
    return target.getvalue()


WIDE = pd.DataFrame(
    {
        "id": ["a", "b", "c", "d"],
        "age": ["70", "61", "55", "40"],
        "sex": ["female", "male", "male", "female"],
        "dx01": ["4280", "4280", "25000", "V4581"],
        "dx02": ["25000", "585", "4019", "4280"],
        "dx03": ["4019", "0389", "5849", "E8889"],
        "pc01": ["3893", "", "", "3995"],
    }
)
EVENTS = pd.DataFrame(
    {"PATIENT": list("aaabbb"), "CODE": ["428.0", "250.00", "401.9", "585", "428.1", "038.9"]}
)
COUNTS = pd.DataFrame(
    {
        "name": list("xyz"),
        **{f"w{i}": [str(i % 2), "1", "0"] for i in range(8)},
        "site": list("pqp"),
    }
)


def test_a_wide_table_is_recognized_by_its_diagnoses():
    layout = guess(WIDE)
    assert layout == Layout("wide", ("dx01", "dx02", "dx03"), attributes=("age", "sex"))
    assert layout.text.startswith("one row per record, codes in 3 columns (dx01, dx02, dx03)")


def test_a_table_of_events_is_recognized_by_its_names():
    assert guess(EVENTS) == Layout("events", ("CODE",), "PATIENT")


def test_a_table_of_counts_is_recognized_by_its_numbers():
    layout = guess(COUNTS)
    assert layout.kind == "counts"
    assert layout.codes == tuple(f"w{i}" for i in range(8))
    assert layout.attributes == ("name", "site")


def test_what_cannot_be_told_is_not_guessed():
    assert guess(pd.DataFrame({"a": ["1", "2"], "b": ["x", "y"]})) is None


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".tsv", ".parquet"])
def test_each_kind_of_file_opens(tmp_path, ending):
    path = tmp_path / f"stays{ending}"
    if ending == ".parquet":
        import duckdb

        duckdb.sql("SELECT * FROM WIDE").write_parquet(str(path))
    else:
        WIDE.to_csv(path, index=False, sep="\t" if ending == ".tsv" else ",")
    cohort = open_cohort(path)
    assert cohort.n_obs == 4
    assert "428" in cohort.var_names
    assert "038" in cohort.var_names
    assert cohort.obs["age"].tolist() == [70, 61, 55, 40]


def test_events_open_and_h5ad_returns_the_same(tmp_path):
    EVENTS.to_csv(tmp_path / "events.csv", index=False)
    cohort = open_cohort(tmp_path / "events.csv")
    assert cohort.obs_names.tolist() == ["a", "b"]
    cohort.write_h5ad(tmp_path / "events.h5ad")
    again = open_cohort(tmp_path / "events.h5ad")
    np.testing.assert_array_equal(again.X.toarray(), cohort.X.toarray())


def test_an_h5ad_named_in_capitals_opens(tmp_path):
    EVENTS.to_csv(tmp_path / "events.csv", index=False)
    open_cohort(tmp_path / "events.csv").write_h5ad(tmp_path / "events.h5ad")
    path = (tmp_path / "events.h5ad").rename(tmp_path / "EVENTS.H5AD")
    assert open_cohort(path).obs_names.tolist() == ["a", "b"]


def test_events_bring_their_titles(tmp_path):
    titles = [f"Meaning of {code}" for code in EVENTS["CODE"]]
    EVENTS.assign(CODE=["A1", "A2", "A3"] * 2, DESCRIPTION=titles).to_csv(
        tmp_path / "events.csv", index=False
    )
    cohort = open_cohort(tmp_path / "events.csv")
    assert cohort.var.loc["A1", "title"] == "Meaning of 428.0"


def test_counts_open(tmp_path):
    COUNTS.to_csv(tmp_path / "counts.csv", index=False)
    assert open_cohort(tmp_path / "counts.csv", min_codes=1).n_obs == 2


def test_named_columns_open_what_cannot_be_guessed(tmp_path):
    table = WIDE.rename(columns={"dx01": "first", "dx02": "second", "dx03": "third", "id": "who"})
    table.to_csv(tmp_path / "odd.csv", index=False)
    with pytest.raises(ValueError, match=r"columns who, age, .*Say which columns hold the codes"):
        open_cohort(tmp_path / "odd.csv")
    layout = Layout("wide", ("first", "second", "third"), "who", ("sex",))
    cohort = open_cohort(tmp_path / "odd.csv", layout=layout)
    assert cohort.obs_names.tolist() == ["a", "b", "c", "d"]


def test_another_encoding_is_read_and_said(tmp_path):
    WIDE.assign(city="Zürich").to_csv(tmp_path / "old.csv", index=False, encoding="cp1252")
    cohort = open_cohort(tmp_path / "old.csv")
    assert cohort.uns["cohort"]["repairs"][0] == "The file is not UTF-8; it was read as cp1252."


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.csv", None, "“none.csv” cannot be read: there is no such file"),
        ("empty.csv", b"", "is empty"),
        ("notes.docx", b"x", "is none of .csv"),
        ("cut.csv.gz", gzip.compress(b"a,b\n1,2\n" * 99, mtime=0)[:-12], "cut short"),
        ("fake.parquet", b"x" * 99, "not a Parquet file"),
        ("fake.h5ad", b"x" * 99, "“fake.h5ad” is no h5ad file"),
        ("picture.csv", b"\x89PNG\r\n\x1a\n\x81", "“picture.csv” is a PNG picture, not a table"),
        ("packed.csv", packed("b.csv"), "“packed.csv” is a zip archive that holds 'b.csv': unpack"),
        ("wide.csv", b"a," * 20_000 + b"b\n", "“wide.csv” has 20,001 columns; at most 20,000"),
        ("cut16.csv", "a,b\n1,2".encode("utf-16")[:-1], "“cut16.csv” is cut short or damaged"),
    ],
)
def test_a_bad_file_says_what_to_do(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        open_cohort(tmp_path / name)


@pytest.mark.parametrize("sep", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("packed", [False, True])
def test_separators_encodings_and_gzip_are_found(tmp_path, sep, encoding, packed):
    data = WIDE.assign(city="Zürich").to_csv(index=False, sep=sep).encode(encoding)
    (tmp_path / "a.csv").write_bytes(gzip.compress(data) if packed else data)
    cohort = open_cohort(tmp_path / "a.csv")
    assert cohort.n_obs == 4
    assert cohort.obs["age"].tolist() == [70, 61, 55, 40]
    COUNTS.to_csv(tmp_path / "b.csv", index=False, sep=sep, encoding=encoding)
    assert open_cohort(tmp_path / "b.csv", min_codes=1).n_obs == 2


def test_bytes_that_cp1252_lacks_are_read_and_said(tmp_path):
    data = WIDE.assign(city="x\x81").to_csv(index=False).encode("latin-1")
    (tmp_path / "a.csv").write_bytes(data)
    told = open_cohort(tmp_path / "a.csv").uns["cohort"]["repairs"][0]
    assert told == "The file is not UTF-8; it was read as latin-1."


def test_a_folder_that_holds_itself_is_listed_once(tmp_path):
    (tmp_path / "a.csv").write_text("x")
    (tmp_path / "self").symlink_to(tmp_path, target_is_directory=True)
    assert list_files([tmp_path]) == [tmp_path / "a.csv"]


def test_a_folder_that_vanishes_while_files_are_listed_is_passed_over(tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    (tmp_path / "a.csv").write_text("x")
    scan = os.scandir

    def scandir(path="."):
        if Path(path).name == "gone":
            raise FileNotFoundError(2, "No such file or directory", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert list_files([tmp_path]) == [tmp_path / "a.csv"]


def test_files_are_listed_one_level_deep(tmp_path):
    (tmp_path / "sub" / "deep").mkdir(parents=True)
    for name in ("a.csv", "b.txt", "sub/c.parquet", "sub/deep/d.csv"):
        (tmp_path / name).write_text("x")
    assert [path.name for path in list_files([tmp_path])] == ["a.csv", "c.parquet"]


def test_hidden_files_are_not_listed(tmp_path):
    """They are copies and notes of other programs, such as "._a.csv" and those of notebooks."""
    (tmp_path / ".ipynb_checkpoints").mkdir()
    for name in ("a.csv", "._a.csv", ".ipynb_checkpoints/a-checkpoint.csv"):
        (tmp_path / name).write_text("x")
    assert [path.name for path in list_files([tmp_path])] == ["a.csv"]


def test_real_files_are_recognized(real_data):
    nhds = guess(preview(real_data / "nhds2010" / "nhds2010.csv.gz"))
    assert nhds.codes == tuple(f"dx{i:02d}" for i in range(1, 16))
    assert {"age", "sex"} <= set(nhds.attributes)
    diabetes = guess(preview(real_data / "diabetes130" / "diabetic_data.csv.gz"))
    assert diabetes.codes == ("diag_1", "diag_2", "diag_3")
    synthea = guess(preview(real_data / "synthea1k" / "conditions.csv.gz"))
    assert synthea == Layout("events", ("CODE",), "PATIENT", title="DESCRIPTION")


def test_a_guess_is_told_in_words():
    rows = pd.DataFrame({"dx1": ["428.0", "250"], "dx2": ["585", ""], "age": ["70", "61"]})
    told = "one row per record, codes in 2 columns (dx1, dx2); kept as attributes: age"
    assert guess(rows).text == told
