// Datatypes and groups of one rank of a DUMPI trace.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "goal/graph/graph.h"

namespace weft::goal {

// Bytes of datatypes, by number.
class DumpiTypes {
 public:
  // The file's table of sizes.
  explicit DumpiTypes(std::vector<std::uint64_t> sizes);
  // 0 for one that isn't known; unknown() counts how often.
  std::uint64_t size(std::uint16_t type);
  void set(std::uint16_t type, std::uint64_t size) { sizes_[type] = size; }
  // One that was made of so many of another; saturates.
  void derive(std::uint16_t made, std::uint16_t of, std::uint64_t how_many);
  std::uint64_t unknown() const { return unknown_; }

 private:
  std::unordered_map<std::uint16_t, std::uint64_t> sizes_;
  std::uint64_t unknown_ = 0;
};

// World ranks of groups, by number. Those taken from other communicators than the world are not known.
class DumpiGroups {
 public:
  using Members = std::vector<Rank>;

  explicit DumpiGroups(Rank world_size) : world_size_(world_size) {}
  void set_world(std::uint16_t group);
  void set_unknown(std::uint16_t group) { groups_.erase(group); }
  // Null if it isn't known.
  const Members* find(std::uint16_t group) const;
  // What MPI_Group_union and the others of that kind make. `ranks` are those of incl and excl; `ranges` those
  // of range_incl and range_excl, three numbers each.
  void combine(std::string_view function, std::uint16_t a, std::uint16_t b, std::uint16_t made);
  void select(std::string_view function, std::uint16_t from, const std::vector<std::uint32_t>& ranks,
              const std::vector<std::vector<std::uint32_t>>& ranges, std::uint16_t made);

 private:
  Rank world_size_;
  std::unordered_map<std::uint16_t, Members> groups_;
};

}  // namespace weft::goal
