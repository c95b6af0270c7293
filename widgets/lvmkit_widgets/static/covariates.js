// Clusters of covariates at one ν, as a list that is sorted, paged and searched here.

const COVARIATES_NAMED = 8; // names of a cluster in the list; all of them stand beside it

// The class that each column of weights (classes x n) speaks for, and how strongly against the next.
function speaksFor(weights, c, n) {
  const best = new Int32Array(n);
  const next = new Int32Array(n).fill(-1);
  const odds = new Float64Array(n);
  for (let j = 0; j < n; j++) {
    for (let k = 1; k < c; k++) {
      if (weights[k * n + j] > weights[best[j] * n + j]) {
        next[j] = best[j];
        best[j] = k;
      } else if (next[j] < 0 || weights[k * n + j] > weights[next[j] * n + j]) next[j] = k;
    }
    odds[j] = Math.exp(weights[best[j] * n + j] - (next[j] < 0 ? 0 : weights[next[j] * n + j]));
  }
  return { weights, n, best, next, odds };
}

// Everything that follows from the fields of a `Covariates`, for both parts that show it.
function covariateClusters(part) {
  const names = part.get("names");
  const classes = part.get("classes");
  const labels = asArray(part.get("labels"), Int32Array);
  const weights = asArray(part.get("weights"), Float32Array);
  const c = Math.max(1, classes.length);
  const clusters = speaksFor(weights, c, weights.length / c);
  const alone = speaksFor(asArray(part.get("alone"), Float32Array), c, names.length);
  const members = Array.from({ length: clusters.n }, () => []);
  labels.forEach((cluster, j) => members[cluster]?.push(j));
  for (const list of members) list.sort((a, b) => alone.odds[b] - alone.odds[a] || a - b);
  return { names, classes, labels, clusters, alone, members };
}

function oddsText(odds) {
  if (!Number.isFinite(odds)) return "very large";
  return odds >= 100 ? integer(odds) : fixed(odds, odds < 1.1 ? 3 : 2);
}

function pickCovariates(part, cluster, covariate = null) {
  if (part.saved) part.set({ shown: "" }); // of a cluster without a picture in the page nothing may be left
  const place = part.saved ? { shown: `${part.get("step")}:${cluster}` } : {};
  part.set({ selected: cluster, covariate, ...place });
}

const COVARIATE_COLUMNS = [
  { key: "cluster", label: "Cluster", first: "asc", help: "Numbered by their first covariate" },
  { key: "size", label: "Size", first: "desc", help: "Number of covariates that share one weight" },
  { key: "speaks", label: "Speaks for", text: true, first: "asc", help: "The class with the highest weight" },
  { key: "odds", label: "Odds ratio", first: "desc", help: "How strongly, against the next class: 1 is not at all" },
  { key: "names", label: "Covariates", text: true, first: "asc", help: "The strongest ones, each by itself, first" },
];

