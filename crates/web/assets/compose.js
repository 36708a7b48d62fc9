// What a composer adds to itself: drafts that are kept, files that are attached at once, saved replies
// at the cursor, recipients as chips, and addresses and names that complete. Forms work without it.

const KEPT = [
  "csrf", "kind", "body", "to", "cc", "bcc", "mailbox", "subject", "forwards", "later_at", "follow_up", "follow_up_at",
];
const ADDRESS = /^[^\s@<>,;]+@[^\s@<>,;]+\.[^\s@<>,;]+$/;

for (const field of document.querySelectorAll(".address input:is(#to, #cc, #bcc)")) makeChips(field);
keepDraft();
attachAtOnce();
sayWhereItGoes();
offerSaved();
completeSaved();
completeMentions();
showSignature();

// Autosave ----------------------------------------------------------------

// What is being written is kept a moment after every pause.
function keepDraft() {
  const form = document.querySelector("form[data-keep]");
  if (!form) return;
  const said = form.querySelector("[data-kept]");
  const typed = () => {
    const fields = new URLSearchParams();
    // Not `form.elements`, which finds the field by which a recipient is typed under the same name.
    for (const name of KEPT) fields.set(name, form.querySelector(`[name="${name}"]`)?.value ?? "");
    const lock = form.querySelector('[name="secure"]');
    if (lock && (lock.type !== "checkbox" || lock.checked)) fields.set("secure", "1");
    return fields;
  };
  let waiting = 0;
  let kept = typed().toString();
  const keep = async () => {
    const fields = typed();
    const text = fields.toString();
    if (text === kept) return;
    try {
      const answer = await fetch(form.dataset.keep, {
        method: "POST", body: fields, keepalive: true, redirect: "manual",
      });
      if (answer.ok) kept = text;
      // Who is not signed in is led to where they can be.
      const refused = answer.type === "opaqueredirect"
        ? t("Not kept: you are signed out. It stays here.")
        : t("Not kept: the server refused it.");
      said.textContent = answer.ok ? t("Kept.") : refused;
    } catch {
      said.textContent = t("Not kept: there is no connection. It is kept as soon as there is.");
    }
  };
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(keep, 800);
  });
  addEventListener("online", keep);
  form.addEventListener("mailroom:keep", (event) => event.detail.push(keep()));
  form.addEventListener("submit", () => {
    clearTimeout(waiting);
    kept = typed().toString();
  });
  addEventListener("pagehide", () => {
    if (waiting) keep();
  });
  const body = form.elements.body;
  body.setSelectionRange(body.value.length, body.value.length);
}

// Folded again, the line says whom the message goes to now, and who gets a copy.
function sayWhereItGoes() {
  const fold = document.querySelector("details.goes-to");
  fold?.addEventListener("toggle", () => {
    for (const said of fold.querySelectorAll("[data-goes-to]")) {
      said.textContent = fold.querySelector(`[name="${said.dataset.goesTo}"]`).value.trim();
      const copies = said.closest("[data-copies]");
      if (copies) copies.hidden = said.textContent === "";
    }
  });
}

// Files that were chosen are added without a second click.
function attachAtOnce() {
  const field = document.querySelector("[data-attach]");
  field?.addEventListener("change", () => {
    if (field.files.length > 0) field.form.requestSubmit(field.form.querySelector("[data-attach-now]"));
  });
}

// Signature ---------------------------------------------------------------

// Another inbox may have another signature; the page says which.
function showSignature() {
  const inbox = document.querySelector("form[data-keep] select[name='mailbox']");
  const place = document.querySelector("[data-signature]");
  if (!inbox || !place) return;
  inbox.addEventListener("change", async () => {
    const asked = inbox.value;
    const answer = await fetch(`/new?mailbox=${encodeURIComponent(asked)}`);
    if (!answer.ok || inbox.value !== asked) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.querySelector("[data-signature]");
    if (fresh && inbox.value === asked) place.replaceChildren(...fresh.childNodes);
  });
}

// Saved replies -----------------------------------------------------------

