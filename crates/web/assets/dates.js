// Opens a month beside a field of a day, or of a day and a time. The field alone works too: the server reads what is
// typed in it. The names of days and months are the browser's own.

const language = document.documentElement.lang || "en";
const spoken = navigator.languages?.find((one) => one.split("-")[0] === language) ?? language;
const DAY_MS = 24 * 60 * 60 * 1000;
const MORNING = "09:00";

document.addEventListener("click", ({ target }) => {
  const button = target.closest?.("[data-pick]");
  const field = button && document.getElementById(button.dataset.pick);
  if (field) openMonth(field, button);
});

// Enter in a menu presses the button beside the field, and sends nothing where a message is written.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.ctrlKey || event.metaKey || !event.target.matches?.("input[data-date]")) return;
  const beside = event.target.closest(".menu-line")?.querySelector("button:not([data-pick])");
  if (!beside && !event.target.form?.querySelector("textarea")) return;
  event.preventDefault();
  beside?.click();
});

function openMonth(field, button) {
  const dialog = document.createElement("dialog");
  dialog.className = "month";
  dialog.setAttribute("aria-label", button.ariaLabel);
  // Inside of the menu that the field is in: a click outside of it would close that.
  button.after(dialog);
  let chosen = readDay(field) ?? today();

  const show = (day, focuses) => {
    chosen = day;
    dialog.replaceChildren(...monthOf(day, show));
    if (focuses) dialog.querySelector("[tabindex='0']").focus();
  };
  dialog.addEventListener("close", () => {
    dialog.remove();
    button.focus();
  });
  dialog.addEventListener("click", (event) => {
    event.stopPropagation();
    const day = event.target.closest("[data-day]");
    if (day) pick(new Date(day.dataset.day));
    else if (event.target === dialog) dialog.close();
  });
  dialog.addEventListener("keydown", (event) => {
    // No key of the page below is meant.
    event.stopPropagation();
    const next = event.target.matches("[data-day]") && moveTo(event, chosen);
    if (!next) return;
    event.preventDefault();
    show(next, true);
  });

  const pick = (day) => {
    writeDay(field, day);
    dialog.close();
  };
  show(chosen, false);
  dialog.showModal();
  place(dialog, button);
  dialog.querySelector("[tabindex='0']").focus();
}

// The day that a key leads to.
function moveTo({ key, shiftKey }, from) {
  const inWeek = (from.getUTCDay() - firstDay() + 7) % 7;
  const days = {
    ArrowLeft: document.dir === "rtl" ? 1 : -1,
    ArrowRight: document.dir === "rtl" ? -1 : 1,
    ArrowUp: -7,
    ArrowDown: 7,
    Home: -inWeek,
    End: 6 - inWeek,
  }[key];
  if (days !== undefined) return new Date(from.getTime() + days * DAY_MS);
  const months = shiftKey ? 12 : 1;
  if (key === "PageUp") return addMonths(from, -months);
  if (key === "PageDown") return addMonths(from, months);
  return null;
}

// The same day of another month, or its last one.
function addMonths(from, months) {
  const first = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + months, 1));
  const last = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate();
  first.setUTCDate(Math.min(from.getUTCDate(), last));
  return first;
}

function monthOf(chosen, show) {
  const month = new Date(Date.UTC(chosen.getUTCFullYear(), chosen.getUTCMonth(), 1));
  const head = element("header");
  const title = element("h2", say(month, { month: "long", year: "numeric" }));
  title.setAttribute("aria-live", "polite");
  head.append(turn("‹", addMonths(chosen, -1), show), title, turn("›", addMonths(chosen, 1), show));

  const table = element("table");
  table.setAttribute("role", "grid");
  const start = new Date(month.getTime() - ((month.getUTCDay() - firstDay() + 7) % 7) * DAY_MS);
  const names = element("tr");
  for (let place = 0; place < 7; place++) {
    const day = new Date(start.getTime() + place * DAY_MS);
    const name = element("th", say(day, { weekday: "short" }));
    name.scope = "col";
    name.abbr = say(day, { weekday: "long" });
    names.append(name);
  }
  const nameRows = element("thead");
  nameRows.append(names);
  const body = element("tbody");
  for (let day = start; day.getUTCMonth() === month.getUTCMonth() || day < month;) {
    const row = element("tr");
    for (let place = 0; place < 7; place++, day = new Date(day.getTime() + DAY_MS)) {
      const cell = element("td");
      if (day.getUTCMonth() === month.getUTCMonth()) cell.append(dayButton(day, chosen));
      row.append(cell);
    }
    body.append(row);
  }
  table.append(nameRows, body);
  return [head, table];
}

