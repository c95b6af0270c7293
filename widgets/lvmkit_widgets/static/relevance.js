// Codes of a cluster ranked by relevance; the ranking follows the slider without asking Python.

const RELEVANCE_COLUMNS = [
  { key: "code", label: "Code" },
  { key: "title", label: "Meaning", plain: true },
  { key: "share", label: "In cluster", help: "Share of the cluster's patients with the code" },
  { key: "overall", label: "Overall", help: "Share of all patients with the code" },
  { key: "lift", label: "Lift", help: "Share in the cluster divided by the share overall" },
  { key: "relevance", label: "Relevance", help: "λ · log(share) + (1 − λ) · log(lift)" },
];

// Logarithms of share and lift of every code, once per model and cluster.
function relevanceTable(part) {
  const centers = asArray(part.get("centers"), Float32Array);
  const weights = part.get("weights");
  const d = part.get("codes").length;
  let overall = asArray(part.get("overall"), Float32Array);
  if (overall.length !== d) {
    const total = weights.reduce((sum, weight) => sum + weight, 0) || 1;
    overall = new Float32Array(d);
    for (let j = 0; j < weights.length; j++) {
      for (let i = 0; i < d; i++) overall[i] += (weights[j] / total) * centers[j * d + i];
    }
  }
  const counts = asArray(part.get("counts"), Int32Array);
  const clusters = new Map();
  const of = (j) => {
    if (!clusters.has(j)) {
      const share = centers.subarray(j * d, (j + 1) * d);
      const known = [];
      const logShare = new Float64Array(d);
      const logLift = new Float64Array(d);
      for (let i = 0; i < d; i++) {
        if (Number.isNaN(share[i]) || Number.isNaN(overall[i])) continue;
        known.push(i);
        logShare[i] = Math.log(Math.max(share[i], 1e-12));
        logLift[i] = logShare[i] - Math.log(Math.max(overall[i], 1e-12));
      }
      clusters.set(j, { share, known, logShare, logLift });
    }
    return clusters.get(j);
  };
  return { d, overall, counts, of };
}

