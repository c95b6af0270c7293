"""An h5ad is a stranger's file: it is checked before a library computes on it."""

import os
import subprocess
import sys
from importlib.metadata import version

import anndata
import h5py
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from lvmkit.cohorts import _h5ad, _h5ad_trial
from lvmkit.cohorts._h5ad import read_h5ad

PROGRAM = """
import sys, warnings
from lvmkit.cohorts import _h5ad, _h5ad_trial
from lvmkit.cohorts._h5ad import read_h5ad
for path in sys.argv[1:]:
    try:
        read_h5ad(path)
        print("read")
    except ValueError as error:
        print(str(error).replace(chr(10), " "))
"""


def made(path, layer=None, **parts):
    rng = np.random.default_rng(0)
    X = sparse.csr_matrix((rng.random((30, 6)) < 0.5).astype(np.float32))
    obs = pd.DataFrame(
        {"age": rng.integers(20, 90, 30), "sex": pd.Categorical(rng.choice(["F", "M"], 30))},
        index=[f"p{i}" for i in range(30)],
    )
    cohort = anndata.AnnData(X, obs=obs, var=pd.DataFrame(index=[*"abcdef"]), **parts)
    if layer:
        cohort.layers[layer] = X.copy()
    cohort.write_h5ad(path)
    return path


def array(file, place, *arguments, **options):
    data = file.create_dataset(place, *arguments, **options)
    data.attrs.update({"encoding-type": "array", "encoding-version": "0.2.0"})


def doubled(file, _):
    group = file["uns"]
    for _ in range(40):  # 2**40 paths
        inner = group.create_group("a")
        inner.attrs.update({"encoding-type": "dict", "encoding-version": "0.1.0"})
        group["b"] = inner
        group = inner


def virtual(file, other):
    layout = h5py.VirtualLayout((30,), dtype="i8")
    layout[:] = h5py.VirtualSource(other, "obs/age", (30,))
    del file["obs/age"]
    data = file["obs"].create_virtual_dataset("age", layout)
    data.attrs.update({"encoding-type": "array", "encoding-version": "0.2.0"})


def linked(file, link):
    file.move("X", "other")
    file["X"] = link


def stored_elsewhere(file, other):
    del file["obs/age"]
    array(file, "obs/age", (30,), "i8", external=[(other, 0, 240)])


def replaced(file, place, number, value):
    values = file[place][()]
    values[number] = value
    file[place][...] = values


BROKEN = {
    "index": (
        lambda f, _: replaced(f, "X/indices", 0, 10**6),
        "X is a broken sparse csr_matrix (csr, 30 x 6): indices[0] is 1000000",
    ),
    "negative": (lambda f, _: replaced(f, "X/indices", 2, -1), "indices[2] is -1"),
    "starts": (lambda f, _: replaced(f, "X/indptr", 3, 10**6), "indptr falls from 1000000"),
    "layer": (
        lambda f, _: replaced(f, "layers/raw/indices", 0, 10**6),
        "layers['raw'] is a broken sparse",
    ),
    "external": (
        lambda f, other: linked(f, h5py.ExternalLink(other, "/X")),
        "holds at '/X' a link to '/X' of the file",
    ),
    "soft": (lambda f, _: linked(f, h5py.SoftLink("/other")), "at '/X' a link to '/other'"),
    "virtual": (virtual, "holds at '/obs/age' an array put together from"),
    "elsewhere": (stored_elsewhere, "holds at '/obs/age' an array stored in the file"),
    "loop": (
        lambda f, _: f["uns"].__setitem__("a", f["uns"]),
        "holds at '/uns/a' a second link to the same part of the file",
    ),
    "linked twice": (
        lambda f, _: f["uns"].__setitem__("a", f["X/data"]),
        "a second link to the same part of the file, which is not followed",
    ),
    "more paths than can be walked": (
        doubled,
        "a second link to the same part of the file, which is not followed",
    ),
    "huge": (
        lambda f, _: (f.pop("X"), array(f, "X", (30, 10**11), "f4", chunks=(1, 1000))),
        "declares 12,000,000,000,000 bytes at '/X' and stores 0",
    ),
    "huge together": (
        lambda f, _: [
            array(f, f"uns/a{i:02}", (50_000_000,), "f8", chunks=(10**6,)) for i in range(10)
        ],
        "declares 400,000,000 bytes at '/uns/a02' and stores 0",
    ),
    "category": (lambda f, _: replaced(f, "obs/sex/codes", 0, 100), "not a complete h5ad file"),
    "no X": (lambda f, _: f.pop("X"), "holds nothing as X"),
    "no obs": (lambda f, _: f.pop("obs"), "not a complete h5ad file"),
    "later part": (
        lambda f, _: f["obs/age"].attrs.__setitem__("encoding-version", "9.1.0"),
        "was written by a later anndata: its part '/obs/age' is of the encoding 'array', version '9.1.0', "
        f"which anndata {version('anndata')} here cannot read",
    ),
    "later file": (
        lambda f, _: f.attrs.__setitem__("encoding-version", "9.1.0"),
        "was written by a later anndata: its part '/'",
    ),
    "text": (
        lambda f, _: (f.pop("X"), f.create_dataset("X", data=np.full((30, 6), b"x", dtype="S1"))),
        "X",
    ),
}


