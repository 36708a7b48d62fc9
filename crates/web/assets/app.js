// What every page adds to itself: the reader's time zone, the keyboard, countdowns, menus that
// close, changes shown while editing, names of files, and copying. Pages work without it.

rememberZone();
countDown();
setInterval(countDown, 1000);
closeMenus();
document.addEventListener("keydown", keyPressed);
showChanges();
offerCopying();
offerPrinting();
growFrames();
freeFrames();
openAtMessage();
completeOperators();
keepSelection();
filterMenus();
nameFiles();
focusNews();
watchWaiting();
showBadge();
keepOfflinePage();
document.addEventListener("mailroom:fresh", showBadge);
document.addEventListener("mailroom:fresh", countDown);
document.addEventListener("mailroom:fresh", growFrames);

// What was done is read out; after an act on rows the next row has the focus instead, so that the keys
// go on from there. A refusal is always read.
function focusNews() {
  const toasts = document.querySelectorAll(".toasts .toast:not(.stays)");
  for (const toast of toasts) toast.classList.add("goes");
  const flash = document.querySelector("[data-news]");
  const place = sessionStorage.getItem("mailroom:row");
  sessionStorage.removeItem("mailroom:row");
  const rows = flash && !flash.matches(".stays") && place !== null ? document.querySelectorAll(".rows .row") : [];
  const heard = rows[Math.min(Number(place), rows.length - 1)] ?? flash;
  heard?.focus();
  // A toast that goes takes the focus with it: it is given to the list instead.
  flash?.addEventListener("animationend", () => {
    const row = document.querySelector(".row[aria-current]") ?? document.querySelector(".rows .row");
    if (flash.contains(document.activeElement)) row?.focus({ preventScroll: true });
  });
  // A browser that goes to the place that the address names takes the focus away.
  const back = () => document.activeElement === document.body && heard?.focus({ preventScroll: true });
  if (location.hash) addEventListener("load", back);
}

// A frame is as high as the mail in it. Its page runs no script, so this page measures it.
function growFrames() {
  for (const frame of document.querySelectorAll("iframe.mail:not([data-measured])")) {
    frame.dataset.measured = "";
    frame.addEventListener("load", () => measure(frame));
    measure(frame);
  }
}

function measure(frame) {
  const page = frame.contentDocument;
  if (!page?.body || page.URL === "about:blank") return;
  page.addEventListener("keydown", passKey);
  page.addEventListener("pointerdown", noteHeard);
  const highest = 20000;
  const smallest = 0.4;
  const root = page.documentElement;
  const fit = () => {
    // A mail that is wider than its frame is shown smaller, as mail programs do; one that would be too
    // small to read is scrolled.
    root.style.zoom = "";
    const fits = root.clientWidth / root.scrollWidth;
    const zoom = fits < smallest ? 1 : Math.min(1, fits);
    const bar = fits < 1 ? 16 : 0;
    const margins = page.defaultView.getComputedStyle(page.body);
    const body = page.body.scrollHeight + parseFloat(margins.marginTop) + parseFloat(margins.marginBottom);
    // Margins of what the body begins and ends with are outside of it.
    let height = Math.max(body, root.getBoundingClientRect().height) + bar;
    if (zoom < 1) {
      root.style.zoom = zoom;
      height = page.body.scrollHeight * zoom + parseFloat(margins.marginTop) + parseFloat(margins.marginBottom) + bar;
    }
    root.style.overflowY = height < highest ? "hidden" : "";
    frame.style.height = `${Math.min(Math.ceil(height), highest)}px`;
  };
  fit();
  new ResizeObserver(fit).observe(page.body);
}

// A mail's page runs no script, and the browser lets this page hear its keys: after a click into a mail they do
// what they do elsewhere, and what is selected in it stays so.
function passKey(event) {
  noteHeard(event);
  const frame = event.currentTarget.defaultView?.frameElement;
  if (!frame || event.target.closest?.("input, textarea, select")) return;
  const { key, ctrlKey, metaKey, shiftKey, altKey } = event;
  const keys = { key, ctrlKey, metaKey, shiftKey, altKey };
  const passed = new KeyboardEvent("keydown", { ...keys, bubbles: true, cancelable: true });
  if (!frame.dispatchEvent(passed)) event.preventDefault();
}

function noteHeard(event) {
  const frame = event.currentTarget.defaultView?.frameElement;
  if (frame) frame.dataset.heard = "";
}

