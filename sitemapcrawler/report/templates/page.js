"use strict";
// Tables sort by their headings, filter by a text, show their first rows until asked for all, and can be copied or saved
// as CSV. Without this script they are plain tables, complete.
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

// A link is shown shortened; tables that leave the page have its address.
function exported(cell) {
  const link = cell.querySelector("a.url");
  const text = link && cell.querySelectorAll("a").length === 1 && link.textContent.trim() === cell.textContent.trim()
    ? link.getAttribute("href") + (link.querySelector(".at")?.textContent ?? "")
    : [...cell.childNodes].map((node) => node.textContent.trim()).join(" ");
  return plain(text.trim().replace(/\s+/g, " "));
}

// A spreadsheet would run some texts as formulas.
function plain(text) {
  return /^[=+\-@]/.test(text) ? `'${text}` : text;
}

function lines(table, rows, separator, quote) {
  return [table.tHead.rows[0], ...rows].map((row) => [...row.cells].map((cell) => quote(exported(cell))).join(separator));
}

function save(name, text) {
  const link = make("a", { download: name, href: URL.createObjectURL(new Blob([text], { type: "text/csv" })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

async function copy(text, button) {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not allowed here";
  }
  setTimeout(() => { button.textContent = label; }, 2000);
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

  function matching() {
    const wanted = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    return rows.filter((row) => wanted.every((word) => texts.get(row).includes(word)));
  }

  function show() {
    const found = matching();
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
  const copying = make("button", { type: "button" }, "Copy");
  const saving = make("button", { type: "button" }, "Save as CSV");
  copying.addEventListener("click", () => copy(lines(table, matching(), "\t", (text) => text).join("\n"), copying));
  saving.addEventListener("click", () => {
    const quoted = (text) => `"${text.replaceAll('"', '""')}"`;
    save(`${name}.csv`, `\ufeff${lines(table, matching(), ",", quoted).join("\r\n")}\r\n`);
  });
  const filter = rows.length > 5 ? [make("label", {}, `Filter “${name}” `, input), told] : [];
  table.closest(".scroll").before(make("div", { className: "tools" }, ...filter, copying, saving));
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
