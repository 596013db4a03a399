"use strict";
// Results: Gradio's table leaves its search without a name, which screen readers need.
new MutationObserver(() => {
  const search = document.querySelector("#results-table .search-input:not([aria-label])");
  if (search) search.setAttribute("aria-label", "Search the table");
}).observe(document, { subtree: true, childList: true });
