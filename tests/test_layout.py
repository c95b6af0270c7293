"""Rules of the house that a reader would otherwise have to check: sizes, names, lock, paths."""

import ast
import calendar
import importlib
import inspect
import json
import re
import runpy
import statistics
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("lvmkit", "widgets/lvmkit_widgets", "data/lvmkit_data")
SOURCES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))

# Every estimator has answers that are stored; one that loses its public name still has them.
ANSWERS = json.loads((ROOT / "tests/golden/answers.json").read_text())["answers"]
ESTIMATORS = {name for key in ANSWERS if (name := re.match(r"\w+", key)[0])[0].isupper()}

# Adding a public name is a decision: it shows here; an estimator's shows in its stored answers.
PUBLIC = {
    "lvmkit": {
        *("BernoulliMixture", "LatentDirichlet", "PoissonMixture", "SingleTopic"),
        *("SpectralTree", "SUSTain", "CovariateClusteringClassifier", "TensorNormalMixture"),
        *("__version__", "load", "save", "show_versions"),
    },
    "lvmkit.cohorts": {
        *("codes", "from_counts", "from_events", "from_texts", "from_wide"),
        *("CountTensor", "tensor_from_events", "tensor_from_wide", "sample_weight"),
    },
    "lvmkit.cohorts.codes": {"categories", "category", "chapter", "chapters", "title"},
    "lvmkit.datasets": {
        *("load_discharges", "fetch_diabetes130", "fetch_nhds2010", "fetch_synthea1k"),
        *("fetch_dante", "fetch_movie_reviews", "fetch_newsgroups20", "fetch_state_union"),
        *("make_appendix_e", "make_bernoulli_mixture", "SimulatedMixture"),
        *("make_poisson_mixture", "make_topics", "SimulatedTopics"),
        *("make_nested_topics", "make_exact_counts", "make_poisson_counts", "SimulatedCounts"),
        *("fetch_desynpuf", "fetch_desynpuf_tensor", "fetch_nhds2010_tensor", "fetch_oslo_bike"),
        *("make_covariate_clusters", "SimulatedCovariates"),
        *("make_tensor_mixture", "tensor_setting", "TensorSetting", "LabelledTensor"),
        *("fetch_eeg", "fetch_faculty_salaries", "fetch_serology", "fetch_us_crime"),
    },
    "lvmkit.moments": {
        *("EQUAL_ROWS", "POISSON", "POOLED", "RAW", "Moments", "Weighting", "WhitenedMoments"),
        *("SubspaceMoments", "Whitened", "leading_basis", "population"),
        *("second_moment_operator", "significant", "whiten", "whitener_of"),
    },
    "lvmkit.decompose": {
        *("Components", "als", "completion", "joint_diagonalization", "power"),
        *("BY_NAME", "random_projections", "sidiwo", "svd", "svtd"),
    },
    "lvmkit.gibbs": {"topic_mixtures"},
    "lvmkit.trees": {"Node", "Tree"},
    "lvmkit.models": ESTIMATORS
    | {
        *("baselines", "Factorization", "factor_baselines", "truncated", "covariate_path"),
        *("CovariateClusterPath", "CovariateSolution", "CrossValidation"),
        *("covariate_baseline_path", "select_covariates", "CovariateSelection"),
        *("select_penalty", "select_tensor_components", "PenaltyPath", "ComponentsPath"),
    },
    "lvmkit.similarities": {
        *("Edges", "check_similarity", "class_covariance", "from_codes", "from_embeddings"),
        *("from_hierarchy", "nearest_neighbors", "word_embeddings"),
    },
    "lvmkit.scores": {
        *("adjusted_rand", "association", "association_of_counts", "count_codes", "error_rate"),
        *("lift", "match", "relevance", "stability", "CodeCounts", "Matching"),
        *("coherence", "description_length", "perplexity", "sample_accuracy"),
        *("select_n_components", "iter_stability", "predictive_power"),
        *("compare_stability", "stability_study", "StabilityStudy"),
        *("dissimilarity", "fit", "iter_rank_study", "rank_study", "RankStudy"),
    },
    "lvmkit.charts": {
        *("attributes_chart", "attributes_table", "code_profile_chart", "code_profile_table"),
        *("comparison_chart", "comparison_table", "frequencies_chart", "frequencies_table"),
        *("curves_chart", "curves_table", "whitening_chart", "whitening_table"),
        *("heatmap_chart", "heatmap_matrix", "relevance_chart", "relevance_summary"),
        *("relevance_table", "sizes_chart", "sizes_table", "stability_chart", "stability_table"),
        *("topic_trends_chart", "topic_trends_table", "topic_map_chart", "topic_map_table"),
        *("selection_chart", "selection_table", "tree_chart", "tree_table"),
        *("tensor_slice_chart", "tensor_slice_table", "sparsity_path_chart", "sparsity_path_table"),
        *(
            "tensor_selection_chart",
            "tensor_selection_table",
            "structure_plot_chart",
            "structure_plot_table",
        ),
        *("posterior_histogram_chart", "posterior_histogram_table"),
        *("cluster_stability_chart", "cluster_stability_table", "Consensus"),
        *("fit_time_chart", "fit_time_table", "rank_chart", "rank_table"),
        *("score_card_chart", "score_card_table"),
        *("dendrogram_chart", "dendrogram_table", "path_curves_chart", "path_curves_table"),
        *("consensus_chart", "consensus_matrix", "stability_curve_chart", "stability_curve_table"),
        *("png", "png_data_uri", "svg", "theme", "themed", "Heatmap"),
    },
    "lvmkit.disclosure": {
        *("count_text", "mask_shares", "suppress", "suppression", "suppression_with_totals"),
        *("Disclosure", "Suppression"),
    },
    "lvmkit_widgets": {
        *("ClusterExplorer", "Dashboard", "StabilityPanel", "TopicRelevance", "TreeNavigator"),
        *("CovariatePath", "TensorExplorer", "ScoreCards", "Workbench"),
    },
}