// Safari lets nobody hear such a frame (WebKit bug 218086): there the frame loses the focus when the pointer leaves
// it, unless words in it are selected.
function freeFrames() {
  document.addEventListener("pointerover", ({ buttons }) => {
    const frame = document.activeElement;
    if (buttons || !frame?.matches("iframe.mail:not([data-heard])")) return;
    if (frame.contentDocument?.getSelection()?.isCollapsed !== false) frame.blur();
  });
}

// A conversation opens at the first message that is unread. The browser has put the focus there; this
// puts its beginning at the top.
function openAtMessage() {
  const message = document.querySelector("[data-opens]");
  const pane = message?.closest(".scroll");
  if (!pane || location.hash || pane.classList.contains("from-end")) return;
  if (message.previousElementSibling) message.scrollIntoView({ block: "start" });
}

// The server writes times; it has to know whose clock is meant.
function rememberZone() {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
  const known = document.cookie.split("; ").some((pair) => pair === `mailroom_zone=${encodeURIComponent(zone)}`);
  if (!known) {
    const secure = location.protocol === "https:" ? "; Secure" : "";
    document.cookie = `mailroom_zone=${encodeURIComponent(zone)}; Path=/; Max-Age=31536000; SameSite=Lax${secure}`;
  }
}

// Letters that can be stopped: the time left, in words and as the strip.
function countDown() {
  for (const element of document.querySelectorAll("[data-leaves]")) {
    const left = Math.max(0, Math.round((Date.parse(element.dataset.leaves) - Date.now()) / 1000));
    if (element instanceof HTMLProgressElement) {
      element.value = left;
      continue;
    }
    const words = element.querySelector("[data-countdown]");
    if (words) words.textContent = `, ${left > 0 ? timeLeft(left) : t("now")}${words.dataset.countdown}`;
    if (left === 0 && element.matches(".toast")) element.remove();
  }
}

function timeLeft(seconds) {
  const minutes = Math.floor(seconds / 60);
  if (minutes >= 48 * 60) return t("in {days} days", { days: Math.floor(minutes / (24 * 60)) });
  if (minutes >= 60) return t("in {hours} h {minutes} min", { hours: Math.floor(minutes / 60), minutes: minutes % 60 });
  if (minutes > 0) return t("in {minutes} min {seconds} s", { minutes, seconds: seconds % 60 });
  return t("in {seconds} s", { seconds });
}

function closeMenus() {
  document.addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (!menu.contains(event.target)) menu.open = false;
    }
  });
  // A menu that asks for a word begins at its field. The event does not bubble.
  document.addEventListener("toggle", (event) => {
    if (event.target.open) event.target.querySelector("[data-begin]")?.focus();
  }, true);
}

let prefix = "";

function keyPressed(event) {
  if (event.key === "Escape") return leave(event);
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) return send(event);
  if (asksForPalette(event)) return showPalette(event);
  const typing = event.target.closest?.("input:not([type=checkbox]), textarea, select, [contenteditable]");
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest?.("details.menu[open] .menu-body")) return;
  const key = event.key.toLowerCase();
  // The sheet of keys stays while one reads it, and goes when one of them is pressed.
  if (/^[^\s?]$/.test(key)) document.querySelector("dialog.sheet[open]")?.close();
  if (prefix === "g") {
    prefix = "";
    const places = { i: "/inbox?view=mine", a: "/approvals", l: "/leaving", o: "/inbox?view=open", d: "/documents", r: "/reports" };
    if (places[key]) {
      event.preventDefault();
      location.assign(places[key]);
    }
    return;
  }
  if (key === "g") {
    prefix = "g";
    setTimeout(() => (prefix = ""), 1500);
    return;
  }
  if (key === "?") return showKeys(event);
  if (key === "/") return go(event, "/search");
  if (rowKey(event)) return;
  const shifted = event.shiftKey && document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  const own = shifted || document.querySelector(`[data-key="${CSS.escape(key)}"]`);
  if (own) return press(event, own);
  if (key === "j" || key === "k") {
    if (event.shiftKey) tickChosen();
    return move(event, key === "j" ? 1 : -1);
  }
  if (key === "enter") return openChosen(event);
}

// Where words are formatted the same keys make a link.
function asksForPalette(event) {
  const { ctrlKey, metaKey, shiftKey, altKey } = event;
  return event.key?.toLowerCase() === "k" && (ctrlKey || metaKey) && !shiftKey && !altKey && !event.defaultPrevented;
}

