// What the browser runs when the socket has closed.
const id = "lvmkit-connection";
const note = document.getElementById(id) ?? document.createElement("div");
note.id = id;
note.setAttribute("role", "alert");
note.style.cssText = "position: fixed; inset: auto 0 0 0; z-index: 9999; padding: 12px 16px; "
  + "font: 14px/1.4 system-ui, sans-serif; background: CanvasText; color: Canvas;";
note.textContent = "The connection to the program is lost, and what is shown no longer answers. "
  + "Look whether the program still runs, then reload the page to begin again.";
document.body.append(note);
