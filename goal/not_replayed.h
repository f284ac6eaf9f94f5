// What of a traced program its graph has no operations for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::goal {

// Calls that an importer could not represent, beside all that the trace has. It goes with the graph through
// files and transforms: a replay leaves the same things out, however the graph was changed since.
struct NotReplayed {
  struct Function {
    std::string name;           // as the program calls it: "MPI_File_write_at"
    std::uint64_t calls = 0;    // that were not replayed
    std::uint64_t bytes = 0;    // that they moved, as far as the trace says so
    std::uint64_t time_ns = 0;  // inside them
    bool operator==(const Function&) const = default;
  };
  std::vector<Function> functions;  // ascending by name
  // These are of the whole trace. Calls: those that move data or put ranks in order, replayed or not; bytes:
  // what they were given to move; time: of all ranks, each from its begin to its end.
  std::uint64_t all_calls = 0, all_bytes = 0, all_time_ns = 0;

  // False for graphs that are no import, or of an importer that doesn't count.
  bool counted() const { return all_calls != 0; }
  bool any() const { return !functions.empty(); }
  // The functions together; its name is empty.
  Function total() const;
  void add(std::string_view name, std::uint64_t calls, std::uint64_t bytes, std::uint64_t time_ns);
  // Another program that is part of the same graph.
  void add(const NotReplayed& other);
  bool operator==(const NotReplayed&) const = default;
};

// 0 of nothing, and never more than 1.
double share(std::uint64_t part, std::uint64_t whole);

// One sentence for the user, with the shares and the functions that were called most. REQUIRES: any().
std::string sentence(const NotReplayed& not_replayed);

}  // namespace weft::goal
