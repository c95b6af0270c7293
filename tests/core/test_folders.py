"""Files that readers name: opened and written below the start folder once others can connect."""

import shutil
from pathlib import Path

import pytest

import lvmkit
from lvmkit.core.folders import Folders, folders_of, open_only
from lvmkit.storage import is_model_file
from lvmkit_widgets import Workbench

OUTSIDE = [
    "/etc/passwd",
    "../outside.csv",
    "a/../../outside.csv",
    "~/x.csv",
    "~root/x.csv",
    "~nobody-of-this-name/x.csv",
    "/proc/self/root/etc/passwd",
    "/proc/1/cwd/x.csv",
    "/dev/stdin",
    "//server/share/x.csv",
    "\\\\server\\share\\x.csv",
    "link/x.csv",
    "link.csv",
    "circle.csv",
    "a\0b.csv",
]


@pytest.fixture
def start(tmp_path, monkeypatch):
    """The start folder, with links that lead out of it."""
    folder = tmp_path / "start"
    (folder / "a").mkdir(parents=True)
    (tmp_path / "outside.csv").write_text("dx1,dx2\n428,585\n", "utf-8")
    (folder / "link").symlink_to(tmp_path)
    (folder / "link.csv").symlink_to(tmp_path / "outside.csv")
    (folder / "circle.csv").symlink_to(folder / "circle.csv")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def bench(start):
    """A workbench as visitors of a server with a token see it."""
    with open_only([start]):
        return Workbench(lvmkit.datasets.load_discharges()[:400], k=2)


def save_to(bench, text):
    """Name the file of the model, and return what is said."""
    form = bench.components["autosave"]
    form.values = {**form.values, "autosave": str(text)}
    return bench.components["status"].message


@pytest.mark.parametrize("text", OUTSIDE)
@pytest.mark.parametrize("write", [False, True])
def test_nothing_outside_is_opened_or_written(start, text, write):
    with pytest.raises(
        ValueError, match=f"is not below “{start}”|is no file name|home folder|leads"
    ):
        Folders([start]).checked(text, write=write)


@pytest.mark.parametrize("text", ["x.csv", "a/x.csv", "./a/../x.csv", "a/../a/b.csv"])
def test_what_is_below_is_found_without_detours(start, text):
    assert Folders([start]).checked(text) == (start / text).resolve()
    assert Folders([start]).checked(str(start / text)) == (start / text).resolve()


def test_the_folder_of_data_is_read_and_not_written(start, tmp_path):
    folders = Folders([start], [tmp_path])
    assert folders.checked("../outside.csv") == tmp_path / "outside.csv"
    with pytest.raises(ValueError, match="only files there can be written"):
        folders.checked("../outside.csv", write=True)


def test_whoever_sits_at_the_machine_names_any_file(start, tmp_path):
    assert Folders().checked("../outside.csv") == Path("../outside.csv")
    assert Folders().checked("~/x.csv") == Path.home() / "x.csv"
    for text in ("a\0b", "x" * 300, "x/" * 3_000):
        with pytest.raises(ValueError, match="is no file name"):
            Folders().checked(text)


def test_a_home_that_is_everything_opens_nothing(start, tmp_path):
    assert folders_of(start, Path("/")) == (start,)
    assert folders_of(start, tmp_path) == (start, tmp_path)
    assert folders_of(tmp_path, start) == (tmp_path,)


@pytest.mark.parametrize("field", ["path", "model"])
@pytest.mark.parametrize("text", ["/etc/passwd", "../outside.csv", "link.csv", "/no/such.csv"])
def test_visitors_open_no_file_outside(bench, start, field, text):
    form = bench.components["open"]
    form.values = {**form.values, field: text}
    with pytest.raises(ValueError, match=f"is not below “{start}”"):
        form.fire("pressed", "open")
    with pytest.raises(ValueError, match="Choose the columns"):
        bench.components["columns"].fire("pressed", "open")
    options = [value for value, _ in form.controls[0]["options"]]
    assert not any("link" in value or "circle" in value for value in options)


