"""A tree by mouse and keyboard: served, in JupyterLab, and as a saved page."""

import re

import anndata
import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect
from scipy import sparse

import lvmkit
from lvmkit.trees import Node, Tree
from lvmkit_widgets import TreeNavigator

pytestmark = pytest.mark.browser
COHORT = """
import anndata, numpy as np, pandas as pd, lvmkit
from scipy import sparse
random = np.random.default_rng(0)
labels = np.repeat([0, 1, 2, 3], [600, 500, 400, 300])
centers = np.full((4, 12), 0.05)
for j in range(4):
    centers[j, 3 * j : 3 * j + 3] = 0.8
X = (random.random((len(labels), 12)) < centers[labels]).astype(np.float32)
codes = [f"C{i}" for i in range(12)]
hostile = "<img src=x onerror=window.hacked=1>"
var = pd.DataFrame({"title": [f"Disease {c} {hostile}" for c in codes]}, index=codes)
obs = pd.DataFrame({"age": random.integers(30, 80, len(labels))}, index=[f"p{i}" for i in range(len(labels))])
cohort = anndata.AnnData(sparse.csr_matrix(X), obs=obs, var=var)
tree = lvmkit.SpectralTree(max_depth=2).fit(cohort)
"""


@pytest.fixture(scope="module")
def opened():
    """A tree and its cohort."""
    scope = {}
    exec(COHORT, scope)
    return scope["tree"], scope["cohort"]


@pytest.fixture(scope="module")
def address(servers, opened):
    """Where the dashboard is served, and the dashboards that were made."""
    return servers.start(lambda: TreeNavigator(*opened, name="a ward"))


@pytest.fixture
def served(address, open_page, opened):
    """A page of a served dashboard, and the dashboard."""
    opened[0].annotations_ = {}
    page = open_page()
    page.goto(address[0])
    expect(page.locator(".lvm-node")).to_have_count(7)
    return page, address[1][-1]


@pytest.fixture(scope="module")
def saved(opened, tmp_path_factory):
    """A page that was saved with λ at 0.3."""
    opened[0].annotations_ = {}
    board = TreeNavigator(*opened, name="a ward")
    board.state = board.state.replace(balance=0.3)
    return board.to_html(tmp_path_factory.mktemp("page") / "tree.html")


def tab(page, name):
    page.get_by_role("tab", name=name, exact=True).click()


def branch(page, label):
    return page.get_by_role("treeitem", name=re.compile(rf"^{re.escape(label)}(,| ·)"))


def here(page):
    return page.locator(".lvm-breadcrumb [aria-current]")


def walk(page):
    """Use everything a page without Python can do."""
    branch(page, "1").click()
    expect(here(page)).to_have_text(re.compile(r"^1( |$)"))
    expect(branch(page, "1")).to_have_attribute("aria-selected", "true")
    words = page.locator(".lvm-relevance tbody tr:visible td.lvm-col-code")
    slider = page.get_by_label(re.compile("Balance"))
    slider.focus()
    page.keyboard.press("End")
    expect(page.locator(".lvm-relevance output")).to_have_text("1.00")
    first = words.all_inner_texts()
    page.keyboard.press("Home")
    expect(page.locator(".lvm-relevance output")).to_have_text("0.00")
    assert words.all_inner_texts() != first
    tab(page, "What splits it")
    rows = page.locator(".lvm-split_contrast tbody tr")
    expect(rows.first).to_be_visible()
    expect(page.locator(".lvm-split_contrast .lvm-pair button")).to_have_count(2)
    expect(page.locator(".lvm-split_contrast .lvm-hint")).to_contain_text(
        "Above the line: more frequent in 1.1; below: in 1.2."
    )
    left, right = (rows.first.locator("td").nth(i).inner_text() for i in (1, 3))
    assert float(left.rstrip(" %")) > float(right.rstrip(" %"))
    code = rows.first.locator("b").inner_text()
    rows.first.click()
    expect(page.locator(".lvm-tree_outline .lvm-readout")).to_contain_text(code)
    expect(branch(page, "1").locator(".lvm-treebar i.lvm-with")).to_be_visible()
    page.get_by_role("button", name="Clear").click()
    expect(page.locator(".lvm-tree_outline .lvm-readout")).to_be_hidden()
    page.locator(".lvm-split_contrast .lvm-pair button").nth(1).click()
    expect(here(page)).to_have_text(re.compile(r"^1\.2"))
    expect(page.locator(".lvm-split_contrast")).to_contain_text("is a leaf")
    page.get_by_role("button", name=re.compile("^All$")).click()
    expect(here(page)).to_have_text("All")
    level = page.get_by_label("Cut at level")
    level.focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".lvm-node")).to_have_count(3)
    expect(page.locator(".lvm-badge")).to_have_text(["0", "1"])
    branch(page, "2").click()
    expect(page.locator(".lvm-breadcrumb")).to_contain_text(
        "Cluster 1 of the cut."
    )  # as in labels_
    page.get_by_role("button", name="Split this cluster").click()
    expect(page.locator(".lvm-badge")).to_have_text(["0", "1", "2"])
    expect(page.locator(".lvm-tree_outline output")).to_contain_text("by hand")
    page.get_by_role("button", name="Make this one cluster").click()
    expect(page.locator(".lvm-badge")).to_have_text(["0", "1"])
    find = page.get_by_role("combobox", name="Find")
    find.fill("disease c4")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(".lvm-tree_outline .lvm-readout")).to_contain_text("C4 Disease C4")
    find.fill("")
    page.keyboard.press("Enter")
    expect(page.locator(".lvm-tree_outline .lvm-readout")).to_be_hidden()
    tab(page, "Terms")
    assert page.evaluate("window.hacked") is None


