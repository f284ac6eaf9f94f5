#include "sim/run/program_messages.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <vector>

#include "goal/collectives/selection.h"

namespace weft::sim {
namespace {

constexpr std::uint32_t kMostRanks = 1000, kMostRanksOfFile = 16, kPlaces = 32, kGroups = 64;
constexpr std::uint64_t kMostGroups = 1'000'000;  // to spell out in all: a fraction of a second
constexpr goal::OpIndex kMostOps = 1 << 20;       // to read of a rank of a file
constexpr double kWindowsBehind = 16;             // a sender stops so many after a missing packet

// The k-th of numbers that lie evenly in 0 … count - 1, whatever periods there are.
std::uint32_t spread_out(std::uint32_t k, std::uint32_t count) {
  constexpr double kGoldenRatio = 0.6180339887498949;
  const double place = (k + 0.5) * kGoldenRatio;
  return std::min(static_cast<std::uint32_t>((place - std::floor(place)) * count), count - 1);
}

void add(const UnderWay& more, double times, UnderWay& sum) {
  sum.messages += times * more.messages;
  sum.packets += times * more.packets;
  sum.late_packets += times * more.late_packets;
  sum.other_pairs += times * more.other_pairs;
  sum.packets_of_pairs += times * more.packets_of_pairs;
}

double packets_of(std::uint64_t bytes, const PacketRule& rule) {
  if (rule.mtu_bytes == 0) return 0;
  return std::min(static_cast<double>(bytes / rule.mtu_bytes + 1), kWindowsBehind * rule.window);
}

void add_message(std::uint64_t bytes, const PacketRule& rule, double times, UnderWay& sum) {
  sum.messages += times;
  const double packets = packets_of(bytes, rule), first = std::min(packets, rule.window);
  sum.packets += times * first;
  sum.late_packets += times * (packets - first);
}

// What one rank sends in a call of a collective, on the average of its places.
struct OfCall {
  double messages = 0;
  UnderWay at_once;  // in the largest group, of all lanes
};

// Spells a collective out, at some of its places.
class Speller {
 public:
  Speller(const goal::Collective& collective, std::uint32_t size, const goal::ChosenAlgorithm& chosen,
          const PacketRule& rule)
      : call_{&collective, size, 0, &chosen.options}, chosen_(chosen), rule_(rule) {}

  // Place 0 and the root may send far more than others; they stand for themselves alone.
  OfCall run() {
    const std::uint32_t size = call_.size, root = call_.collective->root;
    add_place(0, 1.0 / size);
    const std::uint32_t special = root > 0 && root < size ? 2 : 1;
    if (special == 2) add_place(root, 1.0 / size);
    std::vector<std::uint32_t> others;
    for (std::uint32_t k = 0; k < kPlaces; ++k) {
      const std::uint32_t place = spread_out(k, size);
      if (place != 0 && place != root) others.push_back(place);
    }
    if (others.empty() && size > special) others.push_back(root == 1 ? size - 1 : 1);
    for (const std::uint32_t place : others) {
      add_place(place, static_cast<double>(size - special) / size / static_cast<double>(others.size()));
    }
    return sum_;
  }
  std::uint64_t groups() const { return groups_; }

 private:
  bool expand(std::uint32_t lane, std::uint32_t index) {
    ++groups_;
    group_.clear();
    return chosen_.algorithm->expand(call_, lane, index, group_);
  }

  std::uint32_t count_groups(std::uint32_t lane) {
    std::uint32_t most = 1;
    while (most < 1u << 30 && expand(lane, most - 1)) most *= 2;
    std::uint32_t least = most / 2;  // so many there are
    while (least + 1 < most) {
      const std::uint32_t middle = least + (most - least) / 2;
      (expand(lane, middle - 1) ? least : most) = middle;
    }
    return least;
  }

  void add_place(std::uint32_t me, double share) {
    call_.me = me;
    peers_.clear();
    UnderWay at_once;
    double groups = 0, looks = 0;
    for (std::uint32_t lane = 0, lanes = chosen_.lanes(call_); lane < lanes; ++lane) {
      add_lane(lane, share, at_once, groups, looks);
    }
    share_nic(at_once);
    add_pairs(looks > 0 ? groups / looks : 1, looks, at_once);
    add(at_once, share, sum_.at_once);
  }

  // Messages to many peers take turns at the NIC: each has a packet under way, and all together a window.
  void share_nic(UnderWay& at_once) const {
    at_once.packets = std::min(at_once.packets, at_once.messages + rule_.window);
    at_once.late_packets = std::min(at_once.late_packets, kWindowsBehind * rule_.window);
  }

  // Where nearly every group that was looked at has a peer of its own, so have the others.
  void add_pairs(double groups_for_each, double looks, UnderWay& at_once) const {
    const auto peers = static_cast<double>(peers_.size());
    const double times = peers > looks / 2 ? groups_for_each : 1;
    double packets = 0;
    for (const auto& [peer, of_peer] : peers_) packets += of_peer;
    at_once.other_pairs = std::max(times * peers - at_once.messages, 0.0);
    if (peers > 0) at_once.packets_of_pairs = at_once.other_pairs * packets / peers;
  }

