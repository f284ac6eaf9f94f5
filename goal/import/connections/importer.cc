#include "goal/import/connections/importer.h"

#include <algorithm>
#include <filesystem>
#include <string>

#include "goal/file.h"
#include "goal/import/sniff.h"
#include "goal/workload/connection_matrix.h"
#include "sim/units/memory.h"

namespace weft::goal {
namespace {

// "Nodes 16" and "Connections 32" as the first words that are no comment.
bool looks_like_connections(const std::filesystem::path& path) {
  const std::string head = first_bytes(path);
  std::size_t at = 0;
  const auto skip = [&](const char* of) { at = std::min(head.find_first_not_of(of, at), head.size()); };
  const auto word_and_number = [&](const std::string& word) {
    skip(" \t\r\n");
    while (at < head.size() && head[at] == '#') {
      at = std::min(head.find('\n', at), head.size());
      skip(" \t\r\n");
    }
    if (head.compare(at, word.size(), word) != 0) return false;
    at += word.size();
    skip(" \t");
    const std::size_t number = at;
    skip("0123456789");
    return at > number;
  };
  return word_and_number("Nodes") && word_and_number("Connections");
}

Graph import_connections(const std::filesystem::path& path, const Parameters&, PackInfo& info) {
  const ConnectionMatrix matrix = parse_connection_matrix(FileView(path.string()).bytes(), path.string());
  // Idle ranks take memory too, whatever the file's length.
  constexpr double kBytesOfRank = 64;
  expect_memory(matrix.nodes * kBytesOfRank, "a graph of " + std::to_string(matrix.nodes) + " ranks");
  ConnectionGraph made = connection_graph(matrix, matrix.nodes);
  info.metadata["source"] = "htsim connection matrix";
  if (made.trigger_messages > 0) {
    info.anomalies.push_back({"trigger_messages", Severity::kWarning,
                              "Messages of 0 bytes that tell another rank of a trigger, which htsim lets "
                              "act there at once.",
                              made.trigger_messages});
  }
  if (made.idle_triggers > 0) {
    info.anomalies.push_back({"idle_triggers", Severity::kWarning, "Triggers that start no connection.",
                              std::uint64_t{made.idle_triggers}});
  }
  return std::move(made.graph);
}

}  // namespace

Importer connections_importer() {
  return {.info = {.name = "connections",
                   .summary = "Connection matrices of htsim (*.cm), with start times and triggers.",
                   .source = "htsim, the simulator of M. Handley et al., NDP, SIGCOMM 2017",
                   .parameters = {}},
          .looks_like = "a text file that begins with Nodes and Connections",
          .span = "",
          .sniff = looks_like_connections,
          .import = import_connections};
}

}  // namespace weft::goal
