// The reader's language for the other scripts: `t` finds a text that a page has translated, by its English words, and
// puts values into its places. It is loaded before them. Between words that run from right to left a value is isolated
// (UAX 9).

const texts = JSON.parse(document.getElementById("texts")?.textContent || "{}");

const isRightToLeft = document.documentElement.dir === "rtl";

const isolated = (value) => isRightToLeft && value !== undefined ? `\u2068${value}\u2069` : value;

globalThis.t = (english, values = {}) =>
  (texts[english] ?? english).replace(/\{(\w+)\}/g, (place, name) => isolated(values[name]) ?? place);
