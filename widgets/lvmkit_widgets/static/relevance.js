// Codes of a cluster ranked by relevance; the ranking follows the slider without asking Python.

const MOST_SAVED = 1000; // rows of a table that is saved as a file

// What the columns are called and mean; a dashboard may say it in other words (`labels`).
function relevanceColumns(part) {
  const say = {
    code: "Code",
    title: "Meaning",
    n: "n",
    total: "All",
    share: "In cluster",
    overall: "Overall",
    share_help: "Share of the cluster's patients with the code",
    overall_help: "Share of all patients with the code",
    lift_help: "Share in the cluster divided by the share overall",
    ...part.get("labels"),
  };
  const counted = asArray(part.get("totals"), Int32Array).length > 0;
  const listed = part.get("labels").n && asArray(part.get("counts"), Int32Array).length > 0;
  return [
    { key: "code", label: say.code },
    part.get("titles").some(Boolean) && { key: "title", label: say.title, plain: true },
    (counted || listed) && { key: "n", label: say.n, help: say.n_help },
    counted && { key: "total", label: say.total, help: say.total_help },
    { key: "share", label: say.share, help: say.share_help },
    !counted && { key: "overall", label: say.overall, help: say.overall_help },
    { key: "lift", label: "Lift", help: say.lift_help },
    { key: "relevance", label: "Relevance", help: "λ · log(share) + (1 − λ) · log(lift)" },
  ].filter(Boolean);
}

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
  const totals = asArray(part.get("totals"), Int32Array);
  const places = new Map(part.get("codes").map((code, i) => [code, i]));
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
      clusters.set(j, { share, known, logShare, logLift, n: null });
    }
    return clusters.get(j);
  };
  // How a code spreads over the clusters: shares that sum to 1; null where a count is hidden.
  const spread = (code) => {
    const i = places.get(code);
    if (i === undefined) return { spread: [], spread_total: null };
    const rows = weights.map((weight, j) => (counts.length ? counts[j * d + i] : weight * centers[j * d + i]));
    const whole = counts.length ? overall[i] * part.get("size") : rows.reduce((sum, row) => sum + row, 0);
    const partOfIt = (row) => (row < 0 || Number.isNaN(row) ? null : whole > 0 ? Number((row / whole).toFixed(6)) : 0);
    return { spread: rows.map(partOfIt), spread_total: counts.length ? Math.round(whole) : totals.length ? totals[i] : null };
  };
  // Occurrences of every code that come from a cluster: all of them, times its part in the code.
  const expected = (j) => {
    const cluster = of(j);
    if (cluster.n === null) {
      cluster.n = new Float64Array(d);
      if (counts.length) cluster.n.set(counts.subarray(j * d, (j + 1) * d));
      for (let i = 0; i < d && !counts.length; i++) {
        let whole = 0;
        for (let h = 0; h < weights.length; h++) whole += weights[h] * centers[h * d + i];
        cluster.n[i] = whole > 0 ? (totals[i] * weights[j] * cluster.share[i]) / whole : 0;
      }
    }
    return cluster.n;
  };
  return { d, overall, counts, totals, of, spread, expected };
}

// The places with the `top` largest values, largest first; equal ones in their order.
function largest(places, value, sign, top) {
  const best = [];
  for (const i of places) {
    const v = sign * value[i];
    if (best.length === top && !(v > sign * value[best[top - 1]])) continue;
    let low = 0;
    let high = best.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sign * value[best[middle]] >= v) low = middle + 1;
      else high = middle;
    }
    best.splice(low, 0, i);
    if (best.length > top) best.pop();
  }
  return best;
}

