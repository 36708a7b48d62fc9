// The column beside a conversation: filled when the page is there, so that nothing waits for it. Sections
// stay open or folded as the reader left them.

const NARROW = "(max-width: 1279px)";
const FOLDED = "mailroom:folded";
const column = document.getElementById("side");

if (column) begin();

function begin() {
  const sheet = matchMedia(NARROW);
  // A narrow page loads the column when it is opened.
  const load = () => {
    const isShown = !sheet.matches || location.hash === "#side";
    if (isShown && !column.dataset.filled) fill(column);
  };
  load();
  sheet.addEventListener("change", load);
  addEventListener("hashchange", load);
  column.addEventListener("toggle", rememberFold, true);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && location.hash === "#side") location.hash = "#conversation";
  });
}

async function fill(place) {
  place.dataset.filled = "";
  const link = place.firstElementChild;
  if (place.dataset.asking) link.before(line(place.dataset.asking));
  try {
    const answer = await fetch(place.dataset.part, { headers: { accept: "text/html" } });
    if (!answer.ok || answer.redirected) throw new Error("no part");
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    const token = document.body.dataset.csrf;
    for (const field of fresh.querySelectorAll("input[name=csrf]")) field.setAttribute("value", token);
    restoreFolds(fresh);
    place.replaceChildren(...fresh.body.childNodes);
    for (const part of place.querySelectorAll("[data-part]")) fill(part);
  } catch {
    // The link to the page that shows the same is still here.
    if (place.dataset.silent) place.replaceChildren(line(place.dataset.silent), link);
  }
}

function line(words) {
  const said = document.createElement("p");
  said.className = "quiet";
  said.setAttribute("role", "status");
  said.textContent = words;
  return said;
}

function rememberFold({ target }) {
  const name = target.dataset?.folds;
  if (name) localStorage.setItem(FOLDED, JSON.stringify({ ...folds(), [name]: !target.open }));
}

function restoreFolds(fresh) {
  for (const [name, isFolded] of Object.entries(folds())) {
    const section = [...fresh.querySelectorAll("[data-folds]")].find((one) => one.dataset.folds === name);
    if (section) section.open = !isFolded;
  }
}

function folds() {
  try {
    return JSON.parse(localStorage.getItem(FOLDED)) ?? {};
  } catch {
    return {};
  }
}
