"""Names that moved: old ones work for one version, with a warning that gives the new one."""

import sys
import warnings
from collections.abc import Callable, Sequence
from functools import wraps
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pkgutil import resolve_name
from types import MethodType, ModuleType
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

# Not here: modules with the name of a public function of their package, which the import would hide.
MODULES = {
    "lvmkit.charts.certainty": "lvmkit.charts.posterior_histogram",
    "lvmkit.charts.merge_tree": "lvmkit.charts.dendrogram",
    "lvmkit.charts.posteriors": "lvmkit.charts.structure_plot",
    "lvmkit.charts.shares": "lvmkit.charts.topic_trends",
    "lvmkit.divisive": "lvmkit.trees",
    "lvmkit.factorization": "lvmkit.sustain",
    "lvmkit.fusion": "lvmkit.covariates",
    "lvmkit.tensor_normal": "lvmkit.tensors",
    "lvmkit.cohorts.tensor_arrays": "lvmkit.cohorts.tensors",
    "lvmkit_widgets.cohort_view": "lvmkit.cohorts.view",
    "lvmkit_widgets.open_file": "lvmkit.cohorts.open_file",
    "lvmkit_widgets.subset": "lvmkit.cohorts.subset",
    "lvmkit.linalg": "lvmkit.core.linalg",
    "lvmkit.scores.progress": "lvmkit.core.progress",
    "lvmkit.streams": "lvmkit.core.parallel",
    "lvmkit_widgets.folders": "lvmkit.core.folders",
    "lvmkit.fusion.admm": "lvmkit.covariates.admm",
    "lvmkit.fusion.evidence": "lvmkit.covariates.marginal_likelihood",
    "lvmkit.fusion.flows": "lvmkit.covariates.certificates",
    "lvmkit.fusion.graph": "lvmkit.covariates.graph",
    "lvmkit.fusion.logistic": "lvmkit.covariates.logistic",
    "lvmkit.fusion.newton": "lvmkit.covariates.newton",
    "lvmkit.fusion.solver": "lvmkit.covariates.solver",
    "lvmkit.models.convex_clustering": "lvmkit.covariates.convex_clustering",
    "lvmkit.models.covariate_baselines": "lvmkit.covariates.baselines",
    "lvmkit.models.covariate_classifier": "lvmkit.covariates.base",
    "lvmkit.models.covariate_clustering": "lvmkit.covariates.classifier",
    "lvmkit.models.covariate_selection": "lvmkit.covariates.selection",
    "lvmkit.models.covariate_solutions": "lvmkit.covariates.solutions",
    "lvmkit.models.covariate_sums": "lvmkit.covariates.sums",
    "lvmkit.similarities": "lvmkit.covariates.similarities",
    "lvmkit.similarities.covariance": "lvmkit.covariates.similarities.covariance",
    "lvmkit.similarities.edges": "lvmkit.covariates.similarities.edges",
    "lvmkit.similarities.embeddings": "lvmkit.covariates.similarities.embeddings",
    "lvmkit.similarities.hierarchy": "lvmkit.covariates.similarities.hierarchy",
    "lvmkit.similarities.neighbors": "lvmkit.covariates.similarities.neighbors",
    "lvmkit_widgets.hidden": "lvmkit.disclosure.text",
    "lvmkit.em": "lvmkit.mixtures.em",
    "lvmkit.families": "lvmkit.mixtures.families",
    "lvmkit.gibbs": "lvmkit.mixtures.gibbs",
    "lvmkit.models.bernoulli_mixture": "lvmkit.mixtures.bernoulli",
    "lvmkit.models.bernoulli_stream": "lvmkit.mixtures.bernoulli",
    "lvmkit.models.count_model": "lvmkit.mixtures._counts",
    "lvmkit.models.latent_dirichlet": "lvmkit.mixtures.latent_dirichlet",
    "lvmkit.models.mixture_model": "lvmkit.mixtures._base",
    "lvmkit.models.moment_mixture": "lvmkit.mixtures._base",
    "lvmkit.models.moment_model": "lvmkit.mixtures._base",
    "lvmkit.models.multi_view": "lvmkit.mixtures.three_view",
    "lvmkit.models.observed": "lvmkit.mixtures.missing",
    "lvmkit.models.poisson_mixture": "lvmkit.mixtures.poisson",
    "lvmkit.models.row_model": "lvmkit.mixtures._rows",
    "lvmkit.models.single_topic": "lvmkit.mixtures.single_topic",
    "lvmkit.models.starts": "lvmkit.mixtures.initialization",
    "lvmkit.models.three_words": "lvmkit.mixtures.single_topic",
    "lvmkit_widgets.analysis": "lvmkit.mixtures.analysis",
    "lvmkit_widgets.assignment": "lvmkit.mixtures.assignment",
    "lvmkit_widgets.cluster": "lvmkit.mixtures.cluster",
    "lvmkit_widgets.clustering": "lvmkit.mixtures.clustering",
    "lvmkit_widgets.evidence": "lvmkit.mixtures.explanation",
    "lvmkit_widgets.fitting": "lvmkit.mixtures.refit",
    "lvmkit_widgets.patients": "lvmkit.mixtures.patients",
    "lvmkit.cooccurrence": "lvmkit.moments.cooccurrence",
    "lvmkit.subspaces": "lvmkit.moments.subspaces",
    "lvmkit.weightings": "lvmkit.moments.weightings",
    "lvmkit.whitened": "lvmkit.moments.whitened",
    "lvmkit.scores.rank_runs": "lvmkit.scores.rank.study",
    "lvmkit.scores.agreement": "lvmkit.scores.stability.study",
    "lvmkit.scores.refits": "lvmkit.scores.stability.refits",
    "lvmkit.scores.resampling": "lvmkit.scores.stability.refits",
    "lvmkit.scores.stability_runs": "lvmkit.scores.stability.study",
    "lvmkit.scores.verdict": "lvmkit.scores.stability.verdict",
    "lvmkit.factorization.ails": "lvmkit.sustain.ails",
    "lvmkit.factorization.asked": "lvmkit.sustain.options",
    "lvmkit.factorization.assignment": "lvmkit.sustain.transform",
    "lvmkit.factorization.counts": "lvmkit.sustain.unfolding",
    "lvmkit.factorization.fitting": "lvmkit.sustain.coordinate_descent",
    "lvmkit.factorization.given": "lvmkit.sustain.validation",
    "lvmkit.factorization.integer_least_squares": "lvmkit.sustain.integer_least_squares",
    "lvmkit.factorization.nonnegative": "lvmkit.sustain.nonnegative",
    "lvmkit.factorization.products": "lvmkit.sustain.mttkrp",
    "lvmkit.factorization.search": "lvmkit.sustain.multi_start",
    "lvmkit.factorization.starts": "lvmkit.sustain.initialization",
    "lvmkit.factorization.updates": "lvmkit.sustain.updates",
    "lvmkit.models.sustain": "lvmkit.sustain.sustain",
    "lvmkit.models.tensor_model": "lvmkit.tensors.mixture",
    "lvmkit.models.tensor_normal_mixture": "lvmkit.tensors.mixture",
    "lvmkit.models.tensor_search": "lvmkit.tensors.mixture",
    "lvmkit.models.tensor_selection": "lvmkit.tensors.selection",
    "lvmkit.tensor_normal.contrasts": "lvmkit.tensors.contrasts",
    "lvmkit.tensor_normal.covariances": "lvmkit.tensors.covariances",
    "lvmkit.tensor_normal.density": "lvmkit.tensors.density",
    "lvmkit.tensor_normal.fitting": "lvmkit.tensors.em",
    "lvmkit.tensor_normal.given": "lvmkit.tensors.validation",
    "lvmkit.tensor_normal.group_lasso": "lvmkit.tensors.group_lasso",
    "lvmkit.tensor_normal.modes": "lvmkit.tensors.modes",
    "lvmkit.tensor_normal.rule": "lvmkit.tensors.discriminant",
    "lvmkit.tensor_normal.search": "lvmkit.tensors.penalty_path",
    "lvmkit.tensor_normal.starts": "lvmkit.tensors.initialization",
    "lvmkit.tensor_normal.whitening": "lvmkit.tensors.whitening",
    "lvmkit.divisive.data_split": "lvmkit.trees.sidiwo_split",
    "lvmkit.divisive.growth": "lvmkit.trees.growth",
    "lvmkit.divisive.leading": "lvmkit.trees.eigenpairs",
    "lvmkit.divisive.model_split": "lvmkit.trees.mixture_split",
    "lvmkit.divisive.peers": "lvmkit.trees.baseline_splits",
    "lvmkit.divisive.resampling": "lvmkit.trees.split_support",
    "lvmkit.divisive.splits": "lvmkit.trees.splits",
    "lvmkit.trees.forms": "lvmkit.trees.tree",
    "lvmkit.models.spectral_tree": "lvmkit.trees.spectral_tree",
    "lvmkit_widgets.cluster_explorer": "lvmkit_widgets.clusters.dashboard",
    "lvmkit_widgets.explorer_state": "lvmkit_widgets.clusters.state",
    "lvmkit_widgets.sharing": "lvmkit_widgets.clusters.export_tab",
    "lvmkit_widgets.covariate_path": "lvmkit_widgets.covariates.dashboard",
    "lvmkit_widgets.score_cards": "lvmkit_widgets.phenotypes.dashboard",
    "lvmkit_widgets.cli": "lvmkit_widgets.server.cli",
    "lvmkit_widgets.command_line": "lvmkit_widgets.server.parser",
    "lvmkit_widgets.guard": "lvmkit_widgets.server.auth",
    "lvmkit_widgets.serve": "lvmkit_widgets.server.serve",
    "lvmkit_widgets.visits": "lvmkit_widgets.server.visits",
    "lvmkit_widgets.stability_panel": "lvmkit_widgets.stability.dashboard",
    "lvmkit_widgets.tensor_explorer": "lvmkit_widgets.tensors.dashboard",
    "lvmkit_widgets.topic_relevance": "lvmkit_widgets.topics.dashboard",
    "lvmkit_widgets.tree_navigator": "lvmkit_widgets.trees.dashboard",
    "lvmkit_widgets.cards": "lvmkit_widgets.phenotypes",
    "lvmkit_widgets.cards.state": "lvmkit_widgets.phenotypes.state",
    "lvmkit_widgets.explorer": "lvmkit_widgets.clusters",
    "lvmkit_widgets.navigator": "lvmkit_widgets.trees",
    "lvmkit_widgets.navigator.state": "lvmkit_widgets.trees.state",
    "lvmkit_widgets.topics.corpus": "lvmkit.cohorts.corpus",
    "lvmkit_widgets.topics.fitted": "lvmkit.mixtures.topics",
    "lvmkit_widgets.component": "lvmkit_widgets.ui.component",
    "lvmkit_widgets.dashboard": "lvmkit_widgets.ui.dashboard",
    "lvmkit_widgets.exchange": "lvmkit_widgets.ui.sync",
    "lvmkit_widgets.giving": "lvmkit_widgets.ui.export",
    "lvmkit_widgets.heat": "lvmkit_widgets.ui.heatmap",
    "lvmkit_widgets.history": "lvmkit_widgets.ui.history",
    "lvmkit_widgets.jobs": "lvmkit_widgets.ui.jobs",
    "lvmkit_widgets.kinds": "lvmkit_widgets.ui.widgets",
    "lvmkit_widgets.parts": "lvmkit_widgets.ui.tabs",
    "lvmkit_widgets.rules": "lvmkit_widgets.ui.rules",
    "lvmkit_widgets.script": "lvmkit_widgets.ui.bundle",
    "lvmkit_widgets.static_page": "lvmkit_widgets.ui.page",
    "lvmkit_widgets.twins": "lvmkit_widgets.ui.hosts",
}

