"""Subtitle and footer of the covariate path dashboard."""

from __future__ import annotations

from collections.abc import Sequence

from lvmkit.disclosure.text import is_few
from lvmkit_widgets.covariates.state import PathState
from lvmkit_widgets.covariates.tables import accuracies_told
from lvmkit_widgets.ui.words import counted


def subtitle(state: PathState) -> str:
    """Say how many covariates, samples and classes there are."""
    n = int(state.path.n_samples)
    few = f"<{state.disclosure.threshold} samples"
    return " · ".join(
        [
            counted(len(state.names), "covariate"),
            few if is_few(n, state.disclosure.level) else counted(n, "sample"),
            class_sizes(state),
            f"{counted(len(state.path), 'value')} of ν",
            f"λ = {float(state.path.ridge):g}",
        ]
    )


def class_sizes(state: PathState) -> str:
    """Say how many samples each class has, if none is small."""
    names, sizes = state.classes, [int(n) for n in state.path.class_counts]
    shown: Sequence[str] = names
    if not any(is_few(n, state.disclosure.level) for n in sizes):
        shown = [f"{name} ({n:,})" for name, n in zip(names, sizes, strict=True)]
    more = len(shown) - 4
    told = ", ".join(shown[:4]) + (f" and {more} more" if more > 0 else "")
    return f"classes {told}"


def footer(state: PathState) -> str:
    """Say what the numbers are."""
    last, least = "", state.disclosure.threshold
    if state.private and "(" not in class_sizes(state):
        last = f" Samples of each class are not told: one has fewer than {least}."
    if not accuracies_told(state):
        last += f" Accuracies are not told: fewer than {least} samples are classified wrongly, or rightly."
    return (
        "Clusters are numbered at each ν anew, in the order of their first covariate. Weights and odds ratios "
        "describe what goes together in these data; they do not say that a covariate causes a class. λ holds "
        "weights small." + last
    )
