#include "goal/workload/connections.h"

#include "goal/file.h"
#include "goal/workload/connection_matrix.h"

namespace weft::goal {
namespace {

Graph generate(const Parameters& parameters, std::uint32_t ranks, std::uint64_t) {
  const std::string& path = parameters.text("file");
  if (path.empty()) parameters.fail("file", "it must be the path of a connection matrix (*.cm)");
  return connection_graph(parse_connection_matrix(FileView(path).bytes(), path), ranks);
}

}  // namespace

Workload connections_workload() {
  return {{"connections",
           "The connections of an htsim connection-matrix file (*.cm), with their start times and triggers.",
           "htsim, the simulator of M. Handley et al., NDP, SIGCOMM 2017",
           {{"file", ParameterType::kText, "",
             "Path of the file; a relative one starts at the working directory."},
            ranks_parameter()}},
          generate};
}

}  // namespace weft::goal
