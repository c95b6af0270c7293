// Rows by codes on a canvas: every row counts in its pixel, clusters as bands, zoom by wheel.

const CIVIDIS = [
  [0, 32, 76], [0, 42, 102], [0, 52, 110], [39, 63, 108], [60, 74, 107], [76, 85, 107], [91, 95, 109],
  [104, 106, 112], [117, 117, 117], [131, 129, 120], [146, 140, 120], [161, 152, 118], [176, 165, 114],
  [192, 177, 109], [209, 191, 102], [225, 204, 92], [243, 219, 79], [255, 233, 69],
];

function cividis() {
  const colors = new Uint32Array(256);
  for (let v = 0; v < 256; v++) {
    const at = (v / 255) * (CIVIDIS.length - 1);
    const i = Math.min(CIVIDIS.length - 2, Math.floor(at));
    const [r, g, b] = CIVIDIS[i].map((from, c) => Math.round(from + (at - i) * (CIVIDIS[i + 1][c] - from)));
    colors[v] = (255 << 24) | (b << 16) | (g << 8) | r;
  }
  return colors;
}

// Mean of the rows under each of `height` pixel rows, as colors.
function heatPixels(cells, width, start, stop, height, colors, out) {
  const sums = new Float64Array(width);
  for (let y = 0; y < height; y++) {
    const from = start + Math.floor(((stop - start) * y) / height);
    const to = Math.max(from + 1, start + Math.floor(((stop - start) * (y + 1)) / height));
    sums.fill(0);
    for (let r = from; r < to; r++) {
      const base = r * width;
      for (let c = 0; c < width; c++) sums[c] += cells[base + c];
    }
    const line = y * width;
    for (let c = 0; c < width; c++) out[line + c] = colors[Math.round(sums[c] / (to - from))];
  }
}

// Move labels apart as little as needed; nothing if there is no room for all.
function spread(middles, height, gap = 14) {
  if (middles.length * gap > height) return null;
  const places = [...middles];
  for (let i = 0; i < places.length; i++) {
    places[i] = Math.max(places[i], i ? places[i - 1] + gap : gap / 2);
  }
  for (let i = places.length - 1; i >= 0; i--) {
    places[i] = Math.min(places[i], i < places.length - 1 ? places[i + 1] - gap : height - gap / 2);
  }
  return places;
}

