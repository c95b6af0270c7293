"""The command line answers mistakes with a sentence and an exit code, never a traceback."""

import subprocess
import sys
import tempfile

import h5py
import pytest

from lvmkit.cohorts import from_texts
from lvmkit.cohorts._h5ad import read_h5ad
from lvmkit.datasets import load_discharges
from lvmkit_widgets.server import cli


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["explore", "gone.csv"],
            "lvmkit explore: cannot read 'gone.csv': there is no such file; check",
        ),
        (
            ["report", "gone.csv", "out.html"],
            "lvmkit report: cannot read 'gone.csv': there is no such file; check",
        ),
        (
            ["topics", "gone.h5ad"],
            "lvmkit topics: cannot read 'gone.h5ad': there is no such file; check",
        ),
        (["topics", "gone.csv", "--text", "body"], "lvmkit topics: "),
        (["topics", "."], "holds no .txt files"),
        (
            ["topics", "gone", "--address", "0.0.0.0", "--no-browser"],
            "lvmkit topics: --address 0.0.0.0 lets other machines connect, and what is shown would",
        ),
        (["explore", "--address", "0.0.0.0"], "add --token new, or leave --address out"),
        (["explore", ""], "lvmkit explore: cannot read '.': it names no file; name one"),
        (["fetch", "nhds"], "there is no data set 'nhds'; there are dante, desynpuf"),
        (["fetch", "nhds2010", "out.csv"], "the cohort is saved as h5ad: name it 'out.h5ad'"),
    ],
)
def test_a_mistake_is_told_in_one_line(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli.main(arguments) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "required: COMMAND"),
        (["explore", "--port", "http"], "'http' is no port; use 0 to 65535"),
        (
            ["report", "a", "b", "--components", "0"],
            "'0' is no such number; use 1 or more",
        ),
        (["topics", "a", "--language", "latin"], "invalid choice: 'latin'"),
        (["topics", "a", "--encoding", "\0"], "'\\x00' holds what is no printable character"),
        (["explore", "--token", "\udcff"], "'\\udcff' holds what is no printable character"),
    ],
)
def test_what_is_typed_wrongly_is_told_with_the_usage(arguments, message, capsys):
    with pytest.raises(SystemExit) as stopped:
        cli.main(arguments)
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


ABSURD = ("0", "-1", "1.5", "many", "", "9" * 11, "9" * 5000, "²", "nan", "inf", "1e5")
NUMBERS = {
    "explore": ("--components", "--port"),
    "topics": ("--components", "--min-documents", "--max-words", "--port"),
    "tree": ("--depth", "--leaves", "--smallest", "--port"),
    "cards": ("--components", "--max-score", "--port"),
    "stability": ("--components", "--repeats", "--port"),
    "covariates": ("--steps", "--port"),
    "tensors": ("--components", "--port"),
    "report": ("--components",),
}


@pytest.mark.parametrize("command", NUMBERS)
def test_absurd_numbers_are_refused_in_a_line(command, capsys):
    files = {"topics": ["texts"], "report": ["a.csv", "b.html"], "tensors": ["eeg"]}.get(
        command, []
    )
    files = ["--outcome", "sex"] if command == "covariates" else files
    for option in NUMBERS[command]:
        for text in ABSURD:
            if (option, text) == ("--port", "0"):  # takes a free one
                continue
            with pytest.raises(SystemExit) as stopped:
                cli.main([command, *files, f"{option}={text}"])
            assert stopped.value.code == 2
            last = capsys.readouterr().err.splitlines()[-1]
            assert f"lvmkit {command}: error: argument {option}: " in last
            assert len(last) < 200


@pytest.mark.parametrize("command", ["explore", "topics", "tree", "cards", "stability"])
def test_an_empty_token_is_refused_before_the_work(command, monkeypatch, capsys):
    for place in ("datasets.load_discharges", "cohorts.from_texts"):
        monkeypatch.setattr(f"lvmkit.{place}", lambda *_, **__: pytest.fail("worked"))
    monkeypatch.setattr("lvmkit_widgets.server.serve.serve", lambda *_, **__: pytest.fail("served"))
    files = ["texts"] if command == "topics" else []
    assert cli.main([command, *files, "--token", ""]) == 1
    assert "the token has 0 characters; use at least 12" in capsys.readouterr().err


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    rows = [f"{i % 2},{(i // 2) % 2},{i % 3 == 0:d},1,{i % 5 == 0:d},0" for i in range(40)]
    path.write_text("\n".join(["a,b,c,d,e,f", *rows]))
    return path