  void add_lane(std::uint32_t lane, double share, UnderWay& at_once, double& all_groups, double& all_looks) {
    const std::uint32_t groups = count_groups(lane), looks = std::min(groups, kGroups);
    UnderWay largest;
    double messages = 0;
    for (std::uint32_t k = 0; k < looks; ++k) {
      expand(lane, groups == looks ? k : spread_out(k, groups));
      UnderWay sends;
      for (const goal::Step& step : group_.steps()) add_step(step, sends);
      messages += sends.messages;
      if (sends.messages + sends.packets > largest.messages + largest.packets) largest = sends;
    }
    if (looks > 0) sum_.messages += share * messages * groups / looks;
    add(largest, 1, at_once);
    all_groups += groups;
    all_looks += looks;
  }

  void add_step(const goal::Step& step, UnderWay& sends) {
    if (step.kind != goal::StepKind::kSend) return;
    if (step.count == 1) {
      double& most = peers_[step.peer];
      most = std::max(most, packets_of(call_.wire_bytes(step, step.peer), rule_));
    }
    const auto add_one = [&](std::uint32_t i, double times) {
      const std::uint64_t bytes = call_.wire_bytes(step, step.peer_at(i, call_.size));
      if (bytes > 0 || step.signal) add_message(bytes, rule_, times, sends);
    };
    if (!step.by_peer || call_.collective->counts.empty()) return add_one(0, step.count);
    for (std::uint32_t i = 0; i < step.count; ++i) add_one(i, 1);
  }

  goal::CollectiveCall call_;
  const goal::ChosenAlgorithm& chosen_;
  const PacketRule& rule_;
  goal::Group group_;
  OfCall sum_;
  std::map<std::uint32_t, double> peers_;  // of the place in work: packets of the longest message
  std::uint64_t groups_ = 0;
};

class Reckoner {
 public:
  Reckoner(const ReplayJob& job, const PacketRule& rule)
      : job_(job), facts_(job.program.facts()), rule_(rule) {}

  ProgramMessages run() {
    const bool is_file = job_.program.graph() == nullptr;
    const std::uint32_t most = is_file ? kMostRanksOfFile : kMostRanks;
    const std::uint32_t step = std::max<std::uint32_t>(facts_.ranks / most, 1);
    // Each rank that is looked at stands for itself and those up to the next one.
    for (goal::Rank rank = 0; rank < facts_.ranks; rank += step) {
      weight_ = std::min(step, facts_.ranks - rank);
      if (is_file) {
        read(rank);
      } else {
        look_at(job_.program.graph()->rank(rank));
      }
      add_calls();
    }
    sum_.messages *= static_cast<double>(std::max<std::uint64_t>(job_.repetition.times, 1));
    return sum_;
  }

 private:
  void look_at(const goal::RankView& rank) {
    const std::vector<std::uint32_t> waits_for = rank.dependency_counts();
    for (goal::OpIndex i = 0; i < rank.ops(); ++i) {
      count(rank.op(i), 1);
      if (rank.kind(i) == goal::OpKind::kSend && waits_for[i] == 0) {
        add_message(rank.value(i), rule_, weight_, sum_.at_start);
      }
    }
  }

  void read(goal::Rank rank) {
    constexpr std::uint32_t kAtOnce = 4096;
    const goal::OpIndex ops = job_.program.ops(rank), read = std::min(ops, kMostOps);
    if (file_ == nullptr) file_ = job_.program.packed()->open(1);
    goal::RankReader reader = file_->rank(rank, {.labels = false, .values = false});
    goal::OpBlock block;
    bool sends = false;
    while (reader.position() < read && reader.next(block, kAtOnce)) {
      for (const goal::Op& op : block.ops) {
        count(op, static_cast<double>(ops) / read);
        sends = sends || op.kind == goal::OpKind::kSend;
      }
    }
    if (!sends) return;
    sum_.at_start.messages += weight_;
    sum_.at_start.packets += weight_ * rule_.window;
  }

  void count(const goal::Op& op, double times) {
    if (op.kind == goal::OpKind::kSend) sum_.messages += times * weight_;
    if (op.kind == goal::OpKind::kCollective) calls_[op.peer] += times;
  }

  void add_calls() {
    UnderWay largest;
    for (const auto& [collective, times] : calls_) {
      const OfCall& call = of_call(collective);
      sum_.messages += call.messages * times * weight_;
      if (call.at_once.messages + call.at_once.packets > largest.messages + largest.packets) {
        largest = call.at_once;
      }
    }
    add(largest, weight_, sum_.in_collectives);
    calls_.clear();
  }

  // Where very many collectives differ, the last one that was spelled out stands for the rest.
  const OfCall& of_call(std::uint32_t index) {
    const auto known = known_.find(index);
    if (known != known_.end()) return known->second;
    const goal::Collective& collective = facts_.collectives[index];
    const std::uint32_t size = facts_.communicator_size(collective.comm);
    if (size >= 2 && groups_ < kMostGroups) {
      Speller speller(collective, size, job_.hosts.collectives.choose(collective, size), rule_);
      last_ = speller.run();
      groups_ += speller.groups();
    }
    return known_[index] = size < 2 ? OfCall{} : last_;
  }

  const ReplayJob& job_;
  const goal::ProgramFacts& facts_;
  const PacketRule& rule_;
  double weight_ = 1;
  std::unique_ptr<goal::PackedFile> file_;
  std::map<std::uint32_t, double> calls_;  // of each collective, by the rank in work
  std::map<std::uint32_t, OfCall> known_;
  OfCall last_;
  std::uint64_t groups_ = 0;
  ProgramMessages sum_;
};

}  // namespace

ProgramMessages reckon_messages(const ReplayJob& job, const PacketRule& rule) {
  return Reckoner(job, rule).run();
}

}  // namespace weft::sim