# These stay: what users import, as the documentation names it.
STAY = {"lvmkit.gibbs", "lvmkit.similarities"}

CHARTS = {
    f"{old}_{kind}": f"lvmkit.charts.{new}_{kind}"
    for old, new in {
        "certainty": "posterior_histogram",
        "merge_tree": "dendrogram",
        "posteriors": "structure_plot",
        "shares": "topic_trends",
    }.items()
    for kind in ("chart", "table")
}
# Public names that a module has no more, by its old address.
NAMES = {
    **{old: CHARTS for old in MODULES if old.startswith("lvmkit.charts.")},
    "lvmkit.cohorts.tensor_arrays": {
        "read": "lvmkit.cohorts.tensors.CountTensor.load",
        "write": "lvmkit.cohorts.tensors.CountTensor.save",
    },
    "lvmkit.divisive": {
        "Growth": "lvmkit.trees.growth.Growth",
        "Refusal": "lvmkit.trees.splits.NoSplit",
        "Split": "lvmkit.trees.splits.Split",
        "grow": "lvmkit.trees.growth.grow",
    },
    "lvmkit.divisive.splits": {"Refusal": "lvmkit.trees.splits.NoSplit"},
    "lvmkit_widgets.analysis": {"View": "ClusterView"},
    "lvmkit_widgets.cards.state": {"View": "CardsView"},
    "lvmkit_widgets.component": {"Signal": "Event"},
    "lvmkit_widgets.exchange": {"Exchange": "Sync", "is_signal": "is_event"},
    "lvmkit_widgets.fitting": {"Job": "FitJob"},
    "lvmkit_widgets.guard": {"Guard": "AccessRules"},
    "lvmkit_widgets.history": {"Walks": "lvmkit_widgets.ui.state.StepState"},
    "lvmkit_widgets.jobs": {"Job": "BackgroundJob"},
    "lvmkit_widgets.kinds": {
        "Branches": "SplitContrast",
        "Documents": "DocumentList",
        "KINDS": "WIDGETS",
        "Phenotypes": "PhenotypeCards",
        "Sizes": "ClusterList",
        "Stage": "Shell",
        "Steps": "StepSlider",
        "Trail": "Breadcrumb",
        "Tree": "TreeOutline",
        "Versus": "TermComparison",
    },
    "lvmkit_widgets.parts": {"PartsBoard": "TabbedDashboard", "StatePart": "Tab"},
    "lvmkit_widgets.sharing": {
        "FORMULA": "lvmkit_widgets.ui.export.FORMULA",
        "csv": "lvmkit_widgets.ui.export.csv",
    },
    "lvmkit_widgets.twins": {
        "NativeTwin": "NotebookView",
        "PageTwin": "PageView",
        "native_twin": "notebook_view",
        "page_twin": "page_view",
    },
    "lvmkit_widgets.visits": {"Visits": "VisitLimit"},
}