def test_scores_that_are_too_large_are_told_by_the_option(table, capsys, shown):
    assert cli.main(["cards", str(table), "--max-score", "999999999", "--components", "2"]) == 1
    error = capsys.readouterr().err
    assert "--max-score of mode 0 must be at most 1,000 in size; found 999,999,999" in error


@pytest.mark.parametrize("error", [RuntimeError("deep\ninside"), KeyError("x"), TypeError("no")])
def test_what_nobody_expected_is_told_with_the_place_of_its_details(
    error, table, capsys, monkeypatch, tmp_path
):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("lvmkit.cohorts.open_file.open_cohort", fail)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "logs"))
    (tmp_path / "logs").mkdir()
    asked = ["report", str(table), str(tmp_path / "out.html")]
    assert cli.main(asked) == 1
    told = capsys.readouterr().err
    (log,) = (tmp_path / "logs").iterdir()
    assert "lvmkit report: this should not happen" in told
    assert str(log) in told
    assert "Traceback" not in told
    assert told.count("\n") == 1
    assert "Traceback" in log.read_text()
    assert cli.main(["--debug", *asked]) == 1
    assert "Traceback" in capsys.readouterr().err
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "absent"))
    assert cli.main(asked) == 1
    assert "the details are in what lvmkit --debug prints" in capsys.readouterr().err


def test_too_little_memory_is_told(table, tmp_path, capsys, monkeypatch):
    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr("lvmkit.cohorts.open_file.open_cohort", fail)
    assert cli.main(["report", str(table), str(tmp_path / "out.html")]) == 1
    assert "this needs more memory than there is" in capsys.readouterr().err


def test_a_place_that_cannot_be_written_is_told_before_the_work(
    table, tmp_path, capsys, monkeypatch
):
    def work(*_, **__):
        raise AssertionError

    monkeypatch.setattr("lvmkit.cohorts.open_file.open_cohort", work)
    monkeypatch.setattr(cli, "_fetcher", lambda name: work)
    (tmp_path / "dir.html").mkdir()
    for name, words in {
        "absent/out.html": "there is no folder",
        "table.csv/out.html": "is no folder",
        "dir.html": "it is a folder",
        "nul\0.html": "a name cannot hold the null character",
        "x" * 5000 + ".html": "its name is too long",
    }.items():
        assert cli.main(["report", str(table), str(tmp_path / name)]) == 1
        told = capsys.readouterr().err
        assert words in told
        assert len(told) < 700
    assert cli.main(["report", str(table), "."]) == 1
    assert "name the page that is to be written" in capsys.readouterr().err
    assert cli.main(["report", str(tmp_path), "out.html"]) == 1
    assert "is a folder; name a file in it" in capsys.readouterr().err
    assert cli.main(["fetch", "nhds2010", "/"]) == 1
    assert "such as nhds2010.h5ad" in capsys.readouterr().err
    assert cli.main(["fetch", "nhds2010", str(tmp_path / "absent" / "out.h5ad")]) == 1
    assert "there is no folder" in capsys.readouterr().err


def test_what_is_fetched_is_written_whole_and_for_colleagues(tmp_path, monkeypatch, capsys):
    cohort = from_texts(["fever cough", "rash cough"])
    monkeypatch.setattr(cli, "_fetcher", lambda name: lambda: cohort)
    out = tmp_path / "out.h5ad"
    out.write_bytes(b"old")
    out.chmod(0o640)
    assert cli.main(["fetch", "dante", str(out)]) == 0
    assert "saved as" in capsys.readouterr().out
    assert read_h5ad(out).shape == cohort.shape
    assert out.stat().st_mode & 0o777 == 0o640
    before = out.read_bytes()
    monkeypatch.setattr(type(cohort), "write_h5ad", lambda *_: 1 / 0)
    assert cli.main(["fetch", "dante", str(out)]) == 1
    assert out.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["out.h5ad"]


def test_an_h5ad_with_an_index_outside_its_matrix_ends_no_process(tmp_path):
    path = tmp_path / "bad.h5ad"
    load_discharges()[:200].copy().write_h5ad(path)
    with h5py.File(path, "r+") as file:
        file["X/indices"][0] = 10**6
    command = [
        sys.executable,
        "-m",
        "lvmkit_widgets.server.cli",
        "report",
        path,
        tmp_path / "x.html",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 1
    assert "“bad.h5ad”: X is a broken sparse" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "x.html").exists()


