// Lines over an axis, by uPlot: dragging zooms, a double click or 0 goes back, + - and the arrows work by keyboard.

// Lines: {name, colour, values}; all over `xs`. Options: title, x, y (words for values), logarithmic, height, steps.
function lineChart(xs, lines, options) {
  const holder = element("div", {class: "plot", tabindex: 0, role: "img", "aria-label": options.label ?? options.title});
  const axis = (text) => ({
    stroke: colour("muted"), grid: {stroke: colour("rule"), width: 1}, ticks: {stroke: colour("rule"), width: 1},
    font: `12px ${getComputedStyle(document.body).fontFamily}`,
    values: (_, values) => values.map((value) => (value === null ? "" : text(value))), size: 62,
  });
  const stepped = options.steps ? uPlot.paths.stepped({align: -1}) : undefined;
  const settings = {
    width: 600, height: options.height ?? 220,
    scales: {x: {time: false, distr: options.logarithmic ? 3 : 1}, y: {range: (_, least, most) => [0, most > 0 ? most * 1.06 : 1]}},
    axes: [{...axis(options.x), size: 32, space: 80}, axis(options.y)],
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
