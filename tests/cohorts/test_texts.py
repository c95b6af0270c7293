import gzip
import json
import os

import anndata
import duckdb
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from lvmkit.cohorts import from_texts
from lvmkit.cohorts._words import stop_words_of, words_of
from lvmkit.core.validation import DataWarning
from lvmkit.datasets import fetch_dante, fetch_state_union

TEXTS = ["Fever and a cough, a bad cough.", "The cough is dry.", "No fever; the rash is red."]


def words(cohort):
    return cohort.var_names.tolist()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("l’amor dell'alma", ["amor", "dell", "alma"]),
        ("Ond’ io, com’ i’ v’intrai: «Però»", ["ond", "io", "com", "intrai", "però"]),
        ("perche\u0301 e\u0300 cosi\u0300", ["perché", "così"]),
        ("don’t won't we've the president's", ["don't", "won't", "we", "ve", "the", "president"]),
        ("B12 and IL-6 in 1945_46", ["b12", "and", "il", "in"]),
        ("the 21st century, the 90th year, 46th_2nd 3D", ["the", "century", "the", "year"]),
        ("COVID19, H1N1; T4 5mg 2x4y a1c's x", ["covid19", "h1n1", "t4", "a1c"]),
        ("well_known A_1b _2nd", ["well", "known"]),
        ("Iron\u00adclad", ["ironclad"]),
    ],
)
def test_a_word_begins_with_a_letter_and_ends_at_apostrophes(text, expected):
    assert words_of(text) == expected


def test_counts_are_sparse_sorted_by_word_and_described():
    cohort = from_texts(TEXTS)
    assert words(cohort) == ["bad", "cough", "dry", "fever", "rash", "red"]
    assert (cohort.X.format, cohort.X.dtype) == ("csr", np.float32)
    assert cohort.X.has_canonical_format
    assert cohort.X.toarray().tolist() == [
        [1, 2, 0, 1, 0, 0],
        [0, 1, 1, 0, 0, 0],
        [0, 0, 0, 1, 1, 1],
    ]
    assert cohort.obs_names.tolist() == ["0", "1", "2"]
    assert cohort.obs["text"].tolist() == TEXTS
    assert cohort.obs["n_words"].tolist() == [4, 2, 3]
    assert cohort.var.loc["cough", ["title", "n_records", "n_total"]].tolist() == ["cough", 2, 3]
    about = cohort.uns["cohort"]
    assert (about["source"], about["language"]) == ("a list of 3 texts", "english")
    assert about["n_dropped"]["stop_words"] == 4


def test_a_cohort_of_texts_is_written_and_read_again(tmp_path):
    cohort = from_texts(TEXTS, attributes=pd.DataFrame({"ward": ["A", "B", "A"]}))
    cohort.write_h5ad(tmp_path / "texts.h5ad")
    again = anndata.read_h5ad(tmp_path / "texts.h5ad")
    assert (again.X != cohort.X).nnz == 0
    assert again.obs["text"].tolist() == TEXTS
    assert again.obs["ward"].tolist() == ["A", "B", "A"]


def test_characters_that_no_file_can_hold_become_blanks(tmp_path):
    with pytest.warns(DataWarning, match="1 text with characters that are none"):
        cohort = from_texts(["fever\x00cough", "rash"])
    assert words(cohort) == ["cough", "fever", "rash"]
    cohort.write_h5ad(tmp_path / "texts.h5ad")


@pytest.mark.parametrize(
    ("texts", "language"),
    [
        (["The patient was seen by the nurse and it was noted that he is well."], "english"),
        (["Nel mezzo del cammin di nostra vita mi ritrovai per una selva oscura."], "italian"),
        (["Il paziente è stato visitato dal medico che non ha trovato nulla."], "italian"),
        (["Der Patient wurde von der Schwester gesehen und es geht ihm gut."], "none"),
        (["El paciente fue visto por la enfermera, y se encuentra bien de salud."], "none"),
        (["fever cough rash"], "none"),
    ],
)
def test_the_language_is_that_of_the_function_words(texts, language):
    about = from_texts(texts).uns["cohort"]
    assert about["language"] == language
    assert about["options"]["language"] == "auto"
    assert set(about["language_shares"]) == {"english", "italian"}