def test_everything_answers_and_python_follows(served, told):
    page, board = served
    walk(page)
    told(page, board, node=2, code="", balance=0.0, frontier=(1, 2))
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".lvm-badge")).to_have_text(["0", "1", "2"])
    expect(page.locator(".lvm-status")).to_contain_text("Undone: Made one cluster")
    page.get_by_role("button", name="Redo").click()
    expect(page.locator(".lvm-badge")).to_have_text(["0", "1"])
    tab(page, "Clusters")
    expect(page.locator(".lvm-table:visible tbody tr")).to_have_count(2)
    page.locator(".lvm-table:visible tbody tr").first.click()
    expect(here(page)).to_have_text(re.compile(r"^1( |$)"))
    told(page, board, node=1)


def test_the_tree_is_walked_by_keys_alone(served, told):
    page, board = served
    box = page.get_by_role("tree")
    box.focus()
    active = page.locator(".lvm-node.lvm-active")
    for key, label in (
        ("Home", "All"),
        ("ArrowDown", "1"),
        ("ArrowRight", "1.1"),
        ("ArrowDown", "1.2"),
        ("ArrowUp", "1.1"),
        ("ArrowLeft", "1"),
        ("End", "2.2"),
        ("Home", "All"),
        ("PageDown", "2.2"),
        ("PageUp", "All"),
        ("ArrowDown", "1"),
    ):
        page.keyboard.press(key)
        expect(active.locator("b")).to_have_text(label)
    expect(box).to_have_attribute("aria-activedescendant", active.get_attribute("id"))
    expect(active).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".lvm-node")).to_have_count(5)
    expect(active).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".lvm-node")).to_have_count(7)
    levels = page.locator(".lvm-node").evaluate_all(
        "(rows) => rows.map((row) => ['level', 'setsize', 'posinset'].map((a) => row.getAttribute(`aria-${a}`)).join())"
    )
    assert levels == ["1,1,1", "2,2,1", "3,2,1", "3,2,2", "2,2,2", "3,2,1", "3,2,2"]
    page.keyboard.press("Enter")
    expect(active).to_have_attribute("aria-selected", "true")
    told(page, board, node=1)


def test_a_branch_gets_a_name_that_can_be_found_and_taken_back(served, opened):
    page, _ = served
    branch(page, "2").click()
    page.get_by_label("Name of 2").fill("Kidney <b>")
    page.get_by_role("button", name="Keep", exact=True).click()
    expect(branch(page, "2")).to_contain_text("Kidney <b>")
    assert opened[0].annotations_["node_names"] == {"2": "Kidney <b>"}
    branch(page, "1").click()
    page.get_by_role("combobox", name="Find").fill("kidney")
    page.keyboard.press("Enter")
    expect(here(page)).to_have_text("2 · Kidney <b>")
    page.get_by_role("button", name="Undo").click()
    expect(branch(page, "2")).not_to_contain_text("Kidney")


