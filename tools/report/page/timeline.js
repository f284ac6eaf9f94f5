// What each rank did when: a lane for each processor, or for many ranks together.

const kKinds = kActivities.map(({name, colour: shade}) => ({name, shade}));
const kLaneKeys = ["compute_ns", "overhead_ns", "wait_network_ns", "wait_peer_ns", "waiting_ns"];

// Lanes of single ranks: {name, job, rank, first, last} with their slices from first to last.
function singleLanes(run) {
  const {job, rank, cpu} = run.timeline.slices, lanes = [];
  const several = cpu.some((number) => number > 0);
  for (let i = 0; i < job.length; ++i) {
    const before = lanes.at(-1);
    if (before && before.job === job[i] && before.rank === rank[i] && before.cpu === cpu[i]) {
      before.last = i + 1;
      continue;
    }
    const name = `${run.jobs.count > 1 ? `${jobName(run, job[i])} ` : ""}rank ${rank[i]}${several ? `, cpu ${cpu[i]}` : ""}`;
    lanes.push({name, job: job[i], rank: rank[i], lastRank: rank[i], cpu: cpu[i], first: i, last: i + 1});
  }
  return lanes;
}

// Lanes of groups of ranks, each with its bins.
function groupLanes(run) {
  const lanes = [];
  rowsOf(run.timeline.bins).forEach((bin) => {
    let lane = lanes.at(-1);
    if (!lane || lane.job !== bin.job || lane.rank !== bin.first_rank) {
      const ranks = bin.first_rank === bin.last_rank ? `rank ${bin.first_rank}` : `ranks ${bin.first_rank}–${bin.last_rank}`;
      lane = {name: `${run.jobs.count > 1 ? `${jobName(run, bin.job)} ` : ""}${ranks}`, job: bin.job, rank: bin.first_rank, lastRank: bin.last_rank, bins: []};
      lanes.push(lane);
    }
    lane.bins.push(bin);
  });
  return lanes;
}

// "0-7 12 halo" keeps lanes with one of these ranks, or of jobs with such a name.
function keptLanes(run, lanes, text) {
  const words = text.toLowerCase().split(/[\s,]+/).filter(Boolean);
  if (words.length === 0) return lanes;
  const ranges = [], names = [];
  for (const word of words) {
    const range = /^(\d+)(?:-(\d+))?$/.exec(word);
    if (range) ranges.push([Number(range[1]), Number(range[2] ?? range[1])]);
    else names.push(word);
  }
  return lanes.filter((lane) => (ranges.length === 0 || ranges.some(([from, to]) => lane.rank <= to && lane.lastRank >= from)) &&
                                names.every((name) => jobName(run, lane.job).toLowerCase().includes(name)));
}

// The first slice of a lane that ends after a moment.
function firstAfter(ends, lane, moment) {
  let low = lane.first, high = lane.last;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ends[middle] > moment) high = middle;
    else low = middle + 1;
  }
  return low;
}

class Timeline {
  constructor(run) {
    this.run = run;
    this.slices = run.timeline.slices;
    this.end = Math.max(run.summary.makespan_ns ?? 0, run.summary.stopped_at_ns ?? 0, ...[this.slices.end, run.timeline.bins.end].map((all) => all.reduce((a, b) => Math.max(a, b), 0)));
    this.from = 0;
    this.to = this.end;
    this.views = {};
    if (run.timeline.bins.job.length > 0) this.views.groups = groupLanes(run);
    if (this.slices.job.length > 0) this.views.ranks = singleLanes(run);
    this.view = this.views.ranks && this.views.ranks.length <= 600 ? "ranks" : Object.keys(this.views)[0];
    this.filter = "";
    this.top = 6;
    this.withMessages = true;
    this.drag = null;
    this.shown = this.views[this.view];
    this.holder = element("div");
    this.build();
  }

  build() {
    const lanes = keptLanes(this.run, this.views[this.view], this.filter);
    this.shown = lanes;
    this.high = Math.max(1.2, Math.min(18, 560 / Math.max(lanes.length, 1)));
    this.left = Math.min(190, 24 + 6.6 * lanes.reduce((most, {name}) => Math.max(most, name.length), 8));
    const height = Math.max(60, lanes.length * this.high + this.top + 30);
    const drawn = drawnCanvas(height, `Timeline of ${this.run.label}: arrows move, + and - zoom, 0 shows all`, (pen, width, whole) => this.draw(pen, width, whole));
    this.canvas = drawn.canvas;
    this.redraw = drawn.redraw;
    this.listen();
    this.holder.replaceChildren(drawn.plot);
    this.canvas.dataset.from = this.from;
    this.canvas.dataset.to = this.to;
    this.canvas.dataset.lanes = lanes.length;
  }

  x(moment, width) { return this.left + ((moment - this.from) / (this.to - this.from)) * (width - this.left); }
  momentAt(x, width) { return this.from + ((x - this.left) / (width - this.left)) * (this.to - this.from); }

