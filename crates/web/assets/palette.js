// The command palette: any conversation, contact, list, setting or act on the open conversation by a few letters.
// app.js loads it when its keys are pressed; the page of search finds the same without it, but for the acts.

const MOST = { acts: 6, places: 7 };
const LEAST_CHARS = 2;
// So that somebody who types fast asks once.
const PAUSE_MS = 60;

export function openPalette() {
  const shown = document.querySelector("dialog.palette");
  if (shown) return shown.close();
  document.querySelector("dialog.sheet")?.close();
  const { dialog, field, list, said } = makeDialog();
  const acts = findActs();
  let places = [];
  let found = [];
  let choices = [];
  let marked = 0;
  let moved = false;
  let waiting = 0;
  let asking = null;

  const options = () => [...list.querySelectorAll("[role=option]")];
  const mark = (at) => {
    marked = at;
    options().forEach((option, place) => option.setAttribute("aria-selected", String(place === at)));
    const option = options()[at];
    if (option) field.setAttribute("aria-activedescendant", option.id);
    else field.removeAttribute("aria-activedescendant");
    option?.scrollIntoView({ block: "nearest" });
  };
  const choose = (choice) => {
    dialog.close();
    if (choice.href) location.assign(choice.href);
    else findActs().find((act) => act.text === choice.text)?.element.click();
  };
  const draw = () => {
    const typed = field.value.trim();
    const groups = [
      { title: t("On this conversation"), entries: bestOf(acts, typed, MOST.acts) },
      { title: t("Go to"), entries: bestOf(places, typed, MOST.places) },
      ...found,
      { title: t("Search"), entries: typed ? [searchFor(typed)] : [] },
    ].filter(({ entries }) => entries.length > 0);
    // What was chosen with the arrows stays so when more is found.
    const before = moved ? choices[marked] : null;
    choices = groups.flatMap(({ entries }) => entries);
    let at = 0;
    list.replaceChildren(...groups.map(({ title, entries }, place) => makeGroup(title, place, entries.map((entry) => {
      const option = makeOption(entry, at++);
      option.addEventListener("click", () => choose(entry));
      return option;
    }))));
    const same = before ? choices.findIndex(({ href, text }) => href === before.href && text === before.text) : -1;
    mark(Math.max(same, 0));
    said.textContent = t("{n} found", { n: choices.length });
  };
  const ask = async () => {
    const typed = field.value.trim();
    asking = new AbortController();
    try {
      found = await fetchJson(`/palette?q=${encodeURIComponent(typed)}`, asking.signal);
      draw();
    } catch {
      // Somebody typed on, or there is no connection: what the page knows itself stays.
    }
  };

  field.addEventListener("input", () => {
    moved = false;
    clearTimeout(waiting);
    asking?.abort();
    if (field.value.trim().length < LEAST_CHARS) found = [];
    else waiting = setTimeout(ask, PAUSE_MS);
    draw();
  });
  field.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && choices.length > 0) {
      moved = true;
      mark((marked + step + choices.length) % choices.length);
    } else if (event.key === "Enter" && !event.isComposing) {
      if (choices[marked]) choose(choices[marked]);
    } else {
      return;
    }
    event.preventDefault();
  });
  // The focus stays in the field.
  list.addEventListener("mousedown", (event) => event.preventDefault());
  dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close());
  dialog.addEventListener("close", () => {
    clearTimeout(waiting);
    asking?.abort();
    dialog.remove();
  });
  document.body.append(dialog);
  dialog.showModal();
  field.focus();
  draw();
  fetchJson("/palette").then((all) => {
    places = all;
    draw();
  }, () => {});
}

async function fetchJson(path, signal) {
  const answer = await fetch(path, { signal, headers: { accept: "application/json" } });
  if (!answer.ok || answer.redirected) throw new Error("no answer");
  return answer.json();
}

