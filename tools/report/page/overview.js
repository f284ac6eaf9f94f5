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
  // Where computing is scaled there is no peak.
  if (known(summary.mfu)) figures.push(figure(`${digits(100 * summary.mfu)}%`, "of the GPUs' peak, in the model's FLOPs (MFU)"));
  else if (known(summary.model_tflops_per_gpu)) figures.push(figure(digits(summary.model_tflops_per_gpu), "TFLOP/s of the model on each GPU"));
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
  if (cost) figures.push(figure(dollarText(cost.price), known(cost.watts) ? `network, with ${wattText(cost.watts)}` : "network"));
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

// Warnings in full, each once, with the runs that have it; those after the first few are folded.
const kFirstWarnings = 3;
function problems(runs) {
  const texts = new Map();
  for (const kind of ["diagnosis", "warning"]) {
    for (const run of runs) {
      for (const row of rowsOf(run.warnings)) {
        if ((row.kind === "diagnosis") !== (kind === "diagnosis")) continue;
        texts.set(row.text, [...(texts.get(row.text) ?? []), run]);
      }
    }
  }
  const notices = [...texts].map(([text, which]) => {
    const who = runs.length > 1 && which.length < runs.length ? which.flatMap((run) => [runMark(run), element("b", {}, `${run.label} `)]) : [];
    return element("div", {class: "notice"}, ...who, breakable(text));
  });
  if (notices.length <= kFirstWarnings) return notices;
  const rest = notices.slice(kFirstWarnings);
  return [...notices.slice(0, kFirstWarnings),
          element("details", {class: "more"}, element("summary", {}, `${rest.length} more ${rest.length === 1 ? "warning" : "warnings"}`), ...rest)];
}

// The picture of several runs: bars as long as they took, divided by what ranks did.
function runBars(runs) {
  const rows = runs.map((run) => {
    const parts = timesOf(run.ranks.by_job), sums = {};
    for (const {key} of kActivities) sums[key] = hasTimes(run) ? parts.reduce((sum, row) => sum + (row[key] ?? 0), 0) : 0;
    return {run, row: sums, time: run.summary.makespan_ns};
  });
  const longest = Math.max(...rows.map(({time}) => time));
  const activities = activitiesOf(rows.map(({row}) => row).filter((row) => sumOf(row) > 0));
  const bars = rows.flatMap(({run, row, time}) => {
    const all = sumOf(row), bar = element("div", {class: "bar", role: "img", tabindex: 0});
    bar.style.width = `${(100 * time) / longest}%`;
    const shown = all > 0 ? activities.map(({key, colour: shade}) => [row[key] / all, colour(shade)]) : [[1, runColour(run)]];
    for (const [share, shade] of shown) {
      const part = element("div");
      part.style.width = `${100 * share}%`;
      part.style.background = shade;
      if (share > 1e-6) bar.append(part);
    }
    const text = `${run.label}: ${timeText(time, 4)}\n${all > 0 ? activities.map(({key, name}) => `${name}: ${percentText(row[key] / all)}`).join("\n") : ""}`;
    bar.setAttribute("aria-label", text);
    tipOf(bar, text);
    return [element("div", {class: "label", title: run.label}, runMark(run), run.label), element("div", {}, bar), element("div", {class: "value"}, timeText(time, 4))];
  });
  return [activityLegend(activities), element("div", {class: "bars"}, ...bars)];
}

// The figures and choices that people ask for first, where the runs differ or it is the runtime.
const kKeyTitles = new Set(["Simulated runtime", "What bound it", "Waiting, of ranks' time", "Slowdown of messages, p99", "Use of the busiest link", "Price of the network", "Power of the network"]);
const kMostChoices = 4;
function keyTable(runs) {
  const choices = differingParameters(runs).filter(({name}) => kPlaces.includes(name)).slice(0, kMostChoices);
  const measures = kMeasures.filter((measure) => kKeyTitles.has(measure.title) && runs.some((run) => known(measure.of(run)) || typeof measure.of(run) === "string"));
  const table = comparisonTable(measures, runs);
  table.querySelector("tbody").prepend(...choices.map((row) => element("tr", {}, element("th", {scope: "row"}, row.name),
    ...runs.map((_, i) => element("td", {class: "right"}, row[`run${i}`] ?? kDash)))));
  return table;
}

function overviewOfOne(body, run) {
  body.append(element("p", {class: "eyebrow"}, `${run.label} · `, breakable(setup(run))), element("h1", {}, run.headline.title),
              element("p", {class: "lead"}, run.headline.because), ...problems([run]), runFigures(run));
  if (!hasTimes(run)) return;
  const plot = rankColumns(run);
  if (plot) body.append(element("h3", {}, "What ranks did"), activityLegend(activitiesOf(timesOf(run.ranks.by_rank))), plot);
}

function overview(body, runs) {
  if (runs.length === 1) return overviewOfOne(body, runs[0]);
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
  body.append(element("p", {class: "eyebrow"}, `${runs.length} runs side by side`), element("h1", {}, sentence), ...runBars(runs), keyTable(runs));
  const told = runs.map((run) => element("p", {}, runMark(run), element("b", {}, run.label), ` ${run.headline.title} ${run.headline.because}`));
  const seen = told.slice(0, kMostShown), rest = told.slice(kMostShown);
  body.append(...seen);
  if (rest.length > 0) body.append(element("details", {class: "more"}, element("summary", {}, `${rest.length} more runs`), ...rest));
  body.append(...problems(runs));
}

function runMark(run) {
  const mark = element("span", {class: "swatch", "aria-hidden": "true"});
  mark.style.background = runColour(run);
  return mark;
}

kSections.push({id: "overview", title: "Overview", shown: () => true, render: overview, bare: true});
