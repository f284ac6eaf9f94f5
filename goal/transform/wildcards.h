// Sources and tags in the place of wildcards.
#pragma once

#include "goal/graph/graph.h"
#include "goal/transform/ideal_schedule.h"

namespace weft::goal {

// Operation i of the rank; where it is a send or receive with wildcards, with the source and tag of its
// partner in the schedule. Where neither side names a tag, it is kUnnamedTag on both. An operation without
// partner stays as it is.
inline constexpr std::uint32_t kUnnamedTag = 0xFFFFFFFEu;
Op bind_wildcards(const Graph& graph, const OpPlaces& places, const IdealSchedule& schedule, Rank rank,
                  OpIndex i);

}  // namespace weft::goal
