// Queues, load and losses over time.

// The values of a column at each shown interval of a run, 0 where there was nothing, over the ends of the intervals.
// The end of the run may cut the last one short; value(i, length) knows how long it was.
function overTime(columns, {interval_ns, end_ns}, value) {
  const last = columns.place.at(-1) ?? 0;
  const values = new Array(last + 1).fill(0);
  const end = (place) => Math.min(place * interval_ns, end_ns);
  columns.place.forEach((place, i) => { values[place] = value(i, end(place) - (place - 1) * interval_ns); });
  return {xs: values.map((_, place) => end(place)), values};
}

// One line for each run, over the moments of all of them.
function seriesChart(runs, title, text, of, options = {}) {
  const each = runs.map((run) => ({run, ...of(run)})).filter(({values}) => values.some((value) => value > 0));
  if (each.length === 0) return null;
  const xs = [...new Set(each.flatMap((line) => line.xs))].sort((a, b) => a - b);
  const lines = each.map(({run, xs: own, values}) => {
    const found = new Map(own.map((x, i) => [x, values[i]]));
    return {name: run.label, colour: runColour(run), values: xs.map((x) => found.get(x) ?? null)};
  });
  return lineChart(xs, lines, {title, x: (ns) => timeText(ns, 4), y: text, xName: "at", ...options});
}

// Rows are links, columns moments: how long the queue was.
function queueMap(run) {
  const {hot} = run.series, links = rowsOf(hot.links).filter(({link}) => hot.cells.link.includes(link));
  const cells = rowsOf(hot.cells).filter(({queue}) => queue > 0);
  if (links.length === 0 || cells.length === 0) return null;
  const row = new Map(links.map(({link}, i) => [link, i]));
  const places = Math.max(...hot.cells.place), most = Math.max(...cells.map(({queue}) => queue));
  const high = 15, top = 4, bottom = 24;
  const index = new Map(cells.map((cell) => [`${row.get(cell.link)} ${cell.place}`, cell]));
  const longest = Math.max(...links.map(({from, to}) => from.length + to.length + 3));
  const leftOf = (width) => Math.min(longest * 6.6 + 12, width * 0.4);
  const {plot, canvas} = drawnCanvas(links.length * high + top + bottom, `Queues of ${links.length} links of ${run.label} over time`, (pen, width, height) => {
    const left = leftOf(width), each = (width - left) / places;
    pen.fillStyle = colour("panel");
    pen.fillRect(left, top, width - left, links.length * high);
    for (const {link, place, queue} of cells) {
      pen.fillStyle = heat(queue / most);
      pen.fillRect(left + (place - 1) * each, top + row.get(link) * high, Math.max(each, 0.7), high - 1);
    }
    pen.fillStyle = colour("muted");
    pen.textBaseline = "middle";
    links.forEach(({from, to}, i) => pen.fillText(`${from} → ${to}`, 0, top + (i + 0.5) * high, left - 10));
    pen.textBaseline = "alphabetic";
    const end = places * hot.interval_ns;
    for (const tick of ticks(0, end, 6)) {
      pen.textAlign = tick === 0 ? "left" : tick > 0.95 * end ? "right" : "center";
      pen.fillText(timeText(tick), left + (tick / end) * (width - left), height - 6);
    }
  });
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect(), left = leftOf(box.width);
    const i = Math.floor((event.clientY - box.top - top) / high), place = Math.floor(((event.clientX - box.left - left) / (box.width - left)) * places) + 1;
    if (!links[i] || place < 1 || place > places) return hideTip();
    const cell = index.get(`${i} ${place}`);
    showTip(`${links[i].from} → ${links[i].to}\nuntil ${timeText(place * hot.interval_ns, 4)}\nqueue ${bytesText(cell?.queue ?? 0)}, in use ${percentText(cell?.utilization ?? 0)}`,
            event.clientX, event.clientY);
  });
  canvas.addEventListener("pointerleave", hideTip);
  return element("div", {}, element("h4", {}, `${run.label}: the ${links.length} links with the longest queues`),
                 element("div", {class: "controls"}, heatScale(`${bytesText(most)} waiting`)), plot);
}

function seriesSection(body, runs) {
  const sampled = runs.filter(({series}) => series);
  const network = (value) => (run) => overTime(run.series.network, run.series, (i, length) => value(run.series.network, i, length));
  const queues = (key) => (run) => overTime(run.series.queues, run.series, (i) => run.series.queues[key][i]);
  const charts = [
    seriesChart(sampled, "Longest queue", bytesText, queues("longest")),
    seriesChart(sampled, "All queues together", bytesText, queues("together")),
    seriesChart(sampled, "Delivered, headers and ACKs included", rateText, network((columns, i, length) => (columns.bytes_delivered[i] * 8e9) / length)),
    seriesChart(sampled, "Use of the busiest link", percentText, queues("utilization"), {most: 1}),
    seriesChart(sampled, "Packets in flight", countText, network((columns, i) => columns.packets_in_flight[i])),
    seriesChart(sampled, "ECN marks", countText, network((columns, i) => columns.ecn_marks[i])),
    seriesChart(sampled, "Packets lost", countText, network((columns, i) => columns.drops[i])),
  ].filter(Boolean);
  body.append(element("div", {class: "side"}, ...charts));
  body.append(note(`Drag over a chart to zoom in, double-click to go back. ${sampled.map(({label, series}) =>
    `${label}: ${countText(series.samples)} intervals sampled, shown in steps of ${timeText(series.interval_ns)} with the longest queue, and the sums, of each`).join("; ")}.`));
  for (const run of sampled) {
    const map = queueMap(run);
    if (map) body.append(map);
  }
}

kSections.push({id: "series", title: "Over time", shown: (runs) => runs.some(({series}) => series), render: seriesSection});
