// The reader's language for the other scripts: `t` finds a text that a page has translated, by its English words, and
// puts values into its places. It is loaded before them.

const texts = JSON.parse(document.getElementById("texts")?.textContent || "{}");

globalThis.t = (english, values = {}) =>
  (texts[english] ?? english).replace(/\{(\w+)\}/g, (place, name) => values[name] ?? place);
