// What all parts of the page share: data, words for numbers, colours, elements, the tip.

// The data of the page, {version, runs}, once unpacked.
async function unpackedData() {
  const text = document.getElementById("data").textContent;
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

// Columns {a: [1, 2], b: [3, 4]} as rows [{a: 1, b: 3}, {a: 2, b: 4}].
function rowsOf(columns) {
  const names = Object.keys(columns ?? {});
  if (names.length === 0) return [];
  return columns[names[0]].map((_, i) => Object.fromEntries(names.map((name) => [name, columns[name][i]])));
}

// Numbers. What is not known is a dash.
const kDash = "–";
const known = (value) => typeof value === "number" && Number.isFinite(value);
function digits(value, count = 3) {
  if (value === 0) return "0";
  const places = Math.max(0, count - 1 - Math.floor(Math.log10(Math.abs(value))));
  return value.toLocaleString("en", {minimumFractionDigits: 0, maximumFractionDigits: Math.min(places, 12)});
}
function withUnit(value, units, count = 3) {
  if (!known(value)) return kDash;
  const size = Math.abs(value);
  const [unit, scale] = units.find(([, least]) => size >= least * 0.9995) ?? units.at(-1);
  return `${digits(value / scale, count)} ${unit}`;
}
const kTimeUnits = [["h", 3.6e12], ["min", 6e10], ["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]];
const kByteUnits = [["TB", 1e12], ["GB", 1e9], ["MB", 1e6], ["kB", 1e3], ["B", 1]];
const kRateUnits = [["Tb/s", 1e12], ["Gb/s", 1e9], ["Mb/s", 1e6], ["kb/s", 1e3], ["b/s", 1]];
const timeText = (ns, count = 3) => (ns === 0 ? "0" : withUnit(ns, kTimeUnits, count));
const bytesText = (bytes) => (bytes === 0 ? "0" : withUnit(bytes, kByteUnits));
const rateText = (bps) => (bps === 0 ? "0" : withUnit(bps, kRateUnits));
const countText = (count) => (known(count) ? count.toLocaleString("en", {maximumFractionDigits: 0}) : kDash);
const numberText = (value) => (known(value) ? digits(value) : kDash);
const timesText = (value) => (known(value) ? `${value >= 100 ? countText(value) : value.toFixed(value < 10 ? 2 : 1)}×` : kDash);
function percentText(share) {
  if (!known(share)) return kDash;
  const percent = 100 * share;
  return `${percent === 0 ? "0" : percent < 0.1 ? "<0.1" : percent < 10 ? percent.toFixed(1) : percent.toFixed(0)}%`;
}
const dollarText = (value) => (known(value) ? withUnit(value, [["M$", 1e6], ["k$", 1e3], ["$", 1]]) : kDash);
const wattText = (value) => (known(value) ? withUnit(value, [["MW", 1e6], ["kW", 1e3], ["W", 1]]) : kDash);

// Elements: element("td", {class: "right"}, "text", other).
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== null && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}
const kSvg = "http://www.w3.org/2000/svg";
function svgElement(name, attributes = {}) {
  const made = document.createElementNS(kSvg, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}
// Text of many words without spaces, such as a topology or a path, that may break between them.
function breakable(text) {
  const pieces = String(text).split(/(?<=[,:;/|[\]→·])/), made = document.createDocumentFragment();
  pieces.forEach((piece, i) => made.append(...(i > 0 ? [element("wbr")] : []), piece));
  return made;
}
const note = (text) => element("p", {class: "note"}, text);

// Colours, as the theme has them now.
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const isDark = () => document.documentElement.dataset.theme === "dark";
const runColour = (run) => colour(`run${run.number % 6}`);
const kActivities = [
  {key: "compute_ns", name: "Computing", colour: "compute"},
  {key: "overhead_ns", name: "Sending and receiving (processor time)", colour: "overhead"},
  {key: "wait_network_ns", name: "Waiting for the network", colour: "network"},
  {key: "wait_peer_ns", name: "Waiting for other ranks", colour: "peers"},
  {key: "waiting_ns", name: "Waiting, otherwise", colour: "waiting"},
];
// viridis of matplotlib, at nine places: dark to bright.
const kViridis = [[68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 145, 140], [39, 173, 129], [94, 201, 98],
                  [170, 220, 50], [253, 231, 37]];
// Of a share from 0 to 1: what is most stands out from the ground, dark on light and bright on dark.
function heat(share) {
  const bounded = Math.min(Math.max(share, 0), 1);
  const at = (isDark() ? 0.12 + 0.88 * bounded : 0.92 * (1 - bounded)) * (kViridis.length - 1);
  const below = Math.min(Math.floor(at), kViridis.length - 2);
  const mixed = kViridis[below].map((from, i) => Math.round(from + (kViridis[below + 1][i] - from) * (at - below)));
  return `rgb(${mixed.join(",")})`;
}
function heatScale(text) {
  const canvas = element("canvas", {width: 160, height: 10, "aria-hidden": "true"});
  const pen = canvas.getContext("2d");
  for (let x = 0; x < 160; ++x) {
    pen.fillStyle = heat(x / 159);
    pen.fillRect(x, 0, 1, 10);
  }
  return element("span", {class: "scale"}, "0", canvas, text);
}

// The tip beside the pointer, or beside what the keyboard has reached.
function showTip(text, x, y) {
  const tip = document.getElementById("tip");
  if (tip.textContent !== text) tip.textContent = text;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - box.width - 8))}px`;
  tip.style.top = `${y + 18 + box.height > innerHeight ? Math.max(4, y - box.height - 10) : y + 18}px`;
}
function hideTip() {
  document.getElementById("tip").hidden = true;
}

// The tip of an element that says one thing, by pointer and by keyboard.
function tipOf(made, text) {
  made.addEventListener("pointermove", (event) => showTip(text, event.clientX, event.clientY));
  made.addEventListener("pointerleave", hideTip);
  made.addEventListener("focus", () => { const box = made.getBoundingClientRect(); showTip(text, box.left, box.bottom - 10); });
  made.addEventListener("blur", hideTip);
}

// A canvas as wide as its place, sharp on any screen. draw(pen, width, height) is called again when that changes.
function drawnCanvas(height, label, draw) {
  const canvas = element("canvas", {tabindex: 0, role: "img", "aria-label": label});
  canvas.style.height = `${height}px`;
  const plot = element("div", {class: "plot"}, canvas);
  const redraw = () => {
    const width = plot.clientWidth;
    if (width === 0) return;
    const sharp = Math.max(devicePixelRatio, 1);
    canvas.width = Math.round(width * sharp);
    canvas.height = Math.round(height * sharp);
    const pen = canvas.getContext("2d");
    pen.scale(sharp, sharp);
    pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    draw(pen, width, height);
  };
  new ResizeObserver(redraw).observe(plot);
  return {plot, canvas, redraw};
}

// Round steps for an axis from `least` to `most`.
function ticks(least, most, count) {
  const rough = (most - least) / Math.max(count, 1);
  if (!(rough > 0)) return [];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  const all = [];
  for (let at = Math.ceil(least / step) * step; at <= most + step * 1e-9; at += step) all.push(at);
  return all;
}

// The sections of the page, in order. Each has id, title, shown(runs) and render(body, runs, page).
const kSections = [];
