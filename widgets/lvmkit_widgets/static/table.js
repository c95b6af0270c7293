// Rows and columns; sorted, searched and paged here, or by Python where `total` is given.

function compareCells(a, b) {
  const rank = (value) => (typeof value === "number" ? 2 : value === null || value === undefined ? 0 : 1);
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  if (typeof a === "number") return a - b;
  return String(a ?? "").localeCompare(String(b ?? ""), "en", { numeric: true });
}

function table(part, el) {
  const searchId = uid("search");
  const search = h("input", { id: searchId, type: "search", spellcheck: "false" });
  const find = h("span.lvm-find", {}, h("label", { for: searchId, text: "Find" }), search);
  const save = h("button.quiet", { type: "button", onclick: saveCsv });
  const header = h("tr");
  const body = h("tbody");
  const grid = h("table.lvm-grid", { role: "grid" }, h("thead", {}, header), body);
  const pager = pagerOf(part);
  const controls = h("div.lvm-controls", {}, find, save);
  el.append(controls, h("div.lvm-scroll", {}, grid), pager.el);
  const settle = roving(body, () => (part.get("key") ? [...body.children] : []));
  const numeric = (column) => !["text", "code"].includes(column.kind ?? "text");
  const remote = () => part.get("total") !== null;

  function chosen() {
    const rows = part.get("rows");
    if (remote()) return rows;
    const words = part.get("search").trim();
    const columns = part.get("columns");
    const fits = matcher(words);
    const kept = words ? rows.filter((row) => fits(columns.map(({ key }) => row[key] ?? "").join(" "))) : [...rows];
    const [key, direction] = part.get("sort");
    if (!key) return kept;
    const sign = direction === "asc" ? 1 : -1;
    return kept.sort((a, b) => sign * compareCells(a[key], b[key]));
  }

  function pick(row) {
    const key = row[part.get("key")];
    part.fire("pick", key, { selected: key });
    part.announce(`${key} picked`);
  }
  function saveCsv() {
    const columns = part.get("columns");
    const lines = chosen().map((row) => csvLine(columns.map(({ key }) => row[key])));
    const text = [csvLine(columns.map(({ label, key }) => label ?? key)), ...lines].join("\r\n");
    saveFile(part.get("download"), `\ufeff${text}\r\n`, "text/csv;charset=utf-8");
  }

  function cell(row, column, widest) {
    const value = row[column.key];
    const text = cellText(value, column);
    if (column.kind !== "bar") return h(numeric(column) ? "td.lvm-number" : `td.lvm-cell-${column.kind ?? "text"}`, { text });
    const fill = h("i.lvm-in");
    fill.style.width = `${(100 * (typeof value === "number" ? value : 0)) / (column.max ?? widest)}%`;
    return h("td.lvm-bars", {}, h("div", {}, h("span", { "aria-hidden": "true" }, fill), h("b", { text })));
  }

  function line(row, columns, widest) {
    const key = part.get("key");
    const cells = columns.map((column) => cell(row, column, widest.get(column.key)));
    if (!key) return h("tr", {}, cells);
    const selected = String(row[key] === part.get("selected"));
    return h("tr.lvm-pickable", { "aria-selected": selected, ...pickable(() => pick(row)) }, cells);
  }

  function drawHeader() {
    const described = part.get("columns").map((column) => {
      const text = !numeric(column);
      return { ...column, label: column.label ?? column.key, text, first: text ? "asc" : "desc" };
    });
    header.replaceChildren(...sortHeader(part, described));
  }

  function draw() {
    const size = part.get("page_size");
    const all = chosen();
    const total = part.get("total") ?? all.length;
    const [page] = pager.pageOf(total);
    const rows = remote() ? all : all.slice(page * size, (page + 1) * size);
    const columns = part.get("columns");
    const widest = new Map(
      columns.map(({ key }) => [key, Math.max(1e-9, ...part.get("rows").map((row) => (typeof row[key] === "number" ? row[key] : 0)))]),
    );
    const keys = part.get("key") ? rows.map((row) => row[part.get("key")]) : [];
    const lines = rows.map((row) => line(row, columns, widest));
    fillRows(body, lines, keys, { settle: keys.length ? settle : () => {}, selected: part.get("selected"), empty: part.get("empty"), columns: columns.length || 1 });
    pager.show(total);
    grid.setAttribute("aria-label", part.get("title") || "table");
  }

  const restSearch = debounced(150, () => part.set({ search: search.value, page: 0 }));
  search.addEventListener("input", restSearch);
  part.on(["columns", "sort"], drawHeader);
  part.on(["columns", "rows", "key", "selected", "sort", "page", "page_size", "total", "search", "empty", "title"], draw);
  part.on(["searchable", "download", "search"], () => {
    find.hidden = !part.get("searchable") || (part.saved && remote());
    save.hidden = !part.get("download");
    setText(save, "Save CSV");
    controls.hidden = find.hidden && save.hidden;
    if (search.value.trim() !== part.get("search").trim()) search.value = part.get("search");
  });
}
