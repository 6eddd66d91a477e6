// The table of all URLs. Its rows lie compressed in the page (`url_table.py`); only visible ones are elements. What is
// chosen stands in the fragment of the page's URL. Uses `make`, `number`, `collator`, `save`, `copy` and `plain` of
// page.js.
const FACETS = {
  indexability: "Indexability", status: "First status", problem: "Problem", sitemap: "Sitemap", host: "Host", segment: "Segment",
  folder: "Folder", month: "Last modified", denied: "Blocked crawler", google: "At Google", change: "Change",
};
const COLUMNS = {
  loc: "URL", indexability: "Indexability", status: "First status", problem: "Problems", target: "Leads to",
  sitemap: "Listed in", line: "Line", segment: "Segment", lastmod: "Last modified", denied: "Blocked crawlers", google: "At Google", change: "Change",
};
const IN_DETAILS = new Set(["line"]);  // a column of the CSV and of the details only: the sitemap's cell has it
const ADDRESSES = new Set(["loc", "target", "sitemap"]);  // columns in which a text is found anywhere, in others at the start of a word
const SEVERITIES = ["error", "warning", "info"];  // the worst first
const REMOVED = "removed";  // change of a URL of the baseline that is no longer listed: shown only if chosen
const NONE = "none";  // label of entries without a value
const ROW_PX = 36;  // height of a row, as in page.css
const AROUND = 8;  // rows drawn above and below those that are visible
const MAX_CHOICES = 50;  // values shown of a facet, the most frequent ones
const FEW_CHOICES = 10;  // values of a facet that need no field to search them
const MAX_SHOWN = 160;  // characters of a shown URL, as in wording.py
const MAX_URL = 1000;  // characters of a value; longer ones are cut, as in url_table.py
const ON_PAPER = 100;  // rows printed, if some are chosen

async function unpack(text) {
  const coded = atob(text);
  const bytes = new Uint8Array(coded.length);
  for (let at = 0; at < coded.length; at++) bytes[at] = coded.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).json();
}

// A column: its distinct values, and for each row which of them it has.
class Column {
  constructor({ codes, values, sql }, labels = {}) {
    this.sql = sql;
    this.labels = labels;
    this.codes = Uint32Array.from(codes);
    this.values = values;
  }

  get isEmpty() {
    return this.values.every((value) => value === null || value.length === 0);
  }

  // Distinct items of all values, and those of each value as positions: itself, or the parts of a list.
  get items() {
    return this.facet.items;
  }

  get itemsOf() {
    return this.facet.itemsOf;
  }

  get facet() {
    return this.split ??= this.splitValues();
  }

  splitValues() {
    const positions = new Map();
    const itemsOf = this.values.map((value) => {
      const items = Array.isArray(value) ? value : value === null ? [] : [value];
      return (items.length ? items : [""]).map((item) => {
        if (!positions.has(item)) positions.set(item, positions.size);
        return positions.get(item);
      });
    });
    return { items: [...positions.keys()], itemsOf };
  }

  get isList() {
    return this.values.some(Array.isArray);
  }

  text(row) {
    return this.textOf(this.values[this.codes[row]]);
  }

  textOf(value) {
    return value === null ? "" : Array.isArray(value) ? value.join(" ") : String(value);
  }

  // Items whose label, which rows show in place of them, has a word.
  labelled(has) {
    return this.items.map(String).filter((item) => Object.hasOwn(this.labels, item) && has(this.labels[item].toLowerCase()));
  }

  // Which values pass a test of their text in lower case, as they are or as rows show them.
  containing(has) {
    this.lower ??= this.values.map((value) => this.textOf(value).toLowerCase());
    const items = new Set(this.labelled(has));
    const containing = items.size ? this.having(items) : new Uint8Array(this.values.length);
    for (let at = 0; at < containing.length; at++) containing[at] ||= has(this.lower[at]);
    return containing;
  }

  // Which values have one of these items.
  having(items) {
    const chosen = new Set(this.items.flatMap((item, at) => (items.has(String(item)) ? [at] : [])));
    return Uint8Array.from(this.itemsOf, (own) => own.some((item) => chosen.has(item)));
  }

