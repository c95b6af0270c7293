// Topics as circles: near ones use similar words; sizes follow the shares, or a term that is picked.

const MAP = { gray: "#8a8f98", blue: "#0072B2", red: "#D55E00" };
const MOST_TOPICS = 8; // of a term that are listed

function inSvg(tag, attributes = {}, ...children) {
  const el = document.createElementNS(SVG_NS, tag);
  for (const [name, value] of Object.entries(attributes)) el.setAttribute(name, String(value));
  el.append(...children);
  return el;
}

// Place the topics in the picture with one scale in both directions.
function mapPlaces(items, width, height) {
  const known = items.filter((item) => !item.empty);
  const ends = (key) => known.map((item) => item[key]);
  const span = (key) => Math.max(...ends(key)) - Math.min(...ends(key));
  const middle = (key) => (Math.max(...ends(key)) + Math.min(...ends(key))) / 2;
  const room = [width - 110, height - 150];
  const scale = known.length > 1 ? Math.min(room[0] / Math.max(span("x"), 1e-9), room[1] / Math.max(span("y"), 1e-9)) : 0;
  const zoom = Math.min(scale, 1e6);
  return new Map(known.map((item) => [item.id, [width / 2 + (item.x - middle("x")) * zoom, height / 2 - (item.y - middle("y")) * zoom]]));
}