function heat(part, el) {
  const colors = cividis();
  const canvas = h("canvas", { tabindex: "0", role: "application" });
  const marks = h("div.lvm-marks", { "aria-hidden": "true" });
  const bandLabels = h("div.lvm-bands");
  const columnLabels = h("div.lvm-columns");
  const frame = h("div.lvm-heatframe", {}, h("span"), columnLabels, bandLabels, h("div.lvm-canvas", {}, canvas, marks));
  const readout = h("p.lvm-readout", { role: "status" });
  const tool = (text, label, act) => h("button.quiet", { type: "button", text, "aria-label": label, title: label, onclick: act });
  const reset = tool("Show all", "Show all rows", () => zoomTo(0, rows));
  const tools = h("div.lvm-tools", {}, tool("+", "Zoom in", () => zoom(0.5)), tool("−", "Zoom out", () => zoom(2)), reset, scale());
  el.append(frame, h("div.lvm-heatfoot", {}, readout, tools));
  const buffer = document.createElement("canvas");
  let cells = new Uint8Array(0);
  let columns = [];
  let bands = [];
  let rows = 0;
  let hidden = new Set();
  let view = { start: 0, stop: 0 };
  let cursor = null;

  function scale() {
    const stops = CIVIDIS.map((c, i) => `rgb(${c}) ${(100 * i) / (CIVIDIS.length - 1)}%`).join(",");
    const ramp = h("i");
    ramp.style.background = `linear-gradient(90deg, ${stops})`;
    return h("span.lvm-scale", {}, h("span", { text: "0%" }), ramp, h("span", { text: "100% have the code" }));
  }

  function paint() {
    const box = canvas.getBoundingClientRect();
    if (box.width < 2 || !rows || !columns.length) return;
    const ratio = devicePixelRatio || 1;
    const height = Math.round(box.height * ratio);
    const width = Math.round(box.width * ratio);
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    Object.assign(buffer, { width: columns.length, height });
    const image = new ImageData(columns.length, height);
    heatPixels(cells, columns.length, view.start, view.stop, height, colors, new Uint32Array(image.data.buffer));
    buffer.getContext("2d").putImageData(image, 0, 0);
    const context = canvas.getContext("2d");
    context.imageSmoothingEnabled = false;
    context.drawImage(buffer, 0, 0, width, height);
    paintHidden(context, width, height, ratio);
    context.fillStyle = "rgba(255,255,255,.75)";
    for (const band of bands) {
      const y = Math.round(((band.start - view.start) / (view.stop - view.start)) * height);
      if (y > 0 && y < height) context.fillRect(0, y - 1, width, Math.max(1, Math.round(ratio)));
    }
    drawLabels(box);
    drawMarks();
  }

  // What must not be shown is hatched, so that it is not taken for a share.
  function paintHidden(context, width, height, ratio) {
    if (!hidden.size) return;
    const tile = Object.assign(document.createElement("canvas"), { width: 6 * ratio, height: 6 * ratio });
    const ink = tile.getContext("2d");
    ink.fillStyle = "#f2f2f2";
    ink.fillRect(0, 0, tile.width, tile.height);
    ink.strokeStyle = "#8a8f98";
    ink.lineWidth = ratio;
    ink.beginPath();
    ink.moveTo(0, tile.height);
    ink.lineTo(tile.width, 0);
    ink.stroke();
    context.fillStyle = context.createPattern(tile, "repeat");
    const y = (row) => Math.round(((row - view.start) / (view.stop - view.start)) * height);
    const x = (column) => Math.round((column / columns.length) * width);
    for (const band of bands) {
      for (let c = 0; c < columns.length; c++) {
        if (hidden.has(`${band.id} ${c}`)) context.fillRect(x(c), y(band.start), x(c + 1) - x(c), y(band.stop) - y(band.start));
      }
    }
  }

  const part100 = (row) => (100 * (row - view.start)) / (view.stop - view.start);

  function drawLabels(box) {
    const selected = part.get("selected");
    const inView = bands.filter((band) => band.stop > view.start && band.start < view.stop);
    const span = (band) => [Math.max(0, part100(band.start)), Math.min(100, part100(band.stop))];
    const middles = inView.map((band) => (span(band)[0] + span(band)[1]) / 200 * box.height);
    const places = spread(middles, box.height);
    const labels = inView.map((band, i) => {
      const [from, to] = span(band);
      const label = h("button.lvm-band", {
        type: "button",
        tabindex: "-1",
        title: `${band.name}: ${integer(band.n)} ${part.get("row_name")}; double-click shows only these`,
        onclick: () => part.fire("pick", { cluster: band.id, code: null }),
        ondblclick: () => zoomTo(band.start, band.stop),
      }, h("span", { text: places ? band.name : "" }));
      if (places) label.firstChild.style.top = `${places[i] - 7 - (from / 100) * box.height}px`;
      label.style.top = `${from}%`;
      label.style.height = `${to - from}%`;
      label.classList.toggle("lvm-on", band.id === selected);
      return label;
    });
    bandLabels.replaceChildren(...labels);
    const longest = Math.max(...columns.map(({ code }) => code.length));
    columnLabels.style.height = `${Math.min(110, 10 + 7.5 * longest)}px`;
    const every = Math.ceil(13 / (box.width / columns.length));
    columnLabels.replaceChildren(
      ...columns.map(({ code, title }, c) => {
        const on = code === part.get("code");
        const label = h("span", { title: `${code} ${title}`, text: c % every === 0 || on ? code : "" });
        label.style.left = `${(100 * (c + 0.5)) / columns.length}%`;
        label.classList.toggle("lvm-on", on);
        return label;
      }),
    );
  }

  function mark(name, left, top, width, height) {
    const box = h(`i.${name}`);
    Object.assign(box.style, { left: `${left}%`, top: `${top}%`, width: `${width}%`, height: `${height}%` });
    return box;
  }
  function drawMarks() {
    marks.replaceChildren();
    const band = bands.find(({ id }) => id === part.get("selected"));
    if (band && band.stop > view.start && band.start < view.stop) {
      const top = Math.max(0, part100(band.start));
      marks.append(mark("lvm-bandmark", 0, top, 100, Math.min(100, part100(band.stop)) - top));
    }
    const wide = 100 / Math.max(1, columns.length);
    const column = columns.findIndex(({ code }) => code === part.get("code"));
    if (column >= 0) marks.append(mark("lvm-columnmark", column * wide, 0, wide, 100));
    if (!cursor) return;
    const tall = Math.max(100 / canvas.clientHeight, 100 / (view.stop - view.start));
    marks.append(mark("lvm-cursor", cursor.column * wide, Math.max(0, part100(cursor.row)), wide, tall));
  }

  function describe(place) {
    const band = bands.find(({ start, stop }) => place.row >= start && place.row < stop);
    const { code, title } = columns[place.column];
    const where = `${band?.name ?? ""} · ${code} ${title}`;
    if (band && hidden.has(`${band.id} ${place.column}`)) {
      setText(readout, `${where} · hidden, so that no small count shows`);
      return;
    }
    const step = Math.max(1, Math.floor((view.stop - view.start) / Math.max(1, canvas.clientHeight)));
    let sum = 0;
    const to = Math.min(place.row + step, band ? band.stop : rows);
    for (let r = place.row; r < to; r++) sum += cells[r * columns.length + place.column];
    const value = sum / (255 * Math.max(1, to - place.row));
    let whole = 0;
    if (band) {
      for (let r = band.start; r < band.stop; r++) whole += cells[r * columns.length + place.column];
      whole /= 255 * (band.stop - band.start);
    }
    const about = integer((to - place.row) * part.get("per_row"));
    const here = `${where} · here ${part.get("coarse") ? "about " : ""}${percent(value, 0)} of ${about} ${part.get("row_name")}`;
    setText(readout, part.get("coarse") ? here : `${here}, whole cluster ${percent(whole)}`);
  }

  function at(event) {
    const box = canvas.getBoundingClientRect();
    const within = (share, count) => Math.max(0, Math.min(count - 1, Math.floor(share * count)));
    const row = view.start + within((event.clientY - box.top) / box.height, view.stop - view.start);
    return { row, column: within((event.clientX - box.left) / box.width, columns.length) };
  }
  function pick(place) {
    const band = bands.find(({ start, stop }) => place.row >= start && place.row < stop);
    const { code } = columns[place.column];
    part.fire("pick", { cluster: band?.id ?? null, code }, { code });
    part.announce(`${band?.name ?? ""}, ${code} picked`);
  }

  function zoomTo(start, stop) {
    const length = Math.max(Math.min(rows, 8), Math.min(rows, Math.round(stop - start)));
    const from = Math.max(0, Math.min(rows - length, Math.round(start)));
    view = { start: from, stop: from + length };
    reset.disabled = length >= rows;
    paint();
  }
  function zoom(factor, center = cursor?.row ?? (view.start + view.stop) / 2) {
    const left = (center - view.start) / (view.stop - view.start);
    const length = (view.stop - view.start) * factor;
    zoomTo(center - left * length, center + (1 - left) * length);
  }

  canvas.addEventListener("wheel", (event) => {
    if (canvas !== canvas.getRootNode().activeElement && !event.ctrlKey) return;
    event.preventDefault();
    zoom(event.deltaY < 0 ? 0.8 : 1.25, at(event).row);
  }, { passive: false });
  canvas.addEventListener("pointermove", (event) => {
    if (rows) describe(at(event));
  });
  canvas.addEventListener("click", (event) => {
    if (!rows) return;
    cursor = at(event);
    drawMarks();
    pick(cursor);
  });
  canvas.addEventListener("keydown", (event) => {
    if (!rows || event.ctrlKey || event.metaKey) return;
    const now = cursor ?? { row: view.start, column: 0 };
    const page = Math.max(1, Math.round((view.stop - view.start) / 20));
    const step = Math.max(1, Math.round(page / 10));
    const moves = {
      ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-step, 0], ArrowDown: [step, 0],
      PageUp: [-page, 0], PageDown: [page, 0], Home: [0, -columns.length], End: [0, columns.length],
    };
    if (event.key in moves) {
      const [down, right] = moves[event.key];
      const clip = (value, stop) => Math.max(0, Math.min(stop - 1, value));
      cursor = { row: clip(now.row + down, rows), column: clip(now.column + right, columns.length) };
      const height = view.stop - view.start;
      if (cursor.row < view.start) zoomTo(cursor.row, cursor.row + height);
      else if (cursor.row >= view.stop) zoomTo(cursor.row - height + 1, cursor.row + 1);
      drawMarks();
      describe(cursor);
    } else if (event.key === "Enter" || event.key === " ") pick(now);
    else if (event.key === "+" || event.key === "=") zoom(0.5);
    else if (event.key === "-") zoom(2);
    else if (event.key === "0" || event.key === "Escape") zoomTo(0, rows);
    else return;
    event.preventDefault();
  });

  part.on(["cells", "columns", "bands", "hidden", "height", "row_name"], () => {
    cells = asArray(part.get("cells"), Uint8Array);
    columns = part.get("columns");
    hidden = new Set(part.get("hidden").map(([id, column]) => `${id} ${column}`));
    bands = part.get("bands");
    rows = columns.length ? Math.floor(cells.length / columns.length) : 0;
    cursor = null;
    canvas.style.height = `${part.get("height")}px`;
    canvas.setAttribute("aria-label", `Heat map: ${part.get("row_name")} sorted by cluster, by ${columns.length} codes. Arrow keys move, Enter picks, plus and minus zoom, zero shows all.`);
    setText(readout, rows ? "Point at a cell, or press an arrow key. Click into the picture, then turn the wheel to zoom." : "Nothing to show yet.");
    zoomTo(0, rows);
  });
  part.on(["selected", "code"], () => {
    drawLabels(canvas.getBoundingClientRect());
    drawMarks();
  }, { now: false });
  const observer = new ResizeObserver(() => paint());
  observer.observe(canvas);
  return () => observer.disconnect();
}