def test_patients_are_listed_and_one_is_explained(served):
    page, board = served
    tab(page, "Patients")
    branch(page, "1.1").click()
    rows = page.locator(".lvm-table:visible tbody tr")
    expect(rows.locator("td", has_text=re.compile(r"^1\.1$"))).to_have_count(12)
    page.get_by_role("button", name="Next").click()
    expect(page.locator(".lvm-table:visible .lvm-pager")).to_contain_text("13–24 of")
    number = (
        int(board.state.rows_of(3)[12]) + 1
    )  # the pager is ahead of the rows, which Python sends
    expect(rows.first.locator("td").first).to_have_text(f"{number:,}")
    rows.first.click()
    expect(page.locator(".lvm-text:visible")).to_contain_text("is in leaf 1.1")
    expect(page.locator(".lvm-text:visible")).to_contain_text("to 1.1")


def test_the_cut_opens_in_the_cluster_explorer(served):
    page, board = served
    tab(page, "Clusters")
    page.get_by_role("button", name="Open in the cluster explorer").click()
    expect(page.locator(".lvm-size")).to_have_count(4)
    expect(page.locator(".lvm-size").first).to_contain_text("Branch 1.1")
    assert board.components["status"].message.endswith("explorer below.")


def test_files_are_handed_over(served):
    page, _ = served
    tab(page, "Steps and files")
    wanted = {
        "Tree (SVG)": "tree.svg",
        "Tree (PNG)": "tree.png",
        "All branches (CSV)": "branches.csv",
        "Tree (JSON)": "tree.json",
        "Tree (text)": "tree.txt",
        "Page (HTML)": "tree.html",
    }
    for name, file in wanted.items():
        with page.expect_download() as waiting:
            page.get_by_role("button", name=name).click()
        assert waiting.value.suggested_filename == file
    data = waiting.value.path().read_bytes()
    assert b"p1799" not in data


def test_the_saved_page_answers(saved, open_page):
    page = open_page()
    page.goto(saved.as_uri())
    expect(page.locator(".lvm-relevance output")).to_have_text("0.30")
    names = page.get_by_role("tab").all_inner_texts()
    assert names == ["Terms", "What splits it", "Clusters"]
    walk(page)


def large(depth=14, d=60):
    """A tree of 16,384 leaves, by hand."""
    k, random = 2**depth, np.random.default_rng(0)
    n = 2 * k - 1
    means = np.zeros((n, d), dtype=np.float32)
    means[k - 1 :] = random.random((k, d)) * 0.5
    sizes = np.full(n, 20)
    for i in range(k - 2, -1, -1):
        sizes[i] = sizes[2 * i + 1] + sizes[2 * i + 2]
        means[i] = (means[2 * i + 1] + means[2 * i + 2]) / 2
    none, flat = np.zeros((0, d)), np.zeros(0)
    nodes = tuple(
        Node(
            id=i,
            parent=None if i == 0 else (i - 1) // 2,
            children=() if i >= k - 1 else (2 * i + 1, 2 * i + 2),
            depth=int(np.log2(i + 1)),
            size=int(sizes[i]),
            mean=means[i],
            centers=none,
            discriminators=none,
            offsets=flat,
            rule="",
            strength=float("nan") if i >= k - 1 else 0.5,
            support=float("nan"),
            reason="" if i < k - 1 else "the tree may not be deeper",
        )
        for i in range(n)
    )
    return Tree(nodes)


CLICKS = """async (root) => {
  const times = [];
  for (let i = 0; i < 15; i++) {
    const rows = [...root.querySelectorAll('.lvm-node[aria-selected="false"]')];
    const row = rows[(i * 7) % rows.length];
    const start = performance.now();
    row.dispatchEvent(new MouseEvent("mousedown", { bubbles: true, cancelable: true }));
    const now = () => root.querySelector(`.lvm-node[data-id="${row.dataset.id}"]`)?.ariaSelected;
    while (now() !== "true") await new Promise((done) => setTimeout(done));
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    times.push(performance.now() - start);
    await new Promise((done) => setTimeout(done, 250));
  }
  return times.sort((a, b) => a - b)[7];
}"""


