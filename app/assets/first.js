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
