// How large messages are, how long they take, and how much longer than in an empty network.

// The share of values up to each: a line per run over the places of all runs.
function cumulative(runs, quantity) {
  const places = [...new Set(runs.flatMap((run) => [...run.messages[quantity].first, ...run.messages[quantity].last]))]
    .filter((value) => value > 0).sort((a, b) => a - b);
  const lines = runs.map((run) => {
    const {last, count} = run.messages[quantity];
    const all = count.reduce((sum, value) => sum + value, 0);
    let i = 0, sum = 0;
    return places.map((place) => {
      while (i < last.length && last[i] <= place) sum += count[i++];
      return sum / all;
    });
  });
  return {places, lines};
}

function distributionChart(runs, quantity, title, text) {
  const with_values = runs.filter((run) => run.messages[quantity].first.length > 0);
  const {places, lines} = cumulative(with_values, quantity);
  if (places.length < 2) {
    return element("div", {}, element("h4", {}, title), note(places.length === 1 ? `All messages: ${text(places[0])}.` : "No messages."));
  }
  return lineChart(places, with_values.map((run, i) => ({name: run.label, colour: runColour(run), values: lines[i]})),
                   {title, x: text, y: percentText, logarithmic: true, most: 1, steps: true, xName: "up to",
                    label: `${title}: share of messages up to each value`});
}

const kPercentiles = [["mean", "mean"], ["p50", "p50 (median)"], ["p90", "p90"], ["p95", "p95"], ["p99", "p99"], ["p99_9", "p99.9"], ["max", "max"]];

function sizeName(entry, before) {
  if (entry.up_to_bytes === null) return `above ${bytesText(before)}`;
  return `up to ${bytesText(entry.up_to_bytes)}`;
}

// Percentiles of completion time and slowdown, of all messages and by size.
function percentileTable(runs) {
  const rows = [];
  for (const run of runs) {
    const flows = run.summary.flows;
    if (!flows?.count) continue;
    const add = (sizes, entry) => {
      for (const [quantity, suffix] of [["completion", "_ns"], ["slowdown", ""]]) {
        if (!entry[quantity]) continue;
        const values = Object.fromEntries(kPercentiles.map(([key]) => [key, entry[quantity][key + suffix]]));
        rows.push({run: run.label, sizes, count: entry.count, quantity, ...values});
      }
    };
    add("all", flows);
    const classes = flows.by_size ?? [];
    if (classes.length > 1) classes.forEach((entry, i) => add(sizeName(entry, classes[i - 1]?.up_to_bytes ?? 0), entry));
  }
  if (rows.length === 0) return null;
  const value = (number, row) => (row.quantity === "completion" ? timeText(number) : timesText(number));
  return dataTable(
    [...(runs.length > 1 ? [{key: "run", title: "Run"}] : []), {key: "quantity", title: "Of", text: (name) => (name === "completion" ? "completion time" : "slowdown")},
     {key: "sizes", title: "Sizes"}, {key: "count", title: "Messages", right: true, text: countText},
     ...kPercentiles.map(([key, title]) => ({key, title, right: true, text: value}))],
    rows, {caption: "Percentiles of messages", first: 24});
}

