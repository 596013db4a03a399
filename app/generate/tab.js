"use strict";
// Generate: the cards of the chosen models, and the texts that stream into them. A text belongs to its model by name.
window.tipshare.cards = (() => {
  const ABOUT = "Arrow keys move through it and show the probability of each byte.";
  const NARROW = 640;
  let place = null; // the element of the cards
  let run = -1; // the latest run; what earlier ones still send is late
  let result = null;
  let line = ""; // what the latest run says of itself
  const texts = new Map(); // model -> its text in this run, as HTML that only grows, and what stands below it
  const cards = new Map(); // model -> its card

  const make = (name) => {
    const made = document.createElement("div");
    made.className = name;
    return made;
  };

  function build(name, label) {
    const card = make("card");
    card.dataset.model = name;
    const written = make("written");
    written.tabIndex = 0;
    written.setAttribute("role", "group");
    written.setAttribute("aria-label", `Text of ${label}. ${ABOUT}`);
    card.append(make("head"), written, make("foot"));
    cards.set(name, { card, head: card.children[0], written, foot: card.children[2], shown: "" });
  }

  function put(element, html) {
    if (element.dataset.shown === html) return;
    element.innerHTML = html;
    element.dataset.shown = html;
  }

  function fill(name) {
    const each = cards.get(name);
    if (!each) return;
    const { text, foot } = texts.get(name) || { text: "", foot: "" };
    const region = each.written;
    if (text !== each.shown) {
      const isAtEnd = region.scrollHeight - region.scrollTop - region.clientHeight < 40;
      if (each.shown && text.startsWith(each.shown)) {
        region.insertAdjacentHTML("beforeend", text.slice(each.shown.length));
      } else region.innerHTML = text;
      each.shown = text;
      if (isAtEnd) region.scrollTop = region.scrollHeight;
    }
    put(each.foot, foot);
  }

  function say(words) {
    const status = document.querySelector("#line [role=status]");
    if (status && status.textContent !== words) status.textContent = words;
  }

  // Cards that stay are not touched, so that a text that somebody reads or that grows does not jump.
  function layOut(element, value) {
    if (!value) return;
    place = element.querySelector(".cards");
    const wanted = value.cards.map((each) => each.name);
    for (const [name, { card }] of cards) {
      if (wanted.includes(name)) continue;
      card.remove();
      cards.delete(name);
    }
    value.cards.forEach(({ name, label, head }, number) => {
      if (!cards.has(name)) build(name, label);
      const each = cards.get(name);
      put(each.head, head);
      if (place.children[number] !== each.card) place.insertBefore(each.card, place.children[number] || null);
      fill(name);
    });
    say(value.note || line);
  }

  function update(value) {
    if (!value || value.run < run) return;
    if (value.run > run) texts.clear();
    const isNew = value.run > run && run >= 0 && value.texts.length > 0;
    run = value.run;
    result = value.result;
    if (place) place.dataset.run = run;
    for (const { name, text, foot, head } of value.texts) {
      texts.set(name, { text, foot });
      if (head && cards.has(name)) put(cards.get(name).head, head);
    }
    for (const name of cards.keys()) fill(name);
    line = value.line;
    say(line);
    if (isNew) show();
  }

  // On a phone the first text comes into view; on a wide screen it is there.
  function show() {
    const first = place && place.querySelector(".card");
    if (first && window.innerWidth <= NARROW) first.scrollIntoView({ block: "start" });
  }

  return { layOut, update, download: () => window.tipshare.download(result) };
})();