function covariates(part, el) {
  const id = uid("covariate");
  const search = h("input", { id, type: "search", spellcheck: "false" });
  const source = () => known.names.map((name) => ({ value: name, label: name }));
  const { host, close } = proposals(search, source, find);
  const controls = h("div.lvm-controls", {}, h("span.lvm-find", {}, h("label", { for: id, text: "Find a covariate" }), host));
  const readout = h("p.lvm-readout", { role: "status" });
  const header = h("tr");
  const body = h("tbody");
  const grid = h("table.lvm-grid", { role: "grid" }, h("thead", {}, header), body);
  const pager = pagerOf(part);
  const left = h("p.lvm-hint");
  el.append(controls, readout, h("div.lvm-scroll", {}, grid), pager.el, left);
  const settle = roving(body, () => [...body.children]);
  let known = covariateClusters(part);
  let order = [];

  function sorted() {
    const [key, direction] = part.get("sort");
    const { clusters, classes, members, names } = known;
    const values = {
      cluster: (i) => i,
      size: (i) => members[i].length,
      speaks: (i) => classes[clusters.best[i]] ?? "",
      odds: (i) => clusters.odds[i],
      names: (i) => names[members[i][0]] ?? "",
    };
    const of = values[key] ?? values.cluster;
    const sign = direction === "asc" ? 1 : -1;
    return [...members.keys()].sort((a, b) => sign * compareText(of(a), of(b)) || a - b);
  }
  function compareText(a, b) {
    return typeof a === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
  }
  function told(j) {
    const cluster = known.labels[j];
    if (cluster < 0) return `${known.names[j]} is left out at this ν: all its weights are 0.`;
    const others = known.members[cluster].length - 1;
    const company = others ? `with ${integer(others)} other${others === 1 ? "" : "s"}` : "alone";
    const speaks = known.classes[known.clusters.best[cluster]];
    return `${known.names[j]} is in cluster ${cluster}, ${company}; it speaks for ${speaks}.`;
  }
  // The page follows what is found or picked elsewhere.
  function turnTo(cluster) {
    const at = order.indexOf(cluster);
    const page = Math.floor(at / part.get("page_size"));
    if (at >= 0 && page !== part.get("page")) part.set({ page });
  }
  function find(name) {
    const j = known.names.indexOf(name);
    if (j < 0) return;
    search.value = name;
    pickCovariates(part, known.labels[j] < 0 ? null : known.labels[j], j);
    turnTo(known.labels[j]);
  }
  function typed() {
    const text = search.value.trim();
    if (!text) return;
    const exact = known.names.find((name) => name.toLowerCase() === text.toLowerCase());
    const fits = matcher(text);
    const name = exact ?? known.names.find((other) => fits(other));
    close();
    if (name === undefined) setText(readout, `No covariate is called “${text}”.`);
    else find(name);
  }
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.defaultPrevented) typed();
  });
  search.addEventListener("input", () => {
    if (!search.value) part.set({ covariate: null });
  });

  function row(i) {
    const { names, classes, clusters, members } = known;
    const first = members[i].slice(0, COVARIATES_NAMED).map((j) => names[j]);
    const more = members[i].length - first.length;
    const pick = () => {
      pickCovariates(part, i);
      part.announce(`Cluster ${i} picked`);
    };
    return h(
      "tr.lvm-pickable",
      {
        "aria-selected": String(i === part.get("selected")),
        "data-id": i,
        ...pickable(pick),
      },
      h("td.lvm-number", { text: String(i) }),
      h("td.lvm-number", { text: integer(members[i].length) }),
      h("td.lvm-cell-text", { text: classes[clusters.best[i]] ?? "–" }),
      h("td.lvm-number", { text: oddsText(clusters.odds[i]) }),
      h("td.lvm-cell-text", {}, h("span.lvm-few", { text: first.join(", ") + (more > 0 ? `, and ${integer(more)} more` : "") })),
    );
  }
  function draw() {
    header.replaceChildren(...sortHeader(part, COVARIATE_COLUMNS));
    order = sorted();
    const size = part.get("page_size");
    const [page] = pager.pageOf(order.length);
    const shown = order.slice(page * size, (page + 1) * size);
    const empty = "No clusters: no covariate has a weight at this ν.";
    fillRows(body, shown.map(row), shown, { settle, selected: part.get("selected"), empty, columns: COVARIATE_COLUMNS.length });
    pager.show(order.length);
    const out = known.labels.reduce((n, cluster) => n + (cluster < 0), 0);
    setText(left, out ? `${integer(out)} of ${integer(known.labels.length)} covariates are left out at this ν: their weights are 0.` : "");
    left.hidden = !out;
    grid.setAttribute("aria-label", "Clusters of covariates");
  }
  function drawFound() {
    const j = part.get("covariate");
    const there = j !== null && j < known.names.length;
    setText(readout, there ? told(j) : "");
    if (there && search !== el.getRootNode().activeElement) search.value = known.names[j];
  }
  part.on(["names", "classes", "labels", "weights", "alone"], () => {
    known = covariateClusters(part);
    draw();
    turnTo(part.get("selected"));
    drawFound();
  });
  part.on(["sort", "page", "page_size"], draw, { now: false });
  part.on(["selected"], () => {
    turnTo(part.get("selected"));
    draw();
  }, { now: false });
  part.on(["covariate"], drawFound, { now: false });
}
