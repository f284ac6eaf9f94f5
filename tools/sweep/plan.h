// What a sweep runs: which fields have which values, and which seeds.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::sweep {

// One field of a scenario and the values that it takes.
struct Axis {
  std::string field;  // as parse_setting() has it: "topology.fat_tree.k"
  std::vector<std::string> values;
};

struct Plan {
  std::string scenario;  // path; "": none
  std::vector<std::string> plugins, sets;
  // Fields of one group go together, value by value; groups are combined each with each.
  std::vector<std::vector<Axis>> groups;
  std::string seeds;    // "": the scenario's
  std::string prices;   // "": none
  double until_ci = 0;  // half the interval by the mean; 0: the seeds are as given
  std::string file;     // that it was read from; "": none
};

// Files that a plan names are looked for in the folder of the plan's own file first, then in the working
// folder.
class PlanFolder {
 public:
  explicit PlanFolder(const Plan& plan);
  // The path as it is to be opened: that in the plan's folder where there is one, else as given.
  std::string find(const std::string& path);
  // Does this path stand in the plan's own settings and values, rather than on the command line or in the
  // scenario?
  bool names(const std::string& path) const;
  // A sentence for each path that both folders have a file of, which are not the same: which one counts.
  const std::vector<std::string>& guesses() const { return guesses_; }

 private:
  std::string folder_;  // "": that of the plan is the working folder, or there is none
  std::string texts_;   // settings and values, a line each
  std::vector<std::string> known_, guesses_;
};

// Is it the text of a sweep (its first word is `sweep`), or of something else?
bool is_plan(std::string_view text);
// Throws InputError with file, line and column. `file` is for messages.
Plan read_plan(std::string_view text, const std::string& file);

// Reads "FIELD=V1,V2"; a value that holds a comma stands in brackets. Throws InputError that quotes it.
Axis parse_axis(std::string_view text);
// Reads "FIELD=V1,V2;FIELD2=W1,W2": fields that go together, with equally many values (check_groups()).
std::vector<Axis> parse_zip(std::string_view text);
// Reads "1..5,9" and gives each once, in that order. Throws InputError.
std::vector<std::uint64_t> parse_seeds(std::string_view text);
// Reads "2%" or "0.02", and returns 0.02 for either. Throws InputError.
double parse_share(std::string_view text);

// Throws InputError if a field stands in two places, a group's fields have unequal numbers of values, or
// there are more than kMostPoints combinations.
void check_groups(const std::vector<std::vector<Axis>>& groups);
inline constexpr std::size_t kMostPoints = 1'000'000;

// The fields varied, and a value of each for every combination; the last group's values change first.
std::vector<std::string> fields_of(const std::vector<std::vector<Axis>>& groups);
std::vector<std::vector<std::string>> combinations_of(const std::vector<std::vector<Axis>>& groups);

}  // namespace weft::sweep