  show(from, to) {
    [this.from, this.to] = [from, to];
    this.canvas.dataset.from = from;
    this.canvas.dataset.to = to;
    this.redraw();
  }
  key(name) {
    const moved = movedRange(name, this.from, this.to, 0, this.end);
    if (moved && moved[1] - moved[0] > 1) this.show(...moved);
    return Boolean(moved);
  }

  draw(pen, width, height) {
    const floor = height - 26;
    pen.save();
    pen.beginPath();
    pen.rect(this.left, 0, width - this.left, floor);
    pen.clip();
    pen.fillStyle = colour("panel");
    pen.fillRect(this.left, 0, width - this.left, floor);
    const shades = kKinds.map(({shade}) => colour(shade));
    this.shown.forEach((lane, i) => (lane.bins ? this.drawBins(pen, width, lane, i, shades) : this.drawSlices(pen, width, lane, i, shades)));
    if (this.withMessages && this.view === "ranks") this.drawMessages(pen, width);
    if (this.drag) {
      pen.fillStyle = colour("accent");
      pen.globalAlpha = 0.22;
      pen.fillRect(Math.min(...this.drag), 0, Math.abs(this.drag[1] - this.drag[0]), floor);
    }
    pen.restore();
    this.drawAxes(pen, width, height, floor);
  }

  drawSlices(pen, width, lane, i, shades) {
    const {start, end, kind} = this.slices, y = this.top + i * this.high, high = this.high > 4 ? this.high - 1 : this.high;
    for (let k = firstAfter(end, lane, this.from); k < lane.last && start[k] < this.to; ++k) {
      const x = this.x(start[k], width);
      pen.fillStyle = shades[kind[k]];
      pen.fillRect(x, y, this.x(end[k], width) - x, high);
    }
  }

  drawBins(pen, width, lane, i, shades) {
    const y = this.top + i * this.high, high = this.high > 4 ? this.high - 1 : this.high;
    for (const bin of lane.bins) {
      if (bin.end < this.from || bin.start > this.to) continue;
      const x = this.x(bin.start, width), wide = this.x(bin.end, width) - x, all = sumOf(bin);
      let at = y;
      kLaneKeys.forEach((key, kind) => {
        const part = ((bin[key] ?? 0) / all) * high;
        pen.fillStyle = shades[kind];
        pen.fillRect(x, at, wide + 0.3, part);
        at += part;
      });
    }
  }

  // Arrows from sender to receiver, where few enough are in sight to be told apart.
  drawMessages(pen, width) {
    const {job, source, destination, sent, arrived} = this.run.timeline.messages, kMost = 400;
    const row = new Map(this.shown.map(({job: of, rank}, i) => [`${of} ${rank}`, i]));
    const seen = [];
    for (let k = 0; k < job.length && seen.length <= kMost; ++k) {
      if (arrived[k] < this.from || sent[k] > this.to) continue;
      const from = row.get(`${job[k]} ${source[k]}`), to = row.get(`${job[k]} ${destination[k]}`);
      if (from !== undefined && to !== undefined) seen.push([from, to, k]);
    }
    if (seen.length > kMost) return;
    pen.strokeStyle = colour("text");
    pen.fillStyle = colour("text");
    pen.lineWidth = 0.9;
    pen.globalAlpha = 0.55;
    for (const [from, to, k] of seen) {
      const x0 = this.x(sent[k], width), x1 = this.x(arrived[k], width), y0 = this.top + (from + 0.5) * this.high, y1 = this.top + (to + 0.5) * this.high;
      pen.beginPath();
      pen.moveTo(x0, y0);
      pen.lineTo(x1, y1);
      pen.stroke();
      pen.beginPath();
      pen.arc(x1, y1, 1.8, 0, 2 * Math.PI);
      pen.fill();
    }
    pen.globalAlpha = 1;
  }

  drawAxes(pen, width, height, floor) {
    pen.fillStyle = colour("muted");
    pen.textBaseline = "middle";
    const each = Math.max(1, Math.ceil(13 / this.high));
    this.shown.forEach(({name}, i) => {
      if (i % each === 0) pen.fillText(name, 0, this.top + (i + 0.5) * this.high, this.left - 10);
    });
    pen.textBaseline = "alphabetic";
    for (const tick of ticks(this.from, this.to, 7)) {
      const x = this.x(tick, width);
      pen.fillStyle = colour("faint");
      pen.fillRect(Math.round(x), floor, 1, 5);
      pen.fillStyle = colour("muted");
      pen.textAlign = x < this.left + 24 ? "left" : x > width - 30 ? "right" : "center";
      pen.fillText(timeText(tick, 6), x, height - 6);
    }
    pen.textAlign = "left";
  }

