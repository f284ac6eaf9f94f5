// What the network would cost to buy and to power.

function costSection(body, runs) {
  for (const run of runs.filter(({cost}) => cost)) {
    const {cost, summary} = run;
    if (runs.length > 1) body.append(runTitle(run));
    const powered = known(cost.watts), joules = powered ? (cost.watts * summary.makespan_ns) / 1e9 : null;
    body.append(element("div", {class: "figures"}, figure(dollarText(cost.price), `${countText(cost.switches)} switches, ${countText(cost.cables)} cables, NICs`),
                        ...(powered ? [figure(wattText(cost.watts), "drawn by the network")] : []), figure(dollarText(cost.price_per_endpoint), "an endpoint"),
                        figure(dollarText(cost.price_per_gbps_injection), "per Gb/s that endpoints can inject"),
                        ...(known(cost.price_per_gbps_achieved) ? [figure(dollarText(cost.price_per_gbps_achieved), "per Gb/s that this run delivered")] : []),
                        ...(powered ? [figure(withUnit(joules, [["MJ", 1e6], ["kJ", 1e3], ["J", 1], ["mJ", 1e-3]]), "of energy in this run, by that power")] : [])),
                dataTable([{key: "item", title: "Part"}, {key: "count", title: "Count", right: true, text: countText},
                           {key: "price", title: "Price", right: true, text: dollarText},
                           ...(powered ? [{key: "watts", title: "Power", right: true, text: wattText}] : [])],
                          cost.lines, {caption: `Parts of the network of ${run.label}`}),
                note(`${powered ? "Prices and power" : "Prices (it gives no power)"} from the list '${cost.prices}'${cost.date ? ` of ${cost.date}` : ""}${cost.source ? `: ${cost.source}` : ""}. Estimates; weft report --prices takes your own.`));
  }
}

kSections.push({id: "cost", title: "Cost and power", shown: (runs) => runs.some(({cost}) => cost), render: costSection});
