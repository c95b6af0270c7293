"""What is not tried, or may be accepted, each with its reason."""

# Public methods that are not for users to call with arguments of their own.
NOT_TRIED = {
    "lvmkit.TensorNormalMixture.checked": "called by our own functions with options that they made",
    "lvmkit.TensorNormalMixture.take": "takes over what our own search found",
    "lvmkit_widgets.Dashboard.background": "for authors of dashboards: its functions are theirs",
    "lvmkit_widgets.ClusterExplorer.show_state": "called when a parameter of the state changed",
}
# Hooks of all dashboards, which the base class calls.
HOOKS = ("show_state", "watch", "update_all", "background", "take", "checked")

# (entry or "*", parameter, fault): why an answer is right where the rules want a refusal, or finite numbers.
ACCEPTED: dict[tuple[str, str, str], str] = {
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
    ): "feature_names was given, and replaces the names of columns",
    (
        "lvmkit.cohorts.from_counts",
        "X",
        "two features of one name, AnnData",
    ): "feature_names was given, and replaces the names of columns",
    **{
        (entry, "X", fault): "no rows have no answers: a block of a stream may be empty"
        for entry in ("lvmkit.trees.Node.side", "lvmkit.trees.Tree.apply")
        for fault in ("no rows", "no rows, csr", "no rows, DataFrame")
    },
    ("lvmkit.trees.Tree.regrouped", "labels", "empty"): "no rows have no labels",
    (
        "lvmkit.datasets.LabelledTensor",
        "values",
        "no samples",
    ): "a selection of samples may be empty",
    (
        "lvmkit.disclosure.suppression",
        "counts",
        "empty",
    ): "where there are no cells nothing is hidden",
    (
        "lvmkit.disclosure.suppression_with_totals",
        "counts",
        "empty",
    ): "where there are no cells nothing is hidden",
    ("lvmkit.disclosure.count_text", "count", "NaN"): "NaN is a count that is hidden",
    ("lvmkit.disclosure.mask_shares", "fill", "NaN"): "nobody takes NaN for a share",
    ("lvmkit.disclosure.mask_shares", "fill", "-1"): "nobody takes -1 for a share",
    (
        "lvmkit.covariates.similarities.from_embeddings",
        "W",
        "NaN inside",
    ): "a covariate without a place is similar to nothing",
    (
        "lvmkit.covariates.similarities.from_embeddings",
        "W",
        "None inside",
    ): "a covariate without a place is similar to nothing",
    (
        "lvmkit.charts.attributes_table",
        "values",
        "NaN inside",
    ): "the table counts what is not known",
    (
        "lvmkit.charts.attributes_table",
        "values",
        "None inside",
    ): "the table counts what is not known",
    **{
        (
            "lvmkit.covariates.similarities.word_embeddings",
            "X",
            fault,
        ): "words without a place have NaN"
        for fault in ("all ones", "one row")
    },
    ("lvmkit.charts.topic_map_table", "centers", "NaN inside"): "NaN is a share that is hidden",
    ("lvmkit.charts.topic_map_table", "centers", "None inside"): "NaN is a share that is hidden",
    ("lvmkit.charts.topic_map_table", "weights", "NaN inside"): "NaN is a share that is hidden",
    ("lvmkit.charts.topic_map_table", "weights", "None inside"): "NaN is a share that is hidden",
    ("lvmkit.charts.topic_map_table", "weights", "array of NaN"): "NaN is a share that is hidden",
    (
        "lvmkit.charts.tensor_slice_table",
        "values",
        "one axis more",
    ): "a tensor may have any number of axes",
    ("lvmkit.models.covariate_path", "nus", "2"): "one number is a path of one solution",
    **{
        ("lvmkit.charts.tensor_slice_table", "values", fault): "NaN is an entry that is hidden"
        for fault in ("NaN inside", "None inside", "list of None", "array of NaN")
    },
    ("lvmkit.charts.whitening_table", "angle", "-1"): "angles may be negative",
    ("lvmkit.BernoulliMixture", "binarize", "-1"): "a threshold may be any number",
    ("lvmkit.SUSTain", "min_score", "-1"): "scores may be negative where that is asked for",
    ("lvmkit.SUSTain.fit_transform", "X", "3-D"): "counts may have more axes than two",
    (
        "*",
        "n_jobs",
        "-1",
    ): "negative numbers count from the number of processors, as everywhere in scikit-learn",
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
