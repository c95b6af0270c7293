// Small helpers: elements from data (never markup from data), numbers as text, bytes as arrays.

// Making a formatter costs far more than using one.
const FORMATS = [0, 1, 2, 3, 4, 5, 6].map(
  (digits) => new Intl.NumberFormat("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits }),
);
const SVG_NS = "http://www.w3.org/2000/svg";
let lastId = 0;

function uid(stem) {
  lastId += 1;
  return `lvm-${stem}-${lastId}-${Math.random().toString(36).slice(2, 7)}`;
}

// h("button.primary", { onclick, "aria-label": "Save" }, "Save")
function h(tag, attributes = {}, ...children) {
  const [name, ...classes] = tag.split(".");
  const el = document.createElement(name);
  if (classes.length) el.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) el.addEventListener(key.slice(2), value);
    else if (key === "text") el.textContent = value;
    else if (key === "value" || key === "checked" || key === "disabled") el[key] = value;
    else el.setAttribute(key, value === true ? "" : String(value));
  }
  el.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return el;
}

// Set text only where it differs, so that a redraw touches little.
function setText(el, text) {
  const only = el.firstChild;
  if (only && only === el.lastChild && only.nodeType === Node.TEXT_NODE) {
    if (only.data !== text) only.data = text;
  } else if (el.textContent !== text) el.textContent = text;
}

function setAttribute(el, name, value) {
  if (value === null || value === undefined || value === false) el.removeAttribute(name);
  else if (el.getAttribute(name) !== String(value)) el.setAttribute(name, String(value));
}

function asArray(value, Type) {
  if (!value) return new Type(0);
  if (value instanceof ArrayBuffer) return new Type(value.slice(0));
  const start = value.byteOffset;
  return new Type(value.buffer.slice(start, start + value.byteLength));
}

function integer(value) {
  return fixed(Math.round(value), 0);
}

function fixed(value, digits) {
  return FORMATS[digits].format(value).replace("-", "−");
}

function percent(value, digits = 1) {
  return `${fixed(value * 100, digits)}%`;
}

function times(value) {
  if (value >= 100) return `${integer(value)}×`;
  return `${fixed(value, value >= 9.95 ? 1 : 2)}×`;
}

function pValue(value) {
  if (value < 0.001) return "<0.001";
  return fixed(value, 3);
}

// Text of a cell: numbers by kind; anything else, such as "<11", as it is.
function cellText(value, column) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "number") return String(value);
  if (column.kind === "integer") return integer(value);
  if (column.kind === "percent" || column.kind === "bar") return percent(value, column.digits ?? 1);
  if (column.kind === "lift") return times(value);
  if (column.kind === "p") return pValue(value);
  if (column.kind === "number") return fixed(value, column.digits ?? 2);
  return String(value);
}

// **bold** and `code` inside a line of plain text.
function inline(text) {
  return text.split(/(\*\*[^*]+\*\*|`[^`]+`)/).map((piece) => {
    if (piece.startsWith("**") && piece.endsWith("**") && piece.length > 4) {
      return h("strong", { text: piece.slice(2, -2) });
    }
    if (piece.startsWith("`") && piece.endsWith("`") && piece.length > 2) {
      return h("code", { text: piece.slice(1, -1) });
    }
    return document.createTextNode(piece);
  });
}

// Paragraphs, "- " lists and "## " headings, from plain text.
function richText(text) {
  return text
    .split(/\n\s*\n/)
    .filter((block) => block.trim())
    .flatMap((block) => {
      const lines = block.trim().split("\n");
      if (lines.every((line) => line.trim().startsWith("- "))) {
        return [h("ul", {}, lines.map((line) => h("li", {}, inline(line.trim().slice(2)))))];
      }
      if (lines[0].startsWith("## ")) {
        const rest = lines.slice(1).join(" ");
        const heading = h("h4", {}, inline(lines[0].slice(3)));
        return rest ? [heading, h("p", {}, inline(rest))] : [heading];
      }
      return [h("p", {}, inline(lines.join(" ")))];
    });
}

// Words that must all occur, in any order, ignoring case.
function matcher(search) {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return (text) => {
    const lower = text.toLowerCase();
    return words.every((word) => lower.includes(word));
  };
}

const FORMULA = /^(?:[\t\r\n]|[\s\x00-\x1f\x7f\u200b-\u200f\u2060\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b])/;
// One line of CSV; text that a spreadsheet would run as a formula is disarmed.
function csvLine(values) {
  return values
    .map((value) => {
      if (value === null || value === undefined) return "";
      if (typeof value === "number") return String(value);
      const text = FORMULA.test(String(value)) ? `'${value}` : String(value);
      return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    })
    .join(",");
}

