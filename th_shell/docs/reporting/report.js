"use strict";
// Shows the examples with the chosen verdicts, and with all the words that are searched.
const bar = document.getElementById("filter");
const buttons = [...bar.querySelectorAll("button")];
const search = bar.querySelector("input");
const rows = [...document.querySelectorAll(".row")];
const texts = new Map();

function text(row) {
  if (!texts.has(row)) texts.set(row, row.textContent.toLowerCase());
  return texts.get(row);
}

function update() {
  const chosen = new Set(
    buttons.filter((b) => b.getAttribute("aria-pressed") === "true").map((b) => b.dataset.verdict)
  );
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const filtered = chosen.size > 0 || words.length > 0;
  let shown = 0;
  for (const row of rows) {
    const fits = chosen.size === 0 || chosen.has(row.dataset.verdict);
    row.hidden = !(fits && words.every((word) => text(row).includes(word)));
    shown += !row.hidden;
  }
  for (const prose of document.querySelectorAll(".prose")) prose.hidden = filtered;
  for (const section of document.querySelectorAll("section")) {
    section.hidden = filtered && !section.querySelector(".row:not([hidden])");
  }
  document.getElementById("nothing").hidden = !filtered || shown > 0;
}

for (const button of buttons) {
  button.addEventListener("click", () => {
    const pressed = button.getAttribute("aria-pressed") === "true";
    button.setAttribute("aria-pressed", String(!pressed));
    update();
  });
}
search.addEventListener("input", update);
// A link to an example shows it, whatever is filtered.
window.addEventListener("hashchange", () => {
  const row = document.getElementById(location.hash.slice(1));
  if (!row || !row.hidden) return;
  for (const button of buttons) button.setAttribute("aria-pressed", "false");
  search.value = "";
  update();
  row.scrollIntoView();
});
bar.hidden = false;