def test_a_report_must_be_named_as_a_page(tmp_path, capsys):
    table = tmp_path / "table.csv"
    table.write_text("a\n1\n")
    assert cli.main(["report", str(table), str(tmp_path / "out.pdf")]) == 1
    assert "name it 'out.html', not 'out.pdf'" in capsys.readouterr().err


@pytest.fixture
def shown(monkeypatch):
    """What the command serves: instead of waiting for visitors it makes one dashboard."""
    servers = []
    monkeypatch.setattr("lvmkit_widgets.server.serve.run", servers.append)
    monkeypatch.setattr("lvmkit_widgets.server.serve.serve", lambda factory, **_: Served(factory))
    return servers


def test_topics_of_a_folder_of_texts_are_served(tmp_path, capsys, shown):
    for i in range(12):
        words = "war army peace" if i % 2 else "tax budget money"
        (tmp_path / f"speech{i}.txt").write_text(f"{words} and the {words} of the nation.")
    assert cli.main(["topics", str(tmp_path), "--components", "2", "1", "--no-browser"]) == 0
    assert f"{tmp_path.name} – Topics is at http://127.0.0.1:7/" in capsys.readouterr().out
    board = shown[0].board
    assert [topics.k for topics in board.state.versions] == [1, 2]
    assert len(board.state.corpus) == 12
    assert board.stage.title == f"Topics of {tmp_path.name}"


def test_a_tree_of_a_file_is_served(tmp_path, capsys, shown):
    path = tmp_path / "ward.h5ad"
    load_discharges()[:1500].copy().write_h5ad(path)
    assert cli.main(["tree", str(path), "--depth", "2", "--leaves", "3", "--no-browser"]) == 0
    assert "ward.h5ad – Tree is at http://127.0.0.1:7/" in capsys.readouterr().out
    board = shown[0].board
    assert len(board.state.frontier) == 3
    assert board.stage.title == "Tree of ward.h5ad"


@pytest.mark.parametrize("command", ["topics", "tree", "cards"])
def test_visitors_do_not_write_into_each_other_s_model(command, tmp_path, shown):
    """Names are kept in the model, so each visitor has a copy."""
    path = tmp_path / "ward.h5ad"
    some = load_discharges()[:1500]
    some[:, some.X.sum(axis=0) > 0].copy().write_h5ad(path)
    assert cli.main([command, str(path), "--no-browser"]) == 0
    first, second = shown[0].factory(), shown[0].factory()
    one, other = (
        board.state.versions[0].model if command == "topics" else board.state.model
        for board in (first, second)
    )
    assert one is not other
    one.annotations_ = {"of": "the first visitor"}
    assert getattr(other, "annotations_", None) != one.annotations_


def test_the_cards_of_a_file_are_served(tmp_path, capsys, shown):
    path = tmp_path / "ward.h5ad"
    some = load_discharges()[:1500]
    some[:, some.X.sum(axis=0) > 0].copy().write_h5ad(path)  # no code that nobody has
    asked = ["--components", "4", "--max-score", "3", "--no-browser"]
    assert cli.main(["cards", str(path), *asked]) == 0
    assert "Score cards is at http://127.0.0.1:7/" in capsys.readouterr().out
    board = shown[0].board
    assert len(board.state.phenotypes) == 4
    assert board.state.phenotypes.high == 3
    assert board.stage.title == "Phenotypes of ward.h5ad"


@pytest.mark.usefixtures("real_data")
def test_a_tensor_is_told_and_not_written_as_a_cohort(tmp_path, capsys):
    assert cli.main(["fetch", "oslo_bike"]) == 0
    assert "oslo_bike: CountTensor of" in capsys.readouterr().out
    assert cli.main(["fetch", "oslo_bike", str(tmp_path / "out.h5ad")]) == 1
    error = capsys.readouterr().err
    assert "which h5ad cannot hold: use lvmkit.datasets.fetch_oslo_bike() in Python" in error


def latin_texts(path):
    """A table of texts as old programs write it."""
    texts = ["perché città amore", "città amore il sole", "sole stelle stella", "stelle sole di"]
    rows = [" ".join([text] * 3) for text in texts]
    path.write_bytes("\n".join(["testo", *rows, *rows]).encode("cp1252"))
    return str(path)


