"""Names of files are checked in one place, and what is wrong with them is told in words."""

import os

import pytest

import lvmkit
from lvmkit.cohorts import CountTensor, from_events, from_texts
from lvmkit.cohorts._h5ad import read_h5ad
from lvmkit.cohorts.open_file import open_cohort
from lvmkit.core.reading import readable, require_file

READERS = {
    "load": lvmkit.load,
    "tensor": CountTensor.load,
    "events": lambda path: from_events(path, patient="id", code="dx"),
    "texts": from_texts,
    "h5ad": read_h5ad,
    "dashboard": open_cohort,
}


def test_a_file_is_returned_and_opened(tmp_path):
    (tmp_path / "a").write_bytes(b"x")
    assert require_file(str(tmp_path / "a")) == tmp_path / "a"
    with readable(tmp_path / "a") as file:
        assert file.read() == b"x"


def test_what_is_no_file_is_told_by_its_name_alone(tmp_path):
    (tmp_path / "empty").touch()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "dangling").symlink_to(tmp_path / "absent")
    os.mkfifo(tmp_path / "pipe")
    cases = {
        tmp_path: "it is a folder; name a file in it",
        tmp_path / "empty": "it is empty (0 bytes)",
        tmp_path / "absent": "there is no such file; check its name",
        tmp_path / "none" / "x": "there is no folder 'none'; check the path",
        tmp_path / "empty" / "x": "'empty'",
        tmp_path / "loop": "it is a link that leads to itself",
        tmp_path / "dangling": "it is a link to a file that is gone",
        tmp_path / "pipe": "it is a device or a pipe",
        tmp_path / ("x" * 3000): "its name is too long",
        f"{tmp_path}/a\0b": "a name cannot hold the null character",
        "": "it names no file",
    }
    for path, words in cases.items():
        with pytest.raises((ValueError, OSError)) as told:
            require_file(path)
        assert words in str(told.value), path
        assert str(tmp_path) not in str(told.value)
        assert len(str(told.value)) < 250


@pytest.mark.parametrize("name", READERS)
def test_every_reader_of_files_says_so(name, tmp_path):
    ending = {"events": ".csv", "texts": ".txt", "h5ad": ".h5ad", "dashboard": ".csv"}.get(
        name, ".npz"
    )
    os.mkfifo(tmp_path / f"pipe{ending}")
    for path in (
        tmp_path / ("x" * 3000 + ending),
        f"{tmp_path}/a\0{ending}",
        tmp_path / f"pipe{ending}",
    ):
        with pytest.raises((ValueError, FileNotFoundError)) as told:
            READERS[name](str(path))
        assert str(tmp_path) not in str(told.value)
        assert len(str(told.value)) < 300