  // Adds the numbers of each value to those of its items.
  addTo(counts, perValue) {
    this.itemsOf.forEach((items, value) => { for (const item of items) counts[item] += perValue[value]; });
  }

  // Position of each value in ascending order.
  get ranks() {
    if (!this.sorted) {
      const keys = this.values.map((value) => (typeof value === "number" ? value : this.textOf(value)));
      const order = [...keys.keys()].sort((a, b) => (keys[a] < keys[b] ? -1 : keys[a] > keys[b] ? 1 : 0));
      this.sorted = new Uint32Array(keys.length);
      order.forEach((value, rank) => { this.sorted[value] = rank; });
    }
    return this.sorted;
  }
}

// Counts the URLs of each item of a facet, from rows in the order of their URLs.
class Counter {
  constructor(column) {
    this.column = column;
    this.perValue = new Uint32Array(column.values.length);  // of rows whose URL has no other row
    this.perItem = new Uint32Array(column.items.length);
    this.last = new Uint32Array(column.items.length);  // the URL that was counted last, from 1
  }

  add(value, url, isRepeated) {
    if (!isRepeated) { this.perValue[value]++; return; }
    for (const item of this.column.itemsOf[value]) {
      if (this.last[item] === url + 1) continue;
      this.last[item] = url + 1;
      this.perItem[item]++;
    }
  }

  get counts() {
    this.column.addTo(this.perItem, this.perValue);
    return this.perItem;
  }
}

