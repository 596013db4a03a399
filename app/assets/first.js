"use strict";
// Runs before the page is built: the tab of the address is open from the first moment on.
(() => {
  const address = new URL(window.location.href);
  const tab = (address.searchParams.get("tab") || "").toLowerCase();
  const tabs = window.gradio_config?.components?.find((each) => each.props?.elem_id === "tabs");
  if (!tabs || !TABS.includes(tab)) return;
  tabs.props.selected = tab;
  // Everything after this, also on the server, reads the name in small letters.
  address.searchParams.set("tab", tab);
  window.history.replaceState(null, "", address);
})();
// Gradio loads every sort of control by itself, and what is there already jumps whenever one arrives: the page is shown
// once none has arrived for a moment, and in any case after some seconds. Milliseconds.
(() => {
  const [MOMENT, LONGEST, LOOK_EVERY] = [150, 4000, 30];
  const style = document.createElement("style");
  style.textContent = "gradio-app { visibility: hidden; }";
  document.head.append(style);
  const began = performance.now();
  let [count, changed] = [0, began];
  const look = () => {
    const now = performance.now();
    const found = document.querySelectorAll("gradio-app .block").length;
    if (found !== count) [count, changed] = [found, now];
    if ((count && now - changed >= MOMENT) || now - began >= LONGEST) style.remove();
    else setTimeout(look, LOOK_EVERY);
  };
  look();
})();
