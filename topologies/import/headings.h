// The headings of tables of links: which columns are the ends of a link, and which their ports.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "topologies/import/lines.h"

namespace weft::topologies {

// Where the ends of a link stand, and what the other columns are called.
struct Heading {
  char between = ',';
  std::size_t from = 0, to = 0;
  std::optional<std::size_t> from_port = std::nullopt, to_port = std::nullopt;
  bool sure = true;    // its names can be of columns only
  bool ports = false;  // two columns name the ports of a cable
  std::vector<std::string> names;
};

// The first line of a table, if it names the ends of links: two columns whose names have a pair of sides,
// like local and neighbor, source and destination, or A and Z, and no more than a word for a node.
std::optional<Heading> heading_of(const Lines& lines);

// The present line's fields, by the sign that stands between those of the heading.
std::vector<std::string> fields_of(const Lines& lines, char between);

}  // namespace weft::topologies