def test_stop_words_are_those_of_the_language_and_ones_own():
    assert words(from_texts(["the fever"], language=None)) == ["fever", "the"]
    assert words(from_texts(["the fever"], language="english")) == ["fever"]
    assert words(from_texts(["the fever"], language="italian")) == ["fever", "the"]
    assert words(from_texts(["The Fever rises"], language=None, stop_words=["THE", "fever"])) == [
        "rises"
    ]
    kept = from_texts(["The Fever"], language="english", lowercase=False)
    assert words(kept) == ["Fever"]


@pytest.mark.parametrize("language", ["english", "italian"])
def test_every_stop_word_can_occur_in_a_text(language):
    single = {word for word in stop_words_of(language) if len(word) == 1}
    assert single <= {"a", "i"}
    assert [w for w in stop_words_of(language) - single if words_of(w) != [w]] == []


def test_rare_and_common_words_are_dropped_and_the_most_frequent_kept():
    texts = ["b a c d", "b a c", "b a", "b e"]
    texts = [" ".join(2 * letter for letter in text.split()) for text in texts]
    assert words(from_texts(texts, min_documents=2)) == ["aa", "bb", "cc"]
    with pytest.warns(DataWarning, match="left out"):
        assert words(from_texts(texts, max_share=0.5)) == ["cc", "dd", "ee"]
    assert words(from_texts(texts, max_words=2)) == ["aa", "bb"]
    assert words(from_texts(texts, max_words=4)) == ["aa", "bb", "cc", "dd"]  # of equals the first
    dropped = from_texts(texts, min_documents=2, max_words=1).uns["cohort"]["n_dropped"]
    assert (dropped["words_below_min_documents"], dropped["words_beyond_max_words"]) == (2, 2)


def test_documents_without_words_are_left_out_and_named():
    with pytest.warns(DataWarning, match=r"2 documents without any of the words: .*'b', 'd'"):
        cohort = from_texts({"a": "fever", "b": "", "c": "rash", "d": "the 12"}, language="english")
    assert cohort.obs_names.tolist() == ["a", "c"]
    about = cohort.uns["cohort"]
    assert (about["n_input_rows"], about["n_dropped"]["documents_without_words"]) == (4, 2)


def test_a_vocabulary_fixes_the_columns_and_unknown_words_are_counted():
    fitted = from_texts(TEXTS)
    with pytest.warns(
        DataWarning, match=r"3 of 6 words are not in the vocabulary.*'headache', 'nausea'"
    ):
        new = from_texts(["The fever, the headache; headache, nausea"], vocabulary=fitted.var_names)
    assert words(new) == words(fitted)
    assert new.X.toarray().tolist() == [[0, 0, 0, 1, 0, 0]]
    assert new.uns["cohort"]["n_dropped"]["unknown_words"] == 3
    order = from_texts(["rash fever"], vocabulary=["rash", "cough", "fever"])
    assert order.X.toarray().tolist() == [[1, 0, 1]]
    assert order.var["n_records"].tolist() == [1, 0, 1]
    with pytest.warns(
        DataWarning, match=r"2 entries of the vocabulary can never be found.*'x', 'New'"
    ):
        from_texts(["fever"], vocabulary=["fever", "x", "New"])


def test_a_table_gives_texts_ids_and_attributes():
    table = pd.DataFrame({"note": TEXTS, "who": ["p1", "p2", "p3"], "age": [1.0, 2.0, 3.0]})
    cohort = from_texts(table, text="note", document="who")
    assert cohort.obs_names.tolist() == ["p1", "p2", "p3"]
    assert cohort.obs.columns.tolist() == ["age", "n_words", "text"]
    assert cohort.obs["age"].tolist() == [1, 2, 3]
    by_index = from_texts(table.set_index("who"), text="note")
    assert by_index.obs_names.tolist() == ["p1", "p2", "p3"]
    series = from_texts(table.set_index("who")["note"])
    assert (series.X != cohort.X).nnz == 0


