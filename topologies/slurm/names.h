// The names that a file of Slurm's lists, within limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::topologies {

// A file may list this many names, each time one is listed.
inline constexpr std::size_t kMostSlurmNames = std::size_t{1} << 22;

// A SlurmNames is for the names of one file, which it counts. Each function throws InputError without a
// place.
class SlurmNames {
 public:
  // A hostlist; each name as check() wants it, and no more in the file than there may be.
  std::vector<std::string> expand(std::string_view hostlist);
  // One name, of at most 255 characters that can be printed; `what` is the key it is the value of.
  static void check(std::string_view what, std::string_view name);

 private:
  std::size_t listed_ = 0;
};

// The beginning of a text that may be long, for messages.
std::string shortened_text(std::string_view text);
// A whole number above 0. Throws InputError without a place.
std::uint64_t positive_number(std::string_view what, std::string_view text);

}  // namespace weft::topologies
