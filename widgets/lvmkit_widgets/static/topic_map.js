// Topics as circles: near ones use similar words; sizes follow the shares, or a term that is picked.

const MAP = { gray: "#8a8f98", blue: "#0072B2", red: "#D55E00" };
const MOST_TOPICS = 8; // of a term that are listed
const LETTER = 6.2; // width of a letter of a name, about

function inSvg(tag, attributes = {}, ...children) {
  const el = document.createElementNS(SVG_NS, tag);
  for (const [name, value] of Object.entries(attributes)) el.setAttribute(name, String(value));
  el.append(...children);
  return el;
}

const circleRadius = (share, width) => Math.max(3, 0.2 * Math.min(width, 560) * Math.sqrt(share ?? 0));
const inside = (value, low, high) => Math.max(low, Math.min(high, value));
const holdsNumber = (radius) => radius >= 11;

// A name as long as fits in the picture.
function fittedName(name, width) {
  const most = Math.floor((width - 8) / LETTER);
  return name.length <= most ? name : `${name.slice(0, most - 1).trimEnd()}…`;
}

// Move what lies over another apart, small circles more than large ones, until all is legible or for a while.
function moveApart(spots, width, height) {
  for (let turn = 0, met = true; met && turn < 300; turn++) {
    met = false;
    for (let i = 1; i < spots.length; i++) {
      for (let j = 0; j < i; j++) {
        const [a, b] = [spots[i], spots[j]];
        const far = Math.hypot(a.x - b.x, a.y - b.y);
        const over = a.reach + b.reach - far;
        if (over <= 0.5) continue;
        met = true;
        const angle = far > 1e-6 ? Math.atan2(a.y - b.y, a.x - b.x) : 2.4 * i;
        const [mine, theirs] = [b, a].map((other) => (over * other.reach ** 2) / (a.reach ** 2 + b.reach ** 2));
        a.x += mine * Math.cos(angle);
        a.y += mine * Math.sin(angle);
        b.x -= theirs * Math.cos(angle);
        b.y -= theirs * Math.sin(angle);
      }
    }
    for (const spot of spots) {
      spot.x = inside(spot.x, spot.reach + 2, width - spot.reach - 2);
      spot.y = inside(spot.y, spot.reach + 2, height - spot.reach - 20);
    }
  }
}

