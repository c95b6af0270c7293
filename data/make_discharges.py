"""Rebuild the bundled synthetic cohort: a model of NHDS 2010, and discharges drawn from it.

Run as ``LVMKIT_DATA=... python data/make_discharges.py``. A Bernoulli mixture is fitted to the adults of the
National Hospital Discharge Survey 2010. For each synthetic discharge a state is drawn, then sex and age band,
number of codes, codes, stay and status, each from smoothed frequencies of the state. Nothing is copied
from a real record: every frequency is shrunk towards that of a larger group, and codes of fewer than
50 real discharges are left out.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from anndata import AnnData

from lvmkit import BernoulliMixture
from lvmkit.datasets import fetch_nhds2010

TARGET = Path(__file__).parent / "lvmkit_data" / "discharges.npz"
N_DISCHARGES = 20_000
N_STATES = 14
RAREST = 50
SHRINK = 50.0
"""Pseudo-records by which a small group is drawn towards the larger one that holds it."""
SEED = 2010
AGE_STARTS = np.array([18, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85, 90, 95])
OLDEST = 99
TILT_STARTS = np.array([18, 45, 65, 80])
STAY_STARTS = np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 18, 22, 29, 43])
LONGEST = 90
LENGTH_STARTS = np.array([3, 6, 10])
STATUSES = np.array(["home", "long_term", "short_term", "alive_NOS", "AMA", "dead", "not_stated"])
SEXES = np.array(["female", "male"])


class Survey(NamedTuple):
    """The real records as group numbers."""

    X: np.ndarray
    state: np.ndarray
    sex: np.ndarray
    age: np.ndarray
    length: np.ndarray
    stay: np.ndarray
    status: np.ndarray


def bands(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Find the band that each value falls into."""
    return np.searchsorted(starts, values, side="right") - 1


def shrunk(counts: np.ndarray, parent: np.ndarray) -> np.ndarray:
    """Frequencies of groups (last axis sums to 1), drawn towards those of the parent group."""
    prior = parent / parent.sum(axis=-1, keepdims=True)
    return (counts + SHRINK * prior) / (counts.sum(axis=-1, keepdims=True) + SHRINK)


def table(n: int, *groups: np.ndarray) -> np.ndarray:
    """Count records by group numbers; the last group has n values."""
    shape = [int(g.max()) + 1 for g in groups[:-1]] + [n]
    counts = np.zeros(shape)
    np.add.at(counts, groups, 1)
    return counts


