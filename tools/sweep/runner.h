// Runs the points of a sweep, each in a process of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>

#include "tools/sweep/folder.h"

namespace weft::sweep {

// kLocal: processes of this one. kParallel: GNU parallel, by a file of commands and a log that stay.
enum class Engine : unsigned char { kLocal, kParallel };

struct RunRequest {
  std::string program;    // weft itself
  std::size_t slots = 1;  // points side by side
  Engine engine = Engine::kLocal;
  std::set<std::string> only = {};                                   // names of points; empty: all
  std::function<void(std::size_t done, std::size_t all)> tell = {};  // after each point; may be empty
};

// Runs all points that are not done. Side by side each may have its share of the memory available; what did
// not come to its end (it had too little, or was killed) runs once more, alone, with all of it. Returns the
// signal that ended it early, which the runs were handed too; 0: none. Throws InputError if the engine is
// not there.
int run_points(const Folder& folder, const RunRequest& request);

// The most threads of a point.
std::uint32_t most_threads(const Folder& folder);
// As many as the processor's cores that this process may use, by the most threads of a point.
std::size_t default_slots(const Folder& folder);

}  // namespace weft::sweep
