// Code on the developer site: a button that copies what is shown. Without this script it is selected by hand.

const SAID_MS = 2_000;

function offerCopying(sample) {
  const head = sample.querySelector(":scope > header, :scope > .g-langs");
  const blocks = [...sample.querySelectorAll("pre")];
  if (!head || blocks.length === 0) return;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "btn s g-copy";
  button.textContent = "Copy";
  button.setAttribute("aria-live", "polite");
  button.addEventListener("click", async () => {
    // Of code in several languages one is shown.
    const shown = blocks.find((block) => block.offsetParent !== null) ?? blocks[0];
    await navigator.clipboard.writeText(shown.textContent.trim());
    button.textContent = "Copied";
    setTimeout(() => {
      button.textContent = "Copy";
    }, SAID_MS);
  });
  head.append(button);
}

// A page without https has no clipboard.
if (navigator.clipboard) document.querySelectorAll(".g-sample").forEach(offerCopying);
