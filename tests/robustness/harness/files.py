"""What can be wrong with files: of models, of tensors, of tables, of texts, of cohorts."""

import gzip
import io
import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anndata
import duckdb
import h5py
import numpy as np
import pandas as pd

import lvmkit
from harness import examples
from harness.matrices import EITHER, REFUSED, SAME_ANSWER

Make = Callable[[], Any]
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20


def written(name: str, content: bytes) -> Path:
    """Write a file of a name into a folder of its own."""
    path = examples.folder() / name
    path.write_bytes(content)
    return path


def itself(name: str) -> Path:
    """A link to itself."""
    path = examples.folder() / name
    path.symlink_to(path)
    return path


def a_folder(name: str) -> Path:
    """A folder of the file's name."""
    path = examples.folder() / name
    path.mkdir()
    return path


def anything(name: str, good: Callable[[], bytes]) -> dict[str, tuple[Make, str]]:
    """What can be wrong with a file of any kind."""
    return {
        "empty": (lambda: written(name, b""), REFUSED),
        "a picture of its name": (lambda: written(name, PNG), REFUSED),
        "cut in half": (lambda: written(name, good()[: len(good()) // 2]), REFUSED),
        "its first bytes": (lambda: written(name, good()[:7]), EITHER),
        "a page of HTML": (
            lambda: written(name, b"<!DOCTYPE html><html><body>Not found</body></html>"),
            EITHER,
        ),
        "a folder": (lambda: a_folder(name), REFUSED),
        "missing": (lambda: examples.folder() / name, REFUSED),
        "in a missing folder": (lambda: examples.folder() / "none" / name, REFUSED),
        "a link to itself": (lambda: itself(name), REFUSED),
        "a link to nothing": (lambda: _link(name), REFUSED),
        "a name with a NUL": (lambda: str(examples.folder() / f"a\0{name}"), REFUSED),
        "a very long name": (lambda: str(examples.folder() / ("x" * 3000 + name)), REFUSED),
        "an empty name": (lambda: "", REFUSED),
        "a fifo": (lambda: _fifo(name), EITHER),
    }


def _link(name: str) -> Path:
    path = examples.folder() / name
    path.symlink_to(path.with_name("gone"))
    return path


def _fifo(name: str) -> Path:
    path = examples.folder() / name
    os.mkfifo(path)
    return path


# -- npz: models and tensors ----------------------------------------------------------------

SAVED = (
    "BernoulliMixture", "SingleTopic", "PoissonMixture", "LatentDirichlet", "SpectralTree", "SUSTain",
    "TensorNormalMixture",
)  # fmt: skip


def model_bytes(name: str) -> bytes:
    """The file of a model."""
    return lvmkit.save(examples.fitted(name), examples.folder() / "model.npz").read_bytes()


def tensor_bytes() -> bytes:
    """The file of a tensor of counts."""
    return examples.count_tensor().save(examples.folder() / "model.npz").read_bytes()


def parts(content: bytes) -> dict[str, np.ndarray]:
    """The arrays of a file."""
    with np.load(io.BytesIO(content)) as stored:
        return {key: stored[key] for key in stored.files}


def npz(arrays: dict[str, np.ndarray]) -> Path:
    """Write arrays as a file."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return written("model.npz", buffer.getvalue())


def altered(content: bytes, key: str, change: Callable[[np.ndarray], Any]) -> Path:
    """Write a file with one array changed; None leaves it out."""
    arrays = parts(content)
    found = change(arrays[key])
    return npz(
        {k: v for k, v in arrays.items() if k != key} | ({} if found is None else {key: found})
    )


def _first(value: Any) -> Callable[[np.ndarray], np.ndarray]:
    def change(array: np.ndarray) -> np.ndarray:
        found = array.astype(np.result_type(array.dtype, type(value))).copy()
        if found.size:
            found.reshape(-1)[0] = value
        return found

    return change


ALTERED: dict[str, Callable[[np.ndarray], Any]] = {
    "left out": lambda a: None,
    "with NaN": _first(float("nan")),
    "with -1": _first(-1.0),
    "with 1e300": _first(1e300),
    "complex": lambda a: np.full(a.shape, 1j),
    "text": lambda a: np.full(a.shape, "x"),
    "of one axis more": lambda a: a[None],
    "cut": lambda a: a[:-1] if a.ndim else a,
    "emptied": lambda a: a.reshape(-1)[:0],
}


def header_altered(content: bytes, change: Callable[[dict[str, Any]], Any]) -> Path:
    """Write a file with another header."""
    arrays = parts(content)
    found = change(json.loads(str(arrays["header"][()])))
    text = found if isinstance(found, str) else json.dumps(found)
    return npz(arrays | {"header": np.array(text)})


HEADERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "no JSON": lambda h: "{",
    "a list": lambda h: [],
    "nested 100,000 deep": lambda h: "[" * 100_000 + "]" * 100_000,
    "null": lambda h: None,
    "of a later format": lambda h: h | {"format": "lvmkit-model-99"},
    "of no format": lambda h: {k: v for k, v in h.items() if k != "format"},
    "of an unknown model": lambda h: h | {"model": "Nothing"},
    "model is a list": lambda h: h | {"model": []},
    "params are a list": lambda h: h | {"params": [1]},
    "params unknown": lambda h: h | {"params": {"nothing": 1}},
    "params absurd": lambda h: h | {"params": dict.fromkeys(h.get("params", {}), "x")},
    "names twice": lambda h: h | {"feature_names": ["a"] * len(h.get("feature_names") or [1, 2])},
    "names too few": lambda h: h | {"feature_names": ["a"]},
    "names are numbers": lambda h: h | {"feature_names": list(range(len(h.get("feature_names") or [1])))},
    "names are text": lambda h: h | {"feature_names": "abc"},
    "fitted is null": lambda h: h | {"fitted": None},
    "fitted is absurd": lambda h: h | {"fitted": {key: [[]] for key in h.get("fitted", {})}},
    "annotations are text": lambda h: h | {"annotations": "x"},
    "n_samples negative": lambda h: h | {"moments": {"weighting": "pooled", "n_samples": -4, "n_short": 0}},
    "without all else": lambda h: {key: h[key] for key in ("format", "model") if key in h},
}  # fmt: skip


def declared(content: bytes, shape: tuple[int, ...]) -> Path:
    """Write a file whose first array declares a shape that it does not hold."""
    key = next(k for k in parts(content) if k != "header")
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        head, {"descr": "<f8", "fortran_order": False, "shape": shape}
    )
    return _zipped(content, f"{key}.npy", head.getvalue() + b"\0" * 64)


def bomb(content: bytes) -> Path:
    """Write a file whose first array is half a gigabyte of zeros in half a megabyte."""
    key = next(k for k in parts(content) if k != "header")
    head = io.BytesIO()
    size = 2**29 // 8
    np.lib.format.write_array_header_1_0(
        head, {"descr": "<f8", "fortran_order": False, "shape": (size,)}
    )
    return _zipped(content, f"{key}.npy", head.getvalue(), zeros=2**29)


def _zipped(content: bytes, name: str, first: bytes, zeros: int = 0) -> Path:
    path = examples.folder() / "model.npz"
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for member in old.namelist():
            if member != name:
                new.writestr(member, old.read(member))
        with new.open(name, "w", force_zip64=True) as member:
            member.write(first)
            for _ in range(zeros // 2**24):
                member.write(bytes(2**24))
    return path


def pickled() -> Path:
    """An array of objects, which only pickle could read."""
    buffer = io.BytesIO()
    np.savez(buffer, header=np.array([object()], dtype=object), weights_=np.ones(2))
    return written("model.npz", buffer.getvalue())


def of_npz(good: Callable[[], bytes]) -> dict[str, tuple[Make, str]]:
    """What can be wrong with a file of arrays."""
    found = anything("model.npz", good)
    found |= {
        "without a header": (lambda: altered(good(), "header", lambda a: None), REFUSED),
        "another zip": (lambda: _other_zip(), REFUSED),
        "pickled": (pickled, REFUSED),
        "declares 10**12 numbers": (lambda: declared(good(), (10**12,)), REFUSED),
        "declares a negative shape": (lambda: declared(good(), (-3,)), REFUSED),
        "a zip bomb": (lambda: bomb(good()), REFUSED),
        "bytes changed in the middle": (lambda: written("model.npz", _flipped(good())), REFUSED),
        **{
            f"header: {name}": (lambda change=change: header_altered(good(), change), EITHER)
            for name, change in HEADERS.items()
        },
    }
    for key in parts(good()):
        if key == "header":
            continue
        for name, change in ALTERED.items():
            found[f"{key} {name}"] = (lambda k=key, c=change: altered(good(), k, c), EITHER)
    return found


def _other_zip(name: str = "model.npz") -> Path:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("word/document.xml", "<x/>")
    return written(name, buffer.getvalue())


def _flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return (
        content[:middle]
        + bytes(255 - b for b in content[middle : middle + 20])
        + content[middle + 20 :]
    )


# -- tables and texts -----------------------------------------------------------------------


def csv(table: pd.DataFrame, **more: Any) -> bytes:
    """A table as text."""
    return table.to_csv(index=False, **more).encode()


def of_csv(
    table: Callable[[], pd.DataFrame], *, guessed: bool = False
) -> dict[str, tuple[Make, str]]:
    """What can be wrong with a table in a file, and files that are right; encodings are guessed by dashboards."""
    good = lambda: csv(table())  # noqa: E731 - read where it stands
    text = lambda: good().decode()  # noqa: E731
    alike: dict[str, tuple[str, Callable[[], bytes]]] = {
        "whole": ("events.csv", good),
        "UTF-16": ("events.csv", lambda: text().encode("utf-16")),
        "UTF-32": ("events.csv", lambda: text().encode("utf-32")),
        "UTF-16, gzip": ("events.csv.gz", lambda: gzip.compress(text().encode("utf-16"))),
        "gzip": ("events.csv.gz", lambda: gzip.compress(good())),
        "gzip named csv": ("events.csv", lambda: gzip.compress(good())),
        "gzip in two parts": (
            "events.csv.gz",
            lambda: gzip.compress(good()[:30]) + gzip.compress(good()[30:]),
        ),
        "semicolons": ("events.csv", lambda: csv(table(), sep=";")),
        "tabs": ("events.tsv", lambda: csv(table(), sep="\t")),
        "all quoted": ("events.csv", lambda: csv(table(), quoting=1)),
        "mixed line ends": ("events.csv", lambda: good().replace(b"\n", b"\r\n", 2)),
        "Windows line ends": ("events.csv", lambda: good().replace(b"\n", b"\r\n")),
        "old Mac line ends": ("events.csv", lambda: good().replace(b"\n", b"\r")),
        "UTF-16, Windows line ends": (
            "events.csv",
            lambda: text().replace("\n", "\r\n").encode("utf-16"),
        ),
        "no last line end": ("events.csv", lambda: good().removesuffix(b"\n")),
        "blank lines": ("events.csv", lambda: good().replace(b"\n", b"\n\n")),
        "a blank line first": ("events.csv", lambda: b"\n" + good()),
        "with a byte order mark": ("events.csv", lambda: b"\xef\xbb\xbf" + good()),
        "an ending in capitals": ("EVENTS.CSV", good),
        "a name with blanks and quotes": ("ev'e nts.csv", good),
        "a name with brackets": ("ev[1]é.csv", good),
        "a name with a star": ("ev*.csv", good),
    }
    found: dict[str, tuple[Make, str]] = {
        **anything("events.csv", good),
        "cut in half": (lambda: written("events.csv", good()[: len(good()) // 2]), EITHER),
        "header only": (lambda: written("events.csv", good().split(b"\n")[0] + b"\n"), EITHER),
        "csv named parquet": (lambda: written("events.parquet", good()), REFUSED),
        "csv named gz": (lambda: written("events.csv.gz", good()), REFUSED),
        "csv named h5ad": (lambda: written("events.h5ad", good()), EITHER),
        "csv named xlsx": (lambda: written("events.xlsx", good()), EITHER),
        "a zip named csv": (lambda: _other_zip("events.csv"), REFUSED),
        "an open quote": (lambda: written("events.csv", good() + b'"p9,"401\n'), EITHER),
        "zeros inside": (lambda: written("events.csv", good().replace(b"p1", b"p\x00", 1)), EITHER),
        "a row too long": (
            lambda: written("events.csv", good() + b"a,b,c,d,e,f,g,h,i,j\n"),
            EITHER,
        ),
        "a row too short": (lambda: written("events.csv", good() + b"a\n"), EITHER),
        "a header twice": (
            lambda: written("events.csv", good().split(b"\n")[0] + b"\n" + good()),
            REFUSED,
        ),
        "columns of one name": (lambda: written("events.csv", _one_name(good())), EITHER),
        "Latin-1": (
            lambda: written("events.csv", text().replace("1,", "1ü,").encode("latin-1")),
            EITHER if guessed else REFUSED,
        ),
        "UTF-16 without a mark": (
            lambda: written("events.csv", text().encode("utf-16-le")),
            SAME_ANSWER if guessed else REFUSED,
        ),
        "parquet": (lambda: _parquet(table(), "events.parquet"), SAME_ANSWER),
        "parquet in capitals": (lambda: _parquet(table(), "EVENTS.PARQUET"), SAME_ANSWER),
        "parquet cut": (lambda: _cut(_parquet(table(), "events.parquet")), REFUSED),
    }
    return found | {
        name: (lambda called=called, content=content: written(called, content()), SAME_ANSWER)
        for name, (called, content) in alike.items()
    }


def of_source(table: Callable[[], pd.DataFrame]) -> dict[str, tuple[Make, str]]:
    """What can be wrong with a table in files, several files, and SQL."""
    good = lambda: csv(table())  # noqa: E731 - read where it stands
    return {
        **of_csv(table),
        "one file in a list": (lambda: [written("a.csv", good())], SAME_ANSWER),
        "two files": (lambda: [written("a.csv", good()), examples.folder() / "none.csv"], REFUSED),
        "two files of other columns": (
            lambda: [written("a.csv", good()), written("b.csv", b"x,y\n1,2\n")],
            REFUSED,
        ),
        "a file twice": (lambda: [written("a.csv", good())] * 2, REFUSED),
        "a list with a number": (lambda: [written("a.csv", good()), 3], REFUSED),
        "SQL that is none": (lambda: "SELECT FROM WHERE", REFUSED),
        "SQL that deletes": (lambda: "DELETE FROM x", REFUSED),
        "SQL of a table that is not there": (lambda: "SELECT * FROM nothing", REFUSED),
        "a glob": (lambda: str(written("a.csv", good()).parent / "*.csv"), SAME_ANSWER),
        "a glob without files": (lambda: str(examples.folder() / "*.csv"), REFUSED),
        "a glob that is too long": (
            lambda: str(examples.folder() / ("x" * 3000 + "*.csv")),
            REFUSED,
        ),
    }


def _cut(path: Path) -> Path:
    path.write_bytes(path.read_bytes()[:-30])
    return path


def _one_name(content: bytes) -> bytes:
    head, _, rest = content.partition(b"\n")
    names = head.split(b",")
    return b",".join([names[0], names[0], *names[2:]]) + b"\n" + rest


def _parquet(table: pd.DataFrame, name: str) -> Path:
    path = examples.folder() / name
    duckdb.from_df(table).write_parquet(str(path))
    return path


TEXT = b"The heart fails and beats.\nThe kidney fails.\nThe lung breathes and beats.\n"


def of_text() -> dict[str, tuple[Make, str]]:
    """What can be wrong with a file of texts; one file is one document."""
    text = TEXT.decode()
    alike: dict[str, tuple[str, bytes]] = {
        "whole": ("notes.txt", TEXT),
        "UTF-16": ("notes.txt", text.encode("utf-16")),
        "UTF-32": ("notes.txt", text.encode("utf-32")),
        "gzip": ("notes.txt.gz", gzip.compress(TEXT)),
        "gzip named txt": ("notes.txt", gzip.compress(TEXT)),
        "Windows line ends": ("notes.txt", TEXT.replace(b"\n", b"\r\n")),
        "old Mac line ends": ("notes.txt", TEXT.replace(b"\n", b"\r")),
        "with a byte order mark": ("notes.txt", b"\xef\xbb\xbf" + TEXT),
    }
    return {
        **anything("notes.txt", lambda: TEXT),
        "cut in half": (lambda: written("notes.txt", TEXT[:20]), EITHER),
        "UTF-16 without a mark": (lambda: written("notes.txt", text.encode("utf-16-le")), REFUSED),
        "zip named txt": (lambda: _other_zip("notes.txt"), REFUSED),
        "an ending in capitals": (lambda: written("NOTES.TXT", TEXT), EITHER),
        "PDF named txt": (lambda: written("notes.txt", b"%PDF-1.7\n"), REFUSED),
        "zeros inside": (lambda: written("notes.txt", TEXT + b"\0\0"), EITHER),
        "Latin-1": (lambda: written("notes.txt", "Übung. Größe.\n".encode("latin-1")), REFUSED),
        "a folder with a link to itself": (_looped, EITHER),
        "lines that are no JSON": (lambda: written("notes.jsonl", TEXT), REFUSED),
        "an empty file of lines": (lambda: written("notes.jsonl", b""), REFUSED),
        **{
            name: (lambda called=called, content=content: written(called, content), SAME_ANSWER)
            for name, (called, content) in alike.items()
        },
    }


def _looped() -> Path:
    folder = examples.folder()
    (folder / "a.txt").write_bytes(TEXT)
    (folder / "again").symlink_to(folder)
    return folder


# -- cohorts --------------------------------------------------------------------------------


def h5ad_bytes() -> bytes:
    """The file of a cohort."""
    path = examples.folder() / "cohort.h5ad"
    examples.anndata().write_h5ad(path)
    return path.read_bytes()


def opened(change: Callable[[h5py.File], None]) -> Path:
    """Write a cohort and change its file."""
    path = written("cohort.h5ad", h5ad_bytes())
    with h5py.File(path, "r+") as file:
        change(file)
    return path


def _set(where: str, place: int, value: float) -> Callable[[h5py.File], None]:
    def change(file: h5py.File) -> None:
        file[where][place] = value

    return change


def _external(file: h5py.File) -> None:
    other = written("cohort.h5ad", h5ad_bytes())
    del file["X"]
    file["X"] = h5py.ExternalLink(str(other), "/X")


def _version(file: h5py.File) -> None:
    file["X"].attrs["encoding-version"] = "99.0.0"


def _drop(name: str) -> Callable[[h5py.File], None]:
    def change(file: h5py.File) -> None:
        del file[name]

    return change


def _shape(file: h5py.File) -> None:
    file["X"].attrs["shape"] = np.array([40, 3])


def of_h5ad() -> dict[str, tuple[Make, str]]:
    """What can be wrong with the file of a cohort."""
    changes: dict[str, tuple[Callable[[h5py.File], None], str]] = {
        "index out of range": (_set("X/indices", 1, 10**6), REFUSED),
        "index negative": (_set("X/indices", 1, -1), REFUSED),
        "bounds too large": (_set("X/indptr", -1, 10**6), REFUSED),
        "NaN": (_set("X/data", 1, float("nan")), REFUSED),
        "an entry of 7": (_set("X/data", 1, 7.0), EITHER),
        "an entry of -1": (_set("X/data", 1, -1.0), REFUSED),
        "an external link": (_external, REFUSED),
        "a newer encoding": (_version, REFUSED),
        "without X": (_drop("X"), REFUSED),
        "without var": (_drop("var"), REFUSED),
        "without obs": (_drop("obs"), REFUSED),
        "another shape": (_shape, REFUSED),
    }
    return {
        **anything("cohort.h5ad", h5ad_bytes),
        **{name: (lambda c=c: opened(c), rule) for name, (c, rule) in changes.items()},
        "whole": (lambda: written("cohort.h5ad", h5ad_bytes()), SAME_ANSWER),
        "an ending in capitals": (lambda: written("COHORT.H5AD", h5ad_bytes()), SAME_ANSWER),
        "h5ad named csv": (lambda: written("cohort.csv", h5ad_bytes()), EITHER),
        "HDF5 of something else": (_other_h5, REFUSED),
        "integers": (_integers, EITHER),
    }


def _other_h5() -> Path:
    path = examples.folder() / "cohort.h5ad"
    with h5py.File(path, "w") as file:
        file["x"] = np.eye(3)
    return path


def _integers() -> Path:
    path = examples.folder() / "cohort.h5ad"
    found = examples.anndata()
    found = anndata.AnnData(found.X.astype(np.int64), obs=found.obs, var=found.var)
    found.write_h5ad(path)
    return path


# -- what is written ------------------------------------------------------------------------


def of_writing(name: str) -> dict[str, tuple[Make, str]]:
    """What can be wrong with the name of a file to write."""
    path = lambda *parts: examples.folder().joinpath(*parts)  # noqa: E731 - read where it stands
    return {
        "a folder": (lambda: a_folder(name), REFUSED),
        "in a missing folder": (lambda: path("none", name), REFUSED),
        "in a file": (lambda: written("a.csv", b"x") / name, REFUSED),
        "a link to itself": (lambda: itself(name), REFUSED),
        "a link to nothing": (lambda: _link(name), EITHER),
        "a name with a NUL": (lambda: str(path(f"a\0{name}")), REFUSED),
        "a very long name": (lambda: str(path("x" * 3000 + name)), REFUSED),
        "an empty name": (lambda: "", REFUSED),
        "a fifo": (lambda: _fifo(name), REFUSED),
        "a name with blanks and quotes": (lambda: path(f"m'y {name}"), EITHER),
    }