def test_what_a_message_advises_the_command_can_do(tmp_path, capsys, shown):
    table = ["topics", latin_texts(tmp_path / "l.csv")]
    asked = ["--components", "2", "--no-browser"]
    assert cli.main(table) == 1
    error = capsys.readouterr().err
    assert "'l.csv' is not UTF-8" in error
    assert error.endswith(
        "Pass the file's encoding, for example --encoding='cp1252' or 'latin-1'.\n"
    )
    table += ["--encoding=cp1252"]
    assert cli.main(table) == 1
    assert "lvmkit topics: --text: name the column" in capsys.readouterr().err
    table += ["--text", "testo"]
    assert cli.main([*table, "--min-documents", "99"]) == 1
    assert "none is in --min-documents=99" in capsys.readouterr().err
    assert cli.main([*table, *asked, "--language", "None"]) == 0
    assert cli.main([*table, *asked, "--language", "italian", "--min-documents=4"]) == 0
    assert cli.main([*table, *asked, "--max-words", "2"]) == 0
    words = [server.board.state.versions[0].words for server in shown]
    everything = ["amore", "città", "di", "il", "perché", "sole", "stella", "stelle"]
    assert [list(found) for found in words] == [
        everything,
        ["amore", "città", "sole", "stelle"],
        ["amore", "sole"],
    ]


def test_more_topics_than_words_are_refused_in_the_command_s_words(tmp_path, capsys):
    table = latin_texts(tmp_path / "l.csv")
    read = ["--text=testo", "--encoding=latin-1", "--language=none"]
    assert cli.main(["topics", table, *read, "--components", "2", "99"]) == 1
    error = capsys.readouterr().err
    assert "--components 99 asks for more topics than there are words" in error
    assert "has 8; choose no more than that" in error


def test_counts_are_not_read_as_texts(tmp_path, capsys):
    path = tmp_path / "counts.h5ad"
    from_texts(["fever cough", "rash cough"]).write_h5ad(path)
    assert cli.main(["topics", str(path), "--max-words", "5", "--language", "none"]) == 1
    error = capsys.readouterr().err
    assert "--language, --max-words tell how to read texts, and counts.h5ad holds counts" in error


@pytest.mark.filterwarnings("default::UserWarning")
def test_warnings_are_notes_without_the_code(tmp_path, capsys, shown):
    for i in range(12):
        (tmp_path / f"{i}.txt").write_text("whales swim the sea" if i % 2 else "trees grow here")
    (tmp_path / "empty.txt").write_text("")
    below = tmp_path / "sub"
    below.mkdir()
    (below / "x.txt").write_text("sea")
    asked = ["--language=none", "--components", "4", "--no-browser"]
    assert cli.main(["topics", str(tmp_path), *asked]) == 0
    notes = capsys.readouterr().err.splitlines()
    assert [note.split(": ")[0] for note in notes] == ["Note"] * len(notes)
    assert notes[0].startswith("Note: 1 .txt file in subfolders of ")
    assert notes[1] == "Note: 1 document without any of the words: left out ('empty')."
    assert notes[2].startswith("Note: --components=4, but the second moment")
    assert " n_components" not in notes[2]


class Served:
    """Stands in for a server."""

    port = 7

    def __init__(self, factory):
        self.factory, self.board = factory, factory()


def test_help_says_that_nothing_leaves_the_machine(capsys):
    with pytest.raises(SystemExit) as stopped:
        cli.main(["explore", "--help"])
    assert stopped.value.code == 0
    assert "Nothing leaves this machine" in capsys.readouterr().out


def test_one_document_has_no_topics(tmp_path, capsys):
    (tmp_path / "note.txt").write_text("fever cough rash")
    assert cli.main(["topics", str(tmp_path / "note.txt")]) == 1
    assert "'note.txt' holds 1; give a folder of .txt files" in capsys.readouterr().err


def test_a_report_counts_what_is_above_0_as_the_workbench_does(tmp_path, capsys):
    cohort = load_discharges()[:300].copy()
    cohort.X = cohort.X * 2
    cohort.write_h5ad(tmp_path / "counts.h5ad")
    out = tmp_path / "out.html"
    assert cli.main(["report", str(tmp_path / "counts.h5ad"), str(out), "--components", "2"]) == 0
    assert out.exists()