class _Finder(MetaPathFinder, Loader):
    """Find a module that moved under its old name, and give the one there is."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return how to load a module that moved; None for all others."""
        new = _now(fullname)
        if not new:
            return None
        if fullname not in STAY:
            warn(f"{fullname} is now {new}; the old name goes with the next version.")
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> None:
        """Let Python make an empty module, which `exec_module` replaces."""

    def exec_module(self, module: ModuleType) -> None:
        """Put the module that there is in the place of the empty one."""
        old = module.__name__
        sys.modules[old] = new = import_module(_now(old))
        if old in NAMES:
            vars(new)["__getattr__"] = attributes(MODULES[old], NAMES[old])


def _now(fullname: str) -> str:
    """Return where a module lies now that moved by itself or with its package; "" for all others."""
    if fullname in MODULES:
        return MODULES[fullname]
    package, _, leaf = fullname.rpartition(".")
    # Else Python would find it in the new folder, and load it a second time.
    new = f"{MODULES[package]}.{leaf}" if package in MODULES else ""
    return new if new and find_spec(new) else ""


def install() -> None:
    """Let imports of old names find what moved."""
    # First: below an old package lies a new folder, where Python would look for its modules, too.
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def warn(message: str) -> None:
    """Say that a name is an old one, at the line that used it."""
    # A state reads its fields through `__getattribute__`, which is one frame more.
    deeper = sys._getframe(2).f_code.co_name == "__getattribute__"
    warnings.warn(message, FutureWarning, stacklevel=3 + deeper)


