"""A component for text that grows: what is already on the page stays, and only the end is added."""

import gradio as gr

# The value is not part of the template: Gradio would compare the whole text with the page at every update.
TEMPLATE = (
    '<div class="written" tabindex="0" role="group" '
    'aria-label="Text of this model. Arrow keys move through it and tell the odds of each byte."></div>'
)

# Updates that come faster than the browser draws are put on the page together.
GROW = """
const region = element.querySelector(".written");
let shown = "";
let isPlanned = false;
const grow = () => {
  isPlanned = false;
  const value = props.value || "";
  if (value === shown) return;
  const atEnd = region.scrollHeight - region.scrollTop - region.clientHeight < 40;
  if (value.startsWith(shown)) region.insertAdjacentHTML("beforeend", value.slice(shown.length));
  else region.innerHTML = value;
  shown = value;
  if (atEnd) region.scrollTop = region.scrollHeight;
};
grow();
watch("value", () => {
  if (!isPlanned) setTimeout(grow, 30);
  isPlanned = true;
});
"""


def build_written() -> gr.HTML:
    """An empty text; its value is HTML made by `app.generate.tinted`."""
    return gr.HTML("", html_template=TEMPLATE, js_on_load=GROW)
