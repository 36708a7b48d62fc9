// Rich text in place of a text area. What is typed, pasted and dropped stays Markdown in the area,
// which is what the form sends; without this file the area takes the Markdown itself.

const COMMANDS = {
  bold: () => document.execCommand("bold"),
  italic: () => document.execCommand("italic"),
  list: () => document.execCommand("insertUnorderedList"),
  quote: () => {
    if (within("blockquote")) document.execCommand("outdent");
    else document.execCommand("formatBlock", false, "blockquote");
  },
};

const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

const COPIED = { B: "strong", STRONG: "strong", I: "em", EM: "em", UL: "ul", OL: "ol", LI: "li", P: "p", BLOCKQUOTE: "blockquote", BR: "br", PRE: "pre", CODE: "code", DIV: "p", H1: "p", H2: "p", H3: "p", H4: "p", TR: "p" };

const BLOCKS = new Set(["P", "DIV", "UL", "OL", "LI", "BLOCKQUOTE", "PRE", "HR", "H1", "H2", "H3", "H4", "H5", "H6"]);

document.execCommand("defaultParagraphSeparator", false, "p");
document.execCommand("styleWithCSS", false, false);
for (const template of document.querySelectorAll("template[data-rich-text]")) enhance(template);

function enhance(template) {
  const area = document.getElementById(template.dataset.richText);
  const form = area.form;
  const editor = makeEditor(area, template);
  const tools = form.querySelector("[data-tools]");
  // Pictures that were in the text: those that are taken out again do not go along.
  const pictures = new Set(picturesIn(editor));
  const changed = () => {
    picturesIn(editor).forEach((id) => pictures.add(id));
    area.value = markdown(editor);
    area.dispatchEvent(new Event("input", { bubbles: true }));
  };
  // Where the cursor was last, for what is inserted while the focus is elsewhere.
  let cursor = null;
  document.addEventListener("selectionchange", () => {
    const selection = getSelection();
    if (selection.rangeCount > 0 && editor.contains(selection.anchorNode)) cursor = selection.getRangeAt(0).cloneRange();
  });
  const insertHtml = (html) => {
    const range = cursor;
    editor.focus();
    if (range && editor.contains(range.startContainer)) {
      getSelection().removeAllRanges();
      getSelection().addRange(range);
    }
    document.execCommand("insertHTML", false, html);
    changed();
  };
  editor.addEventListener("input", (event) => {
    event.stopPropagation();
    if (event.inputType === "insertText") formatTyped(event.data);
    fillEmpty(editor);
    changed();
  });
  area.addEventListener("mailroom:insert", (event) => {
    event.preventDefault();
    // One paragraph goes into the line that is being written.
    const alone = /^<p>((?:(?!<p>)[^])*)<\/p>$/.exec(event.detail);
    insertHtml(alone ? `<span>${alone[1]}</span>` : event.detail);
  });
  editor.addEventListener("keydown", (event) => pressed(event, tools));
  takePictures(editor, form, insertHtml);
  if (tools) openTools(tools, editor, form, changed, insertHtml);
  form.addEventListener("submit", () => {
    for (const old of form.querySelectorAll("input[name=drop]")) old.remove();
    const shown = picturesIn(editor);
    for (const id of pictures) {
      if (!shown.includes(id)) form.append(hidden("drop", id));
    }
  });
  if (area.autofocus) {
    editor.focus();
    getSelection().selectAllChildren(editor);
    getSelection().collapseToEnd();
  }
}

function makeEditor(area, template) {
  const editor = document.createElement("div");
  editor.className = `${area.className} rich rich-text`;
  editor.contentEditable = "true";
  editor.setAttribute("role", "textbox");
  editor.setAttribute("aria-multiline", "true");
  const label = document.querySelector(`label[for="${CSS.escape(area.id)}"]`);
  editor.setAttribute("aria-label", label?.textContent ?? t("Your message"));
  for (const attribute of ["aria-invalid", "aria-describedby", "data-key"]) {
    if (area.hasAttribute(attribute)) editor.setAttribute(attribute, area.getAttribute(attribute));
  }
  editor.append(template.content.cloneNode(true));
  editor.id = area.id;
  area.id = `${editor.id}-source`;
  area.hidden = true;
  area.after(editor);
  fillEmpty(editor);
  return editor;
}

// A paragraph for the cursor where there is nothing.
function fillEmpty(editor) {
  if (editor.firstElementChild || editor.textContent.trim()) return;
  const paragraph = document.createElement("p");
  paragraph.append(document.createElement("br"));
  editor.replaceChildren(paragraph);
  if (document.activeElement === editor) getSelection().collapse(paragraph, 0);
}

function hidden(name, value) {
  const field = document.createElement("input");
  field.type = "hidden";
  field.name = name;
  field.value = value;
  return field;
}