@pytest.mark.parametrize("kind", ["texts.jsonl", "texts.jsonl.gz", "texts.csv", "texts.parquet"])
def test_files_of_documents_give_what_the_table_gives(tmp_path, kind):
    rows = [{"id": f"d{i}", "year": 1990 + i, "text": t} for i, t in enumerate(TEXTS)]
    table, path = pd.DataFrame(rows), tmp_path / kind
    lines = "\n".join(json.dumps(row) for row in rows).encode()
    if kind.endswith("csv"):
        table.to_csv(path, index=False)
    elif kind.endswith("parquet"):
        duckdb.from_df(table).write_parquet(str(path))
    else:
        path.write_bytes(gzip.compress(lines) if kind.endswith("gz") else lines)
    cohort = from_texts(path, text="text", document="id")
    expected = from_texts(table, text="text", document="id")
    assert cohort.uns["cohort"]["source"] == kind
    assert (cohort.X != expected.X).nnz == 0
    pd.testing.assert_frame_equal(cohort.obs, expected.obs)


def test_a_folder_gives_one_document_per_file_by_name(tmp_path):
    for name, text in zip(("b", "a", "c"), TEXTS, strict=True):
        (tmp_path / f"{name}.txt").write_bytes(text.encode().replace(b";", b"\r\n"))
    (tmp_path / "notes.md").write_text("not this one")
    (tmp_path / "._a.txt").write_bytes(b"\xff")
    cohort = from_texts(tmp_path, attributes=pd.DataFrame({"age": [2, 3, 1]}, ["a", "b", "c"]))
    assert cohort.obs_names.tolist() == ["a", "b", "c"]
    assert cohort.obs["age"].tolist() == [2, 3, 1]
    assert cohort.obs.loc["c", "text"] == "No fever\n the rash is red."
    assert from_texts(tmp_path / "a.txt").obs_names.tolist() == ["a"]


def test_texts_in_subfolders_are_told_of(tmp_path):
    below = tmp_path / "1990" / "may"
    below.mkdir(parents=True)
    (below / "x.TXT").write_text("rash")
    (tmp_path / ".cache").mkdir()
    (tmp_path / ".cache" / "y.txt").write_text("no text of a reader")
    told = r"1 \.txt file in subfolders of '.*' \('1990/may/x.TXT'\)"
    with pytest.raises(ValueError, match=f"holds no .txt files; it has no files at all.* {told}"):
        from_texts(tmp_path)
    (tmp_path / "a.txt").write_text("fever")
    with pytest.warns(DataWarning, match=f"{told}: not read.*move them"):
        cohort = from_texts(tmp_path)
    assert cohort.obs_names.tolist() == ["a"]
    assert len(cohort.uns["cohort"]["repairs"]) == 1
    assert cohort.uns["cohort"]["n_dropped"]["files_in_subfolders"] == 1


def test_a_file_of_another_encoding_is_refused_with_its_place(tmp_path):
    (tmp_path / "canto.txt").write_bytes("nel mezzo\nperché è".encode("cp1252"))
    advice = r"'canto.txt' is not UTF-8: byte 0xE9 at offset 15 \(line 2\).*encoding='cp1252'"
    with pytest.raises(ValueError, match=advice):
        from_texts(tmp_path)
    read = from_texts(tmp_path, encoding="cp1252", language=None)
    assert "perché" in words(read)
    (tmp_path / "canto.txt").write_bytes("perché è".encode())
    with pytest.raises(ValueError, match=r"not in encoding='ascii': byte 0xC3 at offset 5"):
        from_texts(tmp_path, encoding="ascii")
    (tmp_path / "canto.txt").write_bytes(b"\xef\xbb\xbfselva")
    assert words(from_texts(tmp_path)) == ["selva"]


