// Where the nodes and links of a network go in a picture.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "topologies/graph/topology.h"

namespace weft::topologies {

// How a picture shows structure. README.md describes them, and how kAuto chooses.
enum class Arrangement : std::uint8_t { kAuto, kTiers, kGrid, kBoards, kGroups, kRing, kSites };

// "auto", "tiers", …; in the order of the enumeration.
std::vector<std::string> arrangement_names();
// Throws InputError with the nearest name for an unknown one.
Arrangement find_arrangement(std::string_view name);

// In the picture's units (about a pixel), y downwards.
struct Point {
  float x = 0, y = 0;
};
struct Area {
  float left = 0, top = 0, right = 0, bottom = 0;
  float width() const { return right - left; }
  float height() const { return bottom - top; }
  Point centre() const { return {(left + right) / 2, (top + bottom) / 2}; }
};
inline bool overlap(const Area& a, const Area& b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

// Something that encloses nodes: a pod, a board, a group, a plane.
struct Box {
  Area area;
  bool round = false;  // a circle
  std::string label;
  Point label_at;
};

struct Layout {
  Arrangement arrangement = Arrangement::kAuto;
  std::vector<Point> at;       // of each vertex; hosts too, even if they are not drawn
  std::vector<Point> control;  // of each link: where its quadratic Bézier curve bends to
  bool flat = false;           // curves run beside the straight line for most of the way instead
  std::vector<Box> boxes;
  float switch_radius = 1, host_radius = 1;
  bool draws_hosts = true;         // false: too many; the legend counts them
  std::vector<unsigned> kind;      // of each link, an index into kinds
  std::vector<std::string> kinds;  // what links are told apart: "dimension 0", "between groups"
};

// Places everything in `area`. The same network gets the same layout everywhere. Throws InputError if
// the network has no such arrangement (a grid that is none).
Layout lay_out(const Topology& topology, const Area& area, Arrangement arrangement = Arrangement::kAuto);

}  // namespace weft::topologies