// A word as a test of texts in lower case: whether it stands at the start of one of their words.
function startsWord(word) {
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])${escaped(word)}`, "u");
  return (text) => pattern.test(text);
}

function escaped(word) {
  return word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

// The rows and the way to choose and sort them. Knows nothing of the page.
class Entries {
  constructor(columns, labels) {
    this.columns = Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, new Column(column, labels[name])]));
    const urls = this.columns.loc.codes;
    this.size = urls.length;
    this.facets = Object.keys(FACETS).filter((name) => !this.columns[name].isEmpty && !(name === "host" && this.columns.host.values.length === 1));
    this.shown = Object.keys(COLUMNS).filter((name) => !this.columns[name].isEmpty);
    this.searched = this.shown.filter((name) => !IN_DETAILS.has(name));
    this.isRepeated = urls.map((url, row) => url === urls[row - 1] || url === urls[row + 1]);
    this.isRemoved = this.columns.change.having(new Set([REMOVED]));  // by value
    this.listed = this.choose(new State().choices, []).urls;
  }

  // Rows that have a chosen value of each facet and all words, in the order of their URLs, with the numbers of distinct
  // listed and removed URLs. `counts`: URLs by item of each facet, if only the other facets choose.
  choose(choices, words) {
    const facets = this.facets.map((name) => this.columns[name]);
    const passing = this.facets.map((name) => this.passing(name, choices[name]));
    const counters = facets.map((column) => new Counter(column));
    const matching = this.matching(words);
    const urls = this.columns.loc.codes, changes = this.columns.change.codes;
    const rows = new Uint32Array(this.size);
    const distinct = [0, 0], last = [-1, -1];  // of listed and of removed URLs
    let found = 0;
    for (let row = 0; row < this.size; row++) {
      if (matching && !matching[row]) continue;
      let failed = -1, failures = 0;
      for (let at = 0; at < facets.length && failures < 2; at++) {
        if (!passing[at][facets[at].codes[row]]) { failed = at; failures++; }
      }
      if (failures === 1) counters[failed].add(facets[failed].codes[row], urls[row], this.isRepeated[row]);
      if (failures) continue;
      for (let at = 0; at < facets.length; at++) counters[at].add(facets[at].codes[row], urls[row], this.isRepeated[row]);
      const kind = this.isRemoved[changes[row]];
      if (urls[row] !== last[kind]) { last[kind] = urls[row]; distinct[kind]++; }
      rows[found++] = row;
    }
    const counts = Object.fromEntries(this.facets.map((name, at) => [name, counters[at].counts]));
    return { rows: rows.subarray(0, found), urls: distinct[0], removed: distinct[1], counts };
  }

  // Which values of a column pass its facet.
  passing(name, chosen) {
    const column = this.columns[name];
    if (chosen.size) return column.having(chosen);
    return name === "change" ? this.isRemoved.map((removed) => 1 - removed) : new Uint8Array(column.values.length).fill(1);
  }

  // Which rows contain each of these words in some column; null for all of them.
  matching(words) {
    if (!words.length) return null;
    const rows = new Uint8Array(this.size).fill(1);
    for (const word of words) {
      const found = new Uint8Array(this.size);
      for (const name of this.searched) {
        const { codes } = this.columns[name], containing = this.containing(name, word);
        if (!containing.includes(1)) continue;
        for (let row = 0; row < this.size; row++) found[row] |= containing[codes[row]];
      }
      for (let row = 0; row < this.size; row++) rows[row] &= found[row];
    }
    return rows;
  }

  containing(name, word) {
    return this.columns[name].containing(ADDRESSES.has(name) ? (text) => text.includes(word) : startsWord(word));
  }

  // Sorts by counting: rows of equal values keep the order of their URLs, and those without a value come last.
  sort(rows, name, down) {
    const { codes, ranks, values } = this.columns[name];
    const place = ranks.map((rank, value) => {
      const isEmpty = values[value] === null || values[value].length === 0;
      return isEmpty ? values.length : down ? values.length - 1 - rank : rank;
    });
    const ends = new Uint32Array(values.length + 2);
    for (const row of rows) ends[place[codes[row]] + 1]++;
    for (let at = 1; at < ends.length; at++) ends[at] += ends[at - 1];
    const sorted = new Uint32Array(rows.length);
    for (const row of rows) sorted[ends[place[codes[row]]]++] = row;
    return sorted;
  }
}

// What is chosen: values of facets, a text and the order. Written into the fragment, so that it can be sent to others.
class State {
  constructor(fragment = "") {
    const given = new URLSearchParams(fragment.startsWith("#urls?") ? fragment.slice(6) : "");
    this.choices = Object.fromEntries(Object.keys(FACETS).map((name) => [name, new Set(given.getAll(name))]));
    this.text = given.get("text") ?? "";
    const sort = given.get("sort") ?? "";
    this.down = sort.startsWith("-");
    this.sort = Object.hasOwn(COLUMNS, sort.slice(this.down)) ? sort.slice(this.down) : "";
  }

  get words() {
    return this.text.toLowerCase().split(/\s+/).filter(Boolean);
  }

  get chosen() {
    return Object.entries(this.choices).flatMap(([name, items]) => [...items].map((item) => [name, item]));
  }

  get fragment() {
    const given = this.chosen;
    if (this.text) given.push(["text", this.text]);
    if (this.sort) given.push(["sort", (this.down ? "-" : "") + this.sort]);
    return given.length ? `#urls?${new URLSearchParams(given)}` : "#urls";
  }

  // Condition in SQL for the same rows in the feed of URLs. `searched`: names of the columns that the text is looked for in.
  where(columns, searched) {
    const parts = Object.entries(this.choices).filter(([, items]) => items.size).map(([name, items]) => {
      const some = anyOf(columns[name], items);
      return columns[name].isList && items.has("") ? `(${some} OR coalesce(len(${columns[name].sql}), 0) = 0)` : some;
    });
    if (!this.choices.change.size && columns.change.items.includes(REMOVED)) parts.push(`change IS DISTINCT FROM ${quoted(REMOVED)}`);
    for (const word of this.words) parts.push(hasWord(columns, searched, word));
    return parts.join("\n  AND ");
  }
}

function quoted(text) {
  return `'${text.replaceAll("'", "''")}'`;
}

// SQL: whether a column has one of these items.
function anyOf({ sql, isList }, items) {
  const list = [...items].map(quoted).join(", ");
  return isList ? `list_has_any(${sql}, [${list}])` : `coalesce(${sql}, '') IN (${list})`;
}

