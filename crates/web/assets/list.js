// The list of conversations keeps its place, and on a phone its rows can be swiped. It works without both.

const form = document.querySelector("form.triage");
const pane = document.getElementById("live-list");
if (form && pane) {
  keepPlace();
  swipeRows();
}

function boxOf(id) {
  return form.querySelector(`.tick input[value="${CSS.escape(id)}"]`);
}

function pickOf(id) {
  return boxOf(id)?.closest(".pick");
}

function idOf(row) {
  return row.closest(".pick").querySelector(".tick input").value;
}

// Place -------------------------------------------------------------------

// A list is found again where it was left: by its first rows in sight, since others come and go above them. The
// conversation that is open, or was, is in sight.
function keepPlace() {
  const name = "mailroom:places";
  const most = 8;
  const list = form.elements.from.value;
  const places = () => JSON.parse(sessionStorage.getItem(name) ?? "[]");
  const save = (all) => sessionStorage.setItem(name, JSON.stringify(all.slice(0, most)));
  const here = places().find((place) => place.list === list);
  let begins = false;

  // On a phone the page scrolls, and not the list in it; the browser would go elsewhere on its own.
  if (isShown() && scroller() !== pane && !location.hash) history.scrollRestoration = "manual";
  if (isShown()) restore(here);

  addEventListener("pagehide", () => {
    const others = places().filter((place) => place.list !== list);
    if (begins) return save(others);
    const current = form.querySelector(".row[aria-current]");
    const seen = isShown() ? look() : places().find((place) => place.list === list);
    save([{ ...seen, list, open: current ? idOf(current) : null }, ...others]);
  });

  // Who chooses a list in the navigation begins at its top.
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href^='/inbox?']:not([data-key=u])");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const chosen = link.search.slice(1);
    if (chosen === list) begins = true;
    save(places().filter((place) => place.list !== chosen));
  });

  let seen = null;
  document.addEventListener("mailroom:refreshing", () => {
    seen = isShown() ? look() : null;
  });
  document.addEventListener("mailroom:fresh", () => seen && scrollBack(seen));
}

function isShown() {
  return pane.getClientRects().length > 0;
}

function scroller() {
  return getComputedStyle(pane).overflowY === "visible" ? document.scrollingElement : pane;
}

function topEdge() {
  return scroller() === pane ? pane.getBoundingClientRect().top : 0;
}

// How far the list is scrolled, and how far below its upper edge each of the next rows begins.
function look() {
  const most = 12;
  const edge = topEdge();
  const rows = [...form.querySelectorAll(".pick")].map((pick) => [pick, pick.getBoundingClientRect()]);
  const next = rows.filter(([, { bottom }]) => bottom > edge).slice(0, most);
  return { top: scroller().scrollTop, rows: next.map(([pick, { top }]) => [idOf(pick), top - edge]) };
}

// At its top a list stays there, so that what is new is seen.
function scrollBack({ top, rows }) {
  if (!top) return;
  const box = scroller();
  box.scrollTop = top;
  const [id, below] = rows.find(([one]) => pickOf(one)) ?? [];
  if (id) box.scrollTop += pickOf(id).getBoundingClientRect().top - topEdge() - below;
}

function restore(place) {
  if (place?.rows) scrollBack(place);
  const current = form.querySelector(".row[aria-current]") ?? (place?.open && pickOf(place.open));
  current?.scrollIntoView({ block: "nearest" });
}

// Swiping -----------------------------------------------------------------

// A row that is swiped far enough presses a button of the bar above the list, whose acts can be undone: to the left
// it is closed, to the right snoozed until tomorrow. What scrolls the list, begins at the edge of the screen, where
// browsers go back, or has rows ticked is no swipe.
function swipeRows() {
  const edge = 24;
  const phone = matchMedia("(max-width: 859px)");
  form.addEventListener("touchstart", (event) => {
    const pick = event.target.closest?.(".pick");
    const [touch] = event.touches;
    if (!pick || event.touches.length > 1 || !phone.matches) return;
    if (touch.clientX < edge || touch.clientX > innerWidth - edge) return;
    if (form.querySelector(".tick input:checked")) return;
    follow(pick, event.target, touch);
  }, { passive: true });
}

// The events go to the element where the touch began, also when the list has been fetched anew meanwhile.
function follow(pick, target, { clientX, clientY }) {
  const begins = 12;
  const enough = 0.3;
  const id = idOf(pick);
  const over = new AbortController();
  const { signal } = over;
  let button = null;
  let way = 0;
  const end = () => {
    over.abort();
    pick.classList.remove("swiped", "to-left", "far");
    pick.style.removeProperty("--moved");
  };
  target.addEventListener("touchmove", ({ touches }) => {
    const [across, down] = [touches[0].clientX - clientX, touches[0].clientY - clientY];
    if (!button) {
      if (Math.hypot(across, down) < begins) return;
      way = Math.sign(across);
      const side = way < 0 ? "left" : "right";
      button = Math.abs(across) > 2 * Math.abs(down) && form.querySelector(`.bulk [data-swipe=${side}]`);
      if (!button) return end();
      pick.dataset.swiped = button.textContent.trim();
      pick.classList.add("swiped");
      pick.classList.toggle("to-left", way < 0);
    }
    if (touches.length > 1) return end();
    const moved = way * Math.max(0, way * across);
    pick.style.setProperty("--moved", `${moved}px`);
    pick.classList.toggle("far", Math.abs(moved) > pick.clientWidth * enough);
  }, { signal, passive: true });
  target.addEventListener("touchend", (event) => {
    const acts = button && pick.classList.contains("far");
    // Without this the browser would open the conversation.
    if (button) event.preventDefault();
    end();
    if (acts) take(id, button);
  }, { signal });
  target.addEventListener("touchcancel", end, { signal });
}

function take(id, button) {
  const box = boxOf(id);
  if (!box) return;
  box.checked = true;
  box.dispatchEvent(new Event("change", { bubbles: true }));
  button.click();
}