def draw(shares: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw one value from each row of shares."""
    return (
        (shares.cumsum(axis=1) < rng.random((len(shares), 1)))
        .sum(axis=1)
        .clip(max=shares.shape[1] - 1)
    )


def within(band: np.ndarray, starts: np.ndarray, last: int, rng: np.random.Generator) -> np.ndarray:
    """Draw a whole number inside each band."""
    ends = np.append(starts[1:], last + 1)
    return rng.integers(starts[band], ends[band])


def survey(cohort: AnnData, model: BernoulliMixture) -> Survey:
    """Group the real records."""
    obs = cohort.obs
    return Survey(
        cohort.X,
        np.asarray(model.labels_),
        (obs["sex"] == "male").to_numpy().astype(int),
        obs["age"].to_numpy().astype(int),
        np.diff(cohort.X.indptr),
        obs["stay"].to_numpy().clip(max=LONGEST),
        pd.Categorical(obs["status"], categories=STATUSES).codes.astype(int),
    )


def tilts(real: Survey, centers: np.ndarray) -> np.ndarray:
    """How much likelier each code is in a sex and age band than its state says: (2, bands, d)."""
    age = bands(real.age, TILT_STARTS)
    tilt = np.ones((2, len(TILT_STARTS), centers.shape[1]))
    for sex in range(2):
        for band in range(len(TILT_STARTS)):
            rows = np.flatnonzero((real.sex == sex) & (age == band))
            seen = real.X[rows].sum(axis=0)
            expected = np.bincount(real.state[rows], minlength=len(centers)) @ centers
            ratio = (seen + SHRINK / 10) / (expected + SHRINK / 10)
            # what a sex or age practically never has, it never has here
            tilt[sex, band] = np.where(seen < 0.01 * expected, 0, ratio)
    return tilt


def draw_codes(odds: np.ndarray, lengths: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw codes given how many there are: independent codes conditioned on their sum, exactly.

    With R[m] the sum over sets of m of the remaining codes of the product of their odds, the next code
    is taken with probability odds × R_after[m − 1] / R[m].
    """
    d, most = len(odds), int(lengths.max())
    sums = np.zeros((d + 1, most + 1))
    sums[d, 0] = 1
    for j in range(d - 1, -1, -1):
        sums[j] = sums[j + 1]
        sums[j, 1:] += odds[j] * sums[j + 1, :-1]
    chosen = np.zeros((len(lengths), d), dtype=bool)
    left = lengths.copy()
    for j in range(d):
        share = np.where(left > 0, odds[j] * sums[j + 1, left - 1] / sums[j, left], 0)
        chosen[:, j] = rng.random(len(left)) < share
        left -= chosen[:, j]
    return chosen


def simulate(
    real: Survey, model: BernoulliMixture, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Draw the synthetic discharges."""
    k, states = model.n_components, real.state
    state = rng.choice(k, N_DISCHARGES, p=model.weights_)
    by_sex = table(2, states, real.sex)
    sex = draw(shrunk(by_sex, by_sex.sum(axis=0))[state], rng)
    real_age = bands(real.age, AGE_STARTS)
    by_age = table(len(AGE_STARTS), states, real.sex, real_age)
    age_band = draw(shrunk(by_age, by_age.sum(axis=1, keepdims=True))[state, sex], rng)
    age = within(age_band, AGE_STARTS, OLDEST, rng)
    by_length = table(16, states, real.length)
    length = draw(shrunk(by_length, by_length.sum(axis=0))[state], rng)
    centers = np.asarray(model.centers_)
    tilt, band = tilts(real, centers), bands(age, TILT_STARTS)
    chosen = np.zeros((N_DISCHARGES, centers.shape[1]), dtype=bool)
    for group in np.unique(np.column_stack([state, sex, band]), axis=0):
        rows = np.flatnonzero((np.column_stack([state, sex, band]) == group).all(axis=1))
        share = (centers[group[0]] * tilt[group[1], group[2]]).clip(max=0.999)
        chosen[rows] = draw_codes(share / (1 - share), length[rows], rng)
    size = bands(real.length, LENGTH_STARTS)
    by_stay = table(len(STAY_STARTS), states, size, bands(real.stay, STAY_STARTS))
    stays = shrunk(by_stay, by_stay.sum(axis=1, keepdims=True))
    stay_band = draw(stays[state, bands(length, LENGTH_STARTS)], rng)
    by_status = table(len(STATUSES), states, bands(real.age, TILT_STARTS), real.status)
    status = draw(shrunk(by_status, by_status.sum(axis=1, keepdims=True))[state, band], rng)
    return {
        "n_codes": chosen.sum(axis=1).astype(np.uint8),
        "code": np.nonzero(chosen)[1].astype(np.uint16),
        "planted": state.astype(np.uint8),
        "sex": sex.astype(np.uint8),
        "age": age.astype(np.uint8),
        "stay": within(stay_band, STAY_STARTS, LONGEST, rng).astype(np.uint8),
        "status": status.astype(np.uint8),
    }


def main() -> None:
    """Fit, simulate, write."""
    adults = fetch_nhds2010(min_codes=0)
    cohort = fetch_nhds2010(min_prevalence=RAREST / adults.n_obs)
    model = BernoulliMixture(n_components=N_STATES).fit(cohort)
    drawn = simulate(survey(cohort, model), model, np.random.default_rng(SEED))
    names = {"codes": cohort.var_names.to_numpy(dtype="U4"), "sexes": SEXES, "statuses": STATUSES}
    np.savez_compressed(TARGET, **drawn, **names)
    print(f"{TARGET.name}: {N_DISCHARGES:,} discharges, {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
