// The groups of the settings are narrowed as one types. Without this script the form looks for the same words.

for (const form of document.querySelectorAll("form[data-finds]")) {
  const groups = [...(document.getElementById(form.dataset.finds)?.children ?? [])];
  const nothing = form.parentElement.querySelector("[data-finds-nothing]");
  const opened = groups.map((group) => group.open);
  const field = form.elements.q;

  const narrow = () => {
    const typed = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let some = false;
    groups.forEach((group, place) => {
      const name = group.querySelector("summary, h2").textContent;
      const entries = [...group.querySelectorAll("li")];
      for (const entry of entries) {
        const words = `${name} ${entry.textContent} ${entry.dataset.words}`.toLowerCase();
        entry.hidden = !typed.every((word) => words.includes(word));
      }
      group.hidden = entries.every((entry) => entry.hidden);
      if (group.localName === "details") group.open = typed.length > 0 || opened[place];
      some ||= !group.hidden;
    });
    if (nothing) nothing.hidden = some || groups.length === 0;
  };

  field.addEventListener("input", narrow);
  // Whoever goes back finds what was typed.
  addEventListener("pageshow", () => field.value && narrow());
}