function dayButton(day, chosen) {
  const button = element("button", String(day.getUTCDate()));
  const isChosen = day.getTime() === chosen.getTime();
  button.type = "button";
  button.dataset.day = day.toISOString();
  button.tabIndex = isChosen ? 0 : -1;
  button.ariaLabel = say(day, { weekday: "long", day: "numeric", month: "long", year: "numeric" });
  if (isChosen) button.setAttribute("aria-pressed", "true");
  if (day.getTime() === today().getTime()) button.setAttribute("aria-current", "date");
  return button;
}

// A button that shows another month is named after it.
function turn(sign, day, show) {
  const button = element("button", sign);
  button.type = "button";
  button.ariaLabel = say(day, { month: "long", year: "numeric" });
  button.addEventListener("click", () => {
    const isBack = sign === "‹";
    const dialog = button.closest("dialog");
    show(day, false);
    dialog.querySelectorAll("header button")[isBack ? 0 : 1].focus();
  });
  return button;
}

function element(name, text = "") {
  const one = document.createElement(name);
  one.textContent = text;
  return one;
}

function say(day, form) {
  return new Intl.DateTimeFormat(spoken, { ...form, timeZone: "UTC" }).format(day);
}

// Counted from Sunday, as the language has it.
function firstDay() {
  const known = new Intl.Locale(spoken);
  const week = known.getWeekInfo?.() ?? known.weekInfo;
  return (week?.firstDay ?? 1) % 7;
}

// Days are kept as midnight in UTC, where no clock is changed.
function today() {
  const now = new Date();
  return new Date(Date.UTC(now.getFullYear(), now.getMonth(), now.getDate()));
}

// The form of a field is what the server writes into it: `%d.%m.%Y`, with `%H:%M` where a time belongs to it.
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

function readDay(field) {
  const form = field.dataset.date.replace(" %H:%M", "");
  const order = form.match(/%-?\w/g).map((part) => part.at(-1));
  const found = field.value.match(/^(\w+)[ ./-](\w+)[ ./-](\w+)/);
  const iso = field.value.match(/^(\d{4})-(\d\d)-(\d\d)/);
  if (iso) return dayOf(iso[1], iso[2], iso[3]);
  if (!found) return null;
  const part = (code) => found[1 + order.indexOf(code)];
  return dayOf(part("Y"), order.includes("b") ? MONTHS.indexOf(part("b")) + 1 : part("m"), part("d"));
}

function dayOf(year, month, day) {
  const read = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  const fits = read.getUTCDate() === Number(day) && read.getUTCMonth() === Number(month) - 1;
  return fits && Number(year) >= 1000 ? read : null;
}

function writeDay(field, day) {
  const two = (number) => String(number).padStart(2, "0");
  const typed = field.value.match(/\d{1,2}:\d{2}(?!\d)/)?.[0] ?? MORNING;
  const text = field.dataset.date
    .replace("%-d", day.getUTCDate())
    .replace("%d", two(day.getUTCDate()))
    .replace("%m", two(day.getUTCMonth() + 1))
    .replace("%b", MONTHS[day.getUTCMonth()])
    .replace("%Y", day.getUTCFullYear())
    .replace("%H:%M", typed);
  field.value = text;
  for (const kind of ["input", "change"]) field.dispatchEvent(new Event(kind, { bubbles: true }));
}

// Below the button, or above it, within the window.
function place(dialog, button) {
  const from = button.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = dialog;
  const below = from.bottom + 4;
  const top = below + height <= innerHeight ? below : Math.max(4, from.top - height - 4);
  dialog.style.top = `${top}px`;
  dialog.style.left = `${Math.max(4, Math.min(from.right - width, innerWidth - width - 4))}px`;
}