// SQL: whether some column has a word.
function hasWord(columns, searched, word) {
  const joined = (names) => names.map((name) => columns[name]).map(({ sql, isList }) => (isList ? `array_to_string(${sql}, ' ')` : sql)).join(", ");
  const others = searched.filter((name) => !ADDRESSES.has(name));
  const tests = [`contains(lower(concat_ws(' ', ${joined(searched.filter((name) => ADDRESSES.has(name)))})), ${quoted(word)})`];
  if (others.length) tests.push(`regexp_matches(lower(concat_ws(' ', ${joined(others)})), ${quoted(`(^|[^\\pL\\pN])${escaped(word)}`)})`);
  for (const name of others) {
    const items = columns[name].labelled(startsWord(word));
    if (items.length) tests.push(anyOf(columns[name], items));
  }
  return tests.length > 1 ? `(${tests.join(" OR ")})` : tests[0];
}

// A facet: its values as boxes to tick, those with the lowest rank and then with the most URLs first. `toggled` is
// called with a value.
function facetView(title, labels, rank, toggled) {
  const list = make("ul", { ariaLabel: title });
  const search = make("input", { type: "search", autocomplete: "off", spellcheck: false });
  const searching = make("label", { className: "find", hidden: true }, make("span", { className: "unseen" }, `Find in “${title}”`), search);
  const rest = make("p", { className: "soft", hidden: true });
  const picked = make("span", { className: "soft" });
  const root = make("details", {}, make("summary", {}, title, " ", picked), searching, list, rest);
  let draw = () => {};
  search.placeholder = "Find";
  search.addEventListener("input", () => draw());

  function update(items, counts, chosen) {
    picked.textContent = chosen.size ? `(${number.format(chosen.size)} chosen)` : "";
    const order = [...items.keys()].filter((at) => counts[at] || chosen.has(items[at])).sort((a, b) => rank(items[a]) - rank(items[b]) || counts[b] - counts[a]);
    searching.hidden = items.length <= FEW_CHOICES;
    draw = () => {
      const wanted = search.value.toLowerCase();
      const found = order.filter((at) => labels(items[at]).toLowerCase().includes(wanted) || items[at].toLowerCase().includes(wanted));
      const focused = list.contains(document.activeElement) ? document.activeElement.value : null;
      list.replaceChildren(...found.slice(0, MAX_CHOICES).map((at) => {
        const box = make("input", { type: "checkbox", value: items[at], checked: chosen.has(items[at]) });
        box.addEventListener("change", () => toggled(items[at]));
        const label = make("label", { title: items[at] }, box, make("span", {}, labels(items[at])), make("span", { className: "count" }, number.format(counts[at])));
        return make("li", {}, label);
      }));
      if (focused !== null) [...list.querySelectorAll("input")].find((box) => box.value === focused)?.focus();
      rest.hidden = found.length <= MAX_CHOICES;
      rest.textContent = `${number.format(MAX_CHOICES)} of ${number.format(found.length)} values`;
    };
    draw();
  }
  return { root, update };
}

