#include "goal/workload/connections.h"

#include <fmt/core.h>

#include "goal/file.h"
#include "goal/workload/connection_matrix.h"

namespace weft::goal {
namespace {

ConnectionMatrix read(const Parameters& parameters) {
  const std::string path = parameters.file("file");
  if (path.empty()) parameters.fail("file", "it must be the path of a connection matrix (*.cm)");
  return parse_connection_matrix(FileView(path).bytes(), path);
}

Graph generate_connections(const Parameters& parameters, std::uint32_t ranks, std::uint64_t) {
  return connection_graph(read(parameters), ranks).graph;
}

std::vector<std::string> remarks(const Parameters& parameters, std::uint32_t ranks) {
  const ConnectionMatrix matrix = read(parameters);
  if (matrix.triggers.empty()) return {};
  const ConnectionGraph made = connection_graph(matrix, ranks);
  std::vector<std::string> all;
  if (made.idle_triggers > 0) {
    all.push_back(fmt::format("{}: {} of {} triggers start no connection", parameters.file("file"),
                              made.idle_triggers, matrix.triggers.size()));
  }
  if (made.trigger_messages == 0) return all;
  all.push_back(fmt::format(
      "{}: {} of {} triggers act{} between ranks, which htsim lets happen at once: here {} of 0 bytes tell{} "
      "of it",
      parameters.file("file"), made.travelling_triggers, matrix.triggers.size(),
      made.travelling_triggers == 1 ? "s" : "",
      made.trigger_messages == 1 ? "1 message" : fmt::format("{} messages", made.trigger_messages),
      made.trigger_messages == 1 ? "s" : ""));
  return all;
}

}  // namespace

Workload connections_workload() {
  return {{"connections",
           "The connections of an htsim connection-matrix file (*.cm), with their start times and triggers.",
           "htsim, the simulator of M. Handley et al., NDP, SIGCOMM 2017",
           {{"file", ParameterType::kFile, "",
             "Path of the file; a relative one starts at the working directory."},
            ranks_parameter()}},
          generate_connections,
          remarks};
}

}  // namespace weft::goal
