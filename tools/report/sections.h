// The parts of what the page shows of one run: each reads its tables and gives a JSON object of columns.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "tools/report/budget.h"
#include "tools/report/database.h"
#include "topologies/cost/price_list.h"
#include "topologies/graph/topology.h"

namespace weft::report {

using Json = nlohmann::ordered_json;

// Every parameter of a resolved scenario: its path, "topology.fat_tree.k", and its value. Equal paths are
// numbered: "job[1].at". What is no such text is left out.
Json parameters(std::string_view scenario, const Budget& budget);
// The topology that a resolved scenario chose, or an empty choice.
ModuleChoice chosen_topology(const Json& parameters);

// Time of ranks by job, and of ranks, or of as many neighbours together as there is room for.
Json rank_times(const Database& database, const Budget& budget);
// Distributions of sizes, completion times and slowdowns of messages, and a sample of messages.
Json messages(const Database& database, const Budget& budget);
// The links that were busiest, those with the longest queues and the most losses, and how busy all were.
Json links(const Database& database, const Budget& budget);
// What was sampled over time: the whole network, all queues, and the links with the longest.
Json series(const Database& database, const Budget& budget);
// What ranks did when: slices of single ranks, messages between them, and sums over time of all; or why the
// run recorded none.
Json timeline(const Database& database, const Budget& budget);
// Jobs, and how much each slowed each other.
Json jobs(const Database& database, const Budget& budget);
// A drawing of the network with the load of its links; of large ones neighbours are drawn as one node.
Json drawing(const Database& database, const topologies::Topology& topology, const Budget& budget);
// What the network would cost, and how much that is for what was delivered.
Json cost(const topologies::Topology& topology, const topologies::PriceList& prices, double goodput_bps);

}  // namespace weft::report
