"use strict";
// What runs in the browser: the probabilities of a byte on hover and with the arrow keys, copying, downloading, addresses of tabs.
// Everything a model or a visitor wrote is put on the page as text, never as HTML.
window.tipshare = (() => {
  const NAMES = { 9: "tab", 10: "newline", 13: "return", 32: "space", 127: "delete" };
  const el = (tag, text, name) => {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (name) made.className = name;
    return made;
  };

  function nameOf(byte) {
    if (NAMES[byte]) return NAMES[byte];
    return byte > 32 && byte < 127 ? String.fromCharCode(byte) : "0x" + byte.toString(16).toUpperCase().padStart(2, "0");
  }

  function percent(p) {
    return p >= 0.1 ? (100 * p).toFixed(0) + " %" : p >= 0.0001 ? (100 * p).toPrecision(2) + " %" : p.toExponential(1);
  }

  function bits(p) {
    return p > 0 ? (-Math.log2(p)).toFixed(1) + " bits" : "ruled out";
  }

  // "byte probability rank alternative:probability ..." per byte, joined by ";".
  function parse(odds) {
    return odds.split(";").map((each) => {
      const [byte, p, rank, ...others] = each.split(" ");
      const pairs = others.map((pair) => pair.split(":").map(Number));
      return { byte: Number(byte), p: Number(p), rank: Number(rank), others: pairs };
    });
  }

  let tip = null;
  let marked = null;

  function describe(box, info, place) {
    const head = el("p");
    head.append(el("code", nameOf(info.byte)), ` p = ${percent(info.p)}, ${bits(info.p)}`);
    if (info.rank) head.append(`, rank ${info.rank}`);
    if (place) head.append(` (${place})`);
    box.append(head);
    if (!info.others.length) return;
    const list = el("ol");
    for (const [byte, p] of info.others) {
      const row = el("li", undefined, byte === info.byte ? "taken" : "");
      const bar = el("span", undefined, "bar");
      bar.style.width = Math.max(1, 60 * p) + "px";
      row.append(el("code", nameOf(byte)), bar, el("span", percent(p)));
      list.append(row);
    }
    box.append(list);
  }

  function show(target) {
    hide();
    const infos = parse(target.dataset.o);
    tip = el("div", undefined, "tip");
    tip.setAttribute("role", "status");
    infos.forEach((info, i) => describe(tip, info, infos.length > 1 ? `byte ${i + 1} of ${infos.length}` : ""));
    document.body.append(tip);
    const at = target.getBoundingClientRect();
    const left = Math.min(Math.max(8, at.left - 20), window.innerWidth - tip.offsetWidth - 8);
    const below = at.bottom + 6;
    const top = below + tip.offsetHeight > window.innerHeight ? at.top - tip.offsetHeight - 6 : below;
    tip.style.left = left + "px";
    tip.style.top = Math.max(8, top) + "px";
  }

  function hide() {
    if (tip) tip.remove();
    tip = null;
  }

  function mark(target) {
    if (marked) marked.classList.remove("marked");
    marked = target;
    if (!target) return hide();
    target.classList.add("marked");
    target.scrollIntoView({ block: "nearest" });
    show(target);
  }

  // What the page does under a pointer that rests leaves the byte alone that the keyboard has chosen.
  const follow = () => (marked ? show(marked) : hide());
  const byteAt = (event) => (event.target instanceof Element ? event.target.closest(".written b[data-o]") : null);

  // The character above or below another one: the nearest on the next line in that direction; the same if there is none.
  function lineFrom(all, here, way) {
    if (here < 0) return 0;
    const places = all.map((each) => each.getBoundingClientRect());
    const { left, top, height } = places[here];
    const beyond = places.filter((place) => way * (place.top - top) > height / 2).map((place) => way * place.top);
    if (!beyond.length) return here;
    const next = Math.min(...beyond);
    const isNear = (place) => Math.abs(way * place.top - next) < height / 2;
    const onLine = all.map((_, number) => number).filter((number) => isNear(places[number]));
    const distance = (number) => Math.abs(places[number].left - left);
    return onLine.reduce((best, number) => (distance(number) < distance(best) ? number : best));
  }

  function onKey(event) {
    const region = event.target instanceof Element ? event.target.closest(".written") : null;
    if (!region) return;
    const all = [...region.querySelectorAll("b[data-o]")];
    const here = all.indexOf(marked);
    const moves = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: all.length - 1 };
    const lines = { ArrowUp: -1, ArrowDown: 1 };
    const to = event.key in lines ? lineFrom(all, here, lines[event.key]) : moves[event.key];
    if (event.key === "Escape") return mark(null);
    if (to === undefined || !all.length) return;
    event.preventDefault();
    mark(all[Math.min(Math.max(to, 0), all.length - 1)]);
  }

  // Gradio gives every choice of a group a name of its own, so that browsers do not know what the arrow keys mean.
  function onChoiceKey(event) {
    const way = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const choice = event.target instanceof Element ? event.target.closest("fieldset input[type=radio]") : null;
    if (!way || !choice) return;
    const all = [...choice.closest("fieldset").querySelectorAll("input[type=radio]")];
    const next = all[(all.indexOf(choice) + way + all.length) % all.length];
    event.preventDefault();
    next.focus();
    next.click();
  }

  function say(text) {
    document.querySelectorAll(".said").forEach((old) => old.remove());
    const box = el("div", text, "said");
    box.setAttribute("role", "status");
    document.body.append(box);
    setTimeout(() => box.remove(), 2500);
  }

  async function copy(text, what) {
    try {
      await navigator.clipboard.writeText(text);
      say(what + " copied");
    } catch {
      say("The browser does not let this page copy: select the text instead");
    }
  }

  function copyText(button) {
    const written = button.closest(".card").querySelector(".written");
    // From the bytes: control characters are shown as pictures of themselves.
    const bytes = [...written.querySelectorAll("b")].flatMap((each) => parse(each.dataset.o).map((info) => info.byte));
    copy(new TextDecoder().decode(new Uint8Array(bytes)), "Text");
  }

  function copyLink(query) {
    const address = new URL(query, window.location.href);
    const theme = new URLSearchParams(window.location.search).get("__theme");
    if (theme) address.searchParams.set("__theme", theme);
    window.history.replaceState(null, "", address);
    copy(address.href, "Link");
  }

  function download(result) {
    if (!result) return say("Nothing is written yet");
    const file = new Blob([JSON.stringify(result, null, 1)], { type: "application/json" });
    const anchor = el("a");
    anchor.href = URL.createObjectURL(file);
    anchor.download = "tipshare.json";
    anchor.click();
    setTimeout(() => URL.revokeObjectURL(anchor.href), 1000);
  }

  const tint = (on) => document.body.classList.toggle("plain", !on);

  // The address follows the tab that a visitor opens, and every tab has an address of its own: what is chosen in one is
  // no part of a link to another. Back and forward move between tabs.
  const parts = {};
  const TABS = "#tabs > .tab-wrapper :is([role=tab], .overflow-dropdown button)";
  const titleOf = (tab) => tab.textContent.trim().toLowerCase();
  const tabOf = (address) => address.searchParams.get("tab") || titleOf(document.querySelector(TABS));

  function keepTab(name) {
    keepState();
    const address = new URL(window.location.href);
    const before = tabOf(address);
    if (name === before) return;
    parts[before] = address.search;
    const next = new URL(parts[name] || `?tab=${name}`, address);
    const theme = address.searchParams.get("__theme");
    if (theme) next.searchParams.set("__theme", theme);
    window.history.pushState(null, "", next);
  }

  function goToTab() {
    const name = tabOf(new URL(window.location.href));
    const tab = [...document.querySelectorAll(TABS)].find((each) => titleOf(each) === name);
    if (tab) tab.click();
  }

  // What is chosen on a tab goes into the address, so that the address alone reopens it. Browsers refuse to rewrite it
  // for every move of a slider.
  const chosen = new Map();
  let soon = 0;

  function keep(name, value, standard, forget) {
    const told = (each) => (Array.isArray(each) ? each.join(";") : String(each ?? ""));
    chosen.set(name, told(value) === told(standard) ? null : told(value));
    forget.forEach((each) => chosen.set(each, null));
    clearTimeout(soon);
    soon = setTimeout(keepState, 200);
  }

  function keepState() {
    clearTimeout(soon);
    if (!chosen.size) return;
    const address = new URL(window.location.href);
    address.searchParams.set("tab", tabOf(address));
    chosen.forEach((value, name) => {
      if (value === null) address.searchParams.delete(name);
      else address.searchParams.set(name, value);
    });
    chosen.clear();
    window.history.replaceState(null, "", address);
  }

  function copyAddress() {
    keepState();
    copy(window.location.href, "Link");
  }

  // A number that is still being typed into a slider's field waits until it is in range, at the latest until the field
  // is left.
  const isUnfinished = (each) =>
    each instanceof HTMLInputElement &&
    each.ariaLabel?.startsWith("number input for") &&
    (each.value === "" || each.validity.rangeUnderflow || each.validity.rangeOverflow);

  function finish({ target }) {
    if (!isUnfinished(target)) return;
    target.value = Math.min(Math.max(Number(target.value), Number(target.min)), Number(target.max));
    target.dispatchEvent(new Event("input", { bubbles: true }));
  }

  document.addEventListener("input", (event) => isUnfinished(event.target) && event.stopPropagation(), true);
  document.addEventListener("focusout", finish, true);
  document.addEventListener("mouseover", (event) => (byteAt(event) ? show(byteAt(event)) : follow()));
  document.addEventListener("click", (event) => {
    if (!(event.target instanceof Element)) return;
    const button = event.target.closest("button[data-copy]");
    const tab = event.target.closest(TABS);
    if (button) copyText(button);
    else if (tab) keepTab(titleOf(tab));
    else if (byteAt(event)) mark(byteAt(event));
  });
  document.addEventListener("keydown", onKey);
  document.addEventListener("keydown", onChoiceKey);
  document.addEventListener("focusout", () => mark(null));
  document.addEventListener("scroll", follow, true);
  window.addEventListener("popstate", goToTab);
  return { copyAddress, copyLink, download, keep, tint };
})();