// Place the topics in the picture with one scale in both directions, its longer side along that of the picture;
// a circle and its number cover no other.
function mapPlaces(items, width, height) {
  const turned = height > width;
  const known = items.filter((item) => !item.empty).map((item) => (turned ? { ...item, x: item.y, y: -item.x } : item));
  const ends = (key) => known.map((item) => item[key]);
  const span = (key) => Math.max(...ends(key)) - Math.min(...ends(key));
  const middle = (key) => (Math.max(...ends(key)) + Math.min(...ends(key))) / 2;
  const room = [width - 96, height - 120];
  const scale = known.length > 1 ? Math.min(room[0] / Math.max(span("x"), 1e-9), room[1] / Math.max(span("y"), 1e-9)) : 0;
  const zoom = Math.min(scale, 1e6);
  const most = Math.sqrt((0.4 * width * height) / (Math.PI * Math.max(known.length, 1))); // many topics have to lie closer
  const spots = known.map((item) => {
    const radius = circleRadius(item.share, width);
    const above = holdsNumber(radius) ? 0 : 7; // the number of a small circle stands above it
    const [x, y] = [width / 2 + (item.x - middle("x")) * zoom, height / 2 - (item.y - middle("y")) * zoom];
    return { id: item.id, above, reach: Math.min(radius + (above || 1), Math.max(most, radius)), x, y: y - above };
  });
  moveApart(spots, width, height);
  return new Map(spots.map(({ id, x, y, above }) => [id, [x, y + above]]));
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
  let texts = null; // numbers and names, above all circles, and which topics are empty
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
    const circle = inSvg("circle");
    const halo = { stroke: "#ffffff", "stroke-width": 3, "stroke-linejoin": "round", "paint-order": "stroke" };
    const number = inSvg("text", { "text-anchor": "middle", "font-size": 13, fill: "currentColor", ...halo });
    number.textContent = String(topic.id);
    const name = inSvg("text", { "text-anchor": "middle", "font-size": 12, fill: "currentColor", ...halo });
    const title = inSvg("title");
    const box = inSvg("g", { role: "option", tabindex: -1, "data-id": topic.id }, title, circle);
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
    const said = inSvg("text", { x: 8, y: height - 8, "font-size": 12, fill: "currentColor" });
    if (empty.length) said.textContent = `Empty: ${empty.join(", ")}`;
    const parts = ["number", "name"].flatMap((part) => marks.map((one) => one[part]));
    texts = inSvg("g", { "aria-hidden": "true", "pointer-events": "none" }, said, ...parts);
    svg.replaceChildren(line(0, height / 2, width, height / 2), line(width / 2, 0, width / 2, height), ...marks.map((one) => one.el), texts);
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
    for (const { el: box, circle, number, title, topic, ...place } of marks) {
      const size = by ? by(topic.id) : topic.share;
      const radius = circleRadius(size, width);
      const x = inside(place.x, radius + 2, width - radius - 2);
      const y = inside(place.y, radius + 2, height - radius - 2);
      circle.setAttribute("cx", x);
      circle.setAttribute("cy", y);
      number.setAttribute("x", x);
      const on = topic.id === selected;
      const also = topic.id === other;
      circle.setAttribute("r", radius.toFixed(2));
      circle.setAttribute("fill", on ? MAP.blue : also ? MAP.red : MAP.gray);
      circle.setAttribute("fill-opacity", on || also ? 0.55 : 0.35);
      circle.setAttribute("stroke", on ? MAP.blue : also ? MAP.red : MAP.gray);
      circle.setAttribute("stroke-width", on || also ? 2.5 : 1.2);
      setAttribute(circle, "stroke-dasharray", size === null || also ? "4 3" : null);
      number.setAttribute("y", holdsNumber(radius) ? y + 4.5 : y - radius - 4);
      number.setAttribute("font-weight", on ? 700 : 400);
      const share = size === null ? "hidden" : percent(size);
      const told = by ? `${topic.label}: ${share} of “${term}”` : `${topic.label}: ${share}`;
      setText(title, told);
      box.setAttribute("aria-label", told);
      box.setAttribute("aria-selected", String(on));
    }
    for (const { name } of marks) setText(name, "");
    for (const one of marks) nameIt(one, selected, other);
    stack(by);
    settle(marks.find((one) => one.topic.id === selected)?.el);
    tell(term, by);
  }

  // A name stands below or above its circle, or in it, where it covers no number and no name; else the line below the map has it.
  function nameIt({ circle, name, topic }, selected, other) {
    const asked = [selected, other].includes(topic.id) || part.get("items").length <= 6;
    const text = asked ? fittedName(topic.name, width) : "";
    const [x, y, radius] = ["cx", "cy", "r"].map((key) => Number(circle.getAttribute(key)));
    const half = (LETTER * text.length) / 2;
    const middle = inside(x, half + 4, width - half - 4);
    const covers = (at) => {
      const meets = (other, room) =>
        Math.abs(other.getAttribute("x") - middle) < half + room && Math.abs(other.getAttribute("y") - at) < 13;
      const length = (other) => LETTER * other.textContent.length;
      return marks.some(
        (one) => one.topic !== topic && (meets(one.number, 10) || (length(one.name) && meets(one.name, length(one.name) / 2))),
      );
    };
    const roomy = radius > half + 6 && radius > 30; // the circle itself holds the name, below the number
    const rooms = roomy ? [y + 20] : [y + radius + 14, y - radius - (holdsNumber(radius) ? 6 : 18)];
    const place = rooms.find((at) => at > 12 && at + 4 < height && !covers(at));
    setText(name, place === undefined ? "" : text);
    name.setAttribute("x", roomy ? x : middle);
    name.setAttribute("y", place ?? y);
  }

  // Small circles lie above large ones, so that each can be clicked.
  function stack(by) {
    const size = ({ topic }) => (by ? by(topic.id) : topic.share) ?? 0;
    const order = [...marks].sort((a, b) => size(b) - size(a)).map((one) => one.el);
    const drawn = [...svg.querySelectorAll("g[role=option]")];
    if (order.every((one, i) => one === drawn[i])) return;
    const focused = svg.getRootNode().activeElement;
    for (const one of order) svg.insertBefore(one, texts);
    if (order.includes(focused)) focused.focus();
  }

  function tell(term, by) {
    const items = part.get("items");
    back.hidden = !term;
    list.hidden = !by;
    const chosen = item(part.get("selected"));
    if (!by) {
      const share = chosen?.share;
      const sharesOf = part.get("shares_of");
      const known = share === null ? "share hidden" : sharesOf ? `${percent(share)} of all ${sharesOf}` : `weight ${percent(share)} in the model`;
      const about = !chosen ? "Pick a topic." : chosen.empty ? `${chosen.label} is empty.` : `${chosen.label}: ${known}.`;
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
    [width, height] = [wide, Math.round(Math.max(0.82 * wide, Math.min(1.3 * wide, 520)))];
    build();
  };
  const observer = new ResizeObserver(fit);
  observer.observe(frame);
  part.on(["items", "title"], build);
  part.on(["unread"], () => part.get("unread") && !part.saved && part.fire("seen", part.get("unread")));
  part.on(["selected", "other", "term", "spread", "total", "shares_of"], draw, { now: false });
  return () => observer.disconnect();
}