// Formatting --------------------------------------------------------------

function within(tag) {
  const node = getSelection().anchorNode;
  return (node?.nodeType === Node.ELEMENT_NODE ? node : node?.parentElement)?.closest(tag);
}

function pressed(event, tools) {
  if (event.key === "Enter" && !event.shiftKey && !event.ctrlKey && !event.metaKey) {
    const quote = within("blockquote");
    // An empty line ends a quotation.
    const node = getSelection().anchorNode;
    if (quote && !(node.textContent ?? "").trim()) {
      event.preventDefault();
      document.execCommand("outdent");
    }
    return;
  }
  if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
  const key = event.key.toLowerCase();
  if (key === "k" && tools) {
    event.preventDefault();
    tools.querySelector("[data-tool=link]").click();
  } else if (event.shiftKey && (event.code === "Digit8" || event.code === "Digit9")) {
    event.preventDefault();
    COMMANDS[event.code === "Digit8" ? "list" : "quote"]();
  }
}

// Markdown that is typed becomes what it stands for.
function formatTyped(sign) {
  const { anchorNode: node, anchorOffset: end } = getSelection();
  if (node?.nodeType !== Node.TEXT_NODE) return;
  const before = node.data.slice(0, end);
  if (sign === " ") return formatLine(node, before.replace(/\u00a0/g, " "), end);
  if (sign === "*" || sign === "_") {
    const bold = /(\*\*|__)([^*_\s](?:[^*_]*[^*_\s])?)\1$/.exec(before);
    if (bold) return replaceTyped(node, end, bold[0].length, "strong", bold[2]);
    const italic = /(?:^|[^*_\p{L}\p{N}])(([*_])([^*_\s](?:[^*_]*[^*_\s])?)\2)$/u.exec(before);
    if (italic) return replaceTyped(node, end, italic[1].length, "em", italic[3]);
  }
  if (sign === ")") {
    const link = /\[([^\[\]]+)\]\(((?:https?:\/\/|mailto:)[^\s()]+)\)$/.exec(before);
    if (link) replaceTyped(node, end, link[0].length, "a", link[1], link[2]);
  }
}

// `- `, `1. ` and `> ` at the beginning of a paragraph.
function formatLine(node, before, end) {
  const command = { "- ": "insertUnorderedList", "* ": "insertUnorderedList", "1. ": "insertOrderedList", "> ": "quote" }[before];
  if (!command || within("li, blockquote, pre")) return;
  if (node.previousSibling && node.previousSibling.nodeName !== "BR") return;
  select(node, 0, end);
  document.execCommand("delete");
  if (command === "quote") COMMANDS.quote();
  else document.execCommand(command);
}

function select(node, from, to) {
  const range = document.createRange();
  range.setStart(node, from);
  range.setEnd(node, to);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
}

function replaceTyped(node, end, length, tag, text, href) {
  select(node, end - length, end);
  const opening = href ? `<a href="${escapeHtml(href)}">` : `<${tag}>`;
  document.execCommand("insertHTML", false, `${opening}${escapeHtml(text)}</${tag}>`);
  // What is typed next is plain again.
  const command = { strong: "bold", em: "italic" }[tag];
  if (command && document.queryCommandState(command)) document.execCommand(command);
  if (tag === "a") leaveLink();
}

function leaveLink() {
  const link = within("a");
  if (!link) return;
  const after = document.createTextNode("\u00a0");
  link.after(after);
  getSelection().collapse(after, 1);
}

function escapeHtml(text) {
  return text.replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign]);
}

// The toolbar -------------------------------------------------------------

function openTools(tools, editor, form, changed, insertHtml) {
  tools.hidden = false;
  const state = () => {
    if (!editor.contains(getSelection().anchorNode)) return;
    for (const [tool, pressed] of [
      ["bold", document.queryCommandState("bold")],
      ["italic", document.queryCommandState("italic")],
      ["list", Boolean(within("ul"))],
      ["quote", Boolean(within("blockquote"))],
    ]) tools.querySelector(`[data-tool=${tool}]`)?.setAttribute("aria-pressed", String(pressed));
  };
  document.addEventListener("selectionchange", state);
  for (const button of tools.querySelectorAll("[data-tool]")) {
    // The selection stays where it is.
    button.addEventListener("mousedown", (event) => event.preventDefault());
    const command = COMMANDS[button.dataset.tool];
    if (command) {
      button.addEventListener("click", () => {
        editor.focus();
        command();
        changed();
        state();
      });
    }
  }
  openLinks(tools, editor, changed, insertHtml);
  const chooser = tools.querySelector("[data-picture]");
  const button = tools.querySelector("[data-tool=picture]");
  if (!form.dataset.pictures) return button?.remove();
  button.addEventListener("click", () => chooser.click());
  chooser.addEventListener("change", async () => {
    for (const file of chooser.files) await upload(file, form, insertHtml);
    chooser.value = "";
  });
}

