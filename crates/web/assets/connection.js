// Keeps what was typed: before a form with text is posted the page asks whether the server can be reached
// and the reader is still signed in. If not, the form stays as it is and says why. What was posted is not
// posted again by a second click. Forms work without it.

// A server that has not answered by then cannot be reached.
const PATIENCE_MS = 10_000;
const TYPED = "textarea, input:not([type]), input:is([type=text], [type=email], [type=url], [type=tel])";

let asking = false;
let passes = null;
// Forms that wait for their answer.
const posted = new Set();

// In the capture phase: what else listens to the form hears only of what is sent.
document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (posted.has(form)) {
    event.preventDefault();
    event.stopImmediatePropagation();
    return;
  }
  if (form === passes || form.getAttribute("method") !== "post" || !holdsText(form)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  if (asking) return;
  asking = true;
  const button = event.submitter;
  const trouble = await reach(form);
  asking = false;
  if (trouble) return refuse(form, button, trouble);
  document.querySelector("[data-unreached]")?.remove();
  passes = form;
  try {
    form.requestSubmit(button?.isConnected ? button : null);
  } finally {
    passes = null;
  }
}, true);

// After all others, who may send a form in their own way.
addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.getAttribute("method") !== "post" || form.hasAttribute("target")) return;
  lock(form, event.submitter);
});

// Until the answer is shown, or the reader comes back to this page, or no answer comes.
function lock(form, button) {
  posted.add(form);
  button?.setAttribute("aria-disabled", "true");
  const unlock = () => {
    posted.delete(form);
    button?.removeAttribute("aria-disabled");
  };
  addEventListener("pageshow", unlock, { once: true });
  setTimeout(unlock, PATIENCE_MS);
}

// A page that learns that nobody is signed in stays while there is text on it.
document.addEventListener("mailroom:signed-out", (event) => {
  const form = [...document.querySelectorAll("form[method=post]")].find(holdsText);
  if (!form) return;
  event.preventDefault();
  refuse(form, form.querySelector("[data-send]"), signedOut());
});

// Something that a person typed and the server may not have.
function holdsText(form) {
  return [...form.elements].some((field) => {
    if (!field.matches(TYPED) || field.readOnly || field.value.trim() === "") return false;
    return field.matches("textarea") || field.value !== field.defaultValue;
  });
}

// What is in the way: a sentence, and a link that helps; nothing where the form can be sent.
async function reach(form) {
  try {
    const answer = await fetch("/session", { cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS) });
    if (answer.status === 401) return signedOut();
    if (!answer.ok) return { words: t("The server does not work now. Nothing was sent, and your text stays here. Try again in a moment.") };
    const { person, csrf } = await answer.json();
    if (person !== document.body.dataset.person) {
      return { words: t("Somebody else is signed in here now. Nothing was sent, and your text stays here.") };
    }
    useToken(csrf);
  } catch {
    return { words: t("There is no connection to the server. Nothing was sent, and your text stays here. Try again when there is one.") };
  }
  // A composer's text is with the server before it is sent, whatever happens on the way.
  const waits = [];
  form.dispatchEvent(new CustomEvent("mailroom:keep", { detail: waits }));
  await Promise.race([Promise.allSettled(waits), new Promise((over) => setTimeout(over, PATIENCE_MS))]);
  return null;
}

function signedOut() {
  const words = t("You are signed out. Nothing was sent, and your text stays here. Sign in in another tab, then press the button again.");
  return { words, href: "/sign-in", label: t("Sign in") };
}

// The reader may have signed in anew since this page was made.
function useToken(csrf) {
  document.body.dataset.csrf = csrf;
  for (const field of document.querySelectorAll("input[name=csrf]")) field.value = csrf;
}

function refuse(form, button, { words, href, label }) {
  const place = document.querySelector("[data-unreached]") ?? document.createElement("div");
  place.dataset.unreached = "";
  place.className = "banner warn wide";
  place.setAttribute("role", "alert");
  const line = document.createElement("p");
  line.textContent = `${words} `;
  if (href) {
    const link = document.createElement("a");
    Object.assign(link, { href, target: "_blank", textContent: label });
    line.append(link);
  }
  place.replaceChildren(line);
  // Above the buttons, which may stay in sight while the form scrolls under them.
  const acts = button?.closest(".acts, .line, .decide");
  (acts ?? form).prepend(place);
  place.scrollIntoView({ block: "nearest" });
}
