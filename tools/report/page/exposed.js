// Communication that computing waited for, and what went on beside it.

function exposedRows({exposed_communication: exposed, hidden_communication: hidden}) {
  return Object.entries(exposed).map(([name, {mean_ns, max_ns, share, unsent_share}]) => ({name, mean_ns, max_ns, share, unsent_share, hidden_ns: hidden?.[name]?.mean_ns}));
}

const hasExposed = ({summary}) => summary.first_cpu?.compute_share > 0 && Object.keys(summary.exposed_communication ?? {}).length > 0;

function exposedSection(body, runs) {
  body.append(note("Exposed: the first cpu of a rank, which computes, has nothing to do, and goes on when such communication ends. Of single messages, part of that is until the message was sent: its sender was not ready, as in the bubble of a pipeline. Hidden: collectives under way while it computes."));
  for (const run of runs.filter(hasExposed)) {
    body.append(dataTable([{key: "name", title: "Axis, or kind"},
                           {key: "mean_ns", title: "Exposed, mean of ranks", right: true, text: (ns) => timeText(ns, 4), meter: ({share}) => share},
                           {key: "max_ns", title: "Most of a rank", right: true, text: (ns) => timeText(ns, 4)},
                           {key: "share", title: "Of the runtime", right: true, text: percentText},
                           {key: "unsent_share", title: "of it until sent", right: true, text: percentText},
                           {key: "hidden_ns", title: "Hidden, mean", right: true, text: (ns) => timeText(ns, 4)}],
                          exposedRows(run.summary), {caption: `Communication of ${run.label}`, first: 12}));
  }
}

kSections.push({id: "exposed", title: "Exposed communication", shown: (runs) => runs.some(hasExposed), render: exposedSection});