function saveFile(name, content, mime) {
  const url = URL.createObjectURL(new Blob([content], { type: mime }));
  const link = h("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

// Save a drawn picture on white, at twice its size.
function savePng(svg, name) {
  const copy = svg.cloneNode(true);
  const { width, height } = svg.viewBox.baseVal;
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  const image = new Image();
  image.onload = () => {
    const canvas = h("canvas", { width: width * 2, height: height * 2 });
    const paint = canvas.getContext("2d");
    paint.fillStyle = "white";
    paint.fillRect(0, 0, canvas.width, canvas.height);
    paint.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => saveFile(`${name}.png`, blob, "image/png"));
  };
  const text = new XMLSerializer().serializeToString(copy);
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
}

// One tab stop for a group of items; arrows, Home and End move inside it.
function roving(container, items, { columns = () => 1, onfocus = () => {} } = {}) {
  const focusOn = (list, i) => {
    const target = list[Math.max(0, Math.min(list.length - 1, i))];
    if (!target) return;
    for (const item of list) item.tabIndex = item === target ? 0 : -1;
    target.focus();
    onfocus(target);
  };
  container.addEventListener("keydown", (event) => {
    const list = items();
    const i = list.findIndex((item) => item === event.target);
    if (i < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns(), ArrowUp: -columns() };
    if (event.key in step) focusOn(list, i + step[event.key]);
    else if (event.key === "Home") focusOn(list, 0);
    else if (event.key === "End") focusOn(list, list.length - 1);
    else return;
    event.preventDefault();
  });
  return (chosen) => {
    const list = items();
    const stop = list.find((item) => item === chosen) ?? list[0];
    for (const item of list) item.tabIndex = item === stop ? 0 : -1;
  };
}

// A text box with a list of proposals under it; `choose` gets what the reader takes.
function proposals(input, source, choose) {
  const list = h("ul.lvm-options", { role: "listbox", id: uid("options"), hidden: true });
  const host = h("span.lvm-combo", {}, input, list);
  let active = -1;
  let shown = [];
  Object.entries({ role: "combobox", "aria-expanded": "false", "aria-controls": list.id, "aria-autocomplete": "list", autocomplete: "off" })
    .forEach(([name, value]) => input.setAttribute(name, value));

  function close() {
    list.hidden = true;
    active = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }
  function mark(i) {
    active = i;
    [...list.children].forEach((item, j) => item.setAttribute("aria-selected", String(j === i)));
    if (i < 0) return;
    input.setAttribute("aria-activedescendant", list.children[i].id);
    list.children[i].scrollIntoView({ block: "nearest" });
  }
  function open() {
    const fits = matcher(input.value);
    shown = source().filter(({ value, label }) => fits(`${value} ${label}`)).slice(0, 50);
    list.replaceChildren(
      ...shown.map((option) => {
        const text = String(option.value) === option.label ? option.label : `${option.value}  ${option.label}`;
        const take = (event) => {
          event.preventDefault();
          close();
          choose(option.value);
        };
        return h("li", { role: "option", id: uid("option"), text, onpointerdown: take });
      }),
    );
    list.hidden = shown.length === 0;
    input.setAttribute("aria-expanded", String(shown.length > 0));
    mark(-1);
  }
  input.addEventListener("input", open);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (list.hidden) open();
      const step = event.key === "ArrowDown" ? 1 : -1;
      if (shown.length) mark((active + step + shown.length) % shown.length);
    } else if (event.key === "Escape") close();
    else if (event.key === "Enter" && !list.hidden && active >= 0) {
      event.preventDefault();
      const { value } = shown[active];
      close();
      choose(value);
    }
  });
  return { host, close };
}

