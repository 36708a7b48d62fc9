// Sends files while the customer goes on: in pieces, with a bar for each, and on from where a broken
// connection left off. Without it the page's plain forms do the same, less comfortably.

const root = document.querySelector("[data-upload]");
const PIECE = 4 * 1024 * 1024;
const TOGETHER = 2;
// Waits after failures, in milliseconds; the last one goes on until the page is left.
const WAITS = [500, 1000, 2000, 5000, 10000];

const queue = [];
let running = 0;
let refreshing = Promise.resolve();

if (root) {
  document.documentElement.classList.add("scripted");
  for (const want of document.querySelectorAll("[data-item]")) offer(want);
  root.addEventListener("submit", removed);
  addEventListener("beforeunload", (event) => {
    if (running > 0) event.preventDefault();
  });
}

// A file that is dropped beside its place must not take the page's.
for (const name of ["dragover", "drop"]) {
  addEventListener(name, (event) => event.preventDefault());
}

function offer(want) {
  for (const input of want.querySelectorAll("input[type=file]")) {
    input.addEventListener("change", () => {
      add(want, input.files);
      input.value = "";
    });
  }
  want.addEventListener("dragover", () => want.classList.add("over"));
  want.addEventListener("dragleave", () => want.classList.remove("over"));
  want.addEventListener("drop", (event) => {
    event.preventDefault();
    want.classList.remove("over");
    add(want, event.dataTransfer?.files ?? []);
  });
}

function add(want, files) {
  for (const file of files) {
    const line = lineFor(want, file);
    queue.push({ want, file, line });
  }
  next();
}

function next() {
  while (running < TOGETHER && queue.length > 0) {
    const job = queue.shift();
    running++;
    send(job)
      .catch((error) => say(job, error.message))
      .finally(() => {
        running--;
        next();
      });
  }
}

function lineFor(want, file) {
  const line = element("div", "got");
  const name = element("span", "name");
  name.append(element("bdi", "", file.name));
  const told = element("span", "quiet", t("Waiting"));
  const bar = element("progress", "meter");
  bar.max = file.size || 1;
  bar.value = 0;
  bar.setAttribute("aria-label", t("Uploading {name}", { name: file.name }));
  line.append(element("span"), name, told, bar);
  want.querySelector("[data-arriving]").append(line);
  return { line, told, bar };
}

async function send(job) {
  const { file, line } = job;
  const mark = `${file.name}|${file.size}|${file.lastModified}`;
  const wish = { item: Number(job.want.dataset.item), name: file.name, size: file.size, mark };
  let failures = 0;
  let upload = null;
  for (;;) {
    try {
      if (!upload) {
        upload = await ask("POST", root.dataset.upload, JSON.stringify(wish));
      } else if (failures > 0) {
        upload = await ask("GET", `${root.dataset.upload}/${upload.id}`);
      }
      while (upload.state === "arriving" && upload.offset < file.size) {
        upload = await piece(upload, file, line);
        failures = 0;
      }
      break;
    } catch (error) {
      if (error.final) throw error;
      line.told.textContent = t("No connection. It goes on by itself");
      await pause(WAITS[Math.min(failures, WAITS.length - 1)]);
      failures++;
    }
  }
  line.line.remove();
  await refresh();
}

// One piece, with its progress. An answer that is no success is asked about again.
function piece(upload, file, line) {
  return new Promise((resolve, reject) => {
    const call = new XMLHttpRequest();
    const end = Math.min(file.size, upload.offset + PIECE);
    const begun = performance.now();
    call.open("PATCH", `${root.dataset.upload}/${upload.id}`);
    call.setRequestHeader("Upload-Offset", String(upload.offset));
    call.setRequestHeader("Content-Type", "application/offset+octet-stream");
    call.responseType = "json";
    call.upload.addEventListener("progress", (event) => {
      const sent = upload.offset + event.loaded;
      line.bar.value = sent;
      const speed = event.loaded / Math.max(1, performance.now() - begun);
      const left = Math.ceil((file.size - sent) / Math.max(speed, 0.001) / 1000);
      const percent = Math.floor((sent * 100) / file.size);
      line.told.textContent = t("{percent} %, {seconds} s left", { percent, seconds: left });
      if (sent >= file.size) line.told.textContent = t("Being checked");
    });
    call.addEventListener("load", () => {
      if (call.status === 200 || call.status === 409) resolve(call.response ?? {});
      else reject(failure(call.status, call.response?.problem));
    });
    for (const name of ["error", "abort", "timeout"]) {
      call.addEventListener(name, () => reject(failure(0)));
    }
    call.send(file.slice(upload.offset, end));
  });
}

async function ask(method, path, body) {
  const headers = body ? { "content-type": "application/json" } : {};
  const answer = await fetch(path, { method, body, headers, cache: "no-store" });
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) throw failure(answer.status, told.problem);
  return told;
}

// What the server says about this very file is final; everything else is tried again.
function failure(status, problem) {
  const error = new Error(problem ?? t("There is no connection."));
  error.final = status >= 400 && status < 500 && status !== 408 && status !== 429;
  return error;
}

function say(job, problem) {
  const banner = element("div", "banner warn");
  banner.setAttribute("role", "alert");
  const head = element("h3", "", t("{name} was not taken", { name: job.file.name }));
  const away = element("button", "btn plain", t("Put this away"));
  away.type = "button";
  away.addEventListener("click", () => banner.remove());
  banner.append(head, element("p", "", problem), away);
  job.line.line.replaceWith(banner);
}

// The parts that the server knows better are taken from the page, fetched anew. One at a time, so
// that an older answer never covers a newer one.
function refresh() {
  refreshing = refreshing.then(async () => {
    const answer = await fetch(location.href, { cache: "no-store" });
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const id of ["part-head", "part-done"]) swap(document.getElementById(id), fresh.getElementById(id));
    for (const want of document.querySelectorAll("[data-item]")) {
      const other = fresh.getElementById(want.id);
      if (!other) continue;
      want.className = other.className;
      swap(want.querySelector(".top"), other.querySelector(".top"));
      swap(want.querySelector("[data-files]"), other.querySelector("[data-files]"));
      want.querySelector("svg.i").replaceWith(other.querySelector("svg.i").cloneNode(true));
    }
  }).catch(() => {});
  return refreshing;
}

function swap(part, other) {
  if (part && other && part.innerHTML !== other.innerHTML) {
    part.replaceChildren(...other.cloneNode(true).childNodes);
  }
}

// Removing a file leaves the ones alone that are still on their way.
async function removed(event) {
  const form = event.target;
  if (!form.action.endsWith("/remove")) return;
  event.preventDefault();
  try {
    await fetch(form.action, { method: "POST" });
  } finally {
    await refresh();
  }
}

function pause(milliseconds) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    addEventListener("online", () => {
      clearTimeout(timer);
      resolve();
    }, { once: true });
  });
}

function element(tag, name = "", text = "") {
  const made = document.createElement(tag);
  if (name) made.className = name;
  if (text) made.textContent = text;
  return made;
}
