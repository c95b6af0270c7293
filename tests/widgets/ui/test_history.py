import pytest

from lvmkit_widgets.ui.history import History, Step


@pytest.fixture
def history():
    return History((Step("Start", "x = 0", 0),)).push("One", "x = 1", 1).push("Two", "x = 2", 2)


def test_undo_and_redo_walk_the_steps(history):
    assert history.undo().value == 1
    assert history.undo().undo().value == 0
    assert history.undo().redo().value == 2
    assert history.go_to(0).redo().redo().value == 2


def test_a_new_step_drops_what_was_undone(history):
    changed = history.undo().push("Three", "x = 3", 3)
    assert [step.value for step in changed.steps] == [0, 1, 3]
    assert not changed.can_redo


def test_the_code_repeats_the_steps_up_to_here(history):
    assert history.code == "x = 0\nx = 1\nx = 2"
    assert history.undo().code == "x = 0\nx = 1"


def test_the_ends_say_so(history):
    with pytest.raises(ValueError, match="nothing to redo"):
        history.redo()
    with pytest.raises(ValueError, match="nothing to undo"):
        history.go_to(0).undo()
    with pytest.raises(ValueError, match="no step 7; the steps are 0 to 2"):
        history.go_to(7)