def tracked() -> list[str]:
    """Return the files that belong to the project, by their path from its root."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("not a git checkout")
    return [name for name in done.stdout.splitlines() if (ROOT / name).is_file()]


def functions(path: Path) -> Iterator[tuple[str, int]]:
    """Return the name and length in lines of every function of a file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            last = max((part.end_lineno or 0 for part in body), default=node.lineno)
            first = body[0].lineno if body else last
            yield f"{path.relative_to(ROOT)}: {node.name}", last - first + 1


def test_files_are_short_as_a_rule() -> None:
    """A subject stays whole, however long; the median shows when files grow for want of order."""
    lengths = [len(path.read_text().splitlines()) for path in SOURCES]
    assert statistics.median(lengths) <= 200


def test_no_function_is_long() -> None:
    lengths = dict(pair for path in SOURCES for pair in functions(path))
    assert {name: n for name, n in lengths.items() if n > 60} == {}
    assert statistics.median(lengths.values()) <= 10


def test_no_module_is_named_after_nothing() -> None:
    assert {path.stem for path in SOURCES} & {
        "utils",
        "helpers",
        "common",
        "misc",
        "tools",
    } == set()


def test_no_class_has_the_name_of_another() -> None:
    found = [
        node.name
        for path in SOURCES
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ClassDef)
    ]
    assert sorted({name for name in found if found.count(name) > 1}) == []


@pytest.mark.parametrize("name", PUBLIC)
def test_public_names_are_those_listed(name: str) -> None:
    module = importlib.import_module(name)
    assert set(module.__all__) == PUBLIC[name]
    assert [public for public in module.__all__ if not hasattr(module, public)] == []


def callables(module: Any) -> Iterator[tuple[str, Any]]:
    """Return the public functions of a module, and the methods that its public classes define."""
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.isclass(value):
            for method, function in vars(value).items():
                named = method == "__init__" or not method.startswith("_")
                # What a decorator wrote (a dataclass's __init__) has no source of its own.
                if (
                    named
                    and inspect.isfunction(function)
                    and function.__code__.co_filename != "<string>"
                ):
                    yield f"{name}.{method}", function
        elif inspect.isfunction(value):
            yield name, value


@pytest.mark.parametrize("module", PUBLIC)
def test_signatures_are_explicit(module: str) -> None:
    for name, function in callables(importlib.import_module(module)):
        parameters = [
            p for p in inspect.signature(function).parameters.values() if p.name != "self"
        ]
        positional = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        assert len(positional) <= 3, f"{name}: keyword-only after the first three"
        assert not any(isinstance(p.default, bool) for p in positional), (
            f"{name}: positional boolean"
        )
        assert not any(p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL) for p in parameters), name


def test_lock_holds_every_dependency_and_no_address() -> None:
    lock = (ROOT / "binder/requirements.txt").read_text()
    assert "://" not in lock
    assert [line for line in lock.splitlines() if line.startswith("-")] == []
    pinned = set(re.findall(r"^([\w.\-]+)==", lock, re.MULTILINE))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    groups = [
        project["project"]["dependencies"],
        *project["project"]["optional-dependencies"].values(),
        *project["dependency-groups"].values(),
    ]
    named = [line for group in groups for line in group if isinstance(line, str)]
    wanted = {re.split(r"[\[><=; ]", requirement)[0] for requirement in named}
    assert wanted - {"lvmkit"} <= pinned


def test_binder_and_ci_files_can_be_run() -> None:
    for name in ("binder/postBuild", ".ci/run"):
        assert (ROOT / name).stat().st_mode & 0o111, name


def test_binder_asks_for_a_python_that_the_project_supports() -> None:
    runtime = re.fullmatch(r"python-3\.(\d+)\n", (ROOT / "binder/runtime.txt").read_text())
    assert runtime is not None
    requires = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    assert int(runtime[1]) >= int(requires.removeprefix(">=3."))


