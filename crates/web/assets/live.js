// Keeps an open page true: the server says when what it shows has changed, and the page takes the
// changed parts from itself, fetched anew. What somebody is typing in is never touched.

const watched = document.body.dataset.live;
let known = "";
let behind = false;
let fetching = false;
let passedOver = false;
let source = null;
let leaving = 0;

// A page that was hidden for so long is not in front of anybody: notices about it are sent again.
const HIDDEN_MS = 30_000;

listen();
document.addEventListener("visibilitychange", () => {
  clearTimeout(leaving);
  if (document.hidden) {
    leaving = setTimeout(leave, HIDDEN_MS);
    return;
  }
  if (!source) listen();
  if (behind) refresh();
});
for (const left of ["toggle", "focusout"]) {
  document.addEventListener(left, () => passedOver && changed(), true);
}

function listen() {
  // What changed since this page was made is told at once.
  source = new EventSource(`/live?${watched}&mark=${known || document.body.dataset.mark}`);
  // On every return of the connection the server says what there is now.
  source.addEventListener("here", (event) => {
    if (known && known !== event.data) changed();
    known = event.data;
  });
  source.addEventListener("changed", (event) => {
    known = event.data;
    changed();
  });
}

function leave() {
  source.close();
  source = null;
}

function changed() {
  behind = true;
  if (!document.hidden) refresh();
}

async function refresh() {
  if (fetching) return;
  fetching = true;
  behind = passedOver = false;
  try {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    if (answer.redirected && new URL(answer.url).pathname === "/sign-in") {
      const leaves = new CustomEvent("mailroom:signed-out", { cancelable: true });
      if (document.dispatchEvent(leaves)) location.assign(answer.url);
      else behind = false;
      return;
    }
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    keepToken(fresh);
    document.dispatchEvent(new Event("mailroom:refreshing"));
    for (const part of document.querySelectorAll("[id^='live-']")) {
      const next = fresh.getElementById(part.id);
      if (!next || next.innerHTML === part.innerHTML) continue;
      if (isBusy(part)) passedOver = true;
      else replace(part, next);
    }
    const draft = document.getElementById("decision");
    if (draft) tellOfDraft(draft, fresh);
    const seen = document.querySelector("form[data-keep]");
    if (seen) tellOfNews(seen, fresh);
    document.title = fresh.title || document.title;
    showIcon(fresh);
    document.dispatchEvent(new Event("mailroom:fresh"));
  } catch {
    behind = true;
  } finally {
    fetching = false;
    if (behind && !document.hidden) setTimeout(refresh, 2000);
  }
}

// The token of forms looks different in each page, and all of them fit: with the one that is here,
// parts in which nothing else changed stay as they are.
function keepToken(fresh) {
  const token = document.body.dataset.csrf;
  for (const field of fresh.querySelectorAll("input[name=csrf]")) field.setAttribute("value", token);
}

// The icon has a mark while something waits for the reader.
function showIcon(fresh) {
  const [shown, next] = [document, fresh].map((page) => page.querySelector("link[data-waiting]"));
  if (next && shown?.dataset.waiting !== next.dataset.waiting) shown?.replaceWith(document.importNode(next));
}

// An open menu, or a field with the cursor in it, stays as it is until it is left.
function isBusy(part) {
  const active = document.activeElement;
  const typing = part.contains(active) && active.matches("input, textarea, select");
  return typing || part.querySelector("details.menu[open]") !== null;
}

function replace(part, next) {
  const findFocused = rememberFocus(part);
  const opened = [...part.querySelectorAll("details[open]")].map((one) => one.closest("[id]")?.id);
  part.replaceChildren(...next.cloneNode(true).childNodes);
  for (const id of opened) {
    const again = id && id !== part.id && document.getElementById(id)?.querySelector("details");
    if (again) again.open = true;
  }
  findFocused()?.focus({ preventScroll: true });
}

// Finds the control that has the focus now again, when the part has been replaced.
function rememberFocus(part) {
  const focused = document.activeElement;
  if (!part.contains(focused) || focused === part) return () => null;
  const same = nameControl(focused);
  const twins = () => [...part.querySelectorAll(focused.localName)].filter((one) => nameControl(one) === same);
  const place = twins().indexOf(focused);
  return () => twins()[place] ?? twins().at(-1);
}

// What tells a control from the others, whatever it says: its key, where it leads, or what it sends.
function nameControl(control) {
  const leads = control.dataset.key ?? control.getAttribute("href");
  const { name, value, form, ariaLabel } = control;
  return leads ?? [control.closest("[id]").id, name, value, form?.getAttribute("action"), ariaLabel].join("\n");
}

// A draft that changed, was decided, or was overtaken by the customer is not swapped under the
// person who edits it: the page says so.
function tellOfDraft(form, fresh) {
  const next = fresh.getElementById("decision");
  const place = document.getElementById("live-newer");
  if (!place) return;
  let words = "";
  if (!next || next.action !== form.action) {
    words = t("Somebody else has decided about this draft.");
  } else if (next.elements.revision.value !== form.elements.revision.value) {
    words = t("Somebody changed this draft while you were reading it.");
  } else if (next.elements.seen.value !== form.elements.seen.value) {
    words = t("There is a newer message in this conversation.");
  }
  say(place, words, t("Look again"));
}

function tellOfNews(form, fresh) {
  const next = fresh.querySelector("form[data-keep]");
  if (!next || next.elements.seen.value === form.elements.seen.value) return;
  let place = form.querySelector(".newer");
  if (!place) {
    place = document.createElement("div");
    place.className = "newer";
    form.prepend(place);
  }
  say(place, t("There is a newer message above. Read it before you send."), "");
}

function say(place, words, link) {
  place.hidden = words === "";
  if (!words || place.dataset.said === words) return;
  place.dataset.said = words;
  place.className = "banner warn wide newer";
  place.setAttribute("role", "status");
  const line = document.createElement("p");
  line.textContent = words + " ";
  if (link) {
    const again = document.createElement("a");
    again.href = location.pathname === "/approvals" ? "/approvals" : location.href;
    again.textContent = link;
    line.append(again);
  }
  place.replaceChildren(line);
}
