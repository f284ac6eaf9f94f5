// The ways of the groups that send, each worked out once: with them a round of a balance costs what these
// groups' ways are long, not what the network is large.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/routing/paths/detour_areas.h"
#include "sim/routing/paths/detour_legs.h"
#include "sim/routing/paths/host_groups.h"
#include "sim/routing/paths/pair_table.h"

namespace weft::routing {

// What ways of pairs cost, by pair; of detours those that are some. `filled`: the direct ways' where nothing
// waits there, though some goes by detours, if links cost by their load there too.
struct DetourCosts {
  std::vector<double> direct, detour, filled;
};

// Ways are kept from call to call, as they follow from the network alone: up to 256 MiB and those of one
// call.
class DetourWays {
 public:
  // All must outlive it.
  DetourWays(const HostGroups& groups, const DetourAreas& areas, DetourLegs& legs,
             const std::vector<double>& capacity)
      : groups_(groups), areas_(areas), legs_(legs), capacity_(capacity) {}

  // Finds the ways of these pairs, unless all legs are no longer than they are: then false. All below is of
  // the same pairs.
  bool prepare(std::span<const DetourPair> pairs);
  // As prepare(), for finding shares: of these pairs only those are at hand from then on that could have any
  // but 0 (moving()), and of channels only those that could fill. All below is of these pairs, in their
  // order. REQUIRES: all are 0.
  bool prepare_moving(std::span<const DetourPair> pairs);
  // Numbers in what was given, ascending; and those pairs.
  std::span<const std::uint32_t> moving() const { return moving_; }
  std::span<const DetourPair> moving_pairs() const { return moving_pairs_; }
  // Channels whose loads are to be known.
  std::span<const std::uint32_t> counted() const { return narrow_ ? counted_ : legs_.between(); }

  // Adds to the loads of these channels. `near`: by pair, odds of detours that are none.
  void carry_direct(std::span<const DetourPair> pairs, std::span<const double> near,
                    std::vector<double>& load) const;
  // If there are no detours, false.
  bool carry_detours(std::span<const DetourPair> pairs, std::vector<double>& load);
  // `prices`, `filled`: by channel.
  void price_pairs(std::span<const DetourPair> pairs, std::span<const double> near,
                   std::span<const double> prices, std::span<const double> filled, DetourCosts& costs);

 private:
  // What a flow of 1 puts on channels between switches, in parts_; `lost`: what has no way on.
  struct Part {
    std::uint32_t channel = 0;
    double share = 0;
  };
  struct Ways {
    std::size_t begin = 0, end = 0;
    double lost = 0;
    bool known = false;
  };
  struct PairWays {
    Ways direct, none;  // none: of detours by hosts near the other end, which aren't any
  };

  void find_keys(std::span<const DetourPair> pairs);
  template <typename KeyOf>
  void collect(std::span<const DetourPair> pairs, KeyOf&& key_of, std::vector<std::uint32_t>& keys);
  bool is_worth_it(std::span<const DetourPair> pairs);
  void find_pairs(std::span<const DetourPair> pairs);
  void find_legs();
  void find_first(std::uint32_t source, bool within);
  void find_last(std::uint32_t destination, bool within);
  void find_pair(const DetourPair& pair, PairWays& ways);
  void begin_way();
  Ways take_ways();
  void find_moving(std::span<const DetourPair> pairs);
  bool could_wait(const Ways& direct) const;
  bool could_fill(std::uint32_t channel) const {
    constexpr double kRounding = 1e-9;
    return most_[channel] > capacity_[channel] * (1 - kRounding);
  }
  void add_most(const Ways& ways, double amount);
  void select_ways();
  Ways select(const Ways& ways);
  const Ways& first_ways(std::uint32_t key) const { return (narrow_ ? counted_first_ : first_ways_)[key]; }
  const Ways& last_ways(std::uint32_t key) const { return (narrow_ ? counted_last_ : last_ways_)[key]; }
  const PairWays& pair_ways(std::size_t pair) const {
    return narrow_ ? counted_pairs_[pair] : pair_ways_[ways_of_[pair]];
  }
  std::span<const Part> parts(const Ways& ways) const {
    return std::span(narrow_ ? counted_parts_ : parts_).subspan(ways.begin, ways.end - ways.begin);
  }
  void add_load(const Ways& ways, double amount, std::vector<double>& load) const;
  double price_of(const Ways& ways, std::span<const double> prices) const;

  const HostGroups& groups_;
  const DetourAreas& areas_;
  DetourLegs& legs_;
  const std::vector<double>& capacity_;       // by channel
  Carried found_;                             // by the way at hand
  std::vector<Part> parts_;                   // of all ways
  std::vector<Ways> first_ways_, last_ways_;  // by key: of all detours, to and from their middles
  PairTable<std::uint32_t> number_of_;        // in pair_ways_
  std::vector<PairWays> pair_ways_;
  // These are for the pairs at hand only.
  std::vector<std::uint32_t> senders_, receivers_;  // keys, ascending
  std::vector<std::uint64_t> marks_;                // bits, by key; 0 between calls
  std::vector<std::uint32_t> ways_of_;              // by pair: in pair_ways_
  // The next are for prepare_moving() only.
  bool narrow_ = false;
  std::vector<std::uint32_t> moving_, counted_;
  std::vector<DetourPair> moving_pairs_;
  std::vector<char> is_moving_, is_counted_;        // by pair; by channel
  std::vector<double> most_;                        // by channel: as much as could go there
  std::vector<Part> counted_parts_;                 // on these, of the ways of senders, receivers, pairs:
  std::vector<Ways> counted_first_, counted_last_;  // by key
  std::vector<PairWays> counted_pairs_;             // by pair
  std::vector<double> sent_, received_;             // by key: by detours
  std::vector<double> first_cost_, last_cost_;      // by key
};

}  // namespace weft::routing
