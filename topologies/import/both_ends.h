// Tables that have each cable twice, once from each end, as neighbours see it: its ports tell that it is one.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "topologies/import/imported_graph.h"

namespace weft::topologies {

class BothEnds {
 public:
  // Is the link, with these ports at its ends, one that the graph has from its other end? That one gets what
  // is told here only. Else it is to be the graph's next. Throws InputError at its line if the two contradict
  // each other, or if it is listed twice from one end.
  bool find(ImportedGraph& graph, const ImportedLink& link, const std::string& from_port,
            const std::string& to_port);
  // Does a link of the graph have ports?
  bool has_ports(std::uint32_t link) const { return ported_.contains(link); }
  // Tells how many cables are listed from both ends, and how many ports several cables are at.
  void note(ImportedGraph& graph) const;

 private:
  void note_port(std::uint32_t node, const std::string& port);

  struct Cable {
    std::uint32_t link = 0;
    std::int64_t back_line = 0;  // where it is listed from its other end; 0: nowhere
  };
  std::unordered_map<std::string, Cable> cables_;  // by their nodes and ports
  std::unordered_set<std::uint32_t> ported_;
  std::unordered_map<std::string, std::uint32_t> ports_;  // how many cables each has
  std::uint64_t shared_ = 0;                              // ports with several
  std::pair<std::uint32_t, std::string> shared_port_;     // the first of them
  std::uint64_t joined_ = 0;
  std::uint32_t first_ = 0;  // of the joined
};

}  // namespace weft::topologies
