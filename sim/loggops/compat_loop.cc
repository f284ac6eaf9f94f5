#include "sim/loggops/compat_loop.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "goal/text/text.h"
#include "sim/core/random.h"
#include "sim/units/graph_error.h"
#include "sim/units/input_error.h"

namespace weft::sim {
namespace {

// Both programs number cpus in 8 bits, with 255 + 1 wrapping to no cpu at all.
constexpr std::uint32_t kMaxCpu = 254;
constexpr std::size_t kDiagnosedRanks = 10;

std::uint64_t checked(std::int64_t value, const char* name) {
  if (value < 0) throw InputError(fmt::format("parameter {} is {}; expected 0 or more", name, value));
  return static_cast<std::uint64_t>(value);
}

}  // namespace

CompatLoop::CompatLoop(const goal::Graph& graph, const CompatParameters& parameters,
                       const std::string& program, bool record_flows)
    : graph_(graph),
      L_(checked(parameters.L, "L")),
      o_(checked(parameters.o, "o")),
      g_(checked(parameters.g, "g")),
      O_(checked(parameters.O, "O")),
      S_(parameters.S),
      G_(parameters.G),
      posted_(graph.ranks()),
      unexpected_(graph.ranks()),
      record_flows_(record_flows),
      cpus_(std::size_t{graph.max_cpu()} + 1),
      nics_(std::size_t{graph.max_nic()} + 1) {
  if (!(parameters.G >= 0) || parameters.G > 1e9) {
    throw InputError(fmt::format("parameter G is {}; expected 0 to 1e9 nanoseconds per byte", parameters.G));
  }
  check_graph(program, parameters);
  const std::size_t ranks = graph.ranks();
  cpu_free_.resize(ranks * cpus_);
  send_free_.resize(ranks * nics_);
  receive_free_.resize(ranks * nics_);
  compute_ns_.resize(ranks);
  overhead_ns_.resize(ranks);
  remaining_.reserve(graph.ops());
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const goal::RankView view = graph.rank(r);
    first_op_.push_back(view.first_op());
    const std::vector<std::uint32_t> counts = view.dependency_counts();
    remaining_.insert(remaining_.end(), counts.begin(), counts.end());
  }
  ready_time_.resize(graph.ops());
  started_.resize(graph.ops());
  done_.resize(graph.ops());
  result_.total_ops = graph.ops();
  result_.ranks.resize(ranks);
}

void CompatLoop::check_graph(const std::string& program, const CompatParameters& parameters) {
  has_wildcards_.resize(graph_.ranks());
  if (graph_.max_cpu() > kMaxCpu) {
    throw GraphError(
        fmt::format("the graph uses cpu {}; {} knows cpus 0 to {}", graph_.max_cpu(), program, kMaxCpu));
  }
  for (std::uint32_t r = 0; r < graph_.ranks(); ++r) {
    const goal::RankView view = graph_.rank(r);
    for (goal::OpIndex i = 0; i < view.ops(); ++i) {
      const auto refuse = [&](const std::string& why) {
        throw GraphError(
            fmt::format("rank {}, operation {} ({}): {}", r, i, goal::op_to_text(graph_, r, i), why));
      };
      const goal::OpKind kind = view.kind(i);
      if (kind == goal::OpKind::kCollective) {
        refuse(program + " knows no collectives; expand them to sends and receives first");
      }
      if (view.op(i).kind.synchronous()) {
        refuse(program + " knows no synchronous sends; weft goal export makes standard ones");
      }
      // Those programs let 64 bits run over.
      const double ns_per_unit =
          kind == goal::OpKind::kCalc ? 1.0 : std::max(parameters.G, static_cast<double>(parameters.O));
      if (static_cast<double>(view.value(i)) * ns_per_unit > kEndOfTime.seconds() * 1e9) {
        refuse("takes longer than simulated time can last");
      }
      if (kind == goal::OpKind::kCalc) continue;
      if (view.comm(i) != goal::kWorld) {
        refuse(program + " knows no communicators; expected a tag that tells them apart");
      }
      const bool any_source = kind == goal::OpKind::kRecv && view.peer(i) == goal::kAny;
      if (view.peer(i) >= graph_.ranks() && !any_source) {
        refuse(fmt::format("no such peer; expected rank 0 to {}", graph_.ranks() - 1));
      }
      const bool wildcard = any_source || view.tag(i) == goal::kAny;
      if (wildcard) has_wildcards_[kind == goal::OpKind::kRecv ? r : view.peer(i)] = true;
    }
  }
}

