// What a routing table costs: time to build, memory, and time for a lookup.
//   routing_bench TOPOLOGY...
// Prints for each network its routers and hosts, then a line with the seconds to build the table (processor
// time), the MB it holds, the MB by which building it raised the peak of the program's memory (only the first
// network's is its own), the nanoseconds for a lookup on paths between random pairs of hosts, and a checksum
// of these paths, by which two versions can be told to route alike.
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <ctime>

#include "sim/core/random.h"
#include "sim/routing/hash_choice.h"
#include "sim/routing/table/routing_table.h"
#include "topologies/families.h"

namespace {

using weft::routing::RoutingTable;
using weft::topologies::NodeKind;
using weft::topologies::Topology;

constexpr std::uint32_t kPaths = 500'000;

double processor_seconds() {
  timespec time = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double peak_mb() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024e-6;
}

struct Walked {
  std::uint64_t lookups = 0, checksum = 0;
};

Walked walk_paths(const Topology& topology, const RoutingTable& table) {
  Walked walked;
  weft::sim::RandomStream random(1, 1);
  for (std::uint32_t path = 0; path < kPaths && topology.hosts() > 1; ++path) {
    const auto from = static_cast<std::uint32_t>(random.below(topology.hosts()));
    const auto to =
        static_cast<std::uint32_t>((from + 1 + random.below(topology.hosts() - 1)) % topology.hosts());
    const auto end = static_cast<std::uint32_t>(topology.host(to));
    for (auto at = static_cast<std::uint32_t>(topology.host(from)); at != end;) {
      const std::uint32_t channel = table.candidate(
          at, to, [&](std::size_t count) { return weft::routing::hash_choice(path, at, count); });
      walked.checksum = weft::sim::mix64(walked.checksum ^ channel);
      at = topology.channels()[channel].to;
      ++walked.lookups;
    }
  }
  return walked;
}

void measure(const char* choice) {
  const Topology topology = weft::topologies::build(weft::parse_module_choice(choice));
  fmt::print("{}: {} routers, {} hosts\n", topology.name(), topology.switches(), topology.hosts());
  const double peak_before = peak_mb(), start = processor_seconds();
  const RoutingTable table(topology);
  const double built = processor_seconds() - start, peak = peak_mb() - peak_before;
  const double walk_start = processor_seconds();
  const Walked walked = walk_paths(topology, table);
  const double per_lookup =
      (processor_seconds() - walk_start) * 1e9 / static_cast<double>(walked.lookups > 0 ? walked.lookups : 1);
  fmt::print("  build {:7.2f} s   table {:7.1f} MB   peak +{:7.1f} MB   lookup {:4.0f} ns   paths {:016x}\n",
             built, static_cast<double>(table.memory_bytes()) * 1e-6, peak, per_lookup, walked.checksum);
  const RoutingTable::Forms forms = table.forms();
  fmt::print("  {} rows{}{}\n", forms.rows, forms.columns ? ", columns" : "", forms.grid ? ", grid" : "");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) measure(argv[i]);
}
