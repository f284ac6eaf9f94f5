// The chain of work and messages that set the runtime, where the run recorded it.

const kPathShares = [
  {key: "compute_ns", name: "Computing", colour: "compute"},
  {key: "overhead_ns", name: "Sending and receiving (processor time)", colour: "overhead"},
  {key: "latency_ns", name: "Latency of links, switches and NICs", colour: "latency"},
  {key: "bandwidth_ns", name: "Bytes at the rate of links", colour: "bandwidth"},
  {key: "queueing_ns", name: "Queues, and links shared with others", colour: "network"},
  {key: "matching_ns", name: "Handshakes until sender and receiver knew of each other", colour: "peers"},
  {key: "start_ns", name: "Until the job began", colour: "waiting"},
];

function pathBar(run, shares, longest) {
  const all = kPathShares.reduce((sum, {key}) => sum + shares[key], 0);
  const words = kPathShares.filter(({key}) => shares[key] > 0).map(({key, name}) => `${name}: ${timeText(shares[key], 4)}, ${percentText(shares[key] / all)}`);
  const text = `${run.label}\n${words.join("\n")}`;
  const bar = element("div", {class: "bar", role: "img", tabindex: 0, "aria-label": text});
  bar.style.width = `${(100 * all) / longest}%`;
  for (const {key, colour: shade} of kPathShares) {
    if (!(shares[key] > 1e-6 * all)) continue;
    const part = element("div");
    part.style.width = `${(100 * shares[key]) / all}%`;
    part.style.background = colour(shade);
    bar.append(part);
  }
  tipOf(bar, text);
  return [element("div", {class: "label"}, run.label), element("div", {}, bar), element("div", {class: "value"}, timeText(all, 4))];
}

function pathTable(path, key, title, rows) {
  if (rows.length === 0) return null;
  const share = ({key: of, name}) => ({key: of, title: name.split(" ")[0], right: true, of: (row) => row.shares[of], text: (ns) => timeText(ns)});
  const used = kPathShares.filter(({key: of}) => rows.some((row) => row.shares[of] > 0));
  return element("div", {}, element("h4", {}, title), dataTable(
    [{key: "name", title: key}, {key: "pieces", title: "Pieces", right: true, text: countText},
     {key: "total_ns", title: "On the path", right: true, text: (ns) => timeText(ns, 4), meter: (row) => row.total_ns / path.runtime_ns}, ...used.map(share)],
    rows, {caption: title, first: 8}));
}

function criticalPathSection(body, runs) {
  const recorded = runs.filter(({summary}) => summary.critical_path?.shares);
  const longest = Math.max(...recorded.map(({summary}) => summary.critical_path.runtime_ns));
  const shown = kPathShares.filter(({key}) => recorded.some(({summary}) => summary.critical_path.shares[key] > 0));
  body.append(note("The one chain of work and messages that the runtime consists of: what is not on it could be faster without the run being any shorter."),
              activityLegend(shown), element("div", {class: "bars"}, ...recorded.flatMap((run) => pathBar(run, run.summary.critical_path.shares, longest))));
  for (const run of recorded) {
    const path = run.summary.critical_path;
    if (runs.length > 1) body.append(runTitle(run));
    body.append(...[pathTable(path, "Operation", "By operation", path.classes ?? []), pathTable(path, "Rank", "By rank", path.ranks ?? []),
                    pathTable(path, "Link", "By link; queueing counts at every link that a message crossed", path.links ?? [])].filter(Boolean));
  }
}

kSections.push({id: "critical-path", title: "Critical path", shown: (runs) => runs.some(({summary}) => summary.critical_path?.shares), render: criticalPathSection});