// The address of a link is typed into a field beside the buttons.
function openLinks(tools, editor, changed, insertHtml) {
  const row = tools.querySelector("[data-link-row]");
  const field = row.querySelector("input");
  let range = null;
  tools.querySelector("[data-tool=link]").addEventListener("click", () => {
    const selection = getSelection();
    range = selection.rangeCount > 0 && editor.contains(selection.anchorNode) ? selection.getRangeAt(0) : null;
    field.value = within("a")?.href ?? "";
    row.hidden = false;
    field.focus();
  });
  const close = () => {
    row.hidden = true;
    editor.focus();
    if (!range) return;
    getSelection().removeAllRanges();
    getSelection().addRange(range);
  };
  const apply = () => {
    const typed = field.value.trim();
    close();
    const target = /^[\w.+-]+@[\w.-]+$/.test(typed) ? `mailto:${typed}` : /^[a-z]+:/i.test(typed) ? typed : `https://${typed}`;
    if (!typed) document.execCommand("unlink");
    else if (!/^(https?|mailto|tel):/i.test(target)) return;
    else if (range?.collapsed === false) document.execCommand("createLink", false, target);
    else insertHtml(`<a href="${escapeHtml(target)}">${escapeHtml(typed)}</a>&nbsp;`);
    changed();
  };
  field.addEventListener("input", (event) => event.stopPropagation());
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") apply();
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  row.querySelector("button").addEventListener("click", apply);
}

// Pictures, pasting and dropping ------------------------------------------

function picturesIn(editor) {
  return [...editor.querySelectorAll("img")].map(pictureId).filter(Boolean);
}

function pictureId(image) {
  return /^\/(?:attachments|protected\/\w+)\/(\w+)(?:\/scaled|\?shown)$/.exec(image.getAttribute("src") ?? "")?.[1];
}

function takePictures(editor, form, insertHtml) {
  editor.addEventListener("paste", (event) => {
    const pictures = [...event.clipboardData.files].filter((file) => PICTURES.includes(file.type));
    const html = event.clipboardData.getData("text/html");
    event.preventDefault();
    if (pictures.length > 0 && form.dataset.pictures) {
      pictures.forEach((file) => upload(file, form, insertHtml));
    } else if (html) {
      insertHtml(pasted(html));
    } else {
      document.execCommand("insertText", false, event.clipboardData.getData("text/plain"));
    }
  });
  editor.addEventListener("dragover", (event) => {
    if (event.dataTransfer.types.includes("Files")) event.preventDefault();
  });
  editor.addEventListener("drop", (event) => {
    if (event.dataTransfer.files.length === 0) return;
    event.preventDefault();
    const files = [...event.dataTransfer.files];
    const pictures = files.filter((file) => PICTURES.includes(file.type) && form.dataset.pictures);
    const place = document.caretRangeFromPoint?.(event.clientX, event.clientY);
    if (place && editor.contains(place.startContainer)) {
      getSelection().removeAllRanges();
      getSelection().addRange(place);
    }
    pictures.forEach((file) => upload(file, form, insertHtml));
    const others = form.querySelector("[data-attach]");
    if (others && files.length > pictures.length) {
      const chosen = new DataTransfer();
      files.filter((file) => !pictures.includes(file)).forEach((file) => chosen.items.add(file));
      others.files = chosen.files;
      others.dispatchEvent(new Event("change"));
    }
  });
}

async function upload(file, form, insertHtml) {
  const said = form.querySelector("[data-kept]");
  const fields = new FormData();
  fields.append("csrf", form.elements.csrf.value);
  fields.append("files", file, file.name || "picture.png");
  const { name } = file;
  said.textContent = name ? t("{name} is being taken in.", { name }) : t("The picture is being taken in.");
  try {
    const answer = await fetch(form.dataset.pictures, { method: "POST", body: fields });
    if (!answer.ok) throw new Error();
    const { id, name } = await answer.json();
    insertHtml(`<img src="/attachments/${id}/scaled" alt="${escapeHtml(name)}">`);
    said.textContent = "";
  } catch {
    said.textContent = t("The picture was not taken in: it is no PNG, JPEG, GIF or WebP, is too large, or there is no connection.");
  }
}

// What other programs put on the clipboard, as far as Markdown can say it. The document is inert: it
// loads and runs nothing.
function pasted(html) {
  const page = new DOMParser().parseFromString(html, "text/html");
  for (const gone of page.querySelectorAll("script, style, title, meta, link, img")) gone.remove();
  const made = document.createElement("div");
  copyInto(made, page.body);
  return made.innerHTML;
}

