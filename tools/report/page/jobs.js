// Jobs beside each other: when they ran, how much they were slowed, and by which other.

function jobTable(run) {
  const rows = rowsOf(run.jobs.rows), slowed = rows.some(({slowdown}) => known(slowdown)), waited = rows.some(({waiting_ns}) => waiting_ns > 0);
  const time = (key, title) => ({key, title, right: true, text: (ns) => timeText(ns, 4)});
  return dataTable(
    [{key: "job", title: "Job", right: true}, {key: "name", title: "Name"}, {key: "status", title: "Ended"}, {key: "ranks", title: "Ranks", right: true, text: countText},
     time("start_ns", "Start"), time("finish_ns", "Finish"), time("runtime_ns", "Runtime"), ...(waited ? [time("waiting_ns", "Waited")] : []),
     ...(slowed ? [time("alone_ns", "Alone"), {key: "slowdown", title: "Slowdown", right: true, text: timesText}] : []),
     {key: "messages", title: "Messages", right: true, text: countText}, {key: "bytes", title: "Sent", right: true, text: bytesText},
     {key: "hops", title: "Links crossed", right: true, text: numberText}, {key: "hosts", title: "Hosts", text: (hosts) => (hosts?.length > 40 ? `${hosts.slice(0, 38)} …` : hosts ?? kDash)}],
    rows, {caption: `Jobs of ${run.label}`, filter: rows.length > 10, first: 15});
}

function interferenceMatrix(run) {
  const cells = rowsOf(run.jobs.interference);
  if (cells.length === 0) return null;
  const jobs = [...new Set(cells.flatMap(({job, beside}) => [job, beside]))].sort((a, b) => a - b);
  const most = Math.max(...cells.map(({slowdown}) => slowdown), 1.01);
  const found = new Map(cells.map(({job, beside, slowdown}) => [`${job} ${beside}`, slowdown]));
  const cellOf = (job, beside) => {
    const slowdown = found.get(`${job} ${beside}`);
    const cell = element("td", {}, job === beside ? "" : known(slowdown) ? slowdown.toFixed(2) : kDash);
    if (known(slowdown)) {
      const share = (slowdown - 1) / (most - 1);
      cell.style.background = heat(0.04 + 0.96 * share);
      cell.style.color = (isDark() ? share > 0.45 : share < 0.45) ? "#10151a" : "#ffffff";
    }
    return cell;
  };
  const name = (job) => jobName(run, job);
  const head = element("tr", {}, element("th", {}, "slowdown of ↓ beside →"), ...jobs.map((job) => element("th", {scope: "col"}, name(job))));
  const rows = jobs.map((job) => element("tr", {}, element("th", {scope: "row"}, name(job)), ...jobs.map((beside) => cellOf(job, beside))));
  const cut = run.jobs.count > run.jobs.matrix_jobs ? note(`The first ${run.jobs.matrix_jobs} of ${countText(run.jobs.count)} jobs.`) : null;
  return element("div", {}, element("h4", {}, "Interference: runtime of a job beside one other, against alone"),
                 element("div", {class: "scroll"}, element("table", {class: "matrix"}, element("thead", {}, head), element("tbody", {}, ...rows))), cut);
}

function jobsSection(body, runs) {
  for (const run of runs.filter(({jobs}) => jobs.count > 0)) {
    const {machine} = run.summary;
    if (runs.length > 1) body.append(runTitle(run));
    if (run.jobs.count > 1 && machine) {
      const words = [`${countText(machine.nb_jobs_finished)} of ${countText(machine.nb_jobs)} jobs finished; jobs had ${percentText(machine.utilization)} of the machine's ${countText(machine.hosts)} hosts over the runtime.`];
      if (known(machine.fairness)) words.push(`Slowdown ${timesText(machine.mean_slowdown)} on average and ${timesText(machine.max_slowdown)} at most; fairness (Jain's index) ${machine.fairness.toFixed(3)}.`);
      if (machine.max_waiting_time_ns > 0) words.push(`They waited ${timeText(machine.mean_waiting_time_ns)} on average, ${timeText(machine.max_waiting_time_ns)} at most.`);
      body.append(element("p", {}, words.join(" ")));
    }
    body.append(jobTable(run));
    const matrix = interferenceMatrix(run);
    if (matrix) body.append(matrix);
    if (run.jobs.rows.job.length < run.jobs.count) body.append(note(`The first ${countText(run.jobs.rows.job.length)} of ${countText(run.jobs.count)} jobs.`));
  }
}

kSections.push({id: "jobs", title: "Jobs", shown: () => true, render: jobsSection});