function relevance(part, el) {
  const sliderId = uid("balance");
  const slider = h("input", { id: sliderId, type: "range", min: 0, max: 1, step: 0.01 });
  const output = h("output", { for: sliderId });
  const searchId = uid("search");
  const search = h("input", { id: searchId, type: "search", placeholder: "code or word", spellcheck: "false" });
  const body = h("tbody");
  const heads = new Map();
  const header = h("tr", {}, RELEVANCE_COLUMNS.map(head), h("th.lvm-barhead", { scope: "col", text: "Shares" }));
  const table = h("table.lvm-grid", { role: "grid" }, h("thead", {}, header), body);
  const note = h("p.lvm-hint");
  el.append(
    h(
      "div.lvm-controls",
      {},
      h("span.lvm-balance", {}, h("label", { for: sliderId, text: "Balance λ" }), slider, output,
        h("span.lvm-hint", { text: "1 common in the cluster · 0 typical of it" })),
      h("span.lvm-find", {}, h("label", { for: searchId, text: "Find" }), search),
    ),
    h("div.lvm-scroll", {}, table),
    h("div.lvm-legend", {}, note, h("span.lvm-key.lvm-in", { text: "in cluster" }), h("span.lvm-key.lvm-all", { text: "overall" })),
  );
  let data = relevanceTable(part);
  let rows = [];
  let shown = [];
  const settle = roving(body, () => rows.slice(0, shown.length).map((row) => row.el));

  function head(column) {
    const numeric = !["code", "title"].includes(column.key);
    const cell = h(numeric ? "th.lvm-number" : "th", { scope: "col" });
    if (column.plain) setText(cell, column.label);
    else cell.append(h("button", { type: "button", text: column.label, title: column.help, onclick: () => sortBy(column.key) }));
    heads.set(column.key, cell);
    return cell;
  }
  function sortBy(key) {
    const [old, direction] = part.get("sort");
    const first = key === "code" ? "asc" : "desc";
    const other = direction === "asc" ? "desc" : "asc";
    part.set({ sort: [key, key === old ? other : first] });
  }

  function makeRow() {
    const cells = RELEVANCE_COLUMNS.map(({ key }) => h(["code", "title"].includes(key) ? `td.lvm-cell-${key}` : "td.lvm-number"));
    const all = h("i.lvm-all");
    const within = h("i.lvm-in");
    const row = h("tr", { "aria-selected": "false" }, cells, h("td.lvm-bars", { "aria-hidden": "true" }, h("span", {}, all, within)));
    const made = { el: row, cells, all, within, i: -1 };
    const pick = () => made.i >= 0 && choose(part.get("codes")[made.i]);
    row.addEventListener("click", pick);
    row.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      pick();
    });
    body.append(row);
    return made;
  }
  function choose(code) {
    part.fire("pick", code, { code });
    part.announce(`${code} picked`);
  }

  function ranked(cluster, balance) {
    const [key, direction] = part.get("sort");
    const codes = part.get("codes");
    const titles = part.get("titles");
    const words = search.value.trim();
    const fits = matcher(words);
    const found = words ? cluster.known.filter((i) => fits(`${codes[i]} ${titles[i] ?? ""}`)) : [...cluster.known];
    const score = new Float64Array(data.d);
    for (const i of found) score[i] = balance * cluster.logShare[i] + (1 - balance) * cluster.logLift[i];
    const value = { relevance: score, share: cluster.share, overall: data.overall, lift: cluster.logLift }[key];
    const sign = direction === "asc" ? 1 : -1;
    if (key === "code") found.sort((a, b) => sign * codes[a].localeCompare(codes[b], "en", { numeric: true }));
    else found.sort((a, b) => sign * (value[a] - value[b]) || a - b);
    return { found, score };
  }

  function draw() {
    const j = part.get("cluster");
    const cluster = j === null || j < 0 || j >= part.get("weights").length ? null : data.of(j);
    const balance = Number(slider.value);
    setText(output, fixed(balance, 2));
    for (const [key, cell] of heads) {
      const [sort, direction] = part.get("sort");
      setAttribute(cell, "aria-sort", key === sort ? `${direction}ending` : null);
    }
    const { found, score } = cluster ? ranked(cluster, balance) : { found: [], score: [] };
    const name = cluster ? (part.get("names")[j] ?? `Cluster ${j}`) : "";
    shown = found.slice(0, part.get("top"));
    while (rows.length < shown.length) rows.push(makeRow());
    const codes = part.get("codes");
    const titles = part.get("titles");
    let widest = 1e-9;
    for (const i of shown) widest = Math.max(widest, cluster.share[i], data.overall[i]);
    rows.forEach((row, place) => {
      row.el.hidden = place >= shown.length;
      if (row.el.hidden) return;
      const i = shown[place];
      row.i = i;
      const count = data.counts.length ? data.counts[j * data.d + i] : null;
      const text = [codes[i], titles[i] ?? "", percent(cluster.share[i]), percent(data.overall[i]), times(Math.exp(cluster.logLift[i])), fixed(score[i], 2)];
      text.forEach((value, c) => setText(row.cells[c], value));
      setAttribute(row.cells[1], "title", titles[i] ?? "");
      setAttribute(row.cells[2], "title", count === null ? null : count < 0 ? "fewer than 11" : integer(count));
      row.within.style.width = `${(100 * cluster.share[i]) / widest}%`;
      row.all.style.width = `${(100 * data.overall[i]) / widest}%`;
      setAttribute(row.el, "aria-selected", codes[i] === part.get("code"));
    });
    const hidden = cluster ? data.d - cluster.known.length : 0;
    const more = found.length > shown.length ? `${shown.length} of ${integer(found.length)} codes` : `${found.length} codes`;
    setText(note, cluster ? `${name}: ${more}${hidden ? `; ${hidden} hidden, so that no small count shows` : ""}.` : "Select a cluster.");
    table.setAttribute("aria-label", `Codes of ${name || "no cluster"} by relevance`);
    const stop = rows.find((row) => !row.el.hidden && row.el.tabIndex === 0);
    settle(stop?.el);
  }

  const rest = debounced(80, () => part.set({ balance: Number(slider.value) }));
  slider.addEventListener("input", () => {
    draw();
    rest();
  });
  const restSearch = debounced(200, () => part.set({ search: search.value }));
  search.addEventListener("input", () => {
    draw();
    restSearch();
  });
  part.on(["balance", "search"], () => {
    if (Number(slider.value) !== part.get("balance")) slider.value = part.get("balance");
    if (search.value.trim() !== part.get("search").trim()) search.value = part.get("search");
    draw();
  });
  const model = ["centers", "weights", "overall", "codes", "titles", "names", "counts"];
  part.on(model, () => {
    data = relevanceTable(part);
    draw();
  }, { now: false });
  part.on(["cluster", "sort", "top", "code"], draw, { now: false });
}