def test_attributes_that_do_not_match_are_said():
    table = pd.DataFrame({"ward": ["A", "B"]}, ["0", "9"])
    with pytest.warns(DataWarning) as told:
        cohort = from_texts(["fever", "rash"], attributes=table)
    assert [str(w.message).split(":")[0] for w in told] == [
        "1 document without a row in attributes",
        "1 row of attributes belong to no document",
    ]
    assert cohort.obs["ward"].isna().tolist() == [False, True]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ([], "has no documents"),
        (["fever", None, np.nan], r"text of 2 documents is missing: '1', '2'"),
        (["fever", 3], r"no text: '1' \(int\)"),
        ([b"fever"], r"no text: '0' \(bytes\)"),
        (pd.Series(["a", "b"], ["x", "x"]), "several documents are called 'x'"),
        (["1 2nd", "a b"], "no word, a letter and more letters or digits, in 2 documents"),
        ("one long text that is no path", r"one string and no file or folder.*\[text\]"),
        (pd.DataFrame({"note": ["a"]}), "text: name the column that holds the texts.*'note'"),
    ],
)
def test_sources_that_hold_no_documents_are_refused(source, message):
    with pytest.raises(ValueError, match=message):
        from_texts(source)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"language": "latin"}, "language='latin'; expected 'auto', 'english', 'italian' or None"),
        ({"stop_words": "the"}, r"stop_words='the'; expected a list of words, such as \['the'\]"),
        ({"min_documents": 0}, "min_documents must be a whole number, at least 1"),
        ({"min_documents": 4}, "No word is left of 6: none is in min_documents=4"),
        ({"max_share": 1.5}, r"max_share=1\.5; expected a share"),
        ({"max_words": 0}, "max_words must be a whole number, at least 1"),
        (
            {"stop_words": ["bad", "cough", "dry", "fever", "rash", "red"]},
            "No word is left: all 10 are stop",
        ),
        ({"vocabulary": ["a", "b", "a"]}, "vocabulary repeats 'a'"),
        ({"vocabulary": []}, "vocabulary must be a list of words; it is empty"),
        ({"vocabulary": [1]}, "vocabulary must be a list of words; found 1"),
        ({"vocabulary": ["fever"], "max_words": 5}, "leave out min_documents, max_share and max_w"),
        ({"vocabulary": ["selva"]}, "None of 3 documents has any of 1 word of the vocabulary"),
        ({"vocabulary": ["selva"]}, "They hold 'bad', 'cough', 'dry'.*vocabulary of these texts?"),
        (
            {"vocabulary": ["Fever"]},
            "1 entry of the vocabulary can never be found.*lower .*'Fever'",
        ),
        ({"vocabulary": ["selva"], "stop_words": TEXTS}, "They hold stop words alone; is it"),
        ({"vocabulary": ["7up"]}, "can never be found in a text, as a word is a letter.*: '7up'"),
        ({"text": "note"}, "text='note' names a column, but source has none"),
        ({"attributes": pd.DataFrame({"a": [1]}, ["x"])}, "names none of the documents"),
        ({"attributes": pd.DataFrame({"a": [1, 2]}, ["0", "0"])}, "several rows for '0'"),
        ({"attributes": pd.DataFrame({"text": [1]}, ["0"])}, "the name 'text' is taken"),
    ],
)
def test_options_that_cannot_be_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        from_texts(TEXTS, **options)


def test_counts_and_other_things_are_no_texts(tmp_path):
    for matrix in (np.eye(2), sparse.eye_array(2), from_texts(TEXTS)):
        with pytest.raises(TypeError, match=r"from_counts\(X, binary=False\)"):
            from_texts(matrix)
    with pytest.raises(TypeError, match="source must be a list of texts, a path or a DataFrame"):
        from_texts(3)
    with pytest.raises(FileNotFoundError, match=r"no file or folder 'gone.csv'"):
        from_texts("gone.csv", text="note")
    with pytest.raises(FileNotFoundError, match="there is no file or folder ''"):
        from_texts("")
    with pytest.raises(ValueError, match=r"holds no .txt files; it has no files at all"):
        from_texts(tmp_path)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('{"text": "a"}\n{"text": \n', r"line 2 is no JSON"),
        ("[1]", r"line 1 is no JSON object"),
        ('{"text": "aa"}\n{"note": "bb"}', r"text of 1 document is missing: '1'"),
        ('{"note": "bb"}', r"text='text' is not a column of x.jsonl; it has 'note'"),
    ],
)
def test_lines_that_are_no_documents_are_named(tmp_path, lines, message):
    (tmp_path / "x.jsonl").write_text(lines)
    with pytest.raises(ValueError, match=message):
        from_texts(tmp_path / "x.jsonl", text="text")