def map_of_the_code() -> set[str]:
    """Return the paths that the README's map names: two blanks more are one folder deeper."""
    readme = (ROOT / "README.md").read_text()
    block = re.search(r"## Map of the code\n.*?```text\n(.*?)```", readme, re.DOTALL)
    assert block is not None, "README.md has no map of the code"
    paths, folders = set(), [""]
    for line in block[1].splitlines():
        indent = (len(line) - len(line.lstrip())) // 2
        for name in line.split("  ")[indent].split():
            folders[indent + 1 :] = [folders[indent] + name]
            paths.add(folders[indent + 1])
    return paths


def test_the_oldest_python_is_the_same_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    oldest = project["requires-python"].removeprefix(">=")
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    assert named[0] == oldest
    assert f"({oldest} or newer)" in (ROOT / "README.md").read_text()
    finder = runpy.run_path(str(ROOT / ".ci/interpreters.py"))
    assert finder["VERSIONS"][: len(named)] == tuple(named)


def test_map_of_the_code_is_the_tree() -> None:
    names = map_of_the_code()
    assert [name for name in sorted(names) if not (ROOT / name).exists()] == []
    top = {name.split("/")[0] + ("/" if "/" in name else "") for name in tracked()}
    assert sorted(name for name in top if name not in {".gitignore"}) == sorted(
        name for name in names if name.rstrip("/").count("/") == 0
    )
    parts = {
        "/".join(name.split("/")[:2]) + ("/" if name.count("/") > 1 else "")
        for name in tracked()
        if name.startswith("lvmkit/") and "__init__" not in name
    }
    assert sorted(parts - names) == []


CITATION = re.compile(
    r"\b([A-Z][a-zé]+)(?:,? et al\.|(?:, [A-Z][a-z]+)*,? (?:and|&) [A-Z][a-z]+)?,? \(?"
    r"((?:19|20)\d\d[a-z]?)\b|\b(Ruffini) (thesis)\b"
)
NOT_AUTHORS = {"Education", "Reports", "Seed", "Survey", *calendar.month_name[1:]}
OF_NO_NAME = re.compile(r"\b[Dd]ocument 00\d")


def prose() -> Iterator[tuple[str, str]]:
    """Return path and text of whatever people read: code, pages of text, sources of notebooks."""
    for name in tracked():
        text = (ROOT / name).read_text() if name.endswith((".py", ".md", ".ipynb")) else ""
        if name.endswith(".ipynb"):
            text = "".join(line for cell in json.loads(text)["cells"] for line in cell["source"])
        yield name, re.sub(r"\s*\n[\s#*]*", " ", text)


def test_sources_are_cited_by_keys_that_exist() -> None:
    keys = set(re.findall(r"\*\*([^*]+)\.\*\*", (ROOT / "REFERENCES.md").read_text()))
    texts = [pair for pair in prose() if pair[0] not in ("REFERENCES.md", "CHANGELOG.md")]
    cited = {
        f"{author} {year}": name
        for name, text in texts
        for author, year in ((a or b, x or y) for a, x, b, y in CITATION.findall(text))
        if author not in NOT_AUTHORS
    }
    assert {key: name for key, name in cited.items() if key not in keys} == {}
    assert sorted(keys - cited.keys()) == []
    assert [name for name, text in texts if OF_NO_NAME.search(text)] == []


ABSOLUTE = re.compile(r"(^|[^\w.~/-])/(home|root|Users|work|tmp)/\w")
REGISTRY = re.compile(
    r"(index-url[ =]|find-links[ =]|/simple/|files\.pythonhosted|\"resolved\": *\"http)"
)
CDN = re.compile(r"(cdn\.|jsdelivr|unpkg|googleapis|esm\.sh)")


def test_no_file_names_one_machine_a_registry_or_a_cdn() -> None:
    here = Path(__file__).relative_to(ROOT).as_posix()
    found = []
    for name in tracked():
        if name == here or Path(name).suffix in {".png", ".gz", ".parquet", ".npz"}:
            continue
        for number, line in enumerate((ROOT / name).read_text().splitlines(), 1):
            if any(pattern.search(line) for pattern in (ABSOLUTE, REGISTRY, CDN)):
                found.append(f"{name}:{number}: {line.strip()[:80]}")
    assert found == []


def test_no_tracked_file_is_large() -> None:
    sizes = {name: (ROOT / name).stat().st_size for name in tracked()}
    assert {name: size for name, size in sizes.items() if size > 2**20} == {}


def test_import_is_quick_because_heavy_parts_wait() -> None:
    heavy = {"pandas", "duckdb", "anndata", "altair", "panel"}
    program = f"import sys, lvmkit; print(*sorted({heavy} & set(sys.modules)))"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
