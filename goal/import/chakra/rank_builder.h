// One rank's nodes, put into a graph.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "goal/anomaly.h"
#include "goal/graph/graph.h"
#include "goal/import/chakra/node.h"

namespace weft::goal {

// Which dependencies hold. Of traces made from PyTorch's, control dependencies say what called what; with the
// data dependencies they may make circles. kAuto takes both unless they do, then those of data.
enum class ChakraDeps : std::uint8_t { kAuto, kAll, kData };

// What was met, by name.
class ChakraNotes {
 public:
  void add(const char* name, Severity severity, const std::string& sentence, std::uint64_t count = 1);
  const std::vector<Anomaly>& anomalies() const { return anomalies_; }

 private:
  std::vector<Anomaly> anomalies_;
};

// A communicator group: its number in the graph, and its ranks (empty: all).
struct ChakraGroup {
  std::uint32_t number = kWorld;
  std::vector<Rank> ranks;
};

class Device;

// How long compute nodes take that have a number of operations (num_ops) and no time.
struct ChakraReckoning {
  double gflops = 0;               // at that rate, in 10^9 operations a second
  const Device* device = nullptr;  // or on that device: arithmetic, or memory if that takes longer
  bool multiply_adds = false;      // operations are multiplications with an addition each
  // Sizes are in units of so many bytes.
  std::uint64_t element_bytes = 1;
};

class ChakraRankBuilder {
 public:
  // `copy`: the nodes are another rank's. `groups` by name; nothing is known of them if `have_groups` is
  // false.
  ChakraRankBuilder(GraphBuilder& builder, const std::map<std::string, ChakraGroup>& groups, bool have_groups,
                    Rank rank, Rank ranks, bool copy, const ChakraReckoning& reckoning, ChakraDeps deps,
                    ChakraNotes& notes)
      : builder_(builder),
        groups_(groups),
        have_groups_(have_groups),
        rank_(rank),
        ranks_(ranks),
        copy_(copy),
        reckoning_(reckoning),
        deps_(deps),
        notes_(notes) {}

  // Throws InputError at `where` for a node that makes no sense.
  void add(const ChakraNode& node, const SourceLocation& where);
  // Ends the rank. Throws InputError that names the nodes of a cycle.
  void finish(const std::string& file);
  std::uint64_t nodes() const { return ids_.size(); }
  std::uint64_t dependencies() const { return dependencies_.size(); }

 private:
  using Edges = std::vector<std::pair<OpIndex, OpIndex>>;
  struct Dependency {
    OpIndex node;
    bool on_start, control;
    std::uint64_t on;  // a node's id
  };

  OpIndex compute(const ChakraNode& node, std::uint16_t cpu);
  std::uint64_t reckoned_ns(const ChakraNode& node);
  std::uint64_t bytes_of(std::int64_t size) const;
  OpIndex message(const ChakraNode& node, std::uint16_t cpu, std::uint8_t nic, const SourceLocation& where);
  OpIndex of_unknown_size(const ChakraNode& node, std::uint16_t cpu);
  OpIndex collective(const ChakraNode& node, std::uint16_t cpu, std::uint8_t nic,
                     const SourceLocation& where);
  std::uint16_t cpu_of(const ChakraNode& node, const SourceLocation& where);
  const ChakraGroup& group_of(const ChakraNode& node, const SourceLocation& where);
  Edges edges(bool with_control) const;
  // Nodes that wait for each other, as a text; empty if there are none.
  std::string cycle(const Edges& edges) const;

  GraphBuilder& builder_;
  const std::map<std::string, ChakraGroup>& groups_;
  bool have_groups_;
  Rank rank_, ranks_;
  bool copy_;
  const ChakraReckoning& reckoning_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint64_t> reckoned_;  // by num_ops and tensor_size
  ChakraDeps deps_;
  ChakraNotes& notes_;
  std::unordered_map<std::uint64_t, OpIndex> index_of_;  // by id
  std::vector<std::uint64_t> ids_;
  std::vector<Dependency> dependencies_;
  std::map<std::int64_t, std::uint16_t> cpu_of_stream_;
};

}  // namespace weft::goal