def test_hostile_files_are_refused_in_one_sentence_and_end_no_process(tmp_path):
    other = made(tmp_path / "other.h5ad")
    paths = []
    for name, (damage, _) in BROKEN.items():
        paths.append(made(tmp_path / f"{name}.h5ad", layer="raw"))
        with h5py.File(paths[-1], "r+") as file:
            damage(file, str(other))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, paths)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for (name, (_, words)), told in zip(BROKEN.items(), done.stdout.splitlines(), strict=True):
        assert f"“{name}.h5ad”" in told, (name, told)
        assert words in told, (name, told)


def test_cut_files_and_others_are_told(tmp_path):
    path = made(tmp_path / "cohort.h5ad")
    content = path.read_bytes()
    for damaged, words in (
        (
            content[: len(content) // 2],
            r"“cohort\.h5ad” is not a complete h5ad file \(it is cut short\)",
        ),
        (b"hello" * 100, r"“cohort\.h5ad” is no h5ad file"),
        (b"", r"'cohort\.h5ad': it is empty"),
    ):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=words):
            read_h5ad(path)
    with pytest.raises(FileNotFoundError, match=r"cannot read .*: there is no such file"):
        read_h5ad(tmp_path / "absent.h5ad")
    with pytest.raises(OSError, match="it is a folder"):
        read_h5ad(tmp_path)


def test_what_is_no_cohort_is_told_by_the_names_in_it(tmp_path):
    path = made(tmp_path / "cohort.h5ad")
    for value, shown in ((-1.0, "-1"), (np.nan, "nan"), (np.inf, "inf")):
        with h5py.File(path, "r+") as file:
            file["X/data"][3] = value
        with pytest.raises(
            ValueError,
            match=rf"holds {shown} in X, in row '.*', column '.*'; a cohort holds counts",
        ):
            read_h5ad(path)
    path = made(tmp_path / "cohort.h5ad")
    with h5py.File(path, "r+") as file:
        anndata.io.write_elem(file, "more", np.eye(2))
    with pytest.raises(ValueError, match=r"it holds 'more', which no cohort has"):
        read_h5ad(path)
    with h5py.File(path, "r+") as file:
        del file["more"], file["var"]
    with pytest.raises(ValueError, match=r"it lacks 'var'"):
        read_h5ad(path)
    os.mkfifo(tmp_path / "pipe.h5ad")
    with pytest.raises(
        ValueError, match="it is a device or a pipe"
    ):  # at once: nobody would write into it
        read_h5ad(tmp_path / "pipe.h5ad")


def test_a_whole_file_is_read_as_anndata_reads_it(tmp_path):
    path = made(
        tmp_path / "cohort.h5ad", layer="raw", obsm={"plane": sparse.eye_array(30, 2, format="csr")}
    )
    found, plain = read_h5ad(path), anndata.read_h5ad(path)
    assert (found.X != plain.X).nnz == 0
    assert found.obs.equals(plain.obs)
    assert list(found.layers) == list(plain.layers)  # from anndata 0.13 on X is among them


