"""Old names work, warn, and are the same objects as the new ones."""

import importlib
import subprocess
import sys
import warnings

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