def test_a_damaged_file_is_said_to_be_damaged(tmp_path):
    (tmp_path / "x.jsonl.gz").write_bytes(gzip.compress(b'{"text": "fever"}')[:-9])
    with pytest.raises(ValueError, match=r"'x.jsonl.gz' is cut short or damaged"):
        from_texts(tmp_path / "x.jsonl.gz", text="text")


def test_columns_of_a_table_of_texts_are_checked(tmp_path):
    (tmp_path / "x.csv").write_text("id,note\n1,fever\n2,rash\n")
    with pytest.raises(ValueError, match=r"text='nota' is not a column of x.csv.*mean 'note'"):
        from_texts(tmp_path / "x.csv", text="nota")
    with pytest.raises(ValueError, match=r"text: name the column that holds the texts; x.csv has"):
        from_texts(tmp_path / "x.csv")
    twice = pd.DataFrame([["fever", 1, 2]], columns=["note", "a", "a"])
    with pytest.raises(ValueError, match="the DataFrame has several columns named 'a'"):
        from_texts(twice, text="note")
    with pytest.raises(ValueError, match="the name 'text' is taken by the cohort itself"):
        from_texts(pd.DataFrame({"note": ["fever"], "text": [1]}), text="note")


def test_dante_and_the_addresses_read_the_same_from_their_texts(real_data):
    dante = fetch_dante(language="auto")
    assert dante.uns["cohort"]["language"] == "italian"
    again = from_texts(dante.obs["text"], min_documents=2)
    assert words(again) == words(dante)
    assert (again.X != dante.X).nnz == 0
    folder = real_data / "state_union/addresses.jsonl.gz"
    union = from_texts(folder, text="text", document="id", stop_words=["applause", "laughter"])
    assert union.uns["cohort"]["language"] == "english"
    fetched = fetch_state_union(min_documents=1)
    assert (union[fetched.obs_names].X != fetched.X).nnz == 0


def test_a_pipe_is_refused_instead_of_waited_for(tmp_path):
    os.mkfifo(tmp_path / "texts.txt")
    with pytest.raises(
        ValueError, match=r"source: cannot read 'texts.txt': it is a device or a pipe"
    ):
        from_texts(tmp_path / "texts.txt")


def test_a_file_of_text_is_one_document_however_it_is_written(tmp_path):
    text = "The heart fails.\nThe kidney fails.\n"
    plain = from_texts([text], language=None)
    for data in (
        text.encode("utf-16"),
        text.replace("\n", "\r\n").encode(),
        gzip.compress(text.encode()),
    ):
        (tmp_path / "notes.txt").write_bytes(data)
        found = from_texts(tmp_path / "notes.txt", language=None)
        assert found.to_df().to_numpy().tolist() == plain.to_df().to_numpy().tolist()
        assert found.obs["text"].tolist() == [text]
    (tmp_path / "notes.txt.gz").write_bytes(gzip.compress(text.encode()))
    assert from_texts(tmp_path / "notes.txt.gz", language=None).obs_names.tolist() == ["notes"]


@pytest.mark.parametrize(
    "text", ["<html>heart</html>", "<!DOCTYPE heart>", "BZhang heart", "HEADER RECORD*** heart"]
)
def test_texts_that_begin_like_what_is_no_table_are_read(tmp_path, text):
    (tmp_path / "notes.txt").write_text(text)
    found = from_texts(tmp_path / "notes.txt", language=None)
    assert "heart" in found.var_names


def test_what_is_no_text_is_told(tmp_path):
    for data, words in {
        b"%PDF-1.7\nheart": "is a PDF document, not a text: export the text as plain text",
        b"PK\x03\x04": "zip archive, not plain text: save the sheet as plain text",
        b"BZh91AY&SY\x00": "compressed by bzip2",
        "heart failure".encode("utf-16-be"): "pass encoding='utf-16-be'",
        b"": "it is empty",
    }.items():
        (tmp_path / "notes.txt").write_bytes(data)
        with pytest.raises(ValueError, match=words):
            from_texts(tmp_path / "notes.txt")
