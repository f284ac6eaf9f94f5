// The network, its links coloured by what happened on them.

const kLinkMeasures = [
  {key: "busiest", title: "Utilization, busier direction", of: (line) => Math.max(line.there, line.back), text: percentText, share: true},
  {key: "mean", title: "Utilization, mean of directions", of: (line) => line.mean, text: percentText, share: true},
  {key: "queue", title: "Longest queue", of: (line) => line.queue, text: bytesText},
  {key: "marks", title: "ECN marks", of: (line) => line.marks, text: countText},
  {key: "drops", title: "Packets lost", of: (line) => line.drops, text: countText},
];

// The upper end of a scale: of shares a round one, so that small ones are told apart too.
function scaleEnd(measure, most) {
  if (!measure.share) return most;
  return [0.01, 0.02, 0.05, 0.1, 0.2, 0.5].find((end) => most <= end) ?? 1;
}

// The way of a line, bent where the layout bends it.
function linePath(drawing, line, at) {
  const [ax, ay] = at(line.a), [bx, by] = at(line.b), mx = (ax + bx) / 2, my = (ay + by) / 2;
  if (Math.abs(line.cx - mx) < 0.2 && Math.abs(line.cy - my) < 0.2) return `M${ax} ${ay}L${bx} ${by}`;
  if (!drawing.flat) return `M${ax} ${ay}Q${line.cx} ${line.cy} ${bx} ${by}`;
  const ox = (line.cx - mx) * 2 / 3, oy = (line.cy - my) * 2 / 3;
  const near = (p, q, out) => p + (q - p) * 0.1 + out;
  return `M${ax} ${ay}C${near(ax, bx, ox)} ${near(ay, by, oy)} ${near(bx, ax, ox)} ${near(by, ay, oy)} ${bx} ${by}`;
}

function networkBoxes(drawing) {
  const group = svgElement("g");
  for (const box of drawing.boxes) {
    const attributes = {class: "box"};
    group.append(box.round
      ? svgElement("circle", {...attributes, cx: box.x + box.width / 2, cy: box.y + box.height / 2, r: box.width / 2})
      : svgElement("rect", {...attributes, x: box.x, y: box.y, width: box.width, height: box.height, rx: 6}));
    if (box.label) {
      const text = svgElement("text", {x: box.label_x, y: box.label_y});
      text.textContent = box.label;
      group.append(text);
    }
  }
  return group;
}

function networkNodes(drawing, nodes) {
  const group = svgElement("g");
  for (const node of nodes) {
    if (node.tier === -2) continue;
    const r = node.tier === -1 ? drawing.endpoint_radius : drawing.switch_radius;
    const shape = node.tier === -1
      ? svgElement("circle", {class: "node", cx: node.x, cy: node.y, r})
      : svgElement("rect", {class: "node", x: node.x - r, y: node.y - r, width: 2 * r, height: 2 * r, rx: r * 0.35});
    shape.dataset.name = node.name;
    group.append(shape);
  }
  return group;
}

// What the pointer is on, in words.
function lineText(line, nodes) {
  const several = line.links > 1 ? `${countText(line.links)} links\n` : "";
  return `${nodes[line.a].name} — ${nodes[line.b].name}\n${several}→ ${percentText(line.there)} in use${line.links > 1 ? " at most" : ""}, ← ${percentText(line.back)}\n` +
         `longest queue ${bytesText(line.queue)}, ${countText(line.marks)} ECN marks, ${countText(line.drops)} lost`;
}

// Zoom by the buttons, the keys, and the wheel with Ctrl; drag moves.
function zoomable(svg, width, height) {
  let view = [0, 0, width, height];
  const show = () => svg.setAttribute("viewBox", view.map((value) => value.toFixed(2)).join(" "));
  const zoom = (factor, x = view[0] + view[2] / 2, y = view[1] + view[3] / 2) => {
    const size = Math.min(Math.max(view[2] * factor, width / 40), width), scale = size / view[2];
    view = [x - (x - view[0]) * scale, y - (y - view[1]) * scale, size, size * height / width];
    move(0, 0);
  };
  const move = (dx, dy) => {
    view[0] = Math.min(Math.max(view[0] + dx, 0), width - view[2]);
    view[1] = Math.min(Math.max(view[1] + dy, 0), height - view[3]);
    show();
  };
  const reset = () => { view = [0, 0, width, height]; show(); };
  const place = (event) => {
    const box = svg.getBoundingClientRect();
    return [view[0] + (event.clientX - box.left) / box.width * view[2], view[1] + (event.clientY - box.top) / box.height * view[3]];
  };
  svg.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.25 : 0.8, ...place(event));
  }, {passive: false});
  let last = null;
  svg.addEventListener("pointerdown", (event) => { last = [event.clientX, event.clientY]; svg.setPointerCapture(event.pointerId); });
  svg.addEventListener("pointermove", (event) => {
    if (!last) return;
    const scale = view[2] / svg.getBoundingClientRect().width;
    move((last[0] - event.clientX) * scale, (last[1] - event.clientY) * scale);
    last = [event.clientX, event.clientY];
  });
  svg.addEventListener("pointerup", () => { last = null; });
  svg.addEventListener("keydown", (event) => {
    const actions = {"+": () => zoom(0.8), "=": () => zoom(0.8), "-": () => zoom(1.25), 0: reset, ArrowLeft: () => move(-view[2] / 8, 0),
                     ArrowRight: () => move(view[2] / 8, 0), ArrowUp: () => move(0, -view[3] / 8), ArrowDown: () => move(0, view[3] / 8)};
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  });
  show();
  return {zoom, reset};
}

