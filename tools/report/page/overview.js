// The headline: how long, what bound it, and the figures that people ask for first.

// Nothing of messages that arrive as they like: their ranks don't compute between them, nor wait.
function timeShares(run) {
  if (run.summary.open_loop) return {};
  const {compute_ns, overhead_ns, waiting_ns} = run.headline.shares;
  const all = compute_ns + overhead_ns + waiting_ns;
  // Where ranks have several cpus, of the one that computes.
  const {first_cpu: first, ranks, makespan_ns} = run.summary;
  if (first && all > 1.5 * ranks * makespan_ns) {
    return {compute: first.compute_share, overhead: first.overhead_share, waiting: first.exposed_share + first.idle_share};
  }
  return {compute: compute_ns / all, overhead: overhead_ns / all, waiting: waiting_ns / all};
}

const figure = (value, text) => element("div", {class: "figure"}, element("b", {}, value), element("span", {}, text));

function runFigures(run) {
  const {summary, headline, links, cost} = run;
  const shares = timeShares(run);
  const complete = summary.outcome === "complete";
  const figures = [figure(timeText(complete ? summary.makespan_ns : summary.stopped_at_ns, 4),
                          complete ? "simulated runtime" : `until the run ended: ${summary.outcome}`)];
  if (known(shares.compute)) {
    figures.push(figure(percentText(shares.compute), "of ranks' time computing"),
                 figure(percentText(shares.waiting), "of ranks' time waiting"));
    if (complete && run.jobs.count === 1) figures.push(figure(timeText(headline.floor_ns), "at least, on any network"));
  }
  if (known(summary.tokens_per_second)) figures.push(figure(countText(Math.round(summary.tokens_per_second)), "tokens a second"));
  if (summary.open_loop) {
    figures.push(figure(percentText(summary.open_loop.offered_load), "of the hosts' links offered"),
                 figure(percentText(summary.open_loop.accepted_load), "of the hosts' links carried"));
  }
  if (links.rows?.utilization?.length > 0) {
    figures.push(figure(percentText(links.rows.utilization[0]), "use of the busiest link"));
  }
  const p99 = summary.flows?.slowdown?.p99;
  if (known(p99)) figures.push(figure(timesText(p99), "p99 slowdown of messages against an empty network"));
  figures.push(figure(countText(summary.messages), `messages with ${bytesText(summary.bytes)}`));
  if (cost) figures.push(figure(dollarText(cost.price), `network, with ${wattText(cost.watts)}`));
  return element("div", {class: "figures"}, ...figures);
}

const kShortNames = (form) => (form ? form.split(":")[0] : "");
function setup(run) {
  const {summary} = run;
  const parts = [summary.topology || summary.network];
  const congestion = run.parameters.name.find((name) => name.startsWith("congestion."));
  const words = [kShortNames(parts[0])];
  if (summary.routing) words.push(`routing ${kShortNames(summary.routing)}`);
  if (congestion) words.push(`congestion control ${congestion.split(".")[1]}`);
  words.push(`network model ${kShortNames(summary.network)}`, `seed ${summary.seed}`);
  return words.join(" · ");
}

function problems(run) {
  const warnings = rowsOf(run.warnings);
  const diagnosis = warnings.filter(({kind}) => kind === "diagnosis").map(({text}) => text);
  const count = warnings.length - diagnosis.length;
  const notices = diagnosis.map((text) => element("div", {class: "notice"}, text));
  if (count > 0) {
    notices.push(element("div", {class: "notice"}, `This run has ${count} ${count === 1 ? "warning" : "warnings"}: see `,
                         element("a", {href: "#warnings"}, "Warnings"), "."));
  }
  return notices;
}

function overview(body, runs) {
  if (runs.length === 1) {
    body.append(element("p", {class: "eyebrow"}, `${runs[0].label} · ${setup(runs[0])}`),
                element("h1", {}, runs[0].headline.title), element("p", {class: "lead"}, runs[0].headline.because), ...problems(runs[0]), runFigures(runs[0]));
    return;
  }
  const complete = runs.filter(({summary}) => summary.outcome === "complete");
  const byTime = [...complete].sort((a, b) => a.summary.makespan_ns - b.summary.makespan_ns);
  let sentence = `${countText(runs.length)} runs`;
  if (byTime.length >= 2) {
    const [fastest, slowest] = [byTime[0], byTime.at(-1)];
    const factor = slowest.summary.makespan_ns / fastest.summary.makespan_ns;
    sentence = factor < 1.005
      ? `All runs took the same time, ${timeText(fastest.summary.makespan_ns)}, within half a percent.`
      : `${fastest.label} is the fastest, with ${timeText(fastest.summary.makespan_ns)}; ${slowest.label} takes ${digits(factor)} times as long.`;
  }
  body.append(element("p", {class: "eyebrow"}, `${runs.length} runs side by side`), element("h1", {}, sentence));
  for (const run of runs) {
    body.append(element("p", {}, runMark(run), element("b", {}, run.label), ` ${run.headline.title} ${run.headline.because}`), ...problems(run));
  }
}

function runMark(run) {
  const mark = element("span", {class: "swatch", "aria-hidden": "true"});
  mark.style.background = runColour(run);
  return mark;
}

kSections.push({id: "overview", title: "Overview", shown: () => true, render: overview, bare: true});
