// Who wants to send how much to whom, for analyses of flows.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "topologies/analysis/router_graph.h"

namespace weft::topologies {

// Bit/s between terminals. At scale 1 the busiest host just fills its links in one direction; what hosts of
// the same terminal send to each other is part of that, but in no row.
class Demands {
 public:
  struct Entry {
    std::uint32_t terminal = 0;
    double rate = 0;  // bit/s
  };

  // In proportion to the product of both ends' weights.
  static Demands product(std::string name, std::vector<double> weight);
  // REQUIRES: no entry from a terminal to itself. Entries of the same pair are added up.
  static Demands sparse(std::string name, std::uint32_t terminals,
                        std::vector<std::pair<std::uint32_t, Entry>> entries);

  const std::string& name() const { return name_; }
  std::uint32_t terminals() const { return terminals_; }
  // What terminal s sends to others, or others send to it: by terminal, ascending, without zeros. In
  // `entries`.
  void from(std::uint32_t s, std::vector<Entry>& entries) const { list(s, rows_, entries); }
  void to(std::uint32_t t, std::vector<Entry>& entries) const { list(t, columns_, entries); }
  void scale(double factor);

 private:
  using Lists = std::vector<std::vector<Entry>>;
  void list(std::uint32_t at, const Lists& lists, std::vector<Entry>& entries) const;

  std::string name_;
  std::uint32_t terminals_ = 0;
  std::vector<double> weight_;  // of a product
  double factor_ = 1;
  Lists rows_, columns_;  // of others
};

// A communication matrix: endpoints, and how much in any unit.
struct MatrixEntry {
  std::uint32_t from = 0, to = 0;
  double weight = 0;
};

// This says host by host what Demands say by terminal, for who tells hosts of one terminal apart: in bit/s,
// scaled as Demands are. Endpoint i is host i; no entry from a host to itself.
struct HostTraffic {
  std::string name;
  // A product has weights: host h sends weight[h] · weight[t] to each other host t.
  std::vector<double> weight;
  std::vector<MatrixEntry> entries;  // of others
};

// Every host sends the same to every other (with hosts of different rates: in proportion to both).
Demands uniform_demands(const RouterGraph& graph);
// Every host sends to one other and receives from one, drawn with `seed`; none sends to itself.
Demands permutation_demands(const RouterGraph& graph, std::uint64_t seed);
// The near-worst case: each terminal sends to one and receives from one, such that the sum of their distances
// is greatest. Exact up to kMostMatched terminals, above that the farthest one that is free, in an order
// drawn with `seed`: at least half of the greatest sum. `exact` tells which.
// Source: S. Jyothi, A. Singla, P. Godfrey, A. Kolla, Measuring and understanding throughput of network
// topologies, SC 2016.
struct Matching {
  Demands demands;
  double mean_distance = 0;  // hops between the two, over all terminals
  bool exact = true;
};
inline constexpr std::uint32_t kMostMatched = 1500;
Matching longest_matching(const RouterGraph& graph, std::uint64_t seed);

// Endpoint i is host i. Throws InputError for an endpoint that the network does not have, and if nothing goes
// from one host to another.
Demands matrix_demands(const RouterGraph& graph, const std::string& name,
                       const std::vector<MatrixEntry>& matrix);
// Reads lines "src dst weight" (blanks or commas between; # begins a comment), or the CSV that `weft goal
// stats --matrix` writes (from,to,messages,bytes: the weight is bytes). Throws InputError with the line.
std::vector<MatrixEntry> read_matrix(const std::string& path);

// Adds up what hosts send each other to demands between their terminals.
Demands terminal_demands(const RouterGraph& graph, const HostTraffic& traffic);

// What the four above stand for between hosts. The i-th host of a terminal is matched with the i-th host of
// the other.
HostTraffic uniform_traffic(const RouterGraph& graph);
HostTraffic permutation_traffic(const RouterGraph& graph, std::uint64_t seed);
HostTraffic matching_traffic(const RouterGraph& graph, std::uint64_t seed);
HostTraffic matrix_traffic(const RouterGraph& graph, const std::string& name,
                           const std::vector<MatrixEntry>& matrix);

}  // namespace weft::topologies