// A saved reply goes where the cursor is; one with files goes the way it goes without a script.
function offerSaved() {
  const menu = document.getElementById("saved");
  const form = document.querySelector("form[data-keep]");
  if (!form) return;
  if (!menu) {
    form.addEventListener("keydown", (event) => {
      if (event.key !== "." || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      const said = form.querySelector("[data-kept]");
      if (said) said.textContent = t("There are no saved replies yet. They are made under Settings, Saved replies.");
    });
    return;
  }
  const filter = addFilter(menu);
  const buttons = () => [...menu.querySelectorAll("button:not([hidden])")];
  form.addEventListener("keydown", (event) => {
    if (event.key !== "." || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    menu.open = true;
    // The event comes later, and the next key may come before it.
    filter.focus();
  });
  menu.addEventListener("toggle", () => {
    if (menu.open) filter.focus();
  });
  menu.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      const all = buttons();
      const at = all.indexOf(document.activeElement);
      all[(at + step + all.length) % all.length]?.focus();
    } else if (event.key === "Enter" && event.target === filter) {
      event.preventDefault();
      buttons()[0]?.click();
    }
  });
  for (const button of menu.querySelectorAll("[data-insert]")) {
    button.addEventListener("click", async (event) => {
      event.preventDefault();
      const fields = new URLSearchParams({ csrf: form.querySelector('[name="csrf"]').value });
      const answer = await fetch(button.dataset.insert, { method: "POST", body: fields, redirect: "manual" });
      if (!answer.ok) return;
      menu.open = false;
      insertText(form.elements.body, await answer.text());
    });
  }
}

// `;` and the beginning of a saved reply's name offer it where that is typed. Without a script it stays as it was typed.
function completeSaved() {
  const form = document.querySelector("form[data-keep]");
  const area = form?.elements.body;
  const buttons = [...document.querySelectorAll("#saved .reply-folder button")];
  if (!area || buttons.length === 0) return;
  const field = form.querySelector(".rich") ?? area;
  const role = field.getAttribute("role");
  const { list, show, close, press } = makeList(field, "saved", t("Saved replies"));
  // A text of several lines is no combobox.
  if (role) field.setAttribute("role", role);
  else field.removeAttribute("role");
  field.removeAttribute("aria-expanded");
  list.classList.add("inflow");
  field.after(list);
  const nameOf = (button) => button.querySelector("b").textContent;
  area.addEventListener("input", () => {
    const typed = typedName(field);
    if (!typed) return close();
    const wanted = fold(typed).split("-").filter(Boolean);
    const fits = (button) => {
      const words = fold(nameOf(button)).split(/[^\p{L}\p{N}]+/u);
      return wanted.every((one) => words.some((word) => word.startsWith(one)));
    };
    show(buttons.filter(fits).slice(0, 8), replyContent, (button) => {
      close();
      removeTyped(field, typed.length + 1);
      button.click();
    });
    field.removeAttribute("aria-expanded");
  });
  // Before the editor has the key.
  form.addEventListener("keydown", (event) => event.target === field && press(event), true);
  field.addEventListener("blur", close);
}

function replyContent(button) {
  const words = element("span", "", "");
  words.append(element("b", "", button.querySelector("b").textContent));
  words.append(element("span", "sub", button.querySelector(".sub")?.textContent ?? ""));
  return [words];
}