// Call at most once per `wait` after the last try.
function debounced(wait, callback) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => callback(...values), wait);
  };
}

// Attributes of what is picked by a click, Enter or the space bar.
function pickable(act) {
  return {
    onclick: act,
    onkeydown(event) {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      act(event);
    },
  };
}

// A row that sets two shares side by side, with a bar at either end; the middle cells stand between them.
function facingRow(part, code, [a, b], widest, { turn, digits, ...attributes }, middle) {
  const bar = (value, side) => {
    const fill = h("i");
    fill.style.width = `${(100 * value) / widest}%`;
    return h(`td.lvm-bars.${side}`, { "aria-hidden": "true" }, h("span", {}, fill));
  };
  const pick = () => {
    part.fire("pick", code);
    part.announce(`${code} picked`);
  };
  return h(
    `tr.lvm-pickable${turn ? ".lvm-turn" : ""}`,
    { ...attributes, ...pickable(pick) },
    bar(a, "lvm-left"),
    h("td", { text: percent(a, digits) }),
    middle,
    h("td", { text: percent(b, digits) }),
    bar(b, "lvm-right"),
  );
}

// Buttons that turn the pages of a list, and what part of it is shown.
function pagerOf(part) {
  const turn = (step) => part.set({ page: Math.max(0, part.get("page") + step) });
  const back = h("button.quiet", { type: "button", text: "Previous", onclick: () => turn(-1) });
  const next = h("button.quiet", { type: "button", text: "Next", onclick: () => turn(1) });
  const place = h("span.lvm-hint");
  const el = h("div.lvm-pager", {}, back, next, place);
  // The page of so many rows that is shown, and how many pages there are.
  function pageOf(total) {
    const pages = Math.max(1, Math.ceil(total / part.get("page_size")));
    return [Math.min(part.get("page"), pages - 1), pages];
  }
  function show(total) {
    const [page, pages] = pageOf(total);
    const size = part.get("page_size");
    el.hidden = pages <= 1;
    back.disabled = page === 0;
    next.disabled = page >= pages - 1;
    setText(place, `${integer(total ? page * size + 1 : 0)}–${integer(Math.min(total, (page + 1) * size))} of ${integer(total)}`);
  }
  return { el, pageOf, show };
}

// The buttons of a sorted table's header; the column that sorts says in which direction.
function sortHeader(part, columns) {
  const [key, direction] = part.get("sort");
  return columns.map((column) => {
    const turned = direction === "asc" ? "desc" : "asc";
    const sortBy = () => part.set({ sort: [column.key, column.key === key ? turned : column.first], page: 0 });
    const button = h("button", { type: "button", text: column.label, title: column.help, onclick: sortBy });
    return h(column.text ? "th" : "th.lvm-number", { scope: "col", "aria-sort": column.key === key ? `${direction}ending` : null }, button);
  });
}

// Fill a body with rows of these keys; the row that had the focus keeps it, else the selected one can be tabbed to.
function fillRows(body, rows, keys, { settle, selected, empty, columns }) {
  const active = body.getRootNode().activeElement;
  const focused = body.contains(active) ? body.lvmKeys?.[[...body.children].indexOf(active)] : undefined;
  body.lvmKeys = keys;
  body.replaceChildren(...rows);
  if (!rows.length) body.append(h("tr", {}, h("td.lvm-empty", { colspan: columns, text: empty })));
  const lines = [...body.children];
  const at = keys.indexOf(focused);
  settle(lines[at >= 0 ? at : Math.max(0, keys.indexOf(selected))]);
  if (at >= 0) lines[at].focus();
}
