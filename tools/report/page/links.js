// The links that were busiest, had the longest queues, or lost most.

function linkTable(run) {
  const {links} = run, rows = rowsOf(links.rows);
  const jobs = new Map();
  if (run.jobs.count > 1) {
    for (const {link, name, share} of rowsOf(links.by_job)) jobs.set(link, [...(jobs.get(link) ?? []), `${name} ${percentText(share)}`]);
  }
  const columns = [
    {key: "from", title: "From"}, {key: "to", title: "To"}, {key: "rate_bps", title: "Rate", right: true, text: rateText},
    {key: "utilization", title: "In use", right: true, text: percentText, meter: (row) => row.utilization},
    {key: "bytes", title: "Carried", right: true, text: bytesText}, {key: "max_queue_bytes", title: "Longest queue", right: true, text: bytesText},
    {key: "ecn_marks", title: "ECN marks", right: true, text: countText}, {key: "drops", title: "Lost", right: true, text: countText},
  ];
  if (jobs.size > 0) columns.push({key: "link", title: "Jobs", of: (row) => (jobs.get(row.link) ?? []).join(", "), text: (text) => text || kDash});
  return dataTable(columns, rows, {caption: `Hottest links of ${run.label}`, filter: true, sort: ["utilization", true], first: 12});
}

// How many links were in use how much.
function busyBars(run) {
  const rows = rowsOf(run.links.busy), most = Math.max(...rows.map(({links}) => links));
  const all = Array.from({length: 20}, (_, twentieth) => rows.find((row) => row.twentieth === twentieth)?.links ?? 0);
  const {plot} = drawnCanvas(120, `How many links of ${run.label} were in use how much`, (pen, width, height) => {
    const left = 66, floor = height - 24, each = (width - left) / 20;
    pen.fillStyle = colour("muted");
    pen.textAlign = "right";
    pen.fillText(countText(most), left - 8, 16);
    pen.fillText("links", left - 8, floor);
    pen.textAlign = "center";
    for (let i = 0; i <= 20; i += 4) pen.fillText(`${5 * i}%`, Math.min(Math.max(left + i * each, left + 10), width - 20), height - 6);
    pen.fillStyle = colour("rule");
    pen.fillRect(left, floor, width - left, 1);
    pen.fillStyle = runColour(run);
    all.forEach((links, i) => pen.fillRect(left + i * each + 1, floor - (links / most) * (floor - 10), each - 2, (links / most) * (floor - 10)));
  });
  return plot;
}

function linksSection(body, runs) {
  for (const run of runs.filter(({links}) => links.count > 0)) {
    const {links} = run;
    if (runs.length > 1) body.append(runTitle(run));
    body.append(element("p", {}, `${countText(links.used)} of ${countText(links.count)} link directions carried something; on average a direction was in use ${percentText(links.mean_utilization)} of the time.`),
                busyBars(run), note("How many link directions were in use for which share of the runtime."), linkTable(run));
    if (links.rows.link.length < links.used) {
      body.append(note(`The table has the ${countText(links.rows.link.length)} links that come first by use, queue, losses or marks, of ${countText(links.used)}.`));
    }
  }
}

kSections.push({id: "links", title: "Hottest links", shown: (runs) => runs.some((run) => run.links.count > 0), render: linksSection});
