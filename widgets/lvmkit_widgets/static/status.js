// What is going on: progress and cancel, a message, an error, a way back.

function status(part, el) {
  const marks = { busy: "", done: "✓", info: "i", error: "!" };
  const mark = h("span.lvm-mark", { "aria-hidden": "true" });
  const message = h("span.lvm-message");
  const share = h("span.lvm-share", { "aria-hidden": "true" });
  const bar = h("progress", { max: "1", "aria-label": "Progress" });
  const cancel = h("button", {
    type: "button",
    text: "Cancel",
    onclick() {
      cancel.disabled = true;
      part.fire("cancel");
    },
  });
  const actions = h("span.lvm-actions");
  const line = h("div.lvm-line", {}, mark, message, share, cancel, actions);
  el.append(line, bar);
  let before = "";

  part.on(["state_now", "message", "progress", "can_cancel", "actions"], () => {
    const state = part.get("state_now");
    const busy = state === "busy";
    const progress = part.get("progress");
    el.dataset.state = state;
    const silent = state === "idle" && !part.get("message") && !part.get("actions").length;
    el.parentElement?.toggleAttribute("data-closed", silent);
    setText(mark, marks[state] ?? "");
    setText(message, part.get("message") || (busy ? "Working" : ""));
    setText(share, busy && progress !== null ? percent(progress, 0) : "");
    bar.hidden = !busy;
    if (progress === null) bar.removeAttribute("value");
    else bar.value = progress;
    cancel.hidden = !busy || !part.get("can_cancel");
    if (!busy) cancel.disabled = false;
    actions.replaceChildren(
      ...(busy ? [] : part.get("actions")).map(([name, label]) =>
        h("button", { type: "button", text: label, onclick: () => part.fire("pressed", name) }),
      ),
    );
    const now = busy ? `${state}` : `${state} ${part.get("message")}`;
    if (now !== before && part.get("message")) part.announce(part.get("message"));
    before = now;
  });
  part.on(["waiting"], () => part.get("waiting") && !part.saved && part.fire("seen"));
}