  words(x, y, width) {
    const lane = this.shown[Math.floor((y - this.top) / this.high)], moment = this.momentAt(x, width);
    if (!lane || x < this.left) return null;
    if (lane.bins) {
      const bin = lane.bins.find(({start, end}) => start <= moment && moment < end);
      if (!bin) return null;
      const all = sumOf(bin);
      const shares = kActivities.filter(({key}) => bin[key] > 0).map(({key, name}) => `${name}: ${percentText(bin[key] / all)}`);
      return [lane.name, `${timeText(bin.start, 5)} to ${timeText(bin.end, 5)}`, ...shares].join("\n");
    }
    const s = this.slices, k = firstAfter(s.end, lane, moment);
    if (k >= lane.last || s.start[k] > moment) return null;
    const lines = [`${lane.name}: ${kKinds[s.kind[k]].name.toLowerCase()}`, `from ${timeText(s.start[k], 7)}, for ${timeText(s.end[k] - s.start[k], 4)}`];
    if (s.collective[k]) lines.push(`in ${s.collective[k]}`);
    if (known(s.peer[k])) lines.push(`${s.bytes[k] === null ? "a message" : bytesText(s.bytes[k])}, with rank ${s.peer[k]}`);
    if (known(s.op[k])) lines.push(`operation ${s.op[k]}`);
    return lines.join("\n");
  }

  listen() {
    const canvas = this.canvas;
    const place = (event) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top, box.width];
    };
    canvas.addEventListener("pointerdown", (event) => {
      const [x] = place(event);
      if (x < this.left || event.button !== 0) return;
      this.drag = [x, x];
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const [x, y, width] = place(event);
      if (this.drag) {
        this.drag[1] = Math.min(Math.max(x, this.left), width);
        this.redraw();
        showTip(`${timeText(this.momentAt(Math.min(...this.drag), width), 5)} to ${timeText(this.momentAt(Math.max(...this.drag), width), 5)}`, event.clientX, event.clientY);
        return;
      }
      const text = this.words(x, y, width);
      if (text) showTip(text, event.clientX, event.clientY);
      else hideTip();
    });
    canvas.addEventListener("pointerup", (event) => {
      const [, , width] = place(event), drag = this.drag;
      this.drag = null;
      if (drag && Math.abs(drag[1] - drag[0]) > 4) this.show(this.momentAt(Math.min(...drag), width), this.momentAt(Math.max(...drag), width));
      else this.redraw();
    });
    canvas.addEventListener("pointerleave", hideTip);
    canvas.addEventListener("dblclick", () => this.show(0, this.end));
    canvas.addEventListener("keydown", (event) => { if (this.key(event.key)) event.preventDefault(); });
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const [x, , width] = place(event), at = this.momentAt(Math.max(x, this.left), width), factor = event.deltaY > 0 ? 1.3 : 1 / 1.3;
      const from = Math.max(0, at - (at - this.from) * factor), to = Math.min(this.end, at + (this.to - at) * factor);
      if (to - from > 1) this.show(from, to);
    }, {passive: false});
  }
}

function timelineControls(timeline) {
  const button = (text, label, key) => element("button", {type: "button", "aria-label": label, onclick: () => timeline.key(key)}, text);
  const names = {ranks: "Single ranks", groups: "All ranks, in groups"};
  const views = Object.keys(timeline.views);
  const choice = views.length < 2 ? null : element("select", {"aria-label": "Lanes", onchange: (event) => {
    timeline.view = event.target.value;
    timeline.build();
  }}, ...views.map((view) => element("option", {value: view, selected: view === timeline.view}, names[view])));
  const filter = element("input", {type: "search", placeholder: "Ranks: 0-7 12, or a job", "aria-label": "Filter the timeline by ranks or job",
                                   oninput: (event) => { timeline.filter = event.target.value; timeline.build(); }});
  const messages = element("label", {}, element("input", {type: "checkbox", checked: true, onchange: (event) => {
    timeline.withMessages = event.target.checked;
    timeline.redraw();
  }}), "messages");
  return element("div", {class: "controls"}, choice, filter, timeline.views.ranks ? messages : null, element("span", {class: "grow"}),
                 button("←", "Earlier", "ArrowLeft"), button("→", "Later", "ArrowRight"), button("+", "Zoom in", "+"), button("−", "Zoom out", "-"), button("Whole", "Show the whole run", "0"));
}

function timelineNotes(run) {
  const {step, ranks, rows, slices} = run.timeline, words = [];
  words.push("Drag to zoom in, double-click for the whole run; arrows, + and − work too. Messages are drawn when no more than 400 are in sight.");
  if (step > 1) words.push(`One in ${step} of the ${countText(ranks)} ranks that were recorded is shown.`);
  const shown = slices.start.length;
  if (step === 1 && shown < rows) words.push(`The first ${countText(shown)} of ${countText(rows)} slices are shown.`);
  return words.join(" ");
}

function timelineSection(body, runs) {
  const kinds = runs.flatMap((run) => [...(run.timeline.slices?.kind ?? [])]);
  body.append(activityLegend(kActivities.filter((_, i) => kinds.includes(i) || runs.some((run) => run.timeline.bins?.[kLaneKeys[i]]?.some((time) => time > 0)))));
  for (const run of runs) {
    if (runs.length > 1) body.append(runTitle(run));
    if (run.timeline.absent) {
      body.append(note(`Nothing was recorded: ${run.timeline.absent}. weft sim … --set output.timeline=on records it.`));
      continue;
    }
    const timeline = new Timeline(run);
    body.append(timelineControls(timeline), timeline.holder, note(timelineNotes(run)));
  }
}

kSections.push({id: "timeline", title: "Timeline", shown: () => true, render: timelineSection});