@pytest.mark.parametrize("text", ["/x.npz", "../x.npz", "link/x.npz", "~/x.npz", "//a/b/x.npz"])
def test_visitors_write_no_file_outside(bench, start, text):
    with pytest.raises(ValueError, match=f"is not below “{start}”"):
        save_to(bench, text)
    assert bench.state.autosave is None
    assert not (start.parent / "x.npz").exists()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("x.csv", "name it “x.npz”"),
        ("x", "name it “x.npz”"),
        ("gone/x.npz", "no folder"),
        ("paper.npz", "no model of lvmkit"),
        ("arrays.npz", "no model of lvmkit"),
        ("link.npz", "no model of lvmkit"),
        ("a.npz", "no model of lvmkit"),
    ],
)
@pytest.mark.parametrize("confined", [True, False])
def test_models_replace_no_other_file(start, name, message, confined):
    import numpy as np

    with open_only([start] if confined else None):
        bench = Workbench(lvmkit.datasets.load_discharges()[:400], k=2)
    (start / "paper.npz").write_text("my thesis", "utf-8")
    np.savez(start / "arrays.npz", a=np.arange(3))
    (start / "link.npz").symlink_to(start / "paper.npz")
    (start / "a.npz").mkdir()
    before = {p: p.read_bytes() for p in start.iterdir() if p.is_file()}
    with pytest.raises(ValueError, match=message):
        save_to(bench, name)
    bench.state = bench.state.rename(0, "Heart")
    assert {p: p.read_bytes() for p in start.iterdir() if p.is_file()} == before


def test_a_model_that_is_there_is_replaced_only_when_asked(bench, start):
    assert "saved to" in save_to(bench, "one.npz")
    shutil.copy("one.npz", "two.npz")
    before = Path("two.npz").read_bytes()
    bench.state = bench.state.rename(0, "Heart")
    said = save_to(bench, "two.npz")
    assert "“two.npz” holds a model already" in said
    assert "still saved to “one.npz”" in said
    bench.state = bench.state.rename(0, "Lungs")
    assert Path("two.npz").read_bytes() == before
    keep = bench.components["autosave"]
    assert [c["name"] for c in keep.controls] == ["autosave", "replace", "leave"]
    keep.fire("pressed", "leave")
    assert keep.values["autosave"] == bench.state.autosave == str(start / "one.npz")
    assert [c["name"] for c in keep.controls] == ["autosave"]
    save_to(bench, "two.npz")
    keep.fire("pressed", "replace")
    bench.state = bench.state.rename(0, "Kidneys")
    assert lvmkit.load("two.npz").annotations_["clusters"][0]["name"] == "Kidneys"
    assert lvmkit.load("one.npz").annotations_["clusters"][0]["name"] == "Lungs"
    save_to(bench, "")
    assert bench.state.autosave is None


def test_a_name_that_is_refused_ends_no_saving(bench, start):
    """The field shows where the model is still saved, and steps go on to be saved there."""
    save_to(bench, "one.npz")
    with pytest.raises(
        ValueError, match=r"name it “b\.npz”\. The model is still saved to “one\.npz”"
    ):
        save_to(bench, "b.txt")
    with pytest.raises(ValueError, match=r"is not below .* still saved to “one\.npz”"):
        save_to(bench, "../b.npz")
    assert bench.components["autosave"].values["autosave"] == str(start / "one.npz")
    bench.state = bench.state.rename(0, "Heart")
    assert lvmkit.load("one.npz").annotations_["clusters"][0]["name"] == "Heart"


def test_a_model_that_another_visitor_wrote_meanwhile_is_left_alone(bench, start):
    save_to(bench, "one.npz")
    lvmkit.save(lvmkit.BernoulliMixture(3).fit(lvmkit.datasets.load_discharges()[:300]), "one.npz")
    with pytest.raises(ValueError, match="was written by somebody else meanwhile"):
        bench.state = bench.state.rename(0, "Heart")
    assert lvmkit.load("one.npz").n_components == 3
    assert bench.state.autosave is None


def test_the_root_is_no_start_folder(tmp_path):
    assert folders_of(Path("/")) == ()
    assert folders_of(Path("/"), tmp_path) == (tmp_path,)
    with pytest.raises(ValueError, match="starts it in the folder that holds the files"):
        Folders(folders_of(Path("/"))).checked("/etc/passwd")


def test_names_of_users_are_not_looked_up(start):
    """Whether there is such a user is nothing that visitors can find out."""
    said = []
    for name in ("~root/x.csv", "~nobody-of-that-name/x.csv"):
        with pytest.raises(ValueError, match="is not below") as error:
            Folders([start]).checked(name)
        said.append(str(error.value).replace(name, ""))
    assert said[0] == said[1]


def test_a_file_that_has_become_another_is_left_alone(bench, start):
    save_to(bench, "one.npz")
    (start / "one.npz").write_text("my thesis", "utf-8")
    with pytest.raises(ValueError, match="has become another file"):
        bench.state = bench.state.rename(0, "Heart")
    assert (start / "one.npz").read_text("utf-8") == "my thesis"
    bench.state = bench.state.rename(0, "Lungs")
    assert not is_model_file(start / "one.npz")


def test_a_name_is_looked_up_in_the_folder_where_the_program_was_started():
    assert Folders().checked("model.npz").name == "model.npz"
