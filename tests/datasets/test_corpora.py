import gzip
import io
import json
import zipfile
from dataclasses import replace

import pandas as pd
import pytest

from lvmkit.cohorts._documents import json_lines
from lvmkit.core.validation import DataWarning
from lvmkit.datasets import (
    corpora,
    fetch_dante,
    fetch_movie_reviews,
    fetch_newsgroups20,
    fetch_state_union,
)


def roman(number):
    parts = [(10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]
    text = ""
    for value, letters in parts:
        while number >= value:
            text, number = text + letters, number - value
    return text


def plain_text(canti):
    """Write the canti as the plain text of the original source is laid out."""
    lines = ["\ufeffThe license", "", "*** START OF THIS EBOOK ***", "", "LA DIVINA COMMEDIA", ""]
    for row in canti.to_dict("records"):
        if row["canto"] == 1:
            lines += ["", "", "", "", f"  {row['cantica'].upper()}", "", "", ""]
        lines += [f"  {row['cantica']} • Canto {roman(row['canto'])}", "", ""]
        verses = row["text"].split("\n")
        for i in range(0, len(verses), 3):
            lines += [*(f"  {verse}" for verse in verses[i : i + 3]), ""]
        lines += ["", ""]
    lines += ["- - - - - - - -", "TAVOLA DEI CARATTERI SPECIALI", "à = a grave", ""]
    lines += ["*** END OF THIS EBOOK ***", "Section 1."]
    return "\r\n".join(lines).encode()


def archive(members):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        for name, content in members.items():
            file.writestr(name, content)
    return data.getvalue()


def served(monkeypatch, site, name, content):
    """Serve a content as the original source of a data set."""
    folder, address = site
    (folder / "original").write_bytes(content)
    remote = replace(getattr(corpora, name), urls=(f"{address}/original",))
    monkeypatch.setattr(corpora, name, remote)
    return remote


def kept(cache, remote):
    return gzip.decompress((cache / remote.folder / remote.file).read_bytes())


def test_dante_has_three_cantiche_of_canti_in_order(real_data):
    cohort = fetch_dante()
    assert cohort.n_obs == 100
    assert cohort.obs["cantica"].value_counts().to_dict() == {
        "Inferno": 34,
        "Purgatorio": 33,
        "Paradiso": 33,
    }
    assert cohort.obs["cantica"].cat.ordered
    assert cohort.obs["n_verses"].sum() == 14_233
    assert cohort.obs_names[[0, 99]].tolist() == ["Inferno 1", "Paradiso 33"]
    assert cohort.obs["text"].iloc[0].startswith("Nel mezzo del cammin di nostra vita")
    assert cohort.var_names[cohort.var["n_total"].argmax()] == "occhi"
    assert {"che", "dell", "ond", "perché", "sanza", "elli"}.isdisjoint(cohort.var_names)
    assert fetch_dante(max_words=1820).shape == (100, 1820)


def test_the_addresses_are_in_the_order_of_time(real_data):
    cohort = fetch_state_union()
    assert cohort.n_obs == 65
    assert cohort.obs["year"].is_monotonic_increasing
    assert cohort.obs["president"].is_monotonic_increasing
    assert cohort.obs_names[cohort.obs["year"] == 1963].tolist() == ["1963-Kennedy", "1963-Johnson"]
    assert cohort.obs["part"].sum() == 65 + 3
    assert {"applause", "the"}.isdisjoint(cohort.var_names)
    assert "applause" in fetch_state_union(stop_words=()).var_names


def test_reviews_are_labeled_in_halves(real_data):
    cohort = fetch_movie_reviews(min_documents=50)
    assert cohort.obs["label"].value_counts().to_dict() == {"neg": 1_000, "pos": 1_000}
    assert cohort.uns["cohort"]["options"]["min_documents"] == 50
    assert cohort.var["n_records"].min() >= 50


def test_newsgroups_are_the_published_counts(real_data):
    cohort = fetch_newsgroups20()
    assert (cohort.shape, cohort.X.nnz, cohort.X.sum()) == ((11_293, 10_000), 828_352, 1_244_011)
    assert cohort.obs["group"].nunique() == 20
    assert cohort.obs["group"].iloc[0] == "alt.atheism"
    with pytest.warns(DataWarning, match="16 documents without any of the words: left out"):
        assert fetch_newsgroups20(max_words=500).shape == (11_277, 500)


def test_dante_is_rebuilt_from_the_plain_text_and_kept(real_data, elsewhere, site, monkeypatch):
    table = json_lines(real_data / "dante/canti.jsonl.gz")
    remote = served(monkeypatch, site, "DANTE", plain_text(table))
    assert fetch_dante().n_obs == 100
    assert kept(elsewhere, remote) == gzip.decompress(
        (real_data / "dante/canti.jsonl.gz").read_bytes()
    )
    (site[0] / "original").unlink()
    assert fetch_dante().n_obs == 100  # from the cache


def test_the_addresses_are_rebuilt_from_the_archive(real_data, elsewhere, site, monkeypatch):
    table = json_lines(real_data / "state_union/addresses.jsonl.gz")
    old = table["year"].isin([1954, *range(1970, 1975)])
    members = {
        f"state_union/{row.id}.txt": f"{row.text}\n".encode("cp1252" if is_old else "utf-8")
        for row, is_old in zip(table.itertuples(), old, strict=True)
    }
    content = archive({"state_union/": "", **members, "state_union/README": "What this is."})
    remote = served(monkeypatch, site, "STATE_UNION", content)
    assert fetch_state_union().n_obs == 65
    assert kept(elsewhere, remote) == gzip.decompress(
        (real_data / "state_union/addresses.jsonl.gz").read_bytes()
    )


def test_reviews_are_rebuilt_from_the_archive(real_data, elsewhere, site, monkeypatch):
    table = json_lines(real_data / "movie_reviews/reviews.jsonl.gz")
    members = {
        f"movie_reviews/{row.label}/{row.id}.txt": f"{row.text} \n" for row in table.itertuples()
    }
    remote = served(monkeypatch, site, "MOVIE_REVIEWS", archive(members | {"README.txt": "v2.0"}))
    assert fetch_movie_reviews(max_words=100).shape == (2_000, 100)
    assert kept(elsewhere, remote).count(b"\n") == 2_000


def test_a_text_of_another_edition_is_not_kept(elsewhere, site, monkeypatch):
    served(monkeypatch, site, "DANTE", "Inferno • Canto I\n\nNel mezzo\n".encode())
    with pytest.raises(ConnectionError, match="the checksum differs from the published data's"):
        fetch_dante()
    assert not list(elsewhere.rglob("*.gz"))


def test_newsgroups_cannot_be_downloaded_and_it_says_where_to_put_them(elsewhere):
    expected = (
        "newsgroups20_counts is not on this machine and has no address to download it from: put "
        "train_counts.npz into the folder 'newsgroups20_counts' of the folder that the environment "
        "variable LVMKIT_DATA names."
    )
    with pytest.raises(ConnectionError) as raised:
        fetch_newsgroups20()
    assert str(raised.value) == expected


def test_a_damaged_file_of_counts_is_refused(tmp_path, monkeypatch):
    (tmp_path / "newsgroups20_counts").mkdir()
    (tmp_path / "newsgroups20_counts" / "train_counts.npz").write_bytes(b"PK")
    monkeypatch.setenv("LVMKIT_DATA", str(tmp_path))
    with pytest.raises(ValueError, match=r"train_counts.npz is damaged or another version"):
        fetch_newsgroups20()


def test_options_are_checked_before_anything_is_looked_for(elsewhere):
    for fetch in (fetch_dante, fetch_state_union, fetch_movie_reviews, fetch_newsgroups20):
        with pytest.raises(ValueError, match="max_words must be a whole number"):
            fetch(max_words=0)
    with pytest.raises(ValueError, match=r"stop_words='the'; expected a list of words"):
        fetch_dante(stop_words="the")


def test_lines_are_written_as_json_with_their_accents(tmp_path):
    path = tmp_path / "x.txt"
    path.write_bytes(plain_text(json_lines_of(["Perché\nsì\nperò\nfine"])))
    [row] = [json.loads(line) for line in corpora.DANTE.convert(path).decode().splitlines()]
    assert row == {
        "id": 1,
        "cantica": "Inferno",
        "canto": 1,
        "n_verses": 4,
        "text": "Perché\nsì\nperò\nfine",
    }


def json_lines_of(texts):
    rows = [{"cantica": "Inferno", "canto": i, "text": t} for i, t in enumerate(texts, 1)]
    return pd.DataFrame(rows)