// The dialog: a field that keeps the focus, and under it the list that its arrows walk.
function makeDialog() {
  const dialog = Object.assign(document.createElement("dialog"), { className: "sheet palette" });
  dialog.setAttribute("aria-label", t("Go anywhere, do anything"));
  const field = Object.assign(document.createElement("input"), { className: "input", type: "search" });
  field.autocomplete = "off";
  field.spellcheck = false;
  field.placeholder = t("A conversation, a person, a list, a setting, an act");
  const attributes = {
    role: "combobox",
    "aria-label": t("Go anywhere, do anything"),
    "aria-autocomplete": "list",
    "aria-expanded": "true",
    "aria-controls": "palette-list",
  };
  for (const [name, value] of Object.entries(attributes)) field.setAttribute(name, value);
  const list = Object.assign(document.createElement("div"), { className: "completion inflow", id: "palette-list" });
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", t("What fits"));
  const said = Object.assign(document.createElement("p"), { className: "sr" });
  said.setAttribute("role", "status");
  const keys = Object.assign(document.createElement("p"), {
    className: "hint", textContent: t("↑ ↓ choose, Enter opens, Escape closes"),
  });
  dialog.append(field, list, said, keys);
  return { dialog, field, list, said };
}

function makeGroup(title, place, options) {
  const group = document.createElement("div");
  const heading = Object.assign(document.createElement("h3"), {
    className: "menu-h", id: `palette-group-${place}`, textContent: title,
  });
  group.setAttribute("role", "group");
  group.setAttribute("aria-labelledby", heading.id);
  heading.setAttribute("role", "presentation");
  group.append(heading, ...options);
  return group;
}

function makeOption({ text, about }, place) {
  const option = Object.assign(document.createElement("div"), { id: `palette-option-${place}` });
  option.setAttribute("role", "option");
  option.setAttribute("aria-selected", "false");
  const name = Object.assign(document.createElement("b"), { textContent: text, dir: "auto" });
  option.append(name);
  if (about) option.append(Object.assign(document.createElement("span"), { className: "sub", textContent: about }));
  return option;
}

function searchFor(typed) {
  return { text: t("Search all for “{typed}”", { typed }), href: `/search?q=${encodeURIComponent(typed)}` };
}

// What the page offers for the open conversation: the ways to write, and the buttons and entries of its head. What
// needs a word or a time first is left to its menu.
function findActs() {
  const acts = [];
  const add = (element, menu) => {
    const words = wordsOf(element);
    const text = menu ? `${menu}: ${words}` : words;
    if (words && !acts.some((act) => act.text === text)) acts.push({ text, element });
  };
  const ways = ".answer > a[data-key], .modes.tabs a:not([aria-current])";
  for (const element of document.querySelectorAll(`.pane :is(${ways})`)) add(element, "");
  for (const element of document.querySelectorAll("#live-head .head-acts :is(button, a[href])")) {
    if (element.closest(".menu-line") || element.disabled) continue;
    const menu = element.closest("details.menu:not(.more-acts)");
    add(element, menu ? plainTitle(menu.querySelector("summary")) : "");
  }
  return acts;
}

// What a control says, without its key.
function wordsOf(element) {
  const copy = element.cloneNode(true);
  for (const beside of copy.querySelectorAll("kbd, .who")) beside.remove();
  return copy.textContent.replace(/\s+/g, " ").trim() || plainTitle(element);
}

function plainTitle(element) {
  return (element.title || element.ariaLabel || element.textContent).replace(/\s*\([^)]*\)\s*$/, "").trim();
}

// The entries whose words begin as typed: first those whose name begins so, then those with all words in the name, then
// those with some beside it. Entries that are equally good keep their order.
function bestOf(entries, typed, most) {
  const wanted = fold(typed).split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  if (typed && wanted.length === 0) return [];
  const rank = ({ text, about = "", also = "" }) => {
    const [name, all] = [fold(text), fold(`${text} ${about} ${also}`)];
    if (hasAll(name, wanted)) return name.startsWith(wanted[0] ?? "") ? 0 : 1;
    return hasAll(all, wanted) ? 2 : 3;
  };
  const ranked = entries.map((entry) => [rank(entry), entry]).filter(([place]) => place < 3);
  return ranked.sort(([a], [b]) => a - b).slice(0, most).map(([, entry]) => entry);
}

function hasAll(text, wanted) {
  const words = text.split(/[^\p{L}\p{N}]+/u);
  return wanted.every((one) => words.some((word) => word.startsWith(one)));
}

// Without case and accents.
function fold(text) {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().trim();
}
