// Lines over an axis, by uPlot: dragging zooms, a double click or 0 goes back, + - and the arrows work by keyboard.

// The places of marks on a logarithmic axis: whole digits times powers of ten, or, closer than that, even steps.
function logarithmicMarks(least, most) {
  const marks = [];
  for (let power = Math.floor(Math.log10(least)); power <= Math.log10(most); ++power) {
    // Divided where the power is negative: 0.3, not 3 * 0.1.
    for (let digit = 1; digit < 10; ++digit) marks.push(power < 0 ? digit / 10 ** -power : digit * 10 ** power);
  }
  const within = marks.filter((mark) => mark >= least * (1 - 1e-9) && mark <= most * (1 + 1e-9));
  return within.length > 2 ? within : ticks(least, most, 4);
}

// Which of these marks have their value beside them, null for the others: powers of ten, and where these are fewer than
// three, 2 and 5 times these, and then all. None is closer to another than their words are wide; `place` tells
// where a mark is, in pixels, and `width` of its words.
function labelledMarks(marks, place, width) {
  const digit = (mark) => Math.min(9, Math.round(mark / 10 ** Math.floor(Math.log10(mark) + 1e-9)));
  const kGap = 10, kEnough = 3;
  const chosen = new Set();
  const fits = (mark) => [...chosen].every((other) => Math.abs(place(mark) - place(other)) >= (width(mark) + width(other)) / 2 + kGap);
  for (const digits of [[1], [2, 5], [3, 4, 6, 7, 8, 9]]) {
    if (chosen.size >= kEnough) break;
    for (const mark of marks) {
      if (digits.includes(digit(mark)) && fits(mark)) chosen.add(mark);
    }
  }
  for (const mark of marks) {
    if (chosen.size < 2 && !chosen.has(mark) && fits(mark)) chosen.add(mark);
  }
  return marks.map((mark) => (chosen.has(mark) ? mark : null));
}

// What a logarithmic axis shows of values from `first` to `last`: all of them, from one whole digit to another, or the
// part that was asked for.
function logarithmicRange(least, most, first, last) {
  if (least > first || most < last) return [least, most];
  const power = (value) => 10 ** Math.floor(Math.log10(value) + 1e-9);
  const from = Math.floor(least / power(least) + 1e-9) * power(least), to = Math.ceil(most / power(most) - 1e-9) * power(most);
  return from < to ? [from, to] : [from, from + power(from)];
}

// How wide the widest of these words is on a chart's axis.
function wordsWidth(chart, axis, words) {
  chart.ctx.save();
  chart.ctx.font = chart.axes[axis].font[0];
  const widest = Math.max(0, ...(words ?? []).map((text) => chart.ctx.measureText(text ?? "").width / uPlot.pxRatio));
  chart.ctx.restore();
  return widest;
}

// Lines: {name, colour, values}; all over `xs`. Options: title, x, y (words for values), logarithmic, height, steps.
function lineChart(xs, lines, options) {
  const holder = element("div", {class: "plot", tabindex: 0, role: "img", "aria-label": options.label ?? options.title});
  const axis = (text) => ({
    stroke: colour("muted"), grid: {stroke: colour("rule"), width: 1}, ticks: {stroke: colour("rule"), width: 1},
    font: `12px ${getComputedStyle(document.body).fontFamily}`,
    values: (_, values) => values.map((value) => (value === null ? "" : text(value))),
  });
  // As wide as its words, so that none is cut; those of charts beside each other are mostly the same.
  const widthOf = (chart, words, axis, cycle) => {
    if (cycle > 1) return chart.axes[axis]._size;
    return Math.max(62, Math.ceil(wordsWidth(chart, axis, words) + chart.axes[axis].gap + chart.axes[axis].ticks.size));
  };
  // Beside the last mark below, half of its words.
  const besideLast = (chart) => Math.max(17, Math.ceil(wordsWidth(chart, 0, (chart.axes[0]._values ?? []).slice(-1)) / 2));
  const logarithmic = {
    splits: (chart, index, least, most) => logarithmicMarks(least, most),
    filter: (chart, marks, index) => labelledMarks(marks, (mark) => chart.valToPos(mark, "x"), (mark) => wordsWidth(chart, index, [options.x(mark)])),
  };
  const stepped = options.steps ? uPlot.paths.stepped({align: -1}) : undefined;
  const settings = {
    width: 600, height: options.height ?? 220,
    scales: {x: {time: false, ...(options.logarithmic ? {distr: 3, range: (_, least, most) => logarithmicRange(least, most, xs[0], xs.at(-1))} : {})}, y: {range: (_, least, most) => [0, most > 0 ? most * 1.06 : 1]}},
    axes: [{...axis(options.x), size: 32, space: 80, ...(options.logarithmic ? logarithmic : {})}, {...axis(options.y), size: widthOf}],
    padding: [null, besideLast, null, null],
    cursor: {drag: {x: true, y: false}},
    legend: {show: lines.length > 1, live: false},
    hooks: {setCursor: [(chart) => tellCursor(chart, lines, options)]},
    series: [{}, ...lines.map((line) => ({label: line.name, stroke: line.colour, width: 1.75, points: {show: false}, paths: stepped, spanGaps: true}))],
  };
  if (options.most) settings.scales.y.range = () => [0, options.most];
  let chart = null;
  new ResizeObserver(() => {
    const width = holder.clientWidth;
    if (width === 0) return;
    if (chart) chart.setSize({width, height: settings.height});
    else chart = new uPlot({...settings, width}, [xs, ...lines.map((line) => line.values)], holder);
  }).observe(holder);
  holder.addEventListener("keydown", (event) => {
    const whole = [xs[0], xs.at(-1)];
    const {min, max} = chart.scales.x;
    const moved = movedRange(event.key, min, max, whole[0], whole[1]);
    if (!moved) return;
    event.preventDefault();
    chart.setScale("x", {min: moved[0], max: moved[1]});
  });
  holder.chart = () => chart;
  return element("div", {}, options.title ? element("h4", {}, options.title) : null, holder);
}

// The values at the cursor, in the tip.
function tellCursor(chart, lines, options) {
  const {idx, left, top} = chart.cursor;
  if (idx === null || idx === undefined || left < 0) return hideTip();
  const box = chart.over.getBoundingClientRect();
  const words = lines.map((line) => {
    const value = line.values[idx];
    const text = known(value) ? options.y(value) : kDash;
    return lines.length > 1 ? `${line.name}: ${text}` : text;
  });
  showTip(`${options.xName ?? "at"} ${options.x(chart.data[0][idx])}\n${words.join("\n")}`, box.left + left, box.top + Math.max(top, 0));
}

// What a key makes of the range that is shown; null for other keys.
function movedRange(key, from, to, least, most) {
  const width = to - from;
  const within = (start, size) => {
    const bounded = Math.min(size, most - least);
    const begin = Math.min(Math.max(start, least), most - bounded);
    return [begin, begin + bounded];
  };
  switch (key) {
    case "+": case "=": return within(from + width / 4, width / 2);
    case "-": return within(from - width / 2, width * 2);
    case "ArrowLeft": return within(from - width / 5, width);
    case "ArrowRight": return within(from + width / 5, width);
    case "0": case "Home": return [least, most];
    default: return null;
  }
}
