"use strict";
// Tables sort by their headings, filter by a text and show their first rows until asked for all. Without this script
// they are plain tables, complete.
const FIRST = 10;
const number = new Intl.NumberFormat("en");
const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

function make(name, properties, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

function key(row, column) {
  const cell = row.cells[column];
  const value = cell.dataset.v ?? cell.textContent.trim();
  const figure = value === "" ? -Infinity : Number(value.replaceAll(",", ""));
  return { value, figure };
}

function compare(a, b) {
  if (!Number.isNaN(a.figure) && !Number.isNaN(b.figure)) return a.figure - b.figure || 0;
  return collator.compare(a.value, b.value);
}

function enhance(table) {
  const body = table.tBodies[0];
  let rows = [...body.rows];
  const words = rows.map((row) => row.textContent.toLowerCase());
  const texts = new Map(rows.map((row, at) => [row, words[at]]));
  let all = rows.length <= FIRST;
  const name = table.caption.textContent.trim();
  const input = make("input", { type: "search", autocomplete: "off", spellcheck: false });
  const told = make("output", {});
  const more = make("button", { type: "button", className: "more" });

  function show() {
    const wanted = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = rows.filter((row) => wanted.every((word) => texts.get(row).includes(word)));
    const shown = new Set(all ? found : found.slice(0, FIRST));
    for (const row of rows) row.hidden = !shown.has(row);
    told.textContent = `${number.format(shown.size)} of ${number.format(rows.length)} rows`;
    more.hidden = shown.size === found.length;
    more.textContent = `Show all ${number.format(found.length)} rows`;
  }

  function sort(header, column) {
    const down = header.getAttribute("aria-sort") === "ascending" ||
      (!header.hasAttribute("aria-sort") && header.classList.contains("n"));
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", down ? "descending" : "ascending");
    const keys = new Map(rows.map((row) => [row, key(row, column)]));
    const sign = down ? -1 : 1;
    const empty = (row) => keys.get(row).value === "";  // what has no value stays below, whichever way
    rows.sort((a, b) => empty(a) - empty(b) || sign * compare(keys.get(a), keys.get(b)));
    body.append(...rows);
    show();
  }

  [...table.tHead.rows[0].cells].forEach((header, column) => {
    const button = make("button", { type: "button" }, ...header.childNodes);
    button.addEventListener("click", () => sort(header, column));
    header.append(button);
  });
  input.addEventListener("input", show);
  more.addEventListener("click", () => { all = true; show(); });
  told.setAttribute("role", "status");
  if (rows.length > 5) {
    const bar = make("div", { className: "tools" }, make("label", {}, `Filter “${name}” `, input), told);
    table.closest(".scroll").before(bar);
  }
  table.closest(".scroll").after(more);
  show();
}

document.querySelectorAll("table.sortable").forEach(enhance);

// A closed part would not be printed.
let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("details:not([open])")];
  for (const part of opened) part.open = true;
});
addEventListener("afterprint", () => { for (const part of opened) part.open = false; });