def attributes(package: str, names: dict[str, str]) -> Callable[[str], Any]:
    """Return a `__getattr__` for a module whose public names changed, old to new; a dotted one is a whole address."""

    def found(name: str) -> Any:
        if name not in names:
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg)
        warn(f"{package}.{name} is now {names[name]}; the old name goes with the next version.")
        new = names[name]
        return resolve_name(new if "." in new else f"{package}.{new}")

    return found


class OldName:
    """An old name of an attribute or method, which warns where it is read."""

    def __init__(self, new: str) -> None:
        self.new = new

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = f"{owner.__name__}.{name}"

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        warn(f"{self.name} is now {self.new}; the old name goes with the next version.")
        return getattr(instance, self.new)


class OldMethod:
    """An old name of a method, which warns where it is called; not a function, so that it is not listed as public."""

    def __init__(self, function: Callable[..., Any], new: str) -> None:
        self.function, self.new = function, new

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = f"{owner.__name__}.{name}"

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __call__(self, *args: Any, **given: Any) -> Any:
        """Call the method, of an instance or of the class with an instance before the arguments."""
        warn(f"{self.name} is now {self.new}; the old name goes with the next version.")
        return self.function(*args, **given)


def arguments(**names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function some of whose arguments changed their names, old to new."""

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def renamed(*args: P.args, **given: P.kwargs) -> R:
            for old in names.keys() & given.keys():
                new = names[old]
                if new in given:
                    msg = f"{old} is the old name of {new}; give {new} alone"
                    raise TypeError(msg)
                warn(f"{old} is now called {new}; the old name goes with the next version.")
                given[new] = given.pop(old)
            return function(*args, **given)

        return renamed

    return decorated