def test_a_click_is_answered_by_the_browser(servers, open_page, measured):
    random = np.random.default_rng(0)
    n, d, codes = 100_000, 700, [f"C{j}" for j in range(700)]
    X = sparse.csr_matrix(
        (np.ones(8 * n, np.float32), random.integers(0, d, 8 * n), np.arange(0, 8 * n + 1, 8)),
        shape=(n, d),
    )
    X.sum_duplicates()
    X.data[:] = 1
    cohort = anndata.AnnData(X, var=pd.DataFrame(index=codes))
    tree = lvmkit.SpectralTree(max_depth=6).fit(cohort)
    address, _ = servers.start(lambda: TreeNavigator(tree, cohort))
    page = open_page()
    page.goto(address)
    expect(page.locator(".lvm-tree_outline")).to_contain_text("127 of 127 branches")
    took = page.locator(".lvm").first.evaluate(CLICKS)
    measured("click to redraw, 64 leaves, 100,000 rows", round(took, 1), "ms")
    expect(page.locator(".lvm-node")).not_to_have_count(127)


def test_thousands_of_leaves_are_drawn_as_far_as_they_are_seen(servers, open_page, measured, told):
    tree = large()
    address, made = servers.start(lambda: TreeNavigator(tree))
    page = open_page()
    page.goto(address)
    expect(page.locator(".lvm-node").first).to_be_visible()
    page.get_by_role("button", name="Open all").click()
    expect(page.locator(".lvm-tree_outline")).to_contain_text("32,767 of 32,767 branches")
    assert page.locator(".lvm-node").count() < 60
    page.get_by_role("tree").focus()
    page.keyboard.press("End")
    last = page.locator(".lvm-node.lvm-active")
    expect(last).to_have_attribute("data-id", "32766")
    page.keyboard.press("Enter")
    told(page, made[-1], node=32766)
    # The browser had no numbers of this leaf; Python sends them as the answer to the click.
    expect(page.locator(".lvm-relevance tbody tr:visible").first).to_be_visible()
    expect(page.locator(".lvm-breadcrumb")).to_contain_text("The tree may not be deeper".lower())
    tab(page, "What splits it")
    expect(page.locator(".lvm-split_contrast")).to_contain_text("is a leaf")
    page.get_by_role("tree").focus()
    for key in ("PageUp", "PageUp", "ArrowLeft", "Enter"):  # to a node above two leaves
        page.keyboard.press(key)
    expect(page.locator(".lvm-split_contrast .lvm-hint")).to_contain_text("60 of 60 are hidden")
    tab(page, "Terms")
    page.get_by_role("combobox", name="Find").fill("feature 3")
    page.keyboard.press("Enter")
    expect(page.locator(".lvm-tree_outline .lvm-readout")).to_contain_text("feature 3: ")
    took = page.locator(".lvm").first.evaluate(CLICKS)
    measured("click to redraw, 16,384 leaves", round(took, 1), "ms")


def test_an_empty_tree_and_a_single_leaf_say_so(servers, open_page, opened):
    root = opened[0].nodes_[0]
    alone = Node(**{**vars(root), "children": (), "reason": "all rows are alike"})
    names = opened[0].tree_.feature_names
    for tree, words in (
        (Tree(()), "The tree is empty"),
        (Tree((alone,), names), "All rows are alike."),
    ):
        address, _ = servers.start(lambda tree=tree: TreeNavigator(tree, opened[1]))
        page = open_page()
        page.goto(address)
        expect(page.locator(".lvm-tree_outline")).to_contain_text(words)


def test_no_tab_is_wider_than_the_window(served, assert_fits):
    page, _ = served
    for width in (1600, 800, 390):
        page.set_viewport_size({"width": width, "height": 900})
        for name in page.get_by_role("tab").all_inner_texts():
            tab(page, name)
            assert_fits(page, width, name)


def test_it_works_in_a_notebook_in_the_dark(lab, open_page, measured):
    page = open_page(width=1400)
    show = "from lvmkit_widgets import TreeNavigator\nboard = TreeNavigator(tree, cohort)\nboard"
    lab.write("tree.ipynb", COHORT, show, "board.state = board.state.pick(1)")
    lab.open(page, "tree.ipynb", dark=True)
    expect(page.locator(".lvm-node")).to_have_count(7)
    expect(here(page)).to_have_text(re.compile(r"^1( |$)"))
    walk(page)
    took = page.locator(".lvm").first.evaluate(CLICKS)
    measured("click to redraw, 4 leaves, JupyterLab", round(took, 1), "ms")
    ink = page.locator(".lvm-node b").first.evaluate("(el) => getComputedStyle(el).color")
    assert min(int(part) for part in re.findall(r"\d+", ink)[:3]) > 150
