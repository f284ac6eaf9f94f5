// What acted and what didn't, packets out of order, warnings, every parameter, and what is left out.

// What signals mean; others are told by their name.
const kSignals = {
  ecn_mark: ["ECN", "congestion marks set at queues"], drop: ["Drops", "packets that found no room"], retransmit: ["Retransmission", "packets sent again"],
  timeout: ["Timeouts", "senders that waited in vain for an acknowledgement"], trim: ["Trimming", "packets cut to their headers"], pause: ["Pause", "times that a queue paused the link before it"],
  duplicate: ["Duplicates", "packets that came twice"], connection: ["Connections", "opened"], detoured_packet: ["Detours", "packets that took a longer way"],
  minimal_packet: ["Shortest paths", "packets that took one"], link_down_loss: ["Links down", "packets lost on them"], corrupt: ["Corruption", "packets with wrong bits"],
  no_route: ["No route", "packets that had none"], detour: ["Rerouting", "switches that took another link than their first choice"], reroute: ["Rerouting", "changes of path"],
};
const signalName = (name) => kSignals[name]?.[0] ?? name.replaceAll("_", " ").replace(/^./, (first) => first.toUpperCase());

function actedSection(body, runs) {
  for (const run of runs) {
    if (runs.length > 1) body.append(runTitle(run));
    const rows = rowsOf(run.signals), silent = rows.filter(({count}) => count === 0);
    if (rows.length === 0) {
      body.append(note("This network model has no congestion signals: nothing is marked, lost or sent again."));
      continue;
    }
    const acted = rows.filter(({count}) => count > 0);
    body.append(element("p", {}, acted.length === 0 ? "None of the signals ever fired." : ""));
    if (silent.length > 0) body.append(element("p", {}, element("b", {}, "Never fired: "), silent.map(({name}) => signalName(name)).join(", "), "."));
    body.append(dataTable([{key: "name", title: "Signal", text: signalName}, {key: "name", title: "What is counted", of: ({name}) => kSignals[name]?.[1] ?? name},
                           {key: "count", title: "Count", right: true, text: (count) => (count === 0 ? "never fired" : countText(count))},
                           {key: "share", title: "Per packet sent", right: true, of: ({count}) => (run.summary.packets?.injected > 0 ? count / run.summary.packets.injected : null),
                            text: (value) => (known(value) && value <= 1 ? percentText(value) : kDash)}],
                          rows, {caption: `Signals of ${run.label}`, sort: ["count", true], first: 20}));
    const {faults} = run.summary;
    if (faults?.count > 0) body.append(element("p", {}, `${countText(faults.count)} faults in the scenario changed links ${countText(faults.link_changes)} times.`));
  }
}

function reorderingSection(body, runs) {
  const rows = runs.map((run) => ({label: run.label, ...run.summary, delivered: run.summary.packets?.injected}));
  body.append(dataTable([...(runs.length > 1 ? [{key: "label", title: "Run"}] : []),
                         {key: "out_of_order_packets", title: "Packets behind a later one", right: true, text: countText},
                         {key: "overtaken_packets", title: "of these, on their first transmission", right: true, text: countText},
                         {key: "share", title: "Share of packets sent", right: true, of: (row) => row.out_of_order_packets / row.delivered, text: percentText},
                         {key: "out_of_order_flows", title: "Messages with such packets", right: true, text: countText},
                         {key: "max_reorder_distance", title: "Late by at most", right: true, text: (count) => `${countText(count)} packets`}],
                        rows, {caption: "Packets out of order"}));
  if (rows.every((row) => row.out_of_order_packets === 0)) body.append(note("Every packet came in the order in which it was sent."));
}

function warningsSection(body, runs) {
  for (const run of runs) {
    if (runs.length > 1) body.append(runTitle(run));
    const warnings = rowsOf(run.warnings);
    if (warnings.length === 0) body.append(element("p", {}, "None."));
    body.append(...warnings.map(({text}) => element("div", {class: "notice"}, breakable(text))));
  }
}

function leftOutSection(body, runs) {
  for (const run of runs) {
    if (runs.length > 1) body.append(runTitle(run));
    const missing = run.summary.not_replayed;
    const lines = [...run.left_out];
    if (missing) {
      const functions = (missing.functions ?? []).map(({name, calls}) => `${name} (${countText(calls)})`).join(", ");
      lines.unshift(`The graph lacks ${countText(missing.calls)} calls of the program it was traced from, ${percentText(missing.share_of_calls ?? 0)} of those that move data or put ranks in order${functions ? `: ${functions}` : ""}.`);
    }
    if (run.messages.step > 1) lines.push(`Single messages: one in ${countText(run.messages.step)} of ${countText(run.messages.rows)} is shown.`);
    if (run.ranks.together > 1) lines.push(`Single ranks: ${countText(run.ranks.together)} neighbours of ${countText(run.ranks.count)} are shown as one.`);
    if (run.drawing?.merged) lines.push("Single switches: those that stand together are drawn as one.");
    if (run.parameters.cut) lines.push("Parameters: the scenario is longer than what is shown of it.");
    if (lines.length === 0) body.append(element("p", {}, "Nothing: every row of the results is in the figures here."));
    else body.append(element("ul", {}, ...lines.map((line) => element("li", {}, line))));
  }
}

function parametersSection(body, runs) {
  for (const run of runs) {
    if (runs.length > 1) body.append(runTitle(run));
    body.append(dataTable([{key: "name", title: "Parameter", path: true}, {key: "value", title: "Value", path: true, text: (value) => value || "(empty)"}],
                          rowsOf({name: run.parameters.name, value: run.parameters.value}), {caption: `Parameters of ${run.label}`, filter: true, first: 12}));
  }
}

function originSection(body, runs) {
  for (const run of runs) {
    const {summary, provenance} = run;
    if (runs.length > 1) body.append(runTitle(run));
    const facts = [["Folder", run.folder], ["weft", provenance.version], ["Simulated on", provenance.machine_name], ["Threads", String(provenance.threads)],
                   ["Seed", String(summary.seed)], ["Digest of all events", summary.digest], ["Events", countText(summary.events)],
                   ["Simulated in", timeText(summary.wall_seconds * 1e9)], ["Memory at most", bytesText(summary.peak_memory_bytes)]];
    const rows = facts.map(([name, value]) => element("tr", {}, element("th", {scope: "row"}, name), element("td", {class: "path"}, breakable(value ?? kDash))));
    body.append(element("div", {class: "scroll"}, element("table", {}, element("tbody", {}, ...rows))));
    const inputs = rowsOf(run.inputs);
    if (inputs.length > 0) {
      body.append(element("h4", {}, "Input files"), dataTable([{key: "path", title: "File", path: true}, {key: "bytes", title: "Size", right: true, text: bytesText}, {key: "sha256", title: "SHA-256", path: true}],
                                                              inputs, {caption: "Input files"}));
    }
  }
}

const withPackets = (run) => run.summary.packets?.injected > 0;
kSections.push({id: "acted", title: "What acted, what didn't", shown: () => true, render: actedSection},
               {id: "order", title: "Packets out of order", shown: (runs) => runs.some(withPackets), render: (body, runs) => reorderingSection(body, runs.filter(withPackets))},
               {id: "warnings", title: "Warnings", shown: () => true, render: warningsSection},
               {id: "left-out", title: "What is left out", shown: () => true, render: leftOutSection},
               {id: "parameters", title: "Every parameter", shown: () => true, render: parametersSection},
               {id: "origin", title: "Where it comes from", shown: () => true, render: originSection});
