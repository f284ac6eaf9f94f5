// Where the time went: by job, and by rank.

// Rows of ranks, with what they waited for where that was recorded: `waiting_ns` is the rest then.
function timesOf(columns) {
  return rowsOf(columns).map((row) => ({...row, waiting_ns: Math.max(0, row.waiting_ns - (row.wait_network_ns ?? 0) - (row.wait_peer_ns ?? 0))}));
}

// The activities of rows of ranks; waiting is divided where the run recorded what for.
function activitiesOf(rows) {
  return kActivities.filter(({key}) => rows.some((row) => row[key] > 1e-6 * sumOf(row)));
}

function activityLegend(activities) {
  return element("div", {class: "legend"}, ...activities.map(({name, colour: key}) => {
    const mark = element("i");
    mark.style.background = colour(key);
    return element("span", {}, mark, name);
  }));
}

const sumOf = (row) => kActivities.reduce((sum, {key}) => sum + (row[key] ?? 0), 0);

// A bar as long as the ranks of a job took on average, against the longest of all.
function jobBar(name, row, longest, activities) {
  const all = sumOf(row), each = row.finish_ns;
  const bar = element("div", {class: "bar", role: "img", tabindex: 0});
  bar.style.width = `${(100 * each) / longest}%`;
  const words = activities.map(({key, name: what}) => `${what}: ${percentText((row[key] ?? 0) / all)}`).join("\n");
  for (const {key, colour: shade} of activities) {
    if (!(row[key] > 1e-6 * all)) continue;
    const part = element("div");
    part.style.width = `${(100 * row[key]) / all}%`;
    part.style.background = colour(shade);
    bar.append(part);
  }
  const text = `${name}\n${countText(row.ranks)} ranks, finished after ${timeText(row.finish_ns, 4)}\n${words}`;
  bar.setAttribute("aria-label", text);
  tipOf(bar, text);
  return [element("div", {class: "label", title: name}, name), element("div", {}, bar),
          element("div", {class: "value"}, timeText(each, 4))];
}

function jobName(run, job) {
  return run.jobs.rows.name[job] || `job ${job}`;
}

const kMostJobBars = 30;
function jobBars(body, runs) {
  const rows = runs.flatMap((run) => timesOf(run.ranks.by_job).filter((row) => sumOf(row) > 0).map((row) => ({run, row})));
  if (rows.length === 0) return false;
  const shown = rows.slice(0, kMostJobBars);
  const longest = Math.max(...shown.map(({row}) => row.finish_ns));
  const activities = activitiesOf(rows.map(({row}) => row));
  const several = runs.length > 1;
  body.append(activityLegend(activities), element("div", {class: "bars"}, ...shown.flatMap(({run, row}) => {
    const job = jobName(run, row.job);
    const name = several ? (run.jobs.count > 1 ? `${run.label}: ${job}` : run.label) : job;
    return jobBar(name, row, longest, activities);
  })));
  if (rows.length > shown.length) body.append(note(`The first ${kMostJobBars} of ${countText(rows.length)} jobs; all of them are in the table of jobs.`));
  return true;
}

