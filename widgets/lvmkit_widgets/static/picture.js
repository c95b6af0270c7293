// An SVG picture without anything active in it; links in it become picks.

// Parse a picture and remove whatever could act or fetch.
function safePicture(source) {
  const svg = new DOMParser().parseFromString(source, "image/svg+xml").documentElement;
  if (svg.namespaceURI !== SVG_NS || svg.localName !== "svg") return null;
  const kept = /^(#|data:image\/(png|jpeg|webp);)/;
  for (const node of [svg, ...svg.querySelectorAll("*")]) {
    const active = ["script", "foreignObject", "iframe", "use", "set", "animate", "style"];
    if (node.namespaceURI !== SVG_NS || active.includes(node.localName)) {
      node.remove();
      continue;
    }
    for (const { name, value } of [...node.attributes]) {
      const plain = name.toLowerCase();
      const link = plain === "href" || plain === "xlink:href" || plain === "src";
      const fetches = /url\(\s*['"]?(?!['"]?#)/i.test(value) || /javascript:/i.test(value);
      if (plain.startsWith("on") || fetches || (link && !kept.test(value))) node.removeAttribute(name);
    }
  }
  return document.importNode(svg, true);
}

// Charts are laid out for Arial. Where another, wider font stands in for it, texts are drawn as wide as in Arial, so
// that none leaves the picture or runs into its neighbor.
const PROBE = "Other disorders of fluid, 0123456789 ABCDEFG";
const ARIAL = { normal: 21.34, bold: 22.45 }; // widths of the probe, in its size
const SLACK = 1.03;

function fitTexts(svg) {
  const pen = document.createElement("canvas").getContext("2d");
  const family = svg.getAttribute("font-family") || "sans-serif";
  const wider = {};
  for (const [weight, width] of Object.entries(ARIAL)) {
    pen.font = `${weight} 100px ${family}`;
    wider[weight] = pen.measureText(PROBE).width / 100 / width;
  }
  if (Math.max(...Object.values(wider)) < SLACK) return;
  for (const text of svg.querySelectorAll("text, tspan")) {
    if (text.childElementCount || !text.textContent || text.hasAttribute("textLength")) continue;
    const weight = /bold|[6-9]00/.test(text.closest("[font-weight]")?.getAttribute("font-weight")) ? "bold" : "normal";
    pen.font = `${weight} ${text.closest("[font-size]")?.getAttribute("font-size") ?? "11px"} ${family}`;
    text.setAttribute("textLength", (pen.measureText(text.textContent).width / wider[weight]).toFixed(1));
    text.setAttribute("lengthAdjust", "spacingAndGlyphs");
  }
}

function linkOf(anchor) {
  const href = anchor.getAttribute("href") ?? anchor.getAttribute("xlink:href") ?? "";
  const [name, value] = href.slice(1).split("=");
  if (!href.startsWith("#") || value === undefined) return null;
  return { [name]: decodeURIComponent(value) };
}

function picture(part, el) {
  const frame = h("div.lvm-frame");
  const caption = h("p.lvm-hint");
  const tools = h("div.lvm-tools");
  el.append(frame, caption, tools);
  let svg = null;
  let links = [];
  const settle = roving(frame, () => links);

  part.on(["svg", "alt"], () => {
    const source = part.get("svg");
    svg = source ? safePicture(source) : null;
    links = [];
    if (!svg) {
      frame.replaceChildren(h("p.lvm-empty", { text: source ? "The picture is damaged." : "No picture yet." }));
      return;
    }
    const box = svg.viewBox.baseVal;
    const width = box && box.width ? box.width : parseFloat(svg.getAttribute("width")) || 600;
    if (!box || !box.width) {
      svg.setAttribute("viewBox", `0 0 ${width} ${parseFloat(svg.getAttribute("height")) || 400}`);
    }
    svg.removeAttribute("width");
    svg.removeAttribute("height");
    svg.style.cssText = `width:100%;height:auto;max-width:${width}px;min-width:${width > 800 ? width * 0.6 : Math.min(width, 340)}px`;
    links = [...svg.querySelectorAll("a")].filter((anchor) => linkOf(anchor));
    svg.setAttribute("role", links.length ? "group" : "img");
    svg.setAttribute("aria-label", part.get("alt") || part.get("title") || "picture");
    for (const anchor of links) {
      const label = anchor.querySelector("[aria-label]")?.getAttribute("aria-label");
      anchor.setAttribute("role", "button");
      if (label) anchor.setAttribute("aria-label", label);
      anchor.removeAttribute("target");
    }
    fitTexts(svg);
    frame.replaceChildren(svg);
    settle(links[0]);
  });

  const act = (event) => {
    const anchor = event.target.closest?.("a");
    if (!anchor) return;
    event.preventDefault();
    const link = linkOf(anchor);
    if (link) part.fire("pick", link);
  };
  frame.addEventListener("click", act);
  frame.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") act(event);
  });

  part.on(["caption", "download"], () => {
    setText(caption, part.get("caption"));
    caption.hidden = !part.get("caption");
    const name = part.get("download");
    tools.replaceChildren();
    if (!name) return;
    const saveSvg = () => saveFile(`${name}.svg`, part.get("svg"), "image/svg+xml");
    tools.append(
      h("button.quiet", { type: "button", text: "Save SVG", onclick: () => svg && saveSvg() }),
      h("button.quiet", { type: "button", text: "Save PNG", onclick: () => svg && savePng(svg, name) }),
    );
  });
}