void CompatLoop::record(const CompatEvent& event) {
  ++result_.events;
  const std::uint64_t where = std::uint64_t{event.rank} << 32 | event.op;
  const std::uint64_t what = std::uint64_t{event.sender} << 32 | static_cast<std::uint32_t>(event.kind);
  result_.digest += mix64(mix64(event.time + 0x9E3779B97F4A7C15ULL) ^ mix64(where) ^ what);
}

Time CompatLoop::to_time(std::uint64_t ns) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() / 1000);
  return ns > kMost ? Time::max() : Time::ns(static_cast<std::int64_t>(ns));
}

std::vector<CompatLoop::FreedOp> CompatLoop::roots(std::uint32_t rank) const {
  std::vector<FreedOp> roots;
  for (goal::OpIndex i = 0; i < graph_.rank(rank).ops(); ++i) {
    if (remaining_[first_op_[rank] + i] == 0) roots.push_back({rank, i});
  }
  return roots;
}

void CompatLoop::touch(std::uint32_t rank) {
  for (std::uint32_t i = 0; i < touched_count_; ++i) {
    if (touched_[i] == rank) return;
  }
  touched_[touched_count_++] = rank;
}

void CompatLoop::mark_started(std::uint32_t rank, std::uint32_t op) {
  touch(rank);
  started_[first_op_[rank] + op] = true;
  for (const goal::Edge edge : graph_.rank(rank).dependents(op)) {
    const std::uint64_t dependent = first_op_[rank] + edge.dependent();
    if (!edge.on_start() || --remaining_[dependent] != 0) continue;
    ready_time_[dependent] = 0;
    freed_.push_back({rank, edge.dependent()});
  }
}

void CompatLoop::mark_done(std::uint32_t rank, std::uint32_t op, std::uint64_t time) {
  touch(rank);
  done_[first_op_[rank] + op] = true;
  ++result_.executed_ops;
  ++result_.ranks[rank].ops;
  for (const goal::Edge edge : graph_.rank(rank).dependents(op)) {
    if (edge.on_start()) continue;
    const std::uint64_t dependent = first_op_[rank] + edge.dependent();
    ready_time_[dependent] = std::max(ready_time_[dependent], time);
    if (--remaining_[dependent] == 0) freed_.push_back({rank, edge.dependent()});
  }
}

void CompatLoop::release_send(std::uint32_t sender, std::uint32_t send, std::uint64_t time) {
  const goal::RankView view = graph_.rank(sender);
  if (!done_[view.first_op() + send]) return mark_done(sender, send, time);
  for (const goal::Edge edge : view.dependents(send)) {
    if (edge.on_start()) continue;
    throw GraphError(
        fmt::format("rank {}, operation {} ({}) is eager at S={}, but its receive is larger and rendezvous: "
                    "operations that require the send would start twice; expected equal sizes",
                    sender, send, goal::op_to_text(graph_, sender, send), S_));
  }
  touch(sender);
}

void CompatLoop::record_message(const CompatEvent& send, std::uint64_t arrival) {
  const goal::RankView view = graph_.rank(send.rank);
  const std::uint64_t bytes = view.value(send.op);
  ++result_.messages;
  result_.bytes += bytes;
  ++result_.ranks[send.rank].messages_sent;
  result_.ranks[send.rank].bytes_sent += bytes;
  if (!record_flows_) return;
  results::Flow flow;
  flow.source = send.rank;
  flow.destination = view.peer(send.op);
  flow.bytes = bytes;
  flow.start = to_time(send.time);
  flow.finish = to_time(arrival);
  result_.flows.push_back(flow);
}

void CompatLoop::record_receive(std::uint32_t rank, std::uint64_t bytes) {
  ++result_.ranks[rank].messages_received;
  result_.ranks[rank].bytes_received += bytes;
}

