// Slices of the clusters' means and discriminants: modes, slices and clusters are chosen here.

const TENSOR_SHOWS = [
  ["mean", "Mean"],
  ["difference", "Difference from cluster 0"],
  ["discriminant", "Discriminant (sparse)"],
];
const TENSOR_SCALES = [["all", "the same everywhere"], ["slice", "of this slice"], ["row", "of each row"]];
const TENSOR_COLORS = [[0, 114, 178], [213, 94, 0]]; // above 0, below

function tensorNumber(value) {
  if (Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  if (size && (size < 0.001 || size >= 1e6)) return value.toExponential(1).replaceAll("-", "−");
  return fixed(value, size >= 100 ? 1 : size >= 10 ? 2 : size >= 0.1 ? 3 : 5);
}

// Everything that follows from the fields, but not from what is looked at.
function tensorValues(part) {
  const modes = part.get("modes");
  const means = asArray(part.get("means"), Float32Array);
  const weights = asArray(part.get("discriminants"), Float32Array);
  const selected = asArray(part.get("selected"), Uint8Array);
  const shape = modes.map(({ labels }) => labels.length);
  const strides = shape.map((_, m) => shape.slice(m + 1).reduce((a, b) => a * b, 1));
  const size = shape.reduce((a, b) => a * b, 1);
  const read = {
    mean: (k, f) => means[k * size + f],
    difference: (k, f) => means[k * size + f] - means[f],
    discriminant: (k, f) => (k ? weights[(k - 1) * size + f] : 0),
  };
  const place = (f) => shape.map((n, m) => Math.floor(f / strides[m]) % n);
  const name = (f) => place(f).map((j, m) => modes[m].labels[j]).join(" · ");
  const limits = {};
  const limit = (show) => {
    if (limits[show] === undefined) {
      let top = 0;
      for (let k = 0; k * size < means.length; k++) {
        for (let f = 0; f < size; f++) {
          const value = Math.abs(read[show](k, f));
          if (value > top) top = value;
        }
      }
      limits[show] = top || 1;
    }
    return limits[show];
  };
  return { modes, shape, strides, size, selected, read, place, name, limit };
}

// The border of the marked cells as one path in cells.
function tensorOutline(marked, rows, columns) {
  const is = (r, c) => r >= 0 && c >= 0 && r < rows && c < columns && marked(r, c);
  const strokes = [];
  const run = (lines, length, edge, write) => {
    for (let i = 0; i <= lines; i++) {
      for (let j = 0; j < length; j++) {
        const from = j;
        while (j < length && edge(i, j)) j++;
        if (j > from) strokes.push(write(i, from, j));
      }
    }
  };
  run(rows, columns, (r, c) => is(r, c) !== is(r - 1, c), (r, a, b) => `M${a},${r}H${b}`);
  run(columns, rows, (c, r) => is(r, c) !== is(r, c - 1), (c, a, b) => `M${c},${a}V${b}`);
  return strokes.join("");
}

function tensor_slices(part, el) {
  const chooser = (label, field, number) => {
    const id = uid(field);
    const input = h("select", { id });
    input.addEventListener("change", () => choose({ [field]: number ? Number(input.value) : input.value }));
    const box = h("span.lvm-choose", {}, h("label", { for: id, text: label }), input);
    const fill = (options) => {
      input.replaceChildren(...options.map(([value, text]) => h("option", { value, text })));
      input.value = String(part.get(field));
    };
    return { box, fill };
  };
  const show = chooser("Show", "show");
  const cluster = chooser("of", "cluster", true);
  const down = chooser("Down", "rows", true);
  const across = chooser("Across", "columns", true);
  const colors = chooser("Full color", "scale");
  const all = [show, cluster, down, across, colors];
  const outlineId = uid("outlined");
  const outlined = h("input", { id: outlineId, type: "checkbox" });
  outlined.addEventListener("change", () => part.set({ outlined: outlined.checked }));
  const outlineBox = h("span.lvm-choose", {}, outlined, h("label", { for: outlineId, text: "Outline selected entries" }));
  const sliders = h("div.lvm-tensorat");
  const canvas = h("canvas", { tabindex: "0", role: "application" });
  const outline = document.createElementNS(SVG_NS, "svg");
  const marks = h("div.lvm-marks", { "aria-hidden": "true" });
  const rowLabels = h("div.lvm-tensorrows", { "aria-hidden": "true" });
  const columnLabels = h("div.lvm-columns", { "aria-hidden": "true" });
  const picture = h("div.lvm-canvas", {}, canvas, outline, marks);
  const frame = h("div.lvm-tensorframe", {}, h("span"), columnLabels, rowLabels, picture);
  const readout = h("p.lvm-readout", { role: "status" });
  const scale = h("span.lvm-scale");
  const numbers = h("div.lvm-scroll");
  el.append(h("div.lvm-controls", {}, all.map(({ box }) => box), outlineBox), sliders, frame, h("div.lvm-heatfoot", {}, readout, scale), numbers);
  outline.setAttribute("preserveAspectRatio", "none");
  outline.setAttribute("aria-hidden", "true");
  let known = tensorValues(part);
  let view = null; // of the slice: rows, columns, entry(r, c), value(r, c)
  let cursor = null;

  const order = () => known.shape.length;
  const down1 = () => (order() < 2 ? -1 : part.get("rows"));
  const across1 = () => (order() < 2 ? 0 : part.get("columns"));
  const others = () => {
    const [r, c] = [down1(), across1()];
    return known.shape.map((_, m) => m).filter((m) => m !== r && m !== c);
  };

  // The two modes stay different: who takes the other's mode gives its own.
  function choose(change) {
    const { rows: r, columns: c } = change;
    if (r !== undefined && r === part.get("columns")) change.columns = part.get("rows");
    if (c !== undefined && c === part.get("rows")) change.rows = part.get("columns");
    part.set(change);
  }

  function fill() {
    const names = part.get("clusters");
    show.fill(TENSOR_SHOWS);
    cluster.fill(names.map((text, k) => [k, text]));
    colors.fill(TENSOR_SCALES);
    for (const mode of [down, across]) {
      mode.fill(known.modes.map(({ name }, m) => [m, name]));
      mode.box.hidden = order() < 2;
    }
    const wanted = others();
    if (sliders.dataset.modes === wanted.join()) {
      wanted.forEach((m, i) => say(sliders.children[i], m));
      return;
    }
    sliders.dataset.modes = wanted.join();
    sliders.replaceChildren(...wanted.map(slider));
  }
  function slider(m) {
    const id = uid("slice");
    const input = h("input", { id, type: "range", min: 0, max: known.shape[m] - 1, step: 1 });
    const box = h("div.lvm-which", {}, h("label", { for: id, text: known.modes[m].name }), h("output", { for: id }), input);
    const rest = debounced(60, () => {
      const at = [...part.get("at")];
      at[m] = Number(input.value);
      part.set({ at });
      part.announce(`${known.modes[m].name} ${known.modes[m].labels[at[m]]}`);
    });
    input.addEventListener("input", () => {
      told(box, m, Number(input.value));
      rest();
    });
    say(box, m);
    return box;
  }
  function say(box, m) {
    const at = part.get("at")[m] ?? 0;
    box.querySelector("input").value = at;
    told(box, m, at);
  }
  function told(box, m, at) {
    const label = known.modes[m].labels[at] ?? "";
    setText(box.querySelector("output"), label);
    box.querySelector("input").setAttribute("aria-valuetext", label);
  }

  function look() {
    const [r, c, at] = [down1(), across1(), part.get("at")];
    const start = others().reduce((sum, m) => sum + (at[m] ?? 0) * known.strides[m], 0);
    const entry = (i, j) => start + (r < 0 ? 0 : i * known.strides[r]) + j * known.strides[c];
    const read = known.read[part.get("show")] ?? known.read.mean;
    const k = part.get("cluster");
    const rows = r < 0 ? 1 : known.shape[r];
    return { rows, columns: known.shape[c] ?? 0, entry, value: (i, j) => read(k, entry(i, j)), r, c };
  }

  // How large a value of full color is, for each row.
  function limits() {
    const kind = part.get("scale");
    if (kind !== "slice" && kind !== "row") {
      const same = known.limit(part.get("show")); // asked for once: some hosts take long to answer
      return () => same;
    }
    const tops = Array.from({ length: view.rows }, (_, i) => {
      let top = 0;
      for (let j = 0; j < view.columns; j++) top = Math.max(top, Math.abs(view.value(i, j)) || 0);
      return top;
    });
    const whole = Math.max(...tops) || 1;
    return (i) => (kind === "slice" ? whole : tops[i] || 1);
  }

  // Of cells that share a pixel the strongest is painted.
  function paint(width, height) {
    const wide = Math.max(1, Math.min(view.columns, Math.floor(width)));
    const tall = Math.max(1, Math.min(view.rows, Math.floor(height)));
    const top = limits();
    const shares = new Float32Array(wide * tall);
    for (let i = 0; i < view.rows; i++) {
      const line = Math.floor((i * tall) / view.rows) * wide;
      const full = top(i);
      for (let j = 0; j < view.columns; j++) {
        const at = line + Math.floor((j * wide) / view.columns);
        const share = view.value(i, j) / full;
        if (Number.isNaN(share) || Math.abs(share) > Math.abs(shares[at])) shares[at] = share;
      }
    }
    canvas.width = wide;
    canvas.height = tall;
    const context = canvas.getContext("2d");
    const image = context.createImageData(wide, tall);
    shares.forEach((share, at) => {
      const rgb = Number.isNaN(share) ? [138, 143, 152] : TENSOR_COLORS[share < 0 ? 1 : 0];
      image.data.set([...rgb, Number.isNaN(share) ? 70 : Math.round(255 * Math.min(1, Math.abs(share)))], 4 * at);
    });
    context.putImageData(image, 0, 0);
  }

  function labels(width, height) {
    const text = (m, j) => (m < 0 ? "" : known.modes[m].labels[j]);
    const every = (count, size) => Math.max(1, Math.ceil((14 * count) / Math.max(1, size)));
    const put = (target, m, count, size, side) => {
      const step = every(count, size);
      const shown = [];
      for (let j = 0; j < count; j += step) {
        const label = h("span", { text: text(m, j), title: text(m, j) });
        label.style[side] = `${(100 * (j + 0.5)) / count}%`;
        shown.push(label);
      }
      target.replaceChildren(...shown);
    };
    put(rowLabels, view.r, view.rows, height, "top");
    put(columnLabels, view.c, view.columns, width, "left");
    columnLabels.style.height = `${Math.min(130, 8 + longest(view.c) * 6.6)}px`;
  }
  const longest = (m) => (m < 0 ? 0 : known.modes[m].labels.reduce((most, label) => Math.max(most, label.length), 0));

  function draw() {
    if (!known.size || !known.modes.length) return;
    view = look();
    frame.toggleAttribute("data-flat", view.r < 0);
    const beside = view.r < 0 ? 0 : Math.min(frame.clientWidth * 0.3, 8 + longest(view.r) * 6.6);
    rowLabels.style.width = `${beside}px`;
    const room = frame.clientWidth - beside - 8;
    const width = Math.min(room || 600, view.columns * 90);
    const height = Math.min(480, view.rows * Math.max(3, Math.min(30, 460 / view.rows)));
    picture.style.width = columnLabels.style.width = `${width}px`;
    canvas.style.height = rowLabels.style.height = `${height}px`;
    paint(2 * width, 2 * height);
    labels(width, height);
    const marked = (i, j) => known.selected[view.entry(i, j)] > 0;
    const hide = !part.get("outlined") || known.selected.every((one) => one > 0);
    outlined.checked = part.get("outlined");
    outline.setAttribute("viewBox", `0 0 ${view.columns} ${view.rows}`);
    const path = document.createElementNS(SVG_NS, "path");
    path.setAttribute("d", hide ? "" : tensorOutline(marked, view.rows, view.columns));
    path.setAttribute("vector-effect", "non-scaling-stroke");
    outline.replaceChildren(path);
    const small = Math.min(width / view.columns, height / view.rows) < 8;
    outline.toggleAttribute("data-fine", small);
    const what = TENSOR_SHOWS.find(([name]) => name === part.get("show"))?.[1] ?? "";
    const sides = view.r < 0 ? known.modes[view.c].name : `${known.modes[view.r].name} by ${known.modes[view.c].name}`;
    canvas.setAttribute("aria-label", `${what} of ${part.get("clusters")[part.get("cluster")]}: heat map of ${sides}. Arrow keys move, Enter picks an entry.`);
    legend();
    mark();
    hint();
  }

  function legend() {
    const each = part.get("scale") === "row";
    const one = each ? "the largest of its row" : tensorNumber(limits()(0));
    const ramp = h("i");
    const [above, below] = TENSOR_COLORS.map((rgb) => `rgb(${rgb})`);
    ramp.style.background = `linear-gradient(90deg, ${below}, transparent, ${above})`;
    scale.replaceChildren(h("span", { text: each ? "below 0" : `−${one}` }), ramp, h("span", { text: one }));
  }
  function hint() {
    const k = part.get("cluster");
    const name = part.get("clusters")[k];
    if (part.get("hidden").includes(k)) setText(readout, `${name} is not shown: too few samples are in it.`);
    else if (part.get("show") !== "mean" && part.get("hidden").includes(0)) setText(readout, "Not shown: too few samples are in cluster 0, with which this compares.");
    else if (part.get("show") !== "discriminant" && Number.isNaN(known.read[part.get("show")](k, 0))) setText(readout, "Means are in this page only at the λ at which it was saved: beside others they could tell of single samples.");
    else if (!k && part.get("show") !== "mean") setText(readout, "This compares with cluster 0: choose another cluster.");
    else {
      const n = known.selected.reduce((sum, one) => sum + one, 0);
      const some = `${integer(n)} of ${integer(known.size)} entries are selected: they tell clusters apart.`;
      const marked = !n ? "No entry is selected." : n === known.size ? "All entries are selected." : some;
      setText(readout, `${marked} Point at an entry, or press an arrow key; click or Enter keeps it.`);
    }
  }

  function box(name, { i, j }) {
    const it = h(`i.${name}`);
    const [wide, tall] = [100 / view.columns, 100 / view.rows];
    Object.assign(it.style, { left: `${j * wide}%`, top: `${i * tall}%`, width: `${wide}%`, height: `${tall}%` });
    return it;
  }
  function mark() {
    marks.replaceChildren();
    const entry = part.get("entry");
    if (entry !== null && entry < known.size) {
      const place = known.place(entry);
      const at = part.get("at");
      const rest = others();
      const seen = rest.every((m) => place[m] === (at[m] ?? 0));
      if (seen) marks.append(box("lvm-cursor", { i: view.r < 0 ? 0 : place[view.r], j: place[view.c] }));
    }
    if (cursor) marks.append(box("lvm-pointed", cursor));
    count(entry);
  }

  // What every cluster has at the entry that is picked.
  function count(entry) {
    numbers.replaceChildren();
    if (entry === null || entry >= known.size) return;
    const heads = ["Cluster", "Mean", "Difference", "Discriminant"].map((text, i) => h(i ? "th.lvm-number" : "th", { scope: "col", text }));
    const rows = part.get("clusters").map((name, k) =>
      h("tr", {}, h("td", { text: name }), TENSOR_SHOWS.map(([what]) =>
        h("td.lvm-number", { text: k || what === "mean" ? tensorNumber(known.read[what](k, entry)) : "" }))));
    const chosen = known.selected[entry] ? "selected" : "not selected";
    const title = h("caption", { text: `${known.name(entry)} (${chosen})` });
    numbers.append(h("table.lvm-grid.lvm-tensorentry", {}, title, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, rows)));
  }

  function at(event) {
    const bounds = canvas.getBoundingClientRect();
    const within = (share, size) => Math.max(0, Math.min(size - 1, Math.floor(share * size)));
    return { i: within((event.clientY - bounds.top) / bounds.height, view.rows), j: within((event.clientX - bounds.left) / bounds.width, view.columns) };
  }
  function describe({ i, j }) {
    const f = view.entry(i, j);
    setText(readout, `${known.name(f)}: ${tensorNumber(view.value(i, j))}${known.selected[f] ? ", selected" : ""}`);
  }
  function pick(place) {
    const f = view.entry(place.i, place.j);
    part.set({ entry: f });
    part.announce(`${known.name(f)} picked`);
  }
  canvas.addEventListener("pointermove", (event) => view && describe(at(event)));
  canvas.addEventListener("pointerleave", () => view && hint());
  canvas.addEventListener("click", (event) => {
    if (!view) return;
    cursor = at(event);
    pick(cursor);
  });
  canvas.addEventListener("keydown", (event) => {
    if (!view || event.ctrlKey || event.metaKey) return;
    const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Home: [0, -view.columns], End: [0, view.columns] };
    const clip = (value, size) => Math.max(0, Math.min(size - 1, value));
    if (event.key in moves) {
      const [di, dj] = cursor ? moves[event.key] : [0, 0];
      const now = cursor ?? { i: 0, j: 0 };
      cursor = { i: clip(now.i + di, view.rows), j: clip(now.j + dj, view.columns) };
      mark();
      describe(cursor);
    } else if ((event.key === "Enter" || event.key === " ") && cursor) pick(cursor);
    else return;
    event.preventDefault();
  });

  part.on(["modes", "means", "discriminants", "selected"], () => {
    known = tensorValues(part);
    fill();
    draw();
  });
  part.on(["clusters", "cluster", "show", "rows", "columns", "at", "scale", "outlined", "hidden"], () => {
    if (cursor && view && (view.r !== down1() || view.c !== across1())) cursor = null;
    fill();
    draw();
  }, { now: false });
  // An entry that is picked elsewhere comes into sight.
  part.on(["entry"], () => {
    const entry = part.get("entry");
    if (!view) return;
    if (entry !== null && entry < known.size) {
      const place = known.place(entry);
      const now = part.get("at");
      const rest = others();
      const wanted = known.shape.map((_, m) => (rest.includes(m) ? place[m] : now[m] ?? 0));
      if (wanted.some((j, m) => j !== (now[m] ?? 0))) part.set({ at: wanted });
    }
    mark();
  }, { now: false });
  const observer = new ResizeObserver(() => draw());
  observer.observe(frame);
  return () => observer.disconnect();
}
