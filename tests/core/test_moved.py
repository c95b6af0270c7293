"""Old names work, warn, and are the same objects as the new ones."""

import importlib
import subprocess
import sys
import warnings
from pkgutil import resolve_name

import pytest

from lvmkit.core import moved


@pytest.mark.parametrize("old", moved.MODULES)
def test_an_old_module_is_the_new_one(old):
    new = importlib.import_module(moved.MODULES[old])
    sys.modules.pop(old, None)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert importlib.import_module(old) is new
    named = [str(warning.message) for warning in told if old + " is now" in str(warning.message)]
    assert len(named) == (old not in moved.STAY)
    assert new.__spec__.name == moved.MODULES[old]


def test_an_old_import_warns_at_its_line_and_is_loaded_once():
    program = (
        "import warnings\n"
        "with warnings.catch_warnings(record=True) as told:\n"
        "    warnings.simplefilter('always')\n"
        "    from lvmkit.factorization.updates import round_half_away\n"
        "    from lvmkit.models.bernoulli_mixture import BernoulliMixture\n"
        "import lvmkit, lvmkit.sustain.updates\n"
        "assert round_half_away is lvmkit.sustain.updates.round_half_away\n"
        "assert BernoulliMixture is lvmkit.BernoulliMixture\n"
        "assert {w.filename for w in told} == {'<string>'}, [w.filename for w in told]\n"
        "print(*(w.message for w in told), sep='\\n')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "lvmkit.factorization.updates is now lvmkit.sustain.updates" in done.stdout
    assert "lvmkit.models.bernoulli_mixture is now lvmkit.mixtures.bernoulli" in done.stdout


def test_a_module_that_never_was_is_missing_as_ever():
    with pytest.raises(ModuleNotFoundError, match=r"lvmkit\.never"):
        importlib.import_module("lvmkit.never")
    with pytest.raises(ModuleNotFoundError, match=r"lvmkit\.models\.never"):
        importlib.import_module("lvmkit.models.never")


def test_old_arguments_are_passed_on():
    @moved.arguments(record="patient")
    def read(table, *, patient=None):
        return table, patient

    with pytest.warns(FutureWarning, match="record is now called patient"):
        assert read(1, record="id") == (1, "id")
    assert read(1, patient="id") == (1, "id")
    with pytest.raises(TypeError, match="give patient alone"):
        read(1, record="id", patient="id")


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("lvmkit.charts", "merge_tree_chart", "lvmkit.charts.dendrogram_chart"),
        ("lvmkit.charts.merge_tree", "merge_tree_table", "lvmkit.charts.dendrogram_table"),
        ("lvmkit.charts.certainty", "certainty_chart", "lvmkit.charts.posterior_histogram_chart"),
        ("lvmkit.cohorts.tensor_arrays", "write", "lvmkit.cohorts.CountTensor.save"),
        ("lvmkit.divisive", "grow", "lvmkit.trees.growth.grow"),
        ("lvmkit.divisive.splits", "Refusal", "lvmkit.trees.splits.NoSplit"),
        ("lvmkit.mixtures", "em_step", "lvmkit.mixtures.e_step.em_step"),
        ("lvmkit.scores", "stability_over", "lvmkit.scores.compare_stability"),
        ("lvmkit.scores.stability", "stability", "lvmkit.scores.stability.score.stability"),
    ],
)
def test_an_old_name_is_the_new_one_and_warns_where_it_is_imported(module, old, new):
    found = {}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        exec(compile(f"from {module} import {old}", "a notebook", "exec"), found)
    assert found[old] is resolve_name(new)
    assert any(f".{old} is now " in str(warning.message) for warning in told)
    assert {(w.category, w.filename) for w in told} == {(FutureWarning, "a notebook")}


def test_an_old_method_works_on_instances_and_on_the_class():
    class Model:
        def score(self, X, *, scale=1):
            return X * scale

        rate = moved.OldMethod(score, "score")

    with pytest.warns(FutureWarning, match=r"Model\.rate is now score") as told:
        assert (Model().rate(2, scale=3), Model.rate(Model(), 2)) == (6, 2)
    assert {warning.filename for warning in told} == {__file__}


def test_a_module_of_an_old_package_is_loaded_once():
    # The package warns, too, if nothing imported it before.
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        old = importlib.import_module("lvmkit_widgets.cards.tables")
    expected = "lvmkit_widgets.cards.tables is now lvmkit_widgets.phenotypes.tables"
    assert any(expected in str(warning.message) for warning in told)
    assert old is importlib.import_module("lvmkit_widgets.phenotypes.tables")


def test_an_old_module_of_the_dashboards_may_be_imported_first():
    program = "from lvmkit_widgets.analysis import Analysis; from lvmkit_widgets.cards.state import CardsState"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("is now") == 3  # the package of cards, too


def test_an_old_attribute_warns_where_it_is_read():
    class State:
        index = 3
        place = moved.OldName("index")

    with pytest.warns(FutureWarning, match=r"State\.place is now index") as told:
        assert State().place == 3
    assert told[0].filename == __file__