function topic_map(part, el) {
  const svg = inSvg("svg", { xmlns: SVG_NS, role: "listbox", "font-family": "Arial, Helvetica, sans-serif" });
  const readout = h("p.lvm-readout");
  const list = h("ol.lvm-spread");
  const back = h("button.quiet", { type: "button", text: "Sizes by share again", onclick: () => part.set({ term: "" }) });
  const saveSvg = () => saveFile(`${part.get("download")}.svg`, new XMLSerializer().serializeToString(svg), "image/svg+xml");
  const tools = h(
    "div.lvm-tools",
    {},
    back,
    h("button.quiet", { type: "button", text: "Save SVG", onclick: saveSvg }),
    h("button.quiet", { type: "button", text: "Save PNG", onclick: () => savePng(svg, part.get("download")) }),
  );
  const frame = h("div.lvm-map", {}, svg);
  el.append(frame, readout, list, tools);
  let marks = [];
  let said = null; // which topics are empty, and the last thing in the picture
  let [width, height] = [480, 380];
  const settle = roving(frame, () => marks.map((mark) => mark.el));
  const item = (id) => part.get("items").find((other) => other.id === id);

  function choose(id, more) {
    if (more && id !== part.get("selected")) {
      part.set({ other: part.get("other") === id ? null : id });
      part.announce(`${item(id).label} to compare with`);
    } else {
      part.set({ selected: id });
      part.announce(`${item(id).label} selected`);
    }
  }

  function mark(topic, [x, y]) {
    const circle = inSvg("circle", { cx: x, cy: y });
    const number = inSvg("text", { x, "text-anchor": "middle", "font-size": 13, fill: "currentColor", "pointer-events": "none" });
    number.textContent = String(topic.id);
    const name = inSvg("text", { x, "text-anchor": "middle", "font-size": 12, fill: "currentColor", "pointer-events": "none" });
    const title = inSvg("title");
    const box = inSvg("g", { role: "option", tabindex: -1, "data-id": topic.id }, title, circle, number, name);
    const act = (event) => choose(topic.id, event.shiftKey || event.ctrlKey || event.metaKey);
    box.addEventListener("click", act);
    box.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      act(event);
    });
    return { el: box, circle, number, name, title, topic, x, y };
  }

  function build() {
    const items = part.get("items");
    const places = mapPlaces(items, width, height);
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const line = (x1, y1, x2, y2) => inSvg("line", { x1, y1, x2, y2, stroke: MAP.gray, "stroke-opacity": 0.3 });
    marks = items.filter((one) => places.has(one.id)).map((one) => mark(one, places.get(one.id)));
    const empty = items.filter((one) => one.empty).map((one) => one.id);
    said = inSvg("text", { x: 8, y: height - 8, "font-size": 12, fill: "currentColor" });
    if (empty.length) said.textContent = `Empty: ${empty.join(", ")}`;
    svg.replaceChildren(line(0, height / 2, width, height / 2), line(width / 2, 0, width / 2, height), ...marks.map((one) => one.el), said);
    svg.setAttribute("aria-label", part.get("title") || "Topic map");
    settle(null);
    draw();
  }

  function draw() {
    const term = part.get("term");
    const spread = part.get("spread");
    const items = part.get("items");
    const by = term && spread.length === items.length ? (id) => spread[items.findIndex((one) => one.id === id)] : null;
    const [selected, other] = [part.get("selected"), part.get("other")];
    for (const { el: box, circle, number, name, title, topic, x, y } of marks) {
      const size = by ? by(topic.id) : topic.share;
      const radius = Math.max(3, 0.2 * Math.min(width, 560) * Math.sqrt(size ?? 0));
      const on = topic.id === selected;
      const also = topic.id === other;
      circle.setAttribute("r", radius.toFixed(2));
      circle.setAttribute("fill", on ? MAP.blue : also ? MAP.red : MAP.gray);
      circle.setAttribute("fill-opacity", on || also ? 0.55 : 0.35);
      circle.setAttribute("stroke", on ? MAP.blue : also ? MAP.red : MAP.gray);
      circle.setAttribute("stroke-width", on || also ? 2.5 : 1.2);
      setAttribute(circle, "stroke-dasharray", size === null || also ? "4 3" : null);
      const inside = radius >= 11;
      number.setAttribute("y", inside ? y + 4.5 : y - radius - 4);
      number.setAttribute("font-weight", on ? 700 : 400);
      setText(name, on || also || items.length <= 6 ? topic.name : "");
      const half = 3.1 * topic.name.length;
      name.setAttribute("x", Math.max(half + 4, Math.min(width - half - 4, x)));
      name.setAttribute("y", Math.min(y + radius + 14, height - 4));
      const share = size === null ? "hidden" : percent(size);
      const told = by ? `${topic.label}: ${share} of “${term}”` : `${topic.label}: ${share}`;
      setText(title, told);
      box.setAttribute("aria-label", told);
      box.setAttribute("aria-selected", String(on));
    }
    stack(by);
    settle(marks.find((one) => one.topic.id === selected)?.el);
    tell(term, by);
  }

  // Small circles lie above large ones, so that each can be clicked.
  function stack(by) {
    const size = ({ topic }) => (by ? by(topic.id) : topic.share) ?? 0;
    const order = [...marks].sort((a, b) => size(b) - size(a)).map((one) => one.el);
    const drawn = [...svg.querySelectorAll("g[role=option]")];
    if (order.every((one, i) => one === drawn[i])) return;
    const focused = svg.getRootNode().activeElement;
    for (const one of order) svg.insertBefore(one, said);
    if (order.includes(focused)) focused.focus();
  }

  function tell(term, by) {
    const items = part.get("items");
    back.hidden = !term;
    list.hidden = !by;
    const chosen = item(part.get("selected"));
    if (!by) {
      const share = chosen?.share;
      const about = !chosen ? "Pick a topic." : chosen.empty ? `${chosen.label} is empty.` : `${chosen.label}: ${share === null ? "share hidden" : percent(share)} of all ${part.get("noun")}.`;
      setText(readout, term ? `“${term}” is not among the words of this model.` : about);
      return;
    }
    const total = part.get("total");
    setText(readout, `“${term}”${total === null ? "" : `, ${integer(total)} times`}: its topics`);
    const ranked = items.map((one) => ({ one, p: by(one.id) })).filter(({ p }) => p !== null && p >= 0.005);
    ranked.sort((a, b) => b.p - a.p);
    list.replaceChildren(
      ...ranked.slice(0, MOST_TOPICS).map(({ one, p }) => {
        const fill = h("i");
        fill.style.width = `${100 * p}%`;
        const n = total === null ? "" : integer(total * p);
        const parts = [h("span", { text: one.label, title: one.label }), h("span.lvm-track", { "aria-hidden": "true" }, fill), h("b", { text: percent(p) }), h("span", { text: n })];
        const pressed = String(one.id === part.get("selected"));
        return h("li", {}, h("button", { type: "button", "aria-pressed": pressed, onclick: () => choose(one.id, false) }, parts));
      }),
    );
  }

  // Letters keep their size: the picture is as wide as its place, not scaled to it.
  const fit = () => {
    const wide = Math.round(Math.max(260, Math.min(720, frame.clientWidth || width)));
    if (wide === width && svg.hasAttribute("viewBox")) return;
    [width, height] = [wide, Math.round(wide * 0.82)];
    build();
  };
  const observer = new ResizeObserver(fit);
  observer.observe(frame);
  part.on(["items", "title"], build);
  part.on(["selected", "other", "term", "spread", "total", "noun"], draw, { now: false });
  return () => observer.disconnect();
}
