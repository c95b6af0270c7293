"""Labels and parameters of every estimator's example: the same on all BLAS kernels, threads and CPU features.

`tests/golden/answers.json` holds them. After a change that is meant:
`python tests/golden/answers.py > tests/golden/answers.json`.
"""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

from lvmkit import models

GOLDEN = Path(__file__).parent / "golden"
DIGITS = 3e-6
"""What may differ, as a share of an array's largest entry; labels and whole numbers may not."""

DISPATCHED = [name for name in __cpu_dispatch__ if __cpu_features__.get(name)]
NEWEST = [name for name in DISPATCHED if name.startswith(("AVX512", "X86_V4"))]
HASWELL = all(__cpu_features__.get(name) for name in ("AVX2", "FMA3"))
SETTINGS = {
    "this machine": {},
    "Haswell": {
        "OPENBLAS_CORETYPE": "Haswell",
        "NPY_DISABLE_CPU_FEATURES": " ".join(NEWEST),
        "threads": "1",
    },
    "Prescott": {
        "OPENBLAS_CORETYPE": "Prescott",
        "NPY_DISABLE_CPU_FEATURES": " ".join(DISPATCHED),
        "threads": "2",
    },
}


def answered(setting):
    """Run the examples in a process of its own."""
    environment = os.environ | SETTINGS[setting]
    if "threads" in environment:
        threads = environment.pop("threads")
        for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "LVMKIT_THREADS"):
            environment[name] = threads
    if not environment.get("NPY_DISABLE_CPU_FEATURES"):
        environment.pop("NPY_DISABLE_CPU_FEATURES", None)
    command = [sys.executable, GOLDEN / "answers.py"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def found():
    """The answers of all settings that this machine can run."""
    able = [name for name in SETTINGS if name != "Haswell" or HASWELL]
    if not __cpu_features__.get("SSE3"):
        able = ["this machine"]
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(able, pool.map(answered, able), strict=True))


def differences(stored, answers):
    """Name what differs, and by how much."""
    names = [name for name in stored if name not in answers] + [
        name for name in answers if name not in stored
    ]
    for name in stored.keys() & answers.keys():
        wanted, got = stored[name], answers[name]
        if isinstance(wanted, str) or isinstance(got, str):
            names += [f"{name}: other whole numbers"] if wanted != got else []
            continue
        largest = max(np.abs(wanted).max(), 1e-300)
        if len(wanted) != len(got) or np.abs(np.subtract(wanted, got)).max() > DIGITS * largest:
            names.append(f"{name}: {wanted} is {got}")
    return sorted(names)


def test_every_estimator_has_answers():
    stored = json.loads((GOLDEN / "answers.json").read_text())["answers"]
    kinds = [name for name in models.__all__ if hasattr(getattr(models, name), "fit")]
    examples = {name.split()[0].rstrip(":") for name in stored}
    assert [name for name in kinds if name not in examples] == []


@pytest.mark.parametrize("setting", SETTINGS)
def test_answers_are_those_stored(found, setting):
    if setting not in found:
        pytest.skip(f"this processor cannot run the kernel {setting}")
    stored = json.loads((GOLDEN / "answers.json").read_text())
    assert differences(stored["answers"], found[setting]["answers"]) == []


@pytest.mark.parametrize("setting", ["Haswell", "Prescott"])
def test_another_kernel_was_used(found, setting):
    """Or the test above compares a machine with itself; where BLAS is not OpenBLAS, it does."""
    if setting not in found or not any(found["this machine"]["kernels"]):
        pytest.skip("BLAS has no kernels to choose from")
    kernels = {name: found[name]["kernels"] for name in found}
    if setting in (kernels["this machine"][0], os.environ.get("OPENBLAS_CORETYPE")):
        pytest.skip(f"{setting} is this machine's own")
    assert kernels[setting] != kernels["this machine"]