// Rows as a grid of which only the visible part is in the document. `open` is called with a row.
function gridView(heads, cellsOf, sortBy, open) {
  const above = make("tr", { className: "space" }), below = make("tr", { className: "space" });
  above.ariaHidden = below.ariaHidden = "true";
  const columns = heads.map(([name, title]) => {
    const button = make("button", { type: "button" }, title);
    button.addEventListener("click", () => sortBy(name));
    return make("th", { scope: "col", className: `c-${name}` }, button);
  });
  const body = make("tbody", {});
  const head = make("tr", {}, ...columns);
  head.ariaRowIndex = 1;
  const table = make("table", { tabIndex: 0, ariaDescription: "Arrow keys move, Enter shows the details of a row" }, make("caption", { className: "unseen" }, "All URLs"), make("thead", {}, head), body);
  table.setAttribute("role", "grid");
  table.style.setProperty("--columns", heads.length);
  const root = make("div", { className: "scroll grid" }, table);
  let rows = new Uint32Array(), active = 0, isDrawn = false;

  function rowElement(at) {
    const element = make("tr", { id: `entry-${at}` }, ...cellsOf(rows[at]).map((cell, column) => {
      cell.className = `c-${heads[column][0]}`;
      return cell;
    }));
    element.ariaRowIndex = at + 2;
    element.classList.toggle("active", at === active);
    element.ariaSelected = at === active;
    element.addEventListener("click", (event) => {
      activate(at);
      if (!event.target.closest("a")) open(rows[at]);
    });
    return element;
  }

  function draw(first = Math.floor(root.scrollTop / ROW_PX) - AROUND, most = Math.ceil(innerHeight / ROW_PX) + 2 * AROUND) {
    const from = Math.max(0, Math.min(first, rows.length - most)), to = Math.min(rows.length, from + most);
    above.style.height = `${from * ROW_PX}px`;
    below.style.height = `${(rows.length - to) * ROW_PX}px`;
    body.replaceChildren(above, ...Array.from({ length: to - from }, (_, at) => rowElement(from + at)), below);
    if (from <= active && active < to) table.setAttribute("aria-activedescendant", `entry-${active}`);
    else table.removeAttribute("aria-activedescendant");
  }

  function activate(at) {
    active = Math.max(0, Math.min(at, rows.length - 1));
    const top = active * ROW_PX, room = root.clientHeight - head.offsetHeight - ROW_PX;
    if (top < root.scrollTop) root.scrollTop = top;
    else if (top > root.scrollTop + room) root.scrollTop = top - room;
    draw();
  }

  root.addEventListener("scroll", () => {
    if (!isDrawn) requestAnimationFrame(() => { isDrawn = false; draw(); });
    isDrawn = true;
  }, { passive: true });
  table.addEventListener("keydown", (event) => {
    if (event.target !== table || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(root.clientHeight / ROW_PX) - 2);
    const target = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + page, PageUp: active - page, Home: 0, End: rows.length - 1 }[event.key];
    if (target !== undefined) activate(target);
    else if (event.key === "Enter" && rows.length) open(rows[active]);
    else return;
    event.preventDefault();
  });

  function update(found, sort, down) {
    rows = found;
    active = 0;
    root.scrollTop = 0;
    table.ariaRowCount = rows.length + 1;
    heads.forEach(([name], column) => { columns[column].ariaSort = name === sort ? (down ? "descending" : "ascending") : null; });
    draw();
  }
  return { root, update, draw };
}