// A column for each rank, or for neighbours together: what it did until its finish.
function rankColumns(run) {
  const rows = timesOf(run.ranks.by_rank).filter((row) => sumOf(row) > 0);
  if (rows.length < 2) return null;
  const activities = activitiesOf(rows);
  const most = Math.max(...rows.map((row) => row.finish_ns));
  const left = 66, bottom = 26, top = 8;
  let chosen = -1;
  const {plot, canvas, redraw} = drawnCanvas(210, `Time of each rank of ${run.label}`, (pen, width, height) => {
    const inner = width - left, floor = height - bottom;
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    for (const tick of ticks(0, most, 4)) {
      const y = floor - (tick / most) * (floor - top);
      pen.fillStyle = colour("rule");
      pen.fillRect(left, Math.round(y), inner, 1);
      pen.fillStyle = colour("muted");
      pen.fillText(timeText(tick), left - 8, y);
    }
    const each = inner / rows.length, gap = each > 6 ? 1 : 0;
    // Edges are those of pixels: a part of one would be of another colour than the legend's.
    const sharp = pen.getTransform().a, edge = (at) => Math.round(at * sharp) / sharp;
    const shades = activities.map(({colour: shade}) => colour(shade));
    rows.forEach((row, i) => {
      const all = sumOf(row), x = edge(left + i * each), wide = Math.max(edge(left + (i + 1) * each - gap) - x, 1 / sharp);
      let done = 0, y = edge(floor);
      activities.forEach(({key}, k) => {
        done += (row[key] ?? 0) / all;
        const upper = edge(floor - (done * row.finish_ns * (floor - top)) / most);
        pen.fillStyle = shades[k];
        pen.fillRect(x, upper, wide, y - upper);
        y = upper;
      });
      if (i === chosen) {
        pen.strokeStyle = colour("text");
        pen.lineWidth = 1.5;
        pen.strokeRect(x, y, wide, floor - y);
      }
    });
    pen.fillStyle = colour("muted");
    pen.textBaseline = "alphabetic";
    pen.textAlign = "left";
    pen.fillText(`rank ${rows[0].rank}`, left, height - 7);
    pen.textAlign = "right";
    pen.fillText(`rank ${rows.at(-1).last_rank}${run.jobs.count > 1 ? ` of ${jobName(run, rows.at(-1).job)}` : ""}`, width, height - 7);
  });
  const words = (row) => {
    const who = row.rank === row.last_rank ? `Rank ${row.rank}` : `Ranks ${row.rank} to ${row.last_rank}`;
    const all = sumOf(row);
    return [`${who} of ${jobName(run, row.job)}${row.host === null ? "" : `, host ${row.host}`}`, `finished after ${timeText(row.finish_ns, 4)}`,
            ...activities.map(({key, name}) => `${name}: ${percentText((row[key] ?? 0) / all)}`)].join("\n");
  };
  const choose = (i, x, y) => {
    chosen = i;
    redraw();
    if (i >= 0) showTip(words(rows[i]), x, y);
    else hideTip();
  };
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    const i = Math.floor(((event.clientX - box.left - left) / (box.width - left)) * rows.length);
    choose(i >= 0 && i < rows.length ? i : -1, event.clientX, event.clientY);
  });
  canvas.addEventListener("pointerleave", () => choose(-1));
  canvas.addEventListener("blur", () => choose(-1));
  canvas.addEventListener("keydown", (event) => {
    const step = {ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10}[event.key];
    if (!step) return;
    event.preventDefault();
    const i = Math.min(Math.max(chosen + step, 0), rows.length - 1), box = canvas.getBoundingClientRect();
    choose(i, box.left + left + ((i + 0.5) / rows.length) * (box.width - left), box.top + 40);
  });
  return plot;
}

const hasTimes = ({summary}) => !summary.open_loop;

function breakdown(body, all) {
  const runs = all.filter(hasTimes);
  if (!jobBars(body, runs)) {
    body.append(note("This network model knows when each rank finished, but not what it spent its time on."));
    return;
  }
  body.append(note("Bars are as long as the job took; their parts are shares of the time of all its ranks. A rank waits while no processor of its works."));
  for (const run of runs) {
    const plot = rankColumns(run);
    if (!plot) continue;
    const together = run.ranks.together;
    body.append(runs.length > 1 ? runTitle(run, "by rank") : element("h3", {}, "By rank"), plot);
    if (together > 1) body.append(note(`${countText(run.ranks.count)} ranks: each column is ${together} neighbours together, and ends when the last of them does.`));
  }
}

function runTitle(run, what) {
  return element("h3", {class: "run-name"}, runMark(run), what ? `${run.label}: ${what}` : run.label);
}

kSections.push({id: "breakdown", title: "Where the time went", shown: (runs) => runs.some(hasTimes), render: breakdown});
