"use strict";
// Dynamics: a click on a byte of the tinted text puts its number into the field beside it, which asks for that byte.
document.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("#dynamics-text button[data-place]") : null;
  const field = document.querySelector("#dynamics-place input");
  if (!button || !field) return;
  field.value = button.dataset.place;
  field.dispatchEvent(new Event("input", { bubbles: true }));
});
