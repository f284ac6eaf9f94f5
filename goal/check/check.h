// Finds what is wrong with a GOAL graph before a simulator meets it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "goal/anomaly.h"
#include "goal/graph/graph.h"
#include "goal/not_replayed.h"

namespace weft::goal {

enum class FindingKind : std::uint8_t {
  kCycle = 0,          // operations of a rank that wait for each other; counted: ranks
  kOutOfRange = 1,     // a peer or communicator that does not exist; counted: operations
  kNotMember = 2,      // an operation on a communicator that its rank or peer is not in; counted: operations
  kUnmatchedSend = 3,  // no receive can ever take it; counted: messages
  kUnmatchedReceive = 4,    // no send can ever serve it; counted: messages
  kShortReceive = 5,        // takes fewer bytes than its send has; counted: messages
  kCollectiveMismatch = 6,  // members disagree on kind, root or sizes; counted: (rank, communicator)
  kCollectiveMissing = 7,   // members have unequal numbers of them; counted: (rank, communicator)
  kDuplicateLabel = 8,      // a label that names several operations of a rank; counted: operations
  kPartialElement = 9,      // bytes of a collective that are no whole elements; counted: operations
};
inline constexpr std::size_t kFindingKinds = 10;
// "unmatched_send"; and how bad it is.
std::string_view name(FindingKind kind);
Severity severity(FindingKind kind);

struct Finding {
  FindingKind kind;
  Rank rank;
  OpIndex op;            // the first operation it is about, counted from 0
  std::string sentence;  // for people, with rank, operation and label
};

struct Report {
  // In the order of kinds, then ranks; at most CheckOptions::examples of a kind.
  std::vector<Finding> findings;
  // How many there are of each kind, examples or not; see FindingKind for what is counted.
  std::array<std::uint64_t, kFindingKinds> counts{};

  // For a packed file this says what the graph lacks of the program traced. It is no finding: the graph is
  // sound without it.
  NotReplayed not_replayed;
  // … and why its compute times are doubtful.
  std::vector<std::string> compute_times_warnings;

  // What was checked.
  Rank ranks = 0;
  std::uint64_t ops = 0;

  bool clean() const { return findings.empty(); }
  bool has_errors() const;
};

struct CheckOptions {
  std::size_t examples = 5;  // sentences kept of each kind
};

// Checks the whole graph. Time grows with operations and edges (for wildcards and what finds no other side
// with n log n, and with the square of the communicator's size for alltoall with counts, as its lists do).
//
// Sends and receives are matched by source, destination, communicator and tag. A wildcard receive counts as
// served if *some* choice serves all: what is reported as unmatched stays so whatever the timing. Whether the
// program could deadlock for other reasons only a replay tells. A short receive is found by pairing the k-th
// send with the k-th receive of a kind, in program order.
Report check(const Graph& graph, const CheckOptions& options = {});

// What of that is about collectives alone: members that disagree, or call unequal numbers of them. One pass
// over the operations, none where there are no collectives.
Report check_collectives(const Graph& graph, const CheckOptions& options = {});
// Tells that to people who did not ask: returns a warning for each kind of finding, with the first of them.
std::vector<Anomaly> collective_anomalies(const Graph& graph);

// Tells what of messages alone is wrong: those that no receive takes or no send serves, and receives that are
// too short. Returns a warning for each kind of finding, with the first of them.
std::vector<Anomaly> message_anomalies(const Graph& graph);

// Checks a file of any format. A packed one (version 2) is read block by block, all ranks side by side: in
// memory are the collectives of the first member of each communicator, a few hundred bytes a rank, the cache
// of PackedFile, and 56 bytes for each kind of message (source, destination, communicator, tag) that waits
// for its other side at one time. Throws InputError if the file can't be read.
Report check_file(const std::string& path, const CheckOptions& options = {});

}  // namespace weft::goal