function relevance(part, el) {
  const sliderId = uid("balance");
  const slider = h("input", { id: sliderId, type: "range", min: 0, max: 1, step: 0.01 });
  const output = h("output", { for: sliderId });
  const searchId = uid("search");
  const search = h("input", { id: searchId, type: "search", spellcheck: "false" });
  const meaning = h("span.lvm-hint");
  const body = h("tbody");
  const header = h("tr");
  const table = h("table.lvm-grid", { role: "grid" }, h("thead", {}, header), body);
  const note = h("p.lvm-hint");
  const within = h("span.lvm-key.lvm-in");
  const all = h("span.lvm-key.lvm-all");
  const save = h("button.quiet", { type: "button", text: "Save as CSV", onclick: saveCsv });
  el.append(
    h(
      "div.lvm-controls",
      {},
      h("span.lvm-balance", {}, h("label", { for: sliderId, text: "Balance λ" }), slider, output, meaning),
      h("span.lvm-find", {}, h("label", { for: searchId, text: "Find" }), search),
    ),
    h("div.lvm-scroll", {}, table),
    h("div.lvm-legend", {}, note, within, all, save),
  );
  let heads = new Map();
  let columns = [];
  let data = relevanceTable(part);
  let rows = [];
  let shown = [];
  const settle = roving(body, () => rows.slice(0, shown.length).map((row) => row.el));
  const numeric = (key) => !["code", "title"].includes(key);

  function rebuild() {
    columns = relevanceColumns(part);
    heads = new Map();
    rows = [];
    body.replaceChildren();
    const labels = part.get("labels");
    const bars = h("th.lvm-barhead", { scope: "col", text: labels.bars ?? "Shares" });
    header.replaceChildren(...columns.map(head), bars);
    table.classList.toggle("lvm-untitled", !columns.some(({ key }) => key === "title"));
    search.placeholder = labels.find ?? "code or word";
    setText(meaning, labels.balance ?? "1 common in the cluster · 0 typical of it");
    setText(within, labels.inside ?? "in cluster");
    setText(all, labels.all ?? "overall");
    save.hidden = !part.get("download");
  }
  function head(column) {
    const cell = h(`th.lvm-col-${column.key}${numeric(column.key) ? ".lvm-number" : ""}`, { scope: "col" });
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
    const kind = (key) => (numeric(key) ? "lvm-number" : `lvm-cell-${key}`);
    const cells = columns.map(({ key }) => h(`td.lvm-col-${key}.${kind(key)}`));
    const overall = h("i.lvm-all");
    const inside = h("i.lvm-in");
    const row = h("tr", { "aria-selected": "false" }, cells, h("td.lvm-bars", { "aria-hidden": "true" }, h("span", {}, overall, inside)));
    const made = { el: row, cells, all: overall, within: inside, i: -1 };
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
    const spread = part.get("spreads") ? data.spread(code) : {};
    part.fire("pick", code, { code, ...spread });
    part.announce(`${code} picked`);
  }

  function ranked(j, balance, top) {
    const cluster = data.of(j);
    const [key, direction] = part.get("sort");
    const codes = part.get("codes");
    const titles = part.get("titles");
    const words = search.value.trim();
    const fits = matcher(words);
    const found = words ? cluster.known.filter((i) => fits(`${codes[i]} ${titles[i] ?? ""}`)) : cluster.known;
    const score = new Float64Array(data.d);
    for (const i of found) score[i] = balance * cluster.logShare[i] + (1 - balance) * cluster.logLift[i];
    const sign = direction === "asc" ? 1 : -1;
    if (key === "code") {
      const order = [...found].sort((a, b) => sign * codes[a].localeCompare(codes[b], "en", { numeric: true }));
      return { best: order.slice(0, top), count: found.length, score };
    }
    const value = { share: cluster.share, overall: data.overall, lift: cluster.logLift, total: data.totals }[key];
    const by = key === "n" ? data.expected(j) : (value ?? score);
    return { best: largest(found, by, -sign, top), count: found.length, score };
  }
  function shownCluster() {
    const j = part.get("cluster");
    return j === null || j < 0 || j >= part.get("weights").length ? null : j;
  }
  // Numbers of a row; texts of them stand in the table, they themselves in a file.
  function numbers(j, i, score) {
    const cluster = data.of(j);
    return {
      share: cluster.share[i],
      overall: data.overall[i],
      lift: Math.exp(cluster.logLift[i]),
      relevance: score[i],
      total: data.totals[i],
      n: data.totals.length || data.counts.length ? data.expected(j)[i] : null,
    };
  }
  const texts = {
    share: (value) => percent(value, data.totals.length ? 2 : 1),
    overall: percent,
    lift: times,
    relevance: (value) => fixed(value, 2),
    total: integer,
    n: (value) => (value > 0 && value < 0.5 ? "<1" : integer(value)),
  };

  function draw() {
    const j = shownCluster();
    const balance = Number(slider.value);
    setText(output, fixed(balance, 2));
    for (const [key, cell] of heads) {
      const [sort, direction] = part.get("sort");
      setAttribute(cell, "aria-sort", key === sort ? `${direction}ending` : null);
    }
    const { best, count, score } = j === null ? { best: [], count: 0, score: [] } : ranked(j, balance, part.get("top"));
    const name = j === null ? "" : (part.get("names")[j] ?? `Cluster ${j}`);
    shown = best;
    while (rows.length < shown.length) rows.push(makeRow());
    const codes = part.get("codes");
    const titles = part.get("titles");
    const counted = data.totals.length > 0;
    const values = shown.map((i) => numbers(j, i, score));
    const widest = Math.max(1e-9, ...values.flatMap((v) => (counted ? [v.total] : [v.share, v.overall])));
    rows.forEach((row, place) => {
      row.el.hidden = place >= shown.length;
      if (row.el.hidden) return;
      const i = shown[place];
      const value = values[place];
      row.i = i;
      columns.forEach(({ key }, c) => setText(row.cells[c], key === "code" ? codes[i] : key === "title" ? (titles[i] ?? "") : texts[key](value[key])));
      const count = data.counts.length ? data.counts[j * data.d + i] : null;
      columns.forEach(({ key }, c) => {
        if (key === "title" || key === "code") setAttribute(row.cells[c], "title", key === "title" ? (titles[i] ?? "") : codes[i]);
        if (key === "share") setAttribute(row.cells[c], "title", count === null ? null : count < 0 ? "fewer than 11" : integer(count));
      });
      row.within.style.width = `${(100 * (counted ? value.n : value.share)) / widest}%`;
      row.all.style.width = `${(100 * (counted ? value.total : value.overall)) / widest}%`;
      setAttribute(row.el, "aria-selected", codes[i] === part.get("code"));
    });
    tell(j, name, count);
    const stop = rows.find((row) => !row.el.hidden && row.el.tabIndex === 0);
    settle(stop?.el);
  }
  function tell(j, name, count) {
    const labels = part.get("labels");
    const columnNames = labels.columns ?? "codes";
    const hidden = j === null ? 0 : data.d - data.of(j).known.length;
    const more = count > shown.length ? `${shown.length} of ${integer(count)} ${columnNames}` : `${count} ${columnNames}`;
    const withheld = hidden ? `; ${hidden} hidden, so that no small count shows` : "";
    const rest = labels.rest ? ` ${labels.rest}` : "";
    const empty = j !== null && (part.get("empty") ?? []).includes(j);
    setText(note, j === null ? (labels.none ?? "Select a cluster.") : empty ? `${name} is empty: no word and no share.` : `${name}: ${more}${withheld}.${rest}`);
    table.setAttribute("aria-label", `${labels.code ?? "Code"}s of ${name || "nothing"} by relevance`);
  }
  function saveCsv() {
    const j = shownCluster();
    if (j === null) return;
    const { best, score } = ranked(j, Number(slider.value), MOST_SAVED);
    const lines = best.map((i) => {
      const value = numbers(j, i, score);
      return csvLine(columns.map(({ key }) => (key === "code" ? part.get("codes")[i] : key === "title" ? part.get("titles")[i] : Number(value[key].toPrecision(6)))));
    });
    const text = [csvLine(columns.map(({ label }) => label)), ...lines].join("\r\n");
    saveFile(`${part.get("download")}-${j}.csv`, `\ufeff${text}\r\n`, "text/csv;charset=utf-8");
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
  part.on(["titles", "totals", "labels", "download"], () => {
    data = relevanceTable(part);
    rebuild();
    draw();
  });
  // Apart from each other: the one that settles must not undo what is typed in the other.
  part.on(["balance"], () => {
    if (Number(slider.value) !== part.get("balance")) slider.value = part.get("balance");
    draw();
  });
  part.on(["search"], () => {
    if (search.value.trim() !== part.get("search").trim()) search.value = part.get("search");
    draw();
  });
  const model = ["centers", "weights", "overall", "codes", "names", "counts", "empty", "size"];
  part.on(model, () => {
    data = relevanceTable(part);
    draw();
  }, { now: false });
  part.on(["cluster", "sort", "top"], draw, { now: false });
  part.on(["code", "centers", "codes", "weights"], () => {
    draw();
    if (!part.get("spreads")) return;
    const now = data.spread(part.get("code"));
    if (JSON.stringify(now.spread) !== JSON.stringify(part.get("spread"))) part.set(now);
  }, { now: false });
}
