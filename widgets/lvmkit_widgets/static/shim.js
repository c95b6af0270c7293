// The model that Jupyter or Panel provide elsewhere: values in memory, and who wants to know.
{
  const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;
  const revive = (key, value) =>
    value && typeof value === "object" && "$bytes" in value ? bytes(value.$bytes) : value;
  const text = document.getElementById("lvmkit-state").textContent;
  const values = JSON.parse(text, revive);
  const listeners = new Map();
  const model = {
    get: (name) => values[name],
    set(name, value) {
      values[name] = value;
      for (const listener of listeners.get("change:" + name) ?? []) listener();
    },
    save_changes() {},
    on(event, listener) {
      if (!listeners.has(event)) listeners.set(event, new Set());
      listeners.get(event).add(listener);
    },
    off(event, listener) {
      listeners.get(event)?.delete(listener);
    },
  };
  render({ model, el: document.getElementById("lvmkit") });
}