function networkDrawing(run) {
  const {drawing} = run, nodes = rowsOf(drawing.nodes), lines = rowsOf(drawing.lines);
  const at = (number) => [nodes[number].x, nodes[number].y];
  const svg = svgElement("svg", {class: "network", viewBox: `0 0 ${drawing.width} ${drawing.height}`, tabindex: 0, role: "img",
                                 "aria-label": `The network of ${run.label} with the load of its links`});
  const strokes = svgElement("g"), hits = svgElement("g");
  const paths = lines.map((line, i) => {
    const way = linePath(drawing, line, at);
    const hit = svgElement("path", {d: way, class: "hit", "stroke-width": 7});
    hit.dataset.line = i;
    hits.append(hit);
    return svgElement("path", {d: way});
  });
  svg.append(networkBoxes(drawing), strokes, hits, networkNodes(drawing, nodes));
  const measures = kLinkMeasures.filter((measure) => measure.share || lines.some((line) => measure.of(line) > 0));
  const scale = element("span");
  const strength = Math.min(1, Math.max(0.12, Math.sqrt(150 / Math.max(lines.length, 1))));
  const paint = (measure) => {
    const most = lines.reduce((value, line) => Math.max(value, measure.of(line)), 0), end = scaleEnd(measure, most) || 1;
    const order = lines.map((_, i) => i).sort((a, b) => measure.of(lines[a]) - measure.of(lines[b]));
    for (const i of order) {
      const share = measure.of(lines[i]) / end;
      paths[i].setAttribute("stroke", share === 0 ? colour("idle") : heat(share));
      paths[i].setAttribute("stroke-width", ((0.7 + 1.6 * strength) * (0.6 + 1.6 * share)).toFixed(2));
      paths[i].setAttribute("stroke-opacity", (0.55 + 0.45 * share).toFixed(2));
    }
    strokes.replaceChildren(...order.map((i) => paths[i]));
    scale.replaceChildren(heatScale(`${measure.text(end)} — most: ${measure.text(most)}`));
  };
  paint(measures[0]);
  const choice = element("select", {onchange: (event) => paint(measures[event.target.selectedIndex])}, ...measures.map(({title}) => element("option", {}, title)));
  const view = zoomable(svg, drawing.width, drawing.height);
  svg.addEventListener("pointermove", (event) => {
    const {line, name} = event.target.dataset;
    if (line !== undefined) showTip(lineText(lines[line], nodes), event.clientX, event.clientY);
    else if (name) showTip(name, event.clientX, event.clientY);
    else hideTip();
  });
  svg.addEventListener("pointerleave", hideTip);
  const button = (text, label, onclick) => element("button", {type: "button", "aria-label": label, onclick}, text);
  const words = [`${countText(drawing.endpoints)} endpoints, ${countText(drawing.switches)} switches, ${countText(drawing.cables)} cables.`];
  if (drawing.merged) words.push("A network of this size is drawn in parts: switches that stand together are one square, links between two such squares one line, coloured by the busiest of them.");
  if (!drawing.draws_endpoints) words.push("Endpoints are not drawn.");
  return element("div", {}, element("div", {class: "controls"}, element("label", {}, "Links coloured by", choice), scale, element("span", {class: "grow"}),
                                    button("+", "Zoom in", () => view.zoom(0.7)), button("−", "Zoom out", () => view.zoom(1.4)), button("Whole", "Show the whole network", view.reset)),
                 element("div", {class: "plot"}, svg), note(words.join(" ")));
}

function networkSection(body, runs) {
  for (const run of runs.filter((one) => one.drawing)) {
    if (runs.length > 1) body.append(runTitle(run));
    body.append(element("p", {class: "eyebrow"}, breakable(run.summary.topology)), networkDrawing(run));
  }
}

kSections.push({id: "network", title: "Network", shown: (runs) => runs.some((run) => run.drawing), render: networkSection});
