// Profiles that tests write, and what they look at in the graphs made of them.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "goal/graph/graph.h"
#include "goal/pack/info.h"

namespace weft::goal {

namespace fs = std::filesystem;

inline fs::path folder(const std::string& name) {
  const fs::path path = fs::path(std::getenv("TEST_TMPDIR")) / name;
  fs::remove_all(path);
  fs::create_directories(path);
  return path;
}

inline std::string event(const char* category, const char* name, int tid, double start, double duration,
                         const std::string& args = "") {
  return fmt::format(R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": 1, "tid": {}, "ts": {}, "dur": {}, )"
                     R"("args": {{{}}}}})",
                     category, name, tid, start, duration, args);
}

inline void write(const fs::path& path, int rank, int world, const std::vector<std::string>& events) {
  std::ofstream file(path);
  file << fmt::format(R"({{"distributedInfo": {{"rank": {}, "world_size": {}}}, "traceEvents": [)", rank,
                      world);
  for (std::size_t i = 0; i < events.size(); ++i) file << (i == 0 ? "\n" : ",\n") << events[i];
  file << "]}";
}

inline std::string comm(const char* name, int elements, const std::string& more = "", int size = 2) {
  return fmt::format(
      R"("Collective name": "{}", "In msg nelems": {}, "Out msg nelems": {}, "dtype": "Float", )"
      R"("Group size": {}{})",
      name, elements, elements, size, more);
}

// One call of a communication library, launched at `at`, of 10 us.
inline std::vector<std::string> call(const std::string& args, double at, int correlation) {
  return {event("cpu_op", "record_param_comms", 1, at, 5, args),
          event("cuda_runtime", "cudaLaunchKernel", 1, at + 1, 2,
                fmt::format("\"correlation\": {}", correlation)),
          event("kernel", "ncclDevKernel_X", 9, at + 10, 10,
                fmt::format("\"stream\": 9, \"correlation\": {}", correlation))};
}

inline void append(std::vector<std::string>& to, const std::vector<std::string>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

inline std::uint64_t anomalies(const PackInfo& info, const std::string& name) {
  for (const Anomaly& anomaly : info.anomalies) {
    if (anomaly.name == name) return anomaly.count;
  }
  return 0;
}

// "allreduce 4000" and how often, over all ranks.
inline std::map<std::string, int> collectives(const Graph& graph) {
  std::map<std::string, int> found;
  for (Rank rank = 0; rank < graph.ranks(); ++rank) {
    const RankView view = graph.rank(rank);
    for (OpIndex i = 0; i < view.ops(); ++i) {
      if (view.kind(i) != OpKind::kCollective) continue;
      ++found[fmt::format("{} {}", name(view.collective(i).kind), view.collective(i).bytes)];
    }
  }
  return found;
}

}  // namespace weft::goal