// The whole: facets, filter, grid, details of a row.
function explore(place, facts, entries) {
  const columns = entries.columns;
  const short = (url) => {
    const own = facts.origin && url.startsWith(`${facts.origin}/`) ? url.slice(facts.origin.length) : url;
    return own.length > MAX_SHOWN ? `${own.slice(0, MAX_SHOWN - 1)}…` : own;
  };
  const labels = Object.fromEntries(Object.keys(FACETS).map((name) => [
    name, (item) => facts.labels[name]?.[item] ?? (item === "" ? NONE : short(item)),
  ]));
  const value = (name, row) => columns[name].values[columns[name].codes[row]];
  const lineSuffix = (row) => (value("line", row) === null ? "" : `:${value("line", row)}`);
  let state = new State(location.hash), found, rows;

  // Characters that cannot be seen were written as escapes, which begin with a backslash: that is no URL to open.
  function link(url, text, properties = {}) {
    const canOpen = /^https?:\/\/[^\\]+$/i.test(url) && url.length < MAX_URL;
    if (!canOpen) return make("span", { className: "url" }, text);
    return make("a", { className: "url", rel: "noreferrer noopener", href: url, title: url, ...properties }, text);
  }

  const shownIn = {
    loc: (row) => link(value("loc", row), short(value("loc", row)), { tabIndex: -1 }),
    target: (row) => (value("target", row) ? link(value("target", row), short(value("target", row)), { tabIndex: -1 }) : ""),
    sitemap: (row) => short(value("sitemap", row)) + lineSuffix(row),
    problem: (row) => (value("problem", row) ?? []).map(labels.problem).join("; "),
    status: (row) => (value("status", row) === null ? "" : labels.status(value("status", row))),
    denied: (row) => (value("denied", row) ?? []).join(", "),
  };
  const shown = (name, row) => shownIn[name]?.(row) ?? columns[name].text(row);

  function problems(row) {
    return make("ul", {}, ...value("problem", row).map((rule) => {
      const page = facts.pages[rule];
      const name = page ? link(page, rule) : make("code", {}, rule);
      return make("li", {}, `${labels.problem(rule)} (`, name, ")");
    }));
  }

  const dialog = make("dialog", { className: "details" });
  dialog.setAttribute("aria-label", "Details of a URL");
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });

  function open(row) {
    const close = make("button", { type: "button", className: "more" }, "Close");
    close.addEventListener("click", () => dialog.close());
    const full = {
      loc: () => link(value("loc", row), value("loc", row)),
      target: () => link(value("target", row), value("target", row)),
      sitemap: () => make("span", {}, link(value("sitemap", row), value("sitemap", row)), lineSuffix(row)),
      problem: () => problems(row),
    };
    const parts = entries.shown.filter((name) => !IN_DETAILS.has(name) && columns[name].text(row) !== "");
    const list = parts.map((name) => make("div", {}, make("dt", {}, COLUMNS[name]), make("dd", {}, full[name]?.() ?? shown(name, row))));
    dialog.replaceChildren(make("dl", {}, ...list), close);
    dialog.showModal();
  }

  // All columns of the chosen rows as text. `quote`: of a cell.
  function lines(separator, quote) {
    const head = entries.shown.map((name) => COLUMNS[name]).map(quote).join(separator);
    const cells = entries.shown.map((name) => columns[name].values.map((own) => quote(plain(columns[name].textOf(own)))));
    const codes = entries.shown.map((name) => columns[name].codes);
    return [head, ...Array.from(rows, (row) => codes.map((own, at) => cells[at][own[row]]).join(separator))];
  }

  const facets = entries.facets.map((name) => {
    const rank = (item) => (name !== "problem" ? 0 : item === "" ? Infinity : SEVERITIES.indexOf(facts.severities[item] ?? SEVERITIES.at(-1)));
    const view = facetView(FACETS[name], labels[name], rank, (item) => {
      if (!state.choices[name].delete(item)) state.choices[name].add(item);
      update();
    });
    view.root.open = matchMedia("(min-width: 44rem)").matches;
    return [name, view];
  });
  const heads = entries.shown.filter((name) => !IN_DETAILS.has(name)).map((name) => [name, COLUMNS[name]]);
  const grid = gridView(heads, (row) => heads.map(([name]) => make("td", {}, shown(name, row))), sortBy, open);
  const input = make("input", { type: "search", autocomplete: "off", spellcheck: false, value: state.text });
  const count = make("output", {});
  count.setAttribute("role", "status");
  const buttons = Object.fromEntries(["Copy", "Save as CSV", "Copy link"].map((text) => [text, make("button", { type: "button" }, text)]));
  const tools = make("div", { className: "tools" }, make("label", {}, "Filter all URLs ", input), count, ...Object.values(buttons));
  const chips = make("div", { className: "chips" });
  const query = make("pre", { tabIndex: 0 });
  const querying = make("details", { open: facts.shown < facts.total, hidden: !facts.feed }, make("summary", {}, "The same in DuckDB, from the file of all URLs"), query);
  const paper = make("p", { className: "paper" });
  const choosing = make("div", { className: "facets", role: "group", ariaLabel: "Filters" }, ...facets.map(([, view]) => view.root));
  place.replaceChildren(choosing, tools, chips, paper, grid.root, querying, dialog);

  function sortBy(name) {
    [state.sort, state.down] = state.sort !== name ? [name, false] : state.down ? ["", false] : [name, true];
    update();
  }

  function chip(text, remove) {
    const button = make("button", { type: "button" }, text, " ✕");
    button.ariaLabel = `Remove filter ${text}`;
    button.addEventListener("click", () => { remove(); update(); input.focus(); });
    return button;
  }

  function described([name, item]) {
    return `${FACETS[name]}: ${labels[name](item)}`;
  }

  function showChips() {
    const made = state.chosen.map(([name, item]) => chip(described([name, item]), () => state.choices[name].delete(item)));
    if (made.length + Boolean(state.text) > 1) made.push(chip("All filters", () => { state = new State(); }));
    chips.replaceChildren(...made);
  }

  function show() {
    found = entries.choose(state.choices, state.words);
    rows = state.sort ? entries.sort(found.rows, state.sort, state.down) : found.rows;
    input.value = input === document.activeElement ? input.value : state.text;
    const sample = facts.shown < facts.total ? " of the sample" : "";
    const removed = found.removed ? `, and ${number.format(found.removed)} removed` : "";
    const repeated = rows.length > found.urls + found.removed ? `, in ${number.format(rows.length)} entries` : "";
    count.textContent = `${number.format(found.urls)} of ${number.format(entries.listed)} URLs${sample}${removed}${repeated}`;
    for (const [name, view] of facets) view.update(columns[name].items, found.counts[name], state.choices[name]);
    showChips();
    const given = [...state.chosen.map(described), ...(state.text ? [state.text] : [])].join("; ");
    const printed = rows.length > ON_PAPER ? ` The first ${number.format(ON_PAPER)} rows:` : "";
    paper.textContent = `${count.textContent}: ${given}.${printed}`;
    const where = state.where(columns, entries.searched);
    query.textContent = `SELECT loc, sitemap, line FROM '${facts.feed}'${where && `\nWHERE ${where}`}`;
    place.classList.toggle("chosen", given !== "");
    grid.update(rows, state.sort, state.down);
  }

  function update() {
    show();
    history.replaceState(null, "", state.fragment);
  }

  input.addEventListener("input", () => { state.text = input.value; update(); });
  buttons.Copy.addEventListener("click", () => copy(lines("\t", (text) => text).join("\n"), buttons.Copy));
  buttons["Copy link"].addEventListener("click", () => copy(location.href.split("#")[0] + state.fragment, buttons["Copy link"]));
  buttons["Save as CSV"].addEventListener("click", () => {
    save("URLs.csv", `\ufeff${lines(",", (text) => `"${text.replaceAll('"', '""')}"`).join("\r\n")}\r\n`);
  });
  function follow() {
    if (!location.hash.startsWith("#urls")) return;
    state = new State(location.hash);
    show();
    document.getElementById("urls").scrollIntoView();
  }
  addEventListener("hashchange", follow);
  addEventListener("beforeprint", () => grid.draw(0, ON_PAPER));
  addEventListener("afterprint", () => grid.draw());
  place.hidden = false;
  show();
  if (location.hash.startsWith("#urls?")) follow();
}