CompatResult CompatLoop::finish() {
  for (std::uint32_t r = 0; r < graph_.ranks(); ++r) {
    const auto first = cpu_free_.begin() + static_cast<std::ptrdiff_t>(r * cpus_);
    const std::uint64_t finish_ns = *std::max_element(first, first + static_cast<std::ptrdiff_t>(cpus_));
    result_.finish_ns.push_back(finish_ns);
    result_.digest += mix64(mix64(finish_ns) + r);
    results::Rank& row = result_.ranks[r];
    row.rank = row.host = r;
    row.finish = to_time(finish_ns);
    row.compute = to_time(compute_ns_[r]);
    row.overhead = to_time(overhead_ns_[r]);
    const std::uint64_t busy = compute_ns_[r] + overhead_ns_[r];
    row.waiting = to_time(std::max(finish_ns * cpus_, busy) - busy);
  }
  result_.unreceived = unexpected_.size();
  std::stable_sort(result_.flows.begin(), result_.flows.end(),
                   [](const results::Flow& a, const results::Flow& b) {
                     return std::tie(a.start, a.source) < std::tie(b.start, b.source);
                   });
  if (result_.stop == StopReason::kNone && !result_.complete()) diagnose();
  return std::move(result_);
}

void CompatLoop::diagnose() {
  std::vector<std::string>& lines = result_.diagnosis;
  std::size_t stuck_ranks = 0;
  for (std::uint32_t r = 0; r < graph_.ranks(); ++r) {
    const goal::RankView view = graph_.rank(r);
    if (result_.ranks[r].ops == view.ops() || ++stuck_ranks > kDiagnosedRanks) continue;
    // The first operation under way says what the rank waits for; where none is, dependencies form a cycle.
    goal::OpIndex blocked = view.ops(), waiting = view.ops();
    for (goal::OpIndex i = view.ops(); i-- > 0;) {
      const std::uint64_t op = view.first_op() + i;
      if (started_[op] && !done_[op]) waiting = i;
      if (!started_[op]) blocked = i;
    }
    if (waiting == view.ops()) {
      lines.push_back(fmt::format("rank {}: {} operations can never start (first: operation {}, {})", r,
                                  view.ops() - result_.ranks[r].ops, blocked,
                                  goal::op_to_text(graph_, r, blocked)));
      continue;
    }
    std::string line = fmt::format(
        "rank {} waits in operation {}: {}, {}", r, waiting, goal::op_to_text(graph_, r, waiting),
        view.kind(waiting) == goal::OpKind::kRecv ? "and no message matches"
                                                  : "above the eager limit, and no receive matches");
    // A message that did reach this rank is the likeliest near miss.
    const std::uint32_t first = unexpected_.first_of_rank(r);
    if (view.kind(waiting) == goal::OpKind::kRecv && first != Queues::kNone) {
      const Queues::Entry& entry = unexpected_.entry(first);
      line += fmt::format("; there is an unmatched \"{}\" of rank {}",
                          goal::op_to_text(graph_, entry.key.source, entry.value), entry.key.source);
    }
    lines.push_back(line);
  }
  if (stuck_ranks > kDiagnosedRanks) {
    lines.push_back(fmt::format("… and {} more ranks", stuck_ranks - kDiagnosedRanks));
  }
  std::size_t shown = 0;
  for (std::uint32_t r = 0; r < graph_.ranks() && shown < kDiagnosedRanks; ++r) {
    for (std::uint32_t i = unexpected_.first_of_rank(r); i != Queues::kNone && shown < kDiagnosedRanks;
         i = unexpected_.entry(i).rank_next, ++shown) {
      const Queues::Entry& entry = unexpected_.entry(i);
      lines.push_back(fmt::format("no receive took operation {} of rank {}: {}", entry.value,
                                  entry.key.source, goal::op_to_text(graph_, entry.key.source, entry.value)));
    }
  }
  if (unexpected_.size() > shown) {
    lines.push_back(fmt::format("… and {} more messages", unexpected_.size() - shown));
  }
}

}  // namespace weft::sim
