// Several runs: what differs between them, first.

// Figures of a run: less is better where `less`, more where it is false; else neither. Shares say enough by themselves.
const kMeasures = [
  {title: "Simulated runtime", of: ({summary}) => summary.makespan_ns, text: (ns) => timeText(ns, 4), less: true},
  {title: "What bound it", of: ({headline}) => headline.bound, text: (bound) => bound},
  {title: "Ended", of: ({summary}) => summary.outcome, text: (outcome) => outcome},
  {title: "Tokens a second", of: ({summary}) => summary.tokens_per_second, text: (tokens) => countText(Math.round(tokens)), less: false},
  {title: "TFLOP/s of the model on each GPU", of: ({summary}) => summary.model_tflops_per_gpu, text: (flops) => digits(flops, 4), less: false},
  {title: "Model FLOPs utilization (MFU)", of: ({summary}) => summary.mfu, text: (share) => `${digits(100 * share)}%`, share: true},
  {title: "Computing, of ranks' time", of: (run) => timeShares(run).compute, text: percentText, share: true},
  {title: "Waiting, of ranks' time", of: (run) => timeShares(run).waiting, text: percentText, share: true, less: true},
  {title: "Completion time of messages, median", of: ({summary}) => summary.flows?.completion?.p50_ns, text: (ns) => timeText(ns), less: true},
  {title: "Completion time of messages, p99", of: ({summary}) => summary.flows?.completion?.p99_ns, text: (ns) => timeText(ns), less: true},
  {title: "Slowdown of messages, p99", of: ({summary}) => summary.flows?.slowdown?.p99, text: timesText, less: true},
  {title: "Goodput of all hosts together", of: ({summary}) => summary.goodput?.total_bps, text: rateText, less: false},
  {title: "Use of the busiest link", of: ({links}) => links.rows?.utilization?.[0], text: percentText, share: true},
  {title: "Use of all links, mean", of: ({links}) => links.mean_utilization, text: percentText, share: true},
  {title: "Longest queue", of: ({links}) => (links.count > 0 ? links.rows.max_queue_bytes.reduce((a, b) => Math.max(a, b), 0) : null), text: bytesText, less: true},
  {title: "ECN marks", of: (run) => run.signals_by_name.ecn_mark, text: countText, less: true},
  {title: "Packets lost", of: ({summary}) => summary.packets?.dropped, text: countText, less: true},
  {title: "Packets sent again", of: (run) => run.signals_by_name.retransmit, text: countText, less: true},
  {title: "Packets out of order", of: ({summary}) => summary.out_of_order_packets, text: countText, less: true},
  {title: "Slowdown of jobs, mean", of: ({summary}) => summary.machine?.mean_slowdown, text: timesText, less: true},
  {title: "Messages", of: ({summary}) => summary.messages, text: countText},
  {title: "Bytes sent by ranks", of: ({summary}) => summary.bytes, text: bytesText},
  {title: "Endpoints of the network", of: ({drawing}) => drawing?.endpoints, text: countText},
  {title: "Price of the network", of: ({cost}) => cost?.price, text: dollarText, less: true},
  {title: "Power of the network", of: ({cost}) => cost?.watts, text: wattText, less: true},
  {title: "Price × runtime, against the first", of: ({cost, summary}) => (cost ? cost.price * summary.makespan_ns : null), text: null, less: true},
];

// Against the first run: "+12%", with whether that is good.
function difference(measure, value, first) {
  if (measure.share || !known(value) || !known(first) || first === 0 || value === first) return null;
  const percent = 100 * (value / first - 1);
  if (Math.abs(percent) < 0.05) return null;
  const text = Math.abs(percent) >= 1000 ? `${digits(value / first)}×` : `${percent > 0 ? "+" : "−"}${digits(Math.abs(percent), 2)}%`;
  const judged = measure.less === undefined ? null : (percent < 0) === measure.less ? "better" : "worse";
  return element("span", {class: judged ? `nowrap ${judged}` : "nowrap"}, ` ${text}`);
}

