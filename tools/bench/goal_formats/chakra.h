// How large a graph is as Chakra execution traces.
#pragma once

#include <functional>
#include <string_view>

#include "goal/graph/graph.h"

namespace weft::goal::bench {

// Writes the graph as Chakra execution traces: for each rank GlobalMetadata and then its nodes, each behind
// its length as a varint. Source: MLCommons Chakra, schema/protobuf/et_def.proto (2026-05), and what its
// feeder and ASTRA-sim read: comm_size, comm_src, comm_dst, comm_tag, comm_type, pg_name, is_cpu_op. Names,
// which nothing needs, are left out; so is the part of a time that is no whole microsecond. `requires`
// becomes data_deps, `irequires` ctrl_deps. `sink` gets one rank at a time.
void to_chakra(const Graph& graph, const std::function<void(std::string_view)>& sink);

}  // namespace weft::goal::bench
