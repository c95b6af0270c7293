"""Names that what dashboards are made of had before still work, and say what they are called now."""

import importlib
import warnings
from pkgutil import resolve_name

import pytest

import lvmkit
from lvmkit.core import moved
from lvmkit.datasets import load_discharges, make_covariate_clusters, make_tensor_mixture
from lvmkit_widgets import CovariatePath, ScoreCards, TensorExplorer, TopicRelevance, TreeNavigator
from lvmkit_widgets.ui.history import History, Step
from lvmkit_widgets.ui.widgets import Form

MODULES = [name for name in moved.NAMES if name.startswith("lvmkit_widgets.")]


@pytest.mark.parametrize("module", MODULES)
def test_an_old_class_or_function_is_the_new_one(module):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        home = importlib.import_module(module)
    for old, new in moved.NAMES[module].items():
        with pytest.warns(FutureWarning, match=rf"\.{old} is now {new};") as told:
            found = getattr(home, old)
        address = new if "." in new else f"{home.__name__}.{new}"
        assert found is resolve_name(address)
        assert told[0].filename == __file__


def cohort():
    return load_discharges()[:300]


def tensors():
    X, _ = make_tensor_mixture("M8", n_samples=60, random_state=0)
    return TensorExplorer(lvmkit.TensorNormalMixture(2, penalty=0.3, random_state=0).fit(X), X)


def covariates():
    data = make_covariate_clusters(80, 20, random_state=0)
    path = lvmkit.models.covariate_path(data.X, data.y, nus=[1.0, 10.0], similarity=data.similarity)
    return CovariatePath(path)


BOARDS = {
    "tensors": (
        tensors,
        {"place": "index", "hiding": "suppressing", "told": "describe", "named": "title_of"},
    ),
    "covariates": (covariates, {"told": "describe"}),
    "cards": (
        lambda: ScoreCards(lvmkit.SUSTain(3, random_state=0), cohort()),
        {"marked": "annotations", "noun": "row_name"},
    ),
    "tree": (
        lambda: TreeNavigator(lvmkit.SpectralTree(max_depth=1).fit(cohort()), cohort()),
        {"marked": "named_cut", "noun": "row_name", "thing": "column_name"},
    ),
}


@pytest.mark.parametrize("name", BOARDS)
def test_old_names_of_a_state_give_what_the_new_ones_do(name):
    make, names = BOARDS[name]
    state = make().state
    for old, new in names.items():
        with pytest.warns(FutureWarning, match=f"{old} is now {new}") as told:
            assert getattr(state, old) == getattr(state, new)
        assert told[0].filename == __file__


def test_old_arguments_of_states_are_taken():
    state = tensors().state
    with pytest.warns(FutureWarning, match="place is now called index"):
        assert state.labels(place=0).tolist() == state.labels(0).tolist()
    with pytest.warns(FutureWarning, match="place is now called index"):
        assert state.posteriors(place=0) is state.posteriors(0)
    with pytest.warns(FutureWarning, match="place is now called index"):
        state.choose(place=0)
    model = lvmkit.BernoulliMixture(2, random_state=0).fit(cohort())
    topics = TopicRelevance(model, cohort()).state
    with pytest.warns(FutureWarning, match="most is now called max_items"):
        assert topics.typical(0, most=3) == topics.typical(0, max_items=3)


def test_old_names_of_a_history_and_of_components():
    history = History((Step("Opened", "x = 0", 0),))
    with pytest.warns(FutureWarning, match=r"History\.done is now push"):
        history = history.done("Add 1", "x = 1", 1)
    with pytest.warns(FutureWarning, match=r"History\.undone is now undo"):
        assert history.undone().value == 0
    with pytest.warns(FutureWarning, match=r"History\.at is now go_to"):
        first = history.at(0)
    with pytest.warns(FutureWarning, match=r"History\.redone is now redo"):
        assert first.redone().value == 1
    with pytest.warns(FutureWarning, match=r"Component\.signals is now events"):
        assert Form().signals() == Form.events()
