"""The command line answers mistakes with a sentence and an exit code, never a traceback."""

import pytest

from lvmkit_widgets import cli


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["explore", "gone.csv"], "lvmkit explore: there is no file 'gone.csv'"),
        (["report", "gone.csv", "out.html"], "lvmkit report: there is no file 'gone.csv'"),
        (["topics", "gone.h5ad"], "lvmkit topics: there is no file 'gone.h5ad'"),
        (["topics", "gone.csv", "--text", "body"], "lvmkit topics: "),
        (["fetch", "nhds"], "there is no data set 'nhds'; there are dante, diabetes130"),
        (["fetch", "nhds2010", "out.csv"], "the cohort is saved as h5ad: name it 'out.h5ad'"),
    ],
)
def test_a_mistake_is_told_in_one_line(arguments, message, capsys):
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
            "'0' is no number of components; use 1 or more",
        ),
    ],
)
def test_what_is_typed_wrongly_is_told_with_the_usage(arguments, message, capsys):
    with pytest.raises(SystemExit) as stopped:
        cli.main(arguments)
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_a_report_must_be_named_as_a_page(tmp_path, capsys):
    table = tmp_path / "table.csv"
    table.write_text("a\n1\n")
    assert cli.main(["report", str(table), str(tmp_path / "out.pdf")]) == 1
    assert "name it 'out.html', not 'out.pdf'" in capsys.readouterr().err


def test_topics_of_a_folder_of_texts_are_served(tmp_path, capsys, monkeypatch):
    for i in range(12):
        words = "war army peace" if i % 2 else "tax budget money"
        (tmp_path / f"speech{i}.txt").write_text(f"{words} and the {words} of the nation.")
    made = []
    monkeypatch.setattr("lvmkit_widgets.serve.run", made.append)
    monkeypatch.setattr("lvmkit_widgets.serve.serve", lambda factory, **_: Served(factory))
    assert cli.main(["topics", str(tmp_path), "--components", "2", "1", "--no-browser"]) == 0
    assert "Topics is at http://127.0.0.1:7/" in capsys.readouterr().out
    board = made[0].board
    assert [topics.k for topics in board.state.versions] == [1, 2]
    assert len(board.state.corpus) == 12
    assert board.stage.title == f"Topics of {tmp_path.name}"


class Served:
    """Stands in for a server."""

    port = 7

    def __init__(self, factory):
        self.board = factory()


def test_help_says_that_nothing_leaves_the_machine(capsys):
    with pytest.raises(SystemExit) as stopped:
        cli.main(["explore", "--help"])
    assert stopped.value.code == 0
    assert "Nothing leaves this machine" in capsys.readouterr().out
