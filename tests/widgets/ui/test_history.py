import pytest

from lvmkit_widgets.ui.history import History, Step


@pytest.fixture
def history():
    return History((Step("Start", "x = 0", 0),)).done("One", "x = 1", 1).done("Two", "x = 2", 2)


def test_undo_and_redo_walk_the_steps(history):
    assert history.undone().value == 1
    assert history.undone().undone().value == 0
    assert history.undone().redone().value == 2
    assert history.at(0).redone().redone().value == 2


def test_a_new_step_drops_what_was_undone(history):
    changed = history.undone().done("Three", "x = 3", 3)
    assert [step.value for step in changed.steps] == [0, 1, 3]
    assert not changed.can_redo


def test_the_code_repeats_the_steps_up_to_here(history):
    assert history.code == "x = 0\nx = 1\nx = 2"
    assert history.undone().code == "x = 0\nx = 1"


def test_the_ends_say_so(history):
    with pytest.raises(ValueError, match="nothing to redo"):
        history.redone()
    with pytest.raises(ValueError, match="nothing to undo"):
        history.at(0).undone()
    with pytest.raises(ValueError, match="no step 7; the steps are 0 to 2"):
        history.at(7)