function measureRow(measure, runs) {
  const values = runs.map(measure.of);
  return element("tr", {}, element("th", {scope: "row"}, measure.title), ...values.map((value, i) => {
    if (value === null || value === undefined) return element("td", {class: "right"}, kDash);
    const text = measure.text ? measure.text(value) : timesText(value / values[0]);
    return element("td", {class: "right"}, text, measure.text ? difference(measure, value, values[0]) : null);
  }));
}

function differs(measure, runs) {
  const values = runs.map(measure.of);
  if (values.some(known)) {
    const numbers = values.map((value) => value ?? 0), most = Math.max(...numbers.map(Math.abs));
    return Math.max(...numbers) - Math.min(...numbers) > 1e-4 * most;
  }
  return new Set(values).size > 1;
}

function comparisonTable(measures, runs) {
  const head = element("tr", {}, element("th", {}, ""), ...runs.map((run) => element("th", {scope: "col", class: "right"}, runMark(run), run.label)));
  return element("div", {class: "scroll"}, element("table", {}, element("thead", {}, head), element("tbody", {}, ...measures.map((measure) => measureRow(measure, runs)))));
}

// Fields of the scenario that choose a module.
const kPlaces = ["fabric", "network", "topology", "routing", "congestion", "recovery", "queue"];

// Parameters that are not the same in all runs: first which modules were chosen, then values that several runs
// have, then those that only some have, as their modules have no such parameter.
function differingParameters(runs) {
  const values = new Map();
  const add = (name, i, value) => {
    if (!values.has(name)) values.set(name, new Array(runs.length).fill(null));
    values.get(name)[i] = value;
  };
  runs.forEach((run, i) => run.parameters.name.forEach((name, k) => {
    const [place, module] = name.split(".");
    if (kPlaces.includes(place) && module) add(place, i, module);
    add(name, i, run.parameters.value[k]);
  }));
  const rank = ([name, row]) => (kPlaces.includes(name) ? 0 : new Set(row.filter((value) => value !== null)).size > 1 ? 1 : 2);
  return [...values].filter(([, row]) => new Set(row).size > 1).sort((a, b) => rank(a) - rank(b))
    .map(([name, row]) => ({name, ...Object.fromEntries(row.map((value, i) => [`run${i}`, value]))}));
}

function compareSection(body, runs) {
  const present = kMeasures.filter((measure) => runs.some((run) => { const value = measure.of(run); return value !== null && value !== undefined; }));
  const different = present.filter((measure) => differs(measure, runs)), same = present.filter((measure) => !differs(measure, runs));
  const longest = Math.max(...runs.map(({summary}) => summary.makespan_ns));
  const fabrics = runs.map(({summary}) => summary.fabric ?? "");
  if (new Set(fabrics).size > 1) {
    body.append(note(`These networks are not of one fabric (${fabrics.map((fabric) => fabric || "none").join(", ")}): differences may be the fabric's.`));
  }
  body.append(element("div", {class: "bars"}, ...runs.flatMap((run) => {
    const bar = element("div", {class: "bar"}, element("div"));
    bar.firstChild.style.background = runColour(run);
    bar.firstChild.style.width = `${(100 * run.summary.makespan_ns) / longest}%`;
    return [element("div", {class: "label"}, run.label), bar, element("div", {class: "value"}, timeText(run.summary.makespan_ns, 4))];
  })), note("Simulated runtime."));
  if (different.length > 0) body.append(element("h3", {}, "Figures that differ"), note(`Percentages are against ${runs[0].label}.`), comparisonTable(different, runs));
  const parameters = differingParameters(runs);
  body.append(element("h3", {}, "Parameters that differ"));
  if (parameters.length === 0) body.append(note("None: these runs were given the same."));
  else body.append(dataTable([{key: "name", title: "Parameter", path: true}, ...runs.map((run, i) => ({key: `run${i}`, title: run.label, path: true}))],
                             parameters, {caption: "Parameters that differ", filter: parameters.length > 12, first: 12}));
  if (same.length > 0) body.append(element("h3", {}, "Figures that are the same"), comparisonTable(same, runs));
}

kSections.push({id: "compare", title: "Differences", shown: (runs) => runs.length > 1, render: compareSection});