ABORT, HANG = "import os; os.abort()\n", "while True: pass\n"
BEGAN, ENDED = "print('lvmkit: began', flush=True)\n", "print('lvmkit: ended', flush=True)\n"


def tried_by(code, tmp_path, monkeypatch):
    """Let another program try files, and return one."""
    program = tmp_path / "trial.py"
    program.write_text(code)
    monkeypatch.setattr(_h5ad, "TRIAL", program)
    monkeypatch.setattr(_h5ad, "TRIAL_SECONDS", 2)
    return made(tmp_path / "cohort.h5ad")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (ABORT, "is damaged so that the HDF5 library fails on it"),
        (HANG, "was not read within 2 seconds"),
    ],
)
def test_a_file_on_which_the_library_ends_or_hangs_is_refused(tmp_path, monkeypatch, code, words):
    path = tried_by(BEGAN + code, tmp_path, monkeypatch)
    with pytest.raises(ValueError, match=rf"“cohort\.h5ad” {words}; get another copy"):
        read_h5ad(path)


@pytest.mark.parametrize(
    "code", [ABORT, HANG, "import sys; sys.exit(3)", "import no_such_module", BEGAN + ENDED + ABORT]
)
def test_a_trial_that_did_not_begin_tells_nothing_of_the_file(tmp_path, monkeypatch, code):
    assert read_h5ad(tried_by(code, tmp_path, monkeypatch)).n_obs == 30


@pytest.mark.parametrize("program", ["/absent/python", "", None, "/bin/false", "/bin/cat"])
def test_files_are_read_where_there_is_no_python_to_start(tmp_path, monkeypatch, program):
    path = made(tmp_path / "cohort.h5ad")
    monkeypatch.setattr(sys, "executable", program)
    assert read_h5ad(path).n_obs == 30


def test_the_trial_says_when_it_began_and_ended(tmp_path):
    path = made(tmp_path / "cohort.h5ad")
    command = [sys.executable, "-P", str(_h5ad.TRIAL), str(path)]
    said = subprocess.run(command, capture_output=True, check=True).stdout
    assert said.split(b"\n")[:2] == [_h5ad.BEGAN, _h5ad.ENDED]


def test_the_trial_reads_every_kind_of_array_once_and_ends_on_loops(tmp_path, monkeypatch):
    path = made(tmp_path / "cohort.h5ad")
    with h5py.File(path, "r+") as file:
        doubled(file, None)
        file["uns/age"] = file["obs/age"]
        file["uns/loop"] = file["uns"]
        file["uns/soft"] = h5py.SoftLink("/absent")
        file["uns/text"] = ["a", "b"]
        file["uns/empty"] = np.zeros((0, 3))
        file["uns/none"] = h5py.Empty("f4")
        file["uns/one"] = 3
    found, read = [], _h5ad_trial.read
    monkeypatch.setattr(
        _h5ad_trial, "read", lambda data, **how: (found.append(data.name), read(data, **how))
    )
    _h5ad_trial.main(str(path))
    assert len({"/obs/age", "/uns/age"} & set(found)) == 1
    assert {"/uns/text", "/uns/empty", "/uns/none", "/uns/one"} <= set(found)


@pytest.mark.parametrize("dtype", ["u4", "u8", ">i4"])
def test_indexes_of_any_type_are_read(tmp_path, dtype):
    path = made(tmp_path / "cohort.h5ad", layer="raw")
    plain = read_h5ad(path)
    with h5py.File(path, "r+") as file:
        for group in (file["X"], file["layers/raw"]):
            for part in ("indices", "indptr"):
                values = group[part][()]
                del group[part]
                array(group, part, data=values.astype(dtype))
    found = read_h5ad(path)
    for one, other in ((found.X, plain.X), (found.layers["raw"], plain.layers["raw"])):
        assert (one.toarray() == other.toarray()).all()
    assert (found[3:7].X.toarray() == plain[3:7].X.toarray()).all()
