// Tables that sort by any column and filter by words.

// Columns: {key, title, text(value, row), right, path, of(row)}. Options: first (rows before "show all"), filter,
// sort ([key, descending]), caption.
function dataTable(columns, rows, options = {}) {
  const first = options.first ?? 15;
  let sort = options.sort ?? null, words = "", all = false;
  const body = element("tbody");
  const heads = columns.map((column) => {
    const button = element("button", {type: "button", onclick: () => sortBy(column)}, column.title);
    return element("th", {scope: "col", class: column.right ? "right" : null}, button);
  });
  const more = element("button", {type: "button", onclick: () => { all = !all; fill(); }});
  const valueOf = (column, row) => (column.of ? column.of(row) : row[column.key]);
  const textOf = (column, row) => {
    const value = valueOf(column, row);
    if (column.text) return column.text(value, row);
    return value === null || value === undefined ? kDash : String(value);
  };

  function sortBy(column) {
    const same = sort && sort[0] === column.key;
    sort = [column.key, same ? !sort[1] : Boolean(column.right)];
    fill();
  }
  function shownRows() {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (row) => {
      const text = columns.map((column) => textOf(column, row)).join(" ").toLowerCase();
      return wanted.every((word) => text.includes(word));
    };
    const shown = wanted.length > 0 ? rows.filter(fits) : [...rows];
    if (!sort) return shown;
    const column = columns.find(({key}) => key === sort[0]);
    const compare = (a, b) => {
      const x = valueOf(column, a), y = valueOf(column, b);
      if (known(x) && known(y)) return x - y;
      if (known(x) !== known(y)) return known(x) ? 1 : -1;
      return String(x ?? "").localeCompare(String(y ?? ""), "en", {numeric: true});
    };
    return shown.sort((a, b) => (sort[1] ? -compare(a, b) : compare(a, b)));
  }
  function fill() {
    const shown = shownRows();
    columns.forEach((column, i) => {
      const by = sort && sort[0] === column.key;
      heads[i].setAttribute("aria-sort", by ? (sort[1] ? "descending" : "ascending") : "none");
    });
    const visible = all ? shown : shown.slice(0, first);
    body.replaceChildren(...visible.map((row) => element("tr", {}, ...columns.map((column) => {
      const cell = element("td", {class: [column.right && "right", column.path && "path"].filter(Boolean).join(" ") || null});
      cell.append(column.path ? breakable(textOf(column, row)) : textOf(column, row));
      if (column.meter) cell.append(meter(column.meter(row)));
      return cell;
    }))));
    more.hidden = shown.length <= first;
    more.textContent = all ? `Show the first ${first}` : `Show all ${countText(shown.length)}`;
  }
  fill();
  const table = element("table", {}, element("thead", {}, element("tr", {}, ...heads)), body);
  if (options.caption) table.setAttribute("aria-label", options.caption);
  const filter = options.filter
    ? element("input", {type: "search", placeholder: "Filter", "aria-label": `Filter: ${options.caption ?? "rows"}`,
                        oninput: (event) => { words = event.target.value; fill(); }})
    : null;
  return element("div", {}, filter ? element("div", {class: "controls"}, filter) : null,
                 element("div", {class: "scroll"}, table), element("div", {class: "controls"}, more));
}

function meter(share) {
  const inner = element("div");
  inner.style.width = `${Math.min(Math.max(share, 0), 1) * 100}%`;
  return element("span", {class: "meter", "aria-hidden": "true"}, inner);
}
