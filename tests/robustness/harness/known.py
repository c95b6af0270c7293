"""What is not tried, or may be accepted, each with its reason."""

# Public methods that are not for users to call with arguments of their own.
NOT_TRIED = {
    "lvmkit.TensorNormalMixture.checked": "called by our own functions with options that they made",
    "lvmkit.TensorNormalMixture.take": "takes over what our own search found",
    "lvmkit_widgets.Dashboard.background": "for authors of dashboards: its functions are theirs",
    "lvmkit_widgets.ClusterExplorer.heading": "called when a parameter of the state changed",
    "lvmkit_widgets.ClusterExplorer.show_state": "called when a parameter of the state changed",
}
# Hooks of all dashboards, which the base class calls.
HOOKS = ("heading", "show_state", "update_all", "background", "take", "checked")

# (entry or "*", parameter, fault): why an answer is right where the rules want a refusal.
ACCEPTED: dict[tuple[str, str, str], str] = {
    ("*", "y", "None"): "y is ignored where there is nothing to predict",
    **{
        (
            f"lvmkit.moments.{name}.of",
            "X",
            fault,
        ): "sums over no rows are 0, the neutral element of +"
        for name in ("Moments", "SubspaceMoments", "WhitenedMoments")
        for fault in ("no rows", "no rows, csr", "no rows, DataFrame")
    },
    ("lvmkit.scores.Matching.relabel", "labels", "empty"): "no labels have no new numbers",
    **{
        (f"lvmkit.scores.{name}", "X", "3-D"): "a tensor of counts"
        for name in ("rank_study", "iter_rank_study")
    },
    (
        "lvmkit.cohorts.from_counts",
        "X",
        "two columns of one name",
    ): "columns of one code are added up",
    (
        "lvmkit.cohorts.from_counts",
        "X",
        "two features of one name, AnnData",
    ): "columns of one code are added up",
    ("*", "progress", "*"): "a progress bar is not an answer",
    ("*", "picked", "-1"): "what is not drawn cannot be marked: nothing is",
    ("*", "picked", "-10**12"): "what is not drawn cannot be marked: nothing is",
    ("*", "selected", "-1"): "what is not drawn cannot be marked: nothing is",
    ("*", "selected", "-10**12"): "what is not drawn cannot be marked: nothing is",
}

# Numbers of repetitions: who asks for 10**12 is given them, and can stop.
EFFORT = {
    *(
        "max_iter",
        "n_burn",
        "n_init",
        "n_passes",
        "n_projections",
        "n_repeats",
        "n_resamples",
        "n_restarts",
    ),
    *("n_starts", "n_steps", "n_sweeps", "rounds", "cv"),
}