// What stands behind a `;` before the cursor, of letters, digits and hyphens; empty for nothing.
function typedName(field) {
  const { anchorNode, anchorOffset, isCollapsed } = getSelection();
  const inText = anchorNode?.nodeType === Node.TEXT_NODE && field.contains(anchorNode);
  const before = field instanceof HTMLTextAreaElement
    ? field.value.slice(0, field.selectionStart)
    : inText && isCollapsed ? anchorNode.data.slice(0, anchorOffset) : "";
  return /(?:^|[\s(]);([\p{L}\p{N}][\p{L}\p{N}\p{M}-]*)$/u.exec(before)?.[1] ?? "";
}

function removeTyped(field, length) {
  if (field instanceof HTMLTextAreaElement) {
    const end = field.selectionStart;
    field.setRangeText("", end - length, end, "end");
    field.dispatchEvent(new Event("input", { bubbles: true }));
    return;
  }
  const { anchorNode, anchorOffset } = getSelection();
  getSelection().setBaseAndExtent(anchorNode, anchorOffset - length, anchorNode, anchorOffset);
  document.execCommand("delete");
}

// The editor takes HTML itself; a text area gets the text.
function insertText(area, text) {
  const insert = new CustomEvent("mailroom:insert", { detail: text, cancelable: true });
  if (!area.dispatchEvent(insert)) return;
  area.focus();
  area.setRangeText(text, area.selectionStart, area.selectionEnd, "end");
  area.dispatchEvent(new Event("input", { bubbles: true }));
}

function addFilter(menu) {
  const filter = document.createElement("input");
  filter.className = "input filter";
  filter.type = "search";
  filter.placeholder = t("Find a saved reply");
  filter.setAttribute("aria-label", filter.placeholder);
  filter.addEventListener("input", (event) => {
    event.stopPropagation();
    const wanted = fold(filter.value).split(/\s+/);
    for (const folder of menu.querySelectorAll(".reply-folder")) {
      const name = fold(folder.querySelector("h3")?.textContent ?? "");
      let any = false;
      for (const button of folder.querySelectorAll("button")) {
        const text = `${name} ${fold(button.textContent)}`;
        button.hidden = !wanted.every((word) => text.includes(word));
        any ||= !button.hidden;
      }
      folder.hidden = !any;
    }
  });
  menu.querySelector(".menu-body").prepend(filter);
  return filter;
}

// Without case and accents.
function fold(text) {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().trim();
}

// A list of choices under a field -----------------------------------------

// The focus stays in the field; the list tells assistive technology which choice is marked.
function makeList(field, name, label) {
  const list = document.createElement("ul");
  list.className = "completion";
  list.id = `${name}-list`;
  list.hidden = true;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", label);
  field.setAttribute("role", "combobox");
  field.setAttribute("aria-autocomplete", "list");
  field.setAttribute("aria-controls", list.id);
  field.setAttribute("aria-expanded", "false");
  let choices = [];
  let marked = -1;
  const mark = (at) => {
    marked = at;
    [...list.children].forEach((option, place) => option.setAttribute("aria-selected", String(place === at)));
    if (at >= 0) field.setAttribute("aria-activedescendant", list.children[at].id);
    else field.removeAttribute("aria-activedescendant");
  };
  const close = () => {
    choices = [];
    list.hidden = true;
    list.replaceChildren();
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  };
  const show = (found, content, choose) => {
    if (found.length === 0) return close();
    choices = found.map((one) => () => choose(one));
    list.replaceChildren(...found.map((one, place) => {
      const option = document.createElement("li");
      option.id = `${list.id}-${place}`;
      option.setAttribute("role", "option");
      option.append(...content(one));
      option.addEventListener("mousedown", (event) => {
        event.preventDefault();
        choose(one);
      });
      return option;
    }));
    list.hidden = false;
    field.setAttribute("aria-expanded", "true");
    mark(0);
  };
  // True when the list took the key.
  const press = (event) => {
    if (list.hidden) return false;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) mark((marked + step + choices.length) % choices.length);
    else if ((event.key === "Enter" || event.key === "Tab") && !event.ctrlKey && !event.metaKey) choices[marked]();
    else if (event.key === "Escape") close();
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };
  return { list, show, close, press };
}

function element(tag, className, text) {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}

// Recipients --------------------------------------------------------------

function readParties(line) {
  return line.split(/[,;\n]/).map((part) => part.trim()).filter(Boolean).map((part) => {
    const found = /^(.*)<([^<>]*)>$/.exec(part);
    if (!found) return { name: "", email: part };
    return { name: found[1].trim().replace(/^"|"$/g, ""), email: found[2].trim() };
  });
}

