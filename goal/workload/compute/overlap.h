// Computing beside collectives: generators of training note in their graphs by how much these slow it down.
#pragma once

#include <string>
#include <utility>

#include "sim/units/module.h"

namespace weft::goal {

// The parameter `overlap_slowdown` of such a generator: how many times as long computing takes while
// collectives of the same rank are under way. 1.16 was measured on an A100, for large multiplications beside
// an all-reduce within a node (simllm, openfabric-systems/simllm); M. Isaev et al., Calculon, SC 2023, has
// 15% of a GPU taken from it by NVLink.
ParameterSpec overlap_slowdown_parameter();
// Its value. Throws InputError if that isn't from 1 to 1000.
double overlap_slowdown(const Parameters& parameters);
// What a run reads of the graph.
std::pair<std::string, std::string> overlap_slowdown_fact(double slowdown);

}  // namespace weft::goal
