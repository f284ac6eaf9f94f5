// htsim's connection-matrix files (*.cm): who sends how much to whom, and what starts each transfer.
//
// Source: the files and generators of C. Raiciu et al., htsim (M. Handley et al., NDP, SIGCOMM 2017).
// CONNECTIONS.md has the grammar, and what is not taken.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "goal/graph/graph.h"
#include "sim/units/input_error.h"

namespace weft::goal {

struct Connection {
  Rank from = 0, to = 0;
  std::uint64_t bytes = 0;
  double start_ps = 0;  // of a connection without a trigger
  // Numbers of triggers; 0: none.
  std::uint32_t trigger = 0;            // that starts this connection
  std::uint32_t send_done_trigger = 0;  // that it activates when all is sent
  std::uint32_t recv_done_trigger = 0;  // and when all is received
  SourceLocation location;
};

enum class TriggerKind : std::uint8_t {
  kOneshot,    // starts all its connections at its one activation
  kBarrier,    // starts all its connections at its last activation
  kMultishot,  // starts one connection at each activation
};

struct Trigger {
  std::uint32_t id = 0;
  TriggerKind kind = TriggerKind::kOneshot;
  std::uint32_t count = 0;  // activations a barrier needs
  SourceLocation location;
};

struct ConnectionMatrix {
  std::uint32_t nodes = 0;
  std::vector<Connection> connections;  // in the order of the file
  std::vector<Trigger> triggers;        // ascending by id
};

// Throws InputError with line and column for anything that is not of that form; `file_name` is for messages.
ConnectionMatrix parse_connection_matrix(std::string_view text, const std::string& file_name);

struct ConnectionGraph {
  Graph graph;
  // What travels between ranks although htsim's triggers don't.
  std::uint64_t trigger_messages = 0;
  std::uint32_t travelling_triggers = 0;
  std::uint32_t idle_triggers = 0;  // that start no connection
};

// The connections as messages between `ranks` ranks, all but the first `nodes` of them idle. A connection
// with a trigger waits for the ends of those that activate it: by a dependency where one of the two ends of
// each is at the rank that sends, else by a message of 0 bytes from the rank that received.
// Throws InputError for triggers that don't exist, never fire, fire too often or wait for themselves, and for
// too few ranks.
ConnectionGraph connection_graph(const ConnectionMatrix& matrix, std::uint32_t ranks);

}  // namespace weft::goal