function partyLine({ name, email }) {
  return name && !/[<>,;"]/.test(name) ? `${name} <${email}>` : email;
}

// The field keeps the addresses as text, as it does without a script; the chips stand for it.
function makeChips(field) {
  const name = field.name;
  const people = element("span", "people", "");
  const entry = document.createElement("input");
  entry.className = "input";
  entry.id = field.id;
  entry.autocomplete = "off";
  entry.spellcheck = false;
  for (const attribute of ["aria-invalid", "aria-describedby"]) {
    if (field.hasAttribute(attribute)) entry.setAttribute(attribute, field.getAttribute(attribute));
  }
  field.removeAttribute("id");
  field.type = "hidden";
  const { list, show, close, press } = makeList(entry, name, t("People who match"));
  const said = element("span", "sr", "");
  said.setAttribute("role", "status");
  field.after(people);
  people.append(entry);
  // The browser put the focus into what is hidden now.
  if (field.autofocus) entry.focus();
  people.parentElement.append(list, said);
  people.parentElement.classList.add("has-list");
  let parties = readParties(field.value);

  const sync = () => {
    const left = entry.value.trim();
    field.value = [...parties.map(partyLine), ...(left ? [left] : [])].join(", ");
    field.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const draw = () => {
    for (const old of people.querySelectorAll(".pill")) old.remove();
    entry.before(...parties.map((party, at) => pill(party, () => {
      parties.splice(at, 1);
      said.textContent = t("{name} removed.", { name: party.name || party.email });
      draw();
      sync();
      entry.focus();
    })));
  };
  const add = (found) => {
    for (const party of found) {
      const known = parties.some((other) => other.email.toLowerCase() === party.email.toLowerCase());
      if (!known) parties.push(party);
    }
    entry.value = "";
    close();
    draw();
    sync();
  };
  const take = () => {
    if (entry.value.trim()) add(readParties(entry.value));
  };

  let asking = null;
  let waiting = 0;
  const ask = async () => {
    asking?.abort();
    const typed = entry.value.trim();
    if (!typed) return close();
    asking = new AbortController();
    try {
      const answer = await fetch(`/people?q=${encodeURIComponent(typed)}`, { signal: asking.signal });
      if (!answer.ok || entry.value.trim() !== typed) return;
      const found = (await answer.json()).filter((one) => !parties.some((other) => other.email === one.email));
      show(found, choiceContent, (one) => add([one]));
      const count = found.length === 1 ? t("1 person found.") : t("{n} people found.", { n: found.length });
      said.textContent = found.length === 0 ? "" : count;
    } catch {
      // Another letter was typed meanwhile, or there is no connection: the address is typed whole.
    }
  };
  entry.addEventListener("input", (event) => {
    event.stopPropagation();
    clearTimeout(waiting);
    if (/[,;\n]/.test(entry.value)) return take();
    sync();
    waiting = setTimeout(ask, 120);
  });
  entry.addEventListener("keydown", (event) => {
    if (press(event)) return;
    if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      take();
    } else if (event.key === "Backspace" && entry.value === "" && parties.length > 0) {
      event.preventDefault();
      const gone = parties.pop();
      said.textContent = t("{name} removed.", { name: gone.name || gone.email });
      draw();
      sync();
    }
  });
  entry.addEventListener("blur", () => {
    close();
    take();
  });
  people.addEventListener("click", (event) => {
    if (event.target === people) entry.focus();
  });
  draw();
}

function pill(party, remove) {
  const bad = !ADDRESS.test(party.email);
  const made = element("span", bad ? "pill bad" : "pill", party.name || party.email);
  made.title = bad ? t("This is no e-mail address.") : party.email;
  const button = element("button", "", "×");
  button.type = "button";
  button.setAttribute("aria-label", t("Remove {name}", { name: party.name || party.email }));
  button.addEventListener("click", remove);
  made.append(button);
  return made;
}

function choiceContent({ name, email }) {
  const words = element("span", "", "");
  words.append(element("b", "", name || email));
  if (name) words.append(element("span", "sub", email));
  return [words];
}

// Mentions ----------------------------------------------------------------

// `@` and the beginning of a name offer who can be mentioned in a note.
function completeMentions() {
  const names = [...document.querySelectorAll("#mention-names option")].map((option) => option.value);
  const area = document.querySelector("form[data-keep] textarea");
  if (names.length === 0 || !area) return;
  const { list, show, close, press } = makeList(area, "mention", t("People who can be mentioned"));
  // A text of several lines is no combobox.
  area.removeAttribute("role");
  area.removeAttribute("aria-expanded");
  list.classList.add("inflow");
  area.after(list);
  const typed = () => /(?:^|[^\p{L}\p{N}])@([\p{L}\p{N}\p{M}]*)$/u.exec(area.value.slice(0, area.selectionStart));
  area.addEventListener("input", () => {
    const found = typed();
    if (!found) return close();
    const begin = fold(found[1]);
    const fitting = names.filter((name) => fold(name).startsWith(begin)).slice(0, 8);
    show(fitting, (name) => [element("span", "", name)], (name) => {
      const end = area.selectionStart;
      area.setRangeText(`${name} `, end - found[1].length, end, "end");
      close();
      area.dispatchEvent(new Event("input", { bubbles: true }));
    });
    area.removeAttribute("aria-expanded");
  });
  area.addEventListener("keydown", press);
  area.addEventListener("blur", close);
}
