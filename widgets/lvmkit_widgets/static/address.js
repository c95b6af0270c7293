// The address of the page: what is looked at stands behind its #, so that links, back and forward work.

const SMOOTH = 1_000; // changes within so many milliseconds belong to one step back

// `entries` are [key, component, field, [least, most] or null, value to begin with]; `open` gives a component, `cases`
// those of a saved page; `here` is the key of this dashboard among those of a menu, or "".
function followAddress(entries, open, cases, here) {
  const parts = new Map(entries.map(([, name]) => [name, open(name)]));
  const value = ([key, name, field]) => {
    const now = parts.get(name).get(field);
    return key === "tab" ? now?.main ?? 0 : now;
  };
  const home = new Map(entries.map((entry) => [entry[0], entry.length > 4 ? entry[4] : value(entry)]));
  const leaving = () => Boolean(here) && parts.get("stage").get("view") !== here;
  const viewThere = () => {
    const asked = new URLSearchParams(there()).get("view");
    return parts.get("stage").get("menu").some(([key]) => key === asked) ? asked : home.get("view");
  };
  const written = () => {
    const shown = new URLSearchParams();
    for (const entry of entries) {
      if (leaving() && entry[0] !== "view") continue; // another dashboard begins an address of its own
      const now = value(entry);
      if (now !== home.get(entry[0]) && now !== null && now !== "") shown.set(entry[0], String(now));
    }
    return shown.toString();
  };
  const there = () => location.hash.replace(/^#/, "");
  let last = { at: 0, key: null };
  const write = (key, { replacing = false } = {}) => {
    const text = written();
    if (leaving() && viewThere() === parts.get("stage").get("view")) return; // a link to it that was opened
    if (text === new URLSearchParams(there()).toString()) return;
    const target = text ? `#${text}` : location.pathname + location.search;
    const going = replacing || (performance.now() - last.at < SMOOTH && (last.key === key || last.key === "#"));
    try {
      history[going ? "replaceState" : "pushState"](null, "", target);
    } catch {
      return; // a page in a frame without an address of its own
    }
    last = { at: performance.now(), key };
  };
  const read = ({ first = false } = {}) => {
    const asked = new URLSearchParams(there());
    last = { at: performance.now(), key: "#" }; // what follows from it is no step of its own
    if (here && viewThere() !== here) {
      parts.get("stage").set({ view: viewThere() });
      return;
    }
    for (const entry of entries) {
      const [key, name, field, range] = entry;
      if (first && !asked.has(key)) continue; // as it was left
      const wanted = asked.has(key) ? understood(asked.get(key), entry, home.get(key)) : home.get(key);
      if (wanted === undefined || wanted === value(entry)) continue;
      if (range && !(wanted >= range[0] && wanted <= range[1])) continue;
      const part = parts.get(name);
      part.set({ [field]: key === "tab" ? { ...part.get("tabs"), main: wanted } : wanted });
    }
  };
  // Text where text stands, else a number; of a saved page only what it has an answer for.
  const understood = (text, [, name, field], known) => {
    const found = typeof known === "string" ? text : Number(text);
    if (typeof found === "number" && !Number.isFinite(found)) return undefined;
    const answers = cases.find(({ when }) => when === `${name}.${field}`);
    return answers && !(String(found) in answers.cases) ? undefined : found;
  };
  for (const [key, name, field] of entries) parts.get(name).on([field], () => write(key), { now: false });
  const follow = () => read();
  addEventListener("popstate", follow);
  if (there() || here) read({ first: true });
  if (here && !leaving()) write("#", { replacing: true });
  return () => removeEventListener("popstate", follow);
}