function copyInto(target, source) {
  for (const node of source.childNodes) {
    if (node.nodeType === Node.TEXT_NODE) {
      target.append(node.data.replace(/\s+/g, " "));
    } else if (node.nodeType === Node.ELEMENT_NODE) {
      const isLink = node.tagName === "A" && /^(https?|mailto|tel):/i.test(node.href);
      // Some programs wrap everything in a bold element that is not bold.
      const isPlain = /font-weight:\s*(normal|400)/.test(node.getAttribute("style") ?? "");
      const tag = isLink ? "a" : isPlain ? null : COPIED[node.tagName];
      const nested = tag === "p" && node.querySelector("p, div, ul, ol, blockquote, table");
      const into = tag && !nested ? document.createElement(tag) : target;
      if (isLink) into.setAttribute("href", node.href);
      copyInto(into, node);
      if (into !== target && (tag === "br" || into.textContent.trim())) target.append(into);
    }
  }
}

// Markdown ----------------------------------------------------------------

function markdown(editor) {
  return blocks(editor).join("\n\n");
}

// The blocks of an element; words between blocks are paragraphs.
function blocks(element) {
  const found = [];
  let run = [];
  const flush = () => {
    found.push(...paragraphs(run.map(inline).join("")));
    run = [];
  };
  for (const node of element.childNodes) {
    if (!BLOCKS.has(node.nodeName)) {
      run.push(node);
      continue;
    }
    flush();
    found.push(...block(node));
  }
  flush();
  return found;
}

function block(node) {
  switch (node.nodeName) {
    case "UL":
    case "OL":
      return [listItems(node)].filter(Boolean);
    case "BLOCKQUOTE": {
      const inner = blocks(node).join("\n\n");
      return inner ? [inner.split("\n").map((line) => `> ${line}`.trimEnd()).join("\n")] : [];
    }
    case "PRE":
      return [`\`\`\`\n${node.textContent.replace(/\n$/, "")}\n\`\`\``];
    case "HR":
      return ["---"];
    default:
      return blocks(node);
  }
}

function listItems(list) {
  let number = Number(list.getAttribute("start") ?? 1);
  const items = [];
  for (const item of list.children) {
    // Browsers put a list inside a list beside the item that it belongs to.
    if (item.nodeName === "UL" || item.nodeName === "OL") {
      items.push(listItems(item).split("\n").map((line) => `  ${line}`).join("\n"));
      continue;
    }
    const sign = list.nodeName === "OL" ? `${number++}. ` : "- ";
    const lines = blocks(item).join("\n").split("\n");
    const indent = " ".repeat(sign.length);
    items.push(lines.map((line, at) => `${at === 0 ? sign : line ? indent : ""}${line}`).join("\n"));
  }
  return items.join("\n");
}

function paragraphs(text) {
  return text.split(/\n{2,}/).map((part) => part.split("\n").map(escapeLine).join("\n").trim()).filter(Boolean);
}

function inline(node) {
  if (node.nodeType === Node.TEXT_NODE) return escapeMarkdown(node.data.replace(/[ \t\n\u00a0]+/g, " "));
  if (node.nodeType !== Node.ELEMENT_NODE) return "";
  const inner = () => [...node.childNodes].map(inline).join("");
  switch (node.nodeName) {
    case "BR":
      return "\n";
    case "B":
    case "STRONG":
      return marked(inner(), "**");
    case "I":
    case "EM":
      return marked(inner(), "*");
    case "CODE":
      return `\`${node.textContent}\``;
    case "A":
      return node.hasAttribute("href") ? linked(inner(), node.getAttribute("href")) : inner();
    case "IMG": {
      const id = pictureId(node);
      return id ? `![${escapeMarkdown(node.alt)}](cid:${id})` : "";
    }
    default:
      return inner();
  }
}

// Signs stand at words, not at spaces.
function marked(text, sign) {
  const [, before, words, after] = /^(\s*)([^]*?)(\s*)$/.exec(text);
  return words ? `${before}${sign}${words}${sign}${after}` : text;
}

function linked(text, href) {
  const target = href.replace(/[()\s<>]/g, (sign) => encodeURIComponent(sign).replace("(", "%28").replace(")", "%29"));
  return text.trim() ? `[${text}](${target})` : "";
}

// Inside a word, as in {{first_name}}, an underscore is no sign.
function escapeMarkdown(text) {
  return text
    .replace(/[\\`*[\]<]/g, "\\$&")
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, "\\_")
    .replace(/&(?=[#\w]+;)/g, "\\&");
}

// What would begin a list, a quotation or a title at the beginning of a line.
function escapeLine(line) {
  return line.trim().replace(/^([-+#>=])/, "\\$1").replace(/^(\d+)([.)])(?=\s|$)/, "$1\\$2");
}