// It is a script of its own, because most pages are left without it. The page of search opens where it cannot be loaded.
async function showPalette(event) {
  event.preventDefault();
  try {
    const { openPalette } = await import(import.meta.url.replace("/app.", "/palette."));
    openPalette();
  } catch {
    location.assign("/search");
  }
}

// What keys do on this page, in a sheet over it. The page of help has all of them; it opens where they cannot be
// fetched.
async function showKeys(event) {
  event.preventDefault();
  const shown = document.querySelector("dialog.sheet[open]");
  if (shown) return shown.close();
  try {
    const answer = await fetch("/keyboard", { headers: { accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    openSheet(page.getElementById("keys-h").textContent, keysHere(page.querySelector(".keys")));
  } catch {
    location.assign("/keyboard");
  }
}

// Leaves those keys that do something here: an entry names what they need.
function keysHere(keys) {
  for (const entry of keys.querySelectorAll("[data-works]")) {
    if (!document.querySelector(entry.dataset.works)) entry.remove();
  }
  for (const section of keys.querySelectorAll("section")) {
    if (!section.querySelector("dl > div")) section.remove();
  }
  return keys;
}

function openSheet(title, body) {
  document.querySelector("dialog.sheet")?.remove();
  const sheet = Object.assign(document.createElement("dialog"), { className: "sheet" });
  sheet.setAttribute("aria-labelledby", "sheet-h");
  const head = Object.assign(document.createElement("div"), { className: "sheet-head" });
  const heading = Object.assign(document.createElement("h2"), { id: "sheet-h", textContent: title });
  const all = Object.assign(document.createElement("a"), { className: "btn", href: "/keyboard", textContent: t("All keys and help") });
  const close = Object.assign(document.createElement("button"), { className: "btn", textContent: t("Close") });
  const acts = Object.assign(document.createElement("div"), { className: "line" });
  close.addEventListener("click", () => sheet.close());
  sheet.addEventListener("click", ({ target }) => target === sheet && sheet.close());
  sheet.addEventListener("close", () => sheet.remove());
  acts.append(all, close);
  head.append(heading, acts);
  sheet.append(head, body);
  document.body.append(sheet);
  sheet.showModal();
}

// Keys on a row, or on the rows that are ticked: the same acts as the bar above the list.
function rowKey(event) {
  const row = document.activeElement?.closest?.(".pick")?.querySelector(".tick input");
  if (event.key === "x" && row) {
    event.preventDefault();
    row.click();
    return true;
  }
  const ticked = document.querySelector(".tick input:checked");
  const act = document.querySelector(`.bulk [data-row-key="${CSS.escape(event.key)}"]`);
  if (!act || (!ticked && !row)) return false;
  if (!ticked) {
    row.checked = true;
    row.dispatchEvent(new Event("change", { bubbles: true }));
  }
  press(event, act);
  return true;
}

// Shift with J or K ticks the row that is left: the one with the focus, or else the one that is open.
function tickChosen() {
  const row = chosenRow() ?? document.querySelector(".rows .row[aria-current]");
  const box = row?.closest(".pick")?.querySelector(".tick input");
  if (box && !box.checked) box.click();
}

// What is ticked stays so when the list is fetched anew; Shift ticks all rows between two.
function keepSelection() {
  const form = document.querySelector("form.triage");
  if (!form) return;
  const chosen = new Set();
  let last = null;
  const boxes = () => [...form.querySelectorAll(".tick input")];
  const count = () => {
    // Without a ticked row the bar is hidden, and nothing that is hidden stays chosen.
    if (chosen.size === 0 && form.elements.all) form.elements.all.checked = false;
    const shown = form.querySelector("[data-selected]");
    const all = form.elements.all?.checked;
    const words = all ? t("All selected") : t("{n} selected", { n: chosen.size });
    if (shown) shown.textContent = words;
    // Readers hear how many they are, and that none is left; nothing when the page opens.
    const said = form.querySelector("[data-selection]");
    const news = chosen.size > 0 ? words : said?.textContent && t("Nothing selected");
    if (said && said.textContent !== news) said.textContent = news;
  };
  // The row of an entry, or else the one that was ticked last.
  const focusRow = (pick) => {
    const box = boxes().find((one) => one.value === last) ?? boxes().find((one) => one.checked);
    (pick ?? box?.closest(".pick"))?.querySelector(".row").focus();
  };
  const note = (box) => (box.checked ? chosen.add(box.value) : chosen.delete(box.value));
  form.addEventListener("click", (event) => {
    const box = event.target.closest(".tick input");
    if (!box) return;
    const all = boxes();
    const [from, to] = [all.findIndex((one) => one.value === last), all.indexOf(box)];
    if (event.shiftKey && from >= 0) {
      for (const one of all.slice(Math.min(from, to), Math.max(from, to) + 1)) {
        one.checked = box.checked;
        note(one);
      }
    }
    last = box.value;
  });
  form.addEventListener("change", (event) => {
    if (event.target.matches(".tick input")) note(event.target);
    count();
  });
  form.addEventListener("submit", () => {
    sessionStorage.setItem("mailroom:row", boxes().findIndex((box) => box.checked));
  });
  document.addEventListener("mailroom:fresh", () => {
    const here = new Set(boxes().map((box) => box.value));
    for (const id of [...chosen]) if (!here.has(id)) chosen.delete(id);
    for (const box of boxes()) box.checked = chosen.has(box.value);
    count();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || chosen.size === 0 || event.defaultPrevented) return;
    // It has left the box that had the focus.
    if (form.contains(event.target)) focusRow(event.target.closest(".pick"));
    form.reset();
  });
  // The browser unticks the boxes after this, and the bar goes with the focus that is in it.
  form.addEventListener("reset", () => {
    if (document.activeElement?.closest(".bulk")) focusRow(null);
    for (const field of form.querySelectorAll("[data-filters]")) {
      field.value = "";
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }
    chosen.clear();
    last = null;
    count();
  });
  const countAll = () => {
    for (const box of boxes()) note(box);
    count();
  };
  countAll();
  // Whoever goes back finds the boxes ticked, by the browser and after this script.
  addEventListener("pageshow", countAll);
}

// Typing in a menu shows the entries that contain what is typed; Enter takes the one that is called so, or
// else the first. Where what is typed may be new, its own button takes what no entry fits.
function filterMenus() {
  const entries = (field) => [...field.closest(".menu-body").querySelectorAll("button:not(.btn, [name=remove])")];
  document.addEventListener("input", (event) => {
    const field = event.target.closest?.("[data-filters]");
    if (!field) return;
    const typed = field.value.trim().toLowerCase();
    const words = (button) => button.textContent.trim().toLowerCase();
    // What has a word that begins so is meant before what only contains it.
    const begins = (button) => words(button).split(/\s+/).some((word) => word.startsWith(typed)) || words(button).startsWith(typed);
    const fits = entries(field).some(begins) ? begins : (button) => words(button).includes(typed);
    for (const button of entries(field)) button.hidden = !fits(button);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    const field = event.target.closest?.("[data-filters]");
    const line = event.target.closest?.(":is(.bulk, .later) .menu-line input:not([data-date]), .menu-line [data-filters]")?.closest(".menu-line");
    if (!field && !line) return;
    event.preventDefault();
    const typed = field?.value.trim().toLowerCase();
    const shown = field && (typed || !line) ? entries(field).filter((button) => !button.hidden) : [];
    const same = shown.find((button) => button.textContent.trim().toLowerCase() === typed);
    (same ?? shown[0] ?? line?.querySelector("button"))?.click();
  });
}

function go(event, path) {
  event.preventDefault();
  location.assign(path);
}

function press(event, element) {
  event.preventDefault();
  if (element instanceof HTMLTextAreaElement) return element.focus();
  const menu = element.closest("details.menu");
  element.click();
  if (menu?.open) menu.querySelector(".menu-body :is(button, input:not([type=hidden]))")?.focus();
}

// The list's rows: the chosen one has the focus, so that Enter opens it and readers hear it.
function move(event, step) {
  const rows = [...document.querySelectorAll(".rows .row")];
  if (rows.length === 0) return;
  event.preventDefault();
  const focused = rows.indexOf(chosenRow());
  const current = rows.findIndex((row) => row.hasAttribute("aria-current"));
  const from = focused >= 0 ? focused : current >= 0 ? current : step > 0 ? -1 : rows.length;
  const to = rows[Math.min(rows.length - 1, Math.max(0, from + step))];
  to.focus();
  to.scrollIntoView({ block: "nearest" });
}

function openChosen(event) {
  const row = chosenRow();
  if (row) go(event, row.href);
}

// The row that has the focus, or whose box has it.
function chosenRow() {
  const focused = document.activeElement;
  const box = focused?.closest?.(".tick input");
  return box ? box.closest(".pick")?.querySelector(".row") : focused?.closest?.(".row");
}

function leave(event) {
  const sheet = document.querySelector("dialog.sheet[open]");
  if (sheet) {
    event.preventDefault();
    return sheet.close();
  }
  const menu = document.querySelector("details.menu[open]");
  if (menu) {
    // What is ticked stays so: one Escape leaves one thing.
    event.preventDefault();
    menu.open = false;
    menu.querySelector("summary").focus();
  } else if (event.target.matches?.("input, textarea, select, [contenteditable]")) {
    event.target.blur();
  }
}

function send(event) {
  const form = event.target.form ?? event.target.closest?.("form");
  const button = document.querySelector("[data-send]");
  if (!form || !button || button.form !== form) return;
  event.preventDefault();
  form.requestSubmit(button);
}

// What an approving person changed, word by word.
function showChanges() {
  const field = document.querySelector("textarea[data-was]");
  const shown = document.getElementById("changes");
  if (!field || !shown) return;
  const label = document.querySelector(".decide [data-send] span");
  const plain = label?.textContent;
  const show = () => {
    const changed = field.value !== field.dataset.was;
    shown.hidden = !changed;
    if (label && plain === t("Approve")) label.textContent = changed ? t("Approve with changes") : plain;
    if (!changed) return;
    const pieces = difference(field.dataset.was, field.value);
    const places = pieces.filter((piece, at) => piece.kind !== "same" && (at === 0 || pieces[at - 1].kind === "same")).length;
    const author = field.dataset.author;
    shown.querySelector("summary span").textContent = places === 1
      ? t("You changed 1 place against {author}'s draft", { author })
      : t("You changed {places} places against {author}'s draft", { places, author });
    const body = shown.querySelector("div");
    body.replaceChildren(...pieces.map((piece) => {
      const tag = { same: "span", added: "ins", removed: "del" }[piece.kind];
      const element = document.createElement(tag);
      element.textContent = piece.text;
      return element;
    }));
  };
  field.addEventListener("input", show);
  show();
}

// The longest common run of words; long messages are compared by their ends alone.
function difference(was, is) {
  const words = (text) => text.match(/\s+|[^\s]+/g) ?? [];
  const [a, b] = [words(was), words(is)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const [x, y] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  const pieces = [];
  const add = (kind, text) => {
    if (!text) return;
    const last = pieces[pieces.length - 1];
    if (last?.kind === kind) last.text += text;
    else pieces.push({ kind, text });
  };
  add("same", a.slice(0, start).join(""));
  if (x.length * y.length > 1_000_000) {
    add("removed", x.join(""));
    add("added", y.join(""));
  } else {
    const table = Array.from({ length: x.length + 1 }, () => new Uint16Array(y.length + 1));
    for (let i = x.length - 1; i >= 0; i--) {
      for (let j = y.length - 1; j >= 0; j--) {
        table[i][j] = x[i] === y[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
      }
    }
    let [i, j] = [0, 0];
    while (i < x.length || j < y.length) {
      if (i < x.length && j < y.length && x[i] === y[j]) {
        add("same", x[i]);
        i++;
        j++;
      } else if (j >= y.length || (i < x.length && table[i + 1][j] >= table[i][j + 1])) {
        add("removed", x[i++]);
      } else {
        add("added", y[j++]);
      }
    }
  }
  add("same", a.slice(a.length - end).join(""));
  return pieces;
}

// The operators of a search: those that begin like what is being typed. The arrows choose, Tab puts it in, or the
// first.
function completeOperators() {
  const field = document.querySelector("[data-completes]");
  const list = field && document.getElementById(field.dataset.completes);
  if (!list) return;
  const most = 8;
  const options = [...list.children];
  field.setAttribute("role", "combobox");
  field.setAttribute("aria-expanded", "false");
  field.setAttribute("aria-controls", list.id);
  field.setAttribute("aria-autocomplete", "list");
  // Whoever opens the page goes on behind what was searched.
  field.setSelectionRange(field.value.length, field.value.length);
  const shown = () => options.filter((option) => !option.hidden);
  const choose = (chosen) => {
    for (const option of options) option.setAttribute("aria-selected", String(option === chosen));
    if (chosen) field.setAttribute("aria-activedescendant", chosen.id);
    else field.removeAttribute("aria-activedescendant");
  };
  const typed = () => /(^|\s)-?([^\s"]*)$/.exec(field.value.slice(0, field.selectionStart))?.[2] ?? "";
  const show = () => {
    const start = typed().toLowerCase();
    let left = start.length > 0 ? most : 0;
    for (const option of options) {
      const word = option.dataset.word.toLowerCase();
      const fits = left > 0 && word.startsWith(start) && word !== start && (start.includes(":") || word.endsWith(":"));
      option.hidden = !fits;
      if (fits) left--;
    }
    list.hidden = shown().length === 0;
    field.setAttribute("aria-expanded", String(!list.hidden));
    choose(null);
  };
  const put = (option) => {
    const end = field.selectionStart;
    const before = field.value.slice(0, end - typed().length) + option.dataset.word;
    const gap = option.dataset.word.endsWith(":") ? "" : " ";
    field.value = before + gap + field.value.slice(end);
    field.setSelectionRange(before.length + gap.length, before.length + gap.length);
    field.focus();
    show();
  };
  field.addEventListener("input", show);
  field.addEventListener("keydown", (event) => {
    const all = shown();
    const at = all.findIndex((option) => option.getAttribute("aria-selected") === "true");
    if (all.length === 0) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      choose(all[(at + step + all.length) % all.length]);
    } else if ((event.key === "Enter" && at >= 0) || (event.key === "Tab" && !event.shiftKey)) {
      event.preventDefault();
      put(all[Math.max(at, 0)]);
    } else if (event.key === "Escape") {
      // It closes the list and leaves what was typed.
      event.preventDefault();
      event.stopPropagation();
      for (const option of all) option.hidden = true;
      list.hidden = true;
      field.setAttribute("aria-expanded", "false");
      choose(null);
    }
  });
  list.addEventListener("mousedown", (event) => {
    const option = event.target.closest("[role=option]");
    if (!option) return;
    event.preventDefault();
    put(option);
  });
}

// Beside a field for files stands which of them were chosen.
function nameFiles() {
  document.addEventListener("change", ({ target }) => {
    const place = target.closest(".pick-file")?.nextElementSibling;
    if (!place?.matches("[data-file-names]") || target.files.length === 0) return;
    place.lastChild.textContent = [...target.files].map((file) => file.name).join(", ");
  });
}

function offerCopying() {
  for (const button of document.querySelectorAll("[data-copy]")) {
    if (!navigator.clipboard) continue;
    button.hidden = false;
    button.addEventListener("click", async () => {
      const secret = button.parentElement.querySelector(".secret");
      await navigator.clipboard.writeText(secret.textContent.trim());
      button.lastChild.textContent = t("Copied");
    });
  }
}

function offerPrinting() {
  for (const button of document.querySelectorAll("[data-print]")) {
    button.hidden = false;
    button.addEventListener("click", () => print());
  }
}

// The number in the title and the mark of the icon go on while the page is behind others, where they are looked for.
// A page that nobody looks at for hours stops asking.
function watchWaiting() {
  const everyMs = 60_000;
  const most = 8 * 60;
  let asked = 0;
  setInterval(async () => {
    if (!document.hidden) asked = 0;
    // A page in front that is kept true has its number with the rest.
    if ((!document.hidden && document.body.dataset.live) || asked++ >= most) return;
    const answer = await fetch("/session?waiting", { cache: "no-store" }).catch(() => null);
    if (answer?.ok) showWaiting((await answer.json()).waiting);
  }, everyMs);
}

function showWaiting(words) {
  const icon = document.querySelector("link[data-waiting]");
  const shown = icon?.dataset.waiting;
  if (!icon || shown === words) return;
  const page = shown ? document.title.slice(`(${shown}) `.length) : document.title;
  document.title = words ? `(${words}) ${page}` : page;
  icon.href = words ? icon.dataset.iconNews : icon.dataset.icon;
  icon.dataset.waiting = words;
  showBadge();
}

// The icon of the installed app says how much waits, where the browser can.
function showBadge() {
  const waiting = document.querySelector("link[data-waiting]")?.dataset.waiting;
  if (waiting === undefined || !navigator.setAppBadge) return;
  const count = parseInt(waiting, 10) || 0;
  (count ? navigator.setAppBadge(count) : navigator.clearAppBadge()).catch(() => {});
}

// Without a connection a page of ours says so; see service-worker.js.
function keepOfflinePage() {
  navigator.serviceWorker?.register("/service-worker.js").catch(() => {});
}
