// A program to be replayed, wherever its operations are: in memory, or in a packed file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "goal/graph/graph.h"
#include "goal/pack/info.h"
#include "goal/pack/packed_program.h"

namespace weft::goal {

// Cheap to copy; copies share what they own.
class Program {
 public:
  // Views: what they are made of must outlive them. Implicit: a graph is a program.
  Program(const Graph& graph);         // NOLINT(google-explicit-constructor)
  Program(const PackedProgram& file);  // NOLINT(google-explicit-constructor)
  // These own what they are made of.
  explicit Program(std::unique_ptr<const Graph> graph, PackInfo info = {});
  explicit Program(std::unique_ptr<const PackedProgram> file);

  const ProgramFacts& facts() const { return facts_; }
  Rank ranks() const { return facts_.ranks; }
  OpIndex ops(Rank rank) const { return graph_ != nullptr ? graph_->rank(rank).ops() : packed_->ops(rank); }
  // Numbers of the cpus that the rank's operations name, ascending.
  std::vector<std::uint16_t> cpus(Rank rank) const;
  // The label of an operation, or "" if there is none. It may read all of the rank before it.
  std::string label(Rank rank, OpIndex op) const;
  // What is known of the program under this name ("mpi_library"), or "". Only packed files keep such things.
  std::string metadata(const std::string& key) const;
  // What the graph lacks of the program it was made from. Only packed files keep that too.
  const NotReplayed& not_replayed() const { return info().not_replayed; }
  // What happened while it was made.
  const std::vector<Anomaly>& anomalies() const { return info().anomalies; }
  // Per rank the bytes of messages to and from it, those of collectives not counted. Reads all operations.
  std::vector<double> message_bytes() const;

  // Where the operations are: one of the two is null.
  const Graph* graph() const { return graph_; }
  const PackedProgram* packed() const { return packed_; }

 private:
  const PackInfo& info() const { return packed_ != nullptr ? packed_->info() : info_; }

  std::shared_ptr<const void> owned_;
  const Graph* graph_ = nullptr;
  const PackedProgram* packed_ = nullptr;
  PackInfo info_;  // of a graph
  ProgramFacts facts_;
};

// Opens a GOAL graph in any of its formats: a packed file to be read while it is replayed, others (version 1
// of the packed format too) are read whole. Throws InputError as read_graph.
Program open_program(const std::string& path);

}  // namespace weft::goal