// Sizes against completion times, both logarithmic.
function messageCloud(run) {
  const rows = rowsOf(run.messages.sample).filter(({bytes, completion_ns}) => bytes > 0 && completion_ns > 0);
  if (rows.length < 2) return null;
  // Whole powers of ten, and between them 2 and 5 where there are few.
  const range = (values) => {
    const least = Math.floor(Math.log10(values.reduce((a, b) => Math.min(a, b)))), most = Math.ceil(Math.log10(values.reduce((a, b) => Math.max(a, b))));
    return [least, Math.max(most, least + 1)];
  };
  const [x0, x1] = range(rows.map(({bytes}) => bytes)), [y0, y1] = range(rows.map(({completion_ns}) => completion_ns));
  const left = 66, bottom = 30, top = 10, right = 12;
  let places = [];
  const {plot, canvas} = drawnCanvas(300, `Size and completion time of ${countText(rows.length)} messages of ${run.label}`, (pen, width, height) => {
    const x = (power) => left + ((power - x0) / (x1 - x0)) * (width - left - right);
    const y = (power) => height - bottom - ((power - y0) / (y1 - y0)) * (height - bottom - top);
    const marks = (from, to) => Array.from({length: to - from + 1}, (_, i) => from + i)
      .flatMap((power) => (to - from <= 2 && power < to ? [power, power + Math.log10(2), power + Math.log10(5)] : [power]));
    for (const power of marks(x0, x1)) {
      pen.fillStyle = colour("rule");
      pen.fillRect(Math.round(x(power)), top, 1, height - bottom - top);
      pen.fillStyle = colour("muted");
      pen.textAlign = power === x1 ? "right" : "center";
      pen.fillText(bytesText(10 ** power), x(power) + (power === x1 ? right : 0), height - 10);
    }
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (const power of marks(y0, y1)) {
      pen.fillStyle = colour("rule");
      pen.fillRect(left, Math.round(y(power)), width - left - right, 1);
      pen.fillStyle = colour("muted");
      pen.fillText(timeText(10 ** power), left - 8, y(power));
    }
    pen.fillStyle = runColour(run);
    pen.globalAlpha = Math.max(0.12, Math.min(0.6, 600 / rows.length));
    places = rows.map((row) => [x(Math.log10(row.bytes)), y(Math.log10(row.completion_ns))]);
    for (const [px, py] of places) {
      pen.beginPath();
      pen.arc(px, py, 2.6, 0, 2 * Math.PI);
      pen.fill();
    }
  });
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect(), px = event.clientX - box.left, py = event.clientY - box.top;
    let nearest = -1, least = 144;
    places.forEach(([x, y], i) => {
      const distance = (x - px) ** 2 + (y - py) ** 2;
      if (distance < least) [nearest, least] = [i, distance];
    });
    if (nearest < 0) return hideTip();
    const row = rows[nearest];
    showTip(`Message ${countText(row.flow)}: host ${row.source} → host ${row.destination}\n${bytesText(row.bytes)} in ${timeText(row.completion_ns)}, ` +
            `sent at ${timeText(row.start_ns, 4)}${known(row.slowdown) ? `\n${timesText(row.slowdown)} as long as in an empty network` : ""}`,
            event.clientX, event.clientY);
  });
  canvas.addEventListener("pointerleave", hideTip);
  const step = run.messages.step;
  return element("div", {}, runTitle(run, "each message"), plot,
                 note(`Completion time (upwards) by size, both logarithmic.${step > 1 ? ` One in ${countText(step)} of the ${countText(run.messages.rows)} in the results is shown, by number; percentiles are of all.` : ""}`));
}

function slowestTable(run) {
  const rows = rowsOf(run.messages.slowest);
  if (rows.length === 0) return null;
  return element("div", {}, element("h4", {}, "Messages that were slowed most"), dataTable(
    [{key: "flow", title: "Message", text: countText, right: true}, {key: "source", title: "From host", right: true}, {key: "destination", title: "To host", right: true},
     {key: "bytes", title: "Size", right: true, text: bytesText}, {key: "start_ns", title: "Sent at", right: true, text: (ns) => timeText(ns, 5)},
     {key: "completion_ns", title: "Took", right: true, text: (ns) => timeText(ns)}, {key: "ideal_ns", title: "Alone", right: true, text: (ns) => timeText(ns)},
     {key: "slowdown", title: "Slowdown", right: true, text: timesText}, {key: "retransmissions", title: "Sent again", right: true, text: countText},
     {key: "ecn_marked", title: "ECN-marked", right: true, text: countText}],
    rows, {caption: "Messages that were slowed most", first: 5}));
}

function messagesSection(body, runs) {
  body.append(element("div", {class: "side"}, distributionChart(runs, "completion_ns", "Completion time", (ns) => timeText(ns)),
                      distributionChart(runs, "size_bytes", "Size", bytesText),
                      distributionChart(runs, "slowdown", "Slowdown against an empty network", timesText)),
              note("Share of messages up to each value. Completion: from handing a message to the sender's NIC to its last byte in the receiver's."));
  const table = percentileTable(runs);
  if (table) body.append(element("h3", {}, "Percentiles"), table);
  for (const run of runs) {
    const cloud = messageCloud(run), slowest = slowestTable(run);
    if (cloud) body.append(cloud);
    if (slowest) body.append(slowest);
  }
}

kSections.push({id: "messages", title: "Messages", shown: (runs) => runs.some((run) => run.messages.completion_ns.first.length > 0), render: messagesSection});
