// What holds for every file that a network is read from.
#pragma once

#include <string_view>

namespace weft::fuzz {

// Reads a text in one of the formats of topologies/import and builds the network. What is written of it in
// the formats that can be read again gives the same network. Throws Finding.
void check_network(std::string_view text, std::string_view format);

}  // namespace weft::fuzz
