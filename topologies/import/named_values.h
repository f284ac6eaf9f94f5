// Values of other people's files, by what their names mean (meanings.h) and by their units.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "topologies/import/cables.h"
#include "topologies/import/imported_graph.h"
#include "topologies/import/meanings.h"

namespace weft::topologies {

// Reads values of links by what their names mean. What it can't read it counts, or refuses if by its name it
// could change the network.
class LinkValues {
 public:
  // `ignored`: names of attributes that the user says to leave unread.
  explicit LinkValues(std::vector<std::string> ignored) : ignored_(std::move(ignored)) {}

  using Named = std::pair<std::string_view, std::string_view>;  // a name, and the value under it

  // The values of a link under names that are none of our own, those with names that are understood first.
  // Values under our own names are to be set before. Throws InputError without a place that begins with the
  // name. How many cables the link is: 0 if it is none that carries messages now, which is counted.
  std::uint32_t set_all(ImportedLink& link, const std::vector<Named>& values);
  // How many links were left out so.
  std::uint64_t left_out() const;
  // Gives numbers the units that stand under names of their own: of `Length` 10 and `Length Unit` ft it makes
  // `Length` 10ft. The values hold until the next call.
  std::vector<Named> with_units(std::vector<Named> values);
  // Counts a value that is not read.
  void skip(std::string_view name) { ++unread_[name.empty() ? "(no name)" : std::string(name)]; }
  bool ignores(std::string_view name) const;
  // "not read: colour (12 times), SKU (4)"; nothing if all was read.
  void note(ImportedGraph& graph) const;

 private:
  void set(ImportedLink& link, std::string_view name, std::string_view text);
  // Whether a value goes where one is already. The first stays; another is counted as not read.
  template <typename Value>
  bool taken(bool there, const Value& old, const Value& value, std::string_view name);
  void set_end_rates(ImportedLink& link, const std::vector<Named>& values);
  std::uint32_t count_of(const std::vector<Named>& values);
  void set_cable(ImportedLink& link, std::string_view name, std::string_view text);
  void set_inside(ImportedLink& link, std::string_view name, const CableWords& words);
  bool set_by_unit(ImportedLink& link, std::string_view name, std::string_view text);
  void set_by_name(ImportedLink& link, const NamedMeaning& named, std::string_view name,
                   std::string_view text);

  // meaning_of(), worked out once for each name: a list has the same few in every line.
  const NamedMeaning& known_meaning(std::string_view name);

  std::vector<std::string> ignored_;
  std::map<std::string, NamedMeaning, std::less<>> meanings_;
  std::map<std::string, std::uint64_t> unread_;
  // Names whose values were read by their units, or as metres, and what for.
  std::map<std::string, std::string> guessed_;
  // Names and values for which links are left out, and how many each: "Status", "planned".
  std::map<std::pair<std::string, std::string>, std::uint64_t> left_out_;
  std::deque<std::string> joined_;                               // numbers with their units
  std::vector<std::pair<std::string_view, CableWords>> inside_;  // of the present link's cables
};

// 'a/b' as the rates of both directions, or one rate for both.
void set_rates(ImportedLink& link, std::string_view text);

}  // namespace weft::topologies