// Charts and sections lead to their rows in the table, if it has some; what it replaces is hidden, but printed.
function connect(columns) {
  const hasRows = (fragment) => new State(fragment).chosen.some(([name, item]) => columns[name].items.includes(item));
  for (const shape of document.querySelectorAll("[data-chosen]")) {
    if (!hasRows(shape.dataset.chosen)) continue;
    const link = document.createElementNS("http://www.w3.org/2000/svg", "a");
    link.setAttribute("href", shape.dataset.chosen);
    link.setAttribute("aria-label", `Show ${shape.parentNode.querySelector("title")?.textContent}`);
    shape.replaceWith(link);
    link.append(shape);
    link.closest("svg").setAttribute("role", "group");
  }
  for (const each of document.querySelectorAll("[data-explore]")) each.hidden = !hasRows(each.firstChild.hash);
  for (const each of document.querySelectorAll("[data-cut]")) each.classList.add("replaced");
}

async function begin() {
  const data = document.getElementById("entries"), place = document.getElementById("explorer");
  if (!data || !("DecompressionStream" in window)) return;
  const facts = JSON.parse(place.dataset.facts);
  const entries = new Entries(await unpack(data.content.textContent), facts.labels);
  data.remove();
  explore(place, facts, entries);
  document.getElementById("entries-missing").remove();
  connect(entries.columns);
  setTimeout(() => entries.columns.loc.containing(() => true));  // the first filter then finds the URLs in lower case
}

// The page is painted first.
requestAnimationFrame(() => setTimeout(begin));
