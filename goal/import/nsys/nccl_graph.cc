#include "goal/import/nsys/nccl_graph.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

bool is_message(NcclKind kind) { return kind == NcclKind::kSend || kind == NcclKind::kRecv; }

// What NCCL launches one kernel for: a collective, or the messages of a group on a stream.
struct Launch {
  std::vector<const NcclCall*> calls;
  std::uint32_t stream = 0;  // a cpu of the rank
  std::uint64_t start_ns = 0, end_ns = 0;

  NcclKind kernel() const {
    const NcclKind kind = calls[0]->kind;
    return is_message(kind) || kind == NcclKind::kAllToAll ? NcclKind::kSendRecv : kind;
  }
};

std::vector<Launch> launches_of(const std::vector<const NcclCall*>& calls, std::uint32_t stream) {
  std::vector<Launch> made;
  for (const NcclCall* call : calls) {
    const bool joins = is_message(call->kind) && call->group > 0 && !made.empty() &&
                       is_message(made.back().calls[0]->kind) && made.back().calls[0]->group == call->group;
    if (!joins) made.push_back({{}, stream, call->start_ns, call->end_ns});
    made.back().calls.push_back(call);
    made.back().end_ns = std::max(made.back().end_ns, call->end_ns);
  }
  return made;
}

class Assembly {
 public:
  explicit Assembly(std::vector<NsysProcess> processes) : processes_(std::move(processes)) {}

  NcclGraph make() {
    number_ranks();
    find_communicators();
    for (Rank rank = 0; rank < processes_.size(); ++rank) add_rank(rank);
    check_counts();
    made_.graph = builder_.finish();
    return std::move(made_);
  }

 private:
  struct Members {
    std::vector<Rank> ranks;   // in communicator order
    std::uint32_t number = 0;  // in the graph
  };

  // By the communicator that all are in, if there is one; else by file and pid.
  void number_ranks() {
    const std::size_t count = processes_.size();
    for (const auto& [hash, size] : processes_.front().size_of) {
      std::vector<NsysProcess*> by_rank(count);
      for (NsysProcess& process : processes_) {
        const auto rank = process.rank_in.find(hash);
        if (size == count && rank != process.rank_in.end() && rank->second < count)
          by_rank[rank->second] = &process;
      }
      if (std::find(by_rank.begin(), by_rank.end(), nullptr) != by_rank.end()) continue;
      std::vector<NsysProcess> ordered;
      for (NsysProcess* process : by_rank) ordered.push_back(std::move(*process));
      processes_ = std::move(ordered);
      return;
    }
    std::stable_sort(processes_.begin(), processes_.end(), [](const NsysProcess& a, const NsysProcess& b) {
      return std::tie(a.file, a.pid) < std::tie(b.file, b.pid);
    });
    if (count > 1) made_.assumed_ranks = count;
  }

  void find_communicators() {
    std::set<std::uint64_t> used;
    for (const NsysProcess& process : processes_) {
      for (const NcclCall& call : process.calls) used.insert(call.communicator);
    }
    for (const std::uint64_t hash : used) {
      Members members;
      std::map<std::uint32_t, Rank> by_rank;
      std::uint32_t size = 0;
      for (Rank rank = 0; rank < processes_.size(); ++rank) {
        const NsysProcess& process = processes_[rank];
        const bool uses = std::any_of(process.calls.begin(), process.calls.end(),
                                      [&](const NcclCall& call) { return call.communicator == hash; });
        if (uses) members.ranks.push_back(rank);
        const auto found = process.rank_in.find(hash);
        if (found == process.rank_in.end()) continue;
        by_rank[found->second] = rank;
        size = process.size_of.at(hash);
      }
      if (by_rank.empty()) {
        ++made_.inferred_communicators;
      } else if (by_rank.size() != size || by_rank.rbegin()->first >= size) {
        throw InputError(fmt::format("communicator {:#x} has {} ranks, but there are reports of {} of them",
                                     hash, size, by_rank.size()));
      } else {
        members.ranks.clear();
        for (const auto& [in, rank] : by_rank) members.ranks.push_back(rank);
      }
      const bool world = members.ranks.size() == processes_.size() &&
                         std::is_sorted(members.ranks.begin(), members.ranks.end());
      members.number = builder_.add_communicator(
          {fmt::format("{:#x}", hash), world ? std::vector<Rank>{} : members.ranks});
      communicators_[hash] = std::move(members);
    }
  }

  // Calls by stream; kernels of a stream are those of the calls' stream with the same kinds in the same
  // order.
  std::vector<Launch> launches(const NsysProcess& process) {
    std::map<std::uint64_t, std::vector<const NcclCall*>> by_stream;
    for (const NcclCall& call : process.calls) by_stream[call.stream].push_back(&call);
    if (by_stream.size() > UINT16_MAX)
      throw InputError({process.file}, "more than 65535 streams in a process");
    std::set<std::uint64_t> taken;
    std::vector<Launch> all;
    std::uint32_t number = 0;
    for (const auto& [handle, calls] : by_stream) {
      std::vector<Launch> of_stream = launches_of(calls, number++);
      const auto fits = [&](const auto& entry) {
        return !taken.contains(entry.first) &&
               std::equal(entry.second.begin(), entry.second.end(), of_stream.begin(), of_stream.end(),
                          [](const GpuKernel& kernel, const Launch& launch) {
                            return kernel.kind == launch.kernel();
                          });
      };
      const auto found = std::find_if(process.kernels.begin(), process.kernels.end(), fits);
      if (found == process.kernels.end()) {
        made_.calls_without_kernel += of_stream.size();
      } else {
        taken.insert(found->first);
        for (std::size_t i = 0; i < of_stream.size(); ++i) {
          of_stream[i].start_ns = found->second[i].start_ns;
          of_stream[i].end_ns = found->second[i].end_ns;
        }
      }
      all.insert(all.end(), of_stream.begin(), of_stream.end());
    }
    for (const auto& [stream, kernels] : process.kernels) {
      if (!taken.contains(stream)) made_.kernels_without_call += kernels.size();
    }
    // In the order in which the program asked, which is that of each communicator.
    std::stable_sort(all.begin(), all.end(), [](const Launch& a, const Launch& b) {
      return a.calls[0]->start_ns < b.calls[0]->start_ns;
    });
    return all;
  }

  void add_rank(Rank rank) {
    const NsysProcess& process = processes_[rank];
    struct Stream {
      std::vector<OpIndex> before;  // what the next operation waits for
      std::uint64_t end_ns = 0;
    };
    std::map<std::uint32_t, Stream> streams;
    const auto compute = [&](Stream& stream, std::uint32_t cpu, std::uint64_t until_ns) {
      if (until_ns <= stream.end_ns) return;
      const OpIndex calc = builder_.add_calc(until_ns - stream.end_ns, static_cast<std::uint16_t>(cpu));
      for (const OpIndex first : stream.before) builder_.add_edge(first, calc);
      stream.before = {calc};
    };
    for (const Launch& launch : launches(process)) {
      const auto [at, is_new] = streams.try_emplace(launch.stream);
      Stream& stream = at->second;
      if (is_new) stream.end_ns = process.begin_ns;
      compute(stream, launch.stream, launch.start_ns);
      std::vector<OpIndex> added;
      for (const NcclCall* call : launch.calls) add_call(rank, *call, launch.stream, added);
      for (const OpIndex op : added) {
        for (const OpIndex first : stream.before) builder_.add_edge(first, op);
      }
      if (!added.empty()) stream.before = std::move(added);
      stream.end_ns = std::max(stream.end_ns, launch.end_ns);
    }
    if (streams.empty()) streams[0].end_ns = process.begin_ns;
    for (auto& [cpu, stream] : streams) compute(stream, cpu, process.end_ns);
    made_.elapsed_ns = std::max(made_.elapsed_ns, process.end_ns - process.begin_ns);
    builder_.end_rank();
  }

  void add_call(Rank rank, const NcclCall& call, std::uint32_t stream, std::vector<OpIndex>& added) {
    const Members& members = communicators_.at(call.communicator);
    const bool has_peer =
        is_message(call.kind) || call.kind == NcclKind::kBroadcast || call.kind == NcclKind::kReduce;
    if (has_peer && call.peer >= members.ranks.size()) {
      throw InputError({processes_[rank].file},
                       fmt::format("process {}: rank {} of communicator {:#x}, which has {} ranks",
                                   processes_[rank].pid, call.peer, call.communicator, members.ranks.size()));
    }
    const auto cpu = static_cast<std::uint16_t>(stream);
    if (is_message(call.kind)) {
      const Rank peer = members.ranks[call.peer];
      if (peer == rank) {
        ++made_.copies;
        return;
      }
      const bool sends = call.kind == NcclKind::kSend;
      std::uint32_t& count =
          sends ? sent_[{call.communicator, rank, peer}] : received_[{call.communicator, peer, rank}];
      const std::uint32_t tag = count++;
      added.push_back(sends ? builder_.add_send(call.bytes, peer, tag, cpu, 0, members.number)
                            : builder_.add_recv(call.bytes, peer, tag, cpu, 0, members.number));
      return;
    }
    ++collectives_[call.communicator][rank];
    if (members.ranks.size() < 2) return;
    Collective collective{.comm = members.number, .bytes = call.bytes};
    switch (call.kind) {
      case NcclKind::kBroadcast:
        collective.kind = CollectiveKind::kBcast;
        collective.root = call.peer;
        break;
      case NcclKind::kReduce:
        collective.kind = CollectiveKind::kReduce;
        collective.root = call.peer;
        collective.element_bytes = call.element_bytes;
        break;
      case NcclKind::kAllGather:
        collective.kind = CollectiveKind::kAllgather;
        break;
      case NcclKind::kReduceScatter:
        collective.kind = CollectiveKind::kReduceScatter;
        collective.element_bytes = call.element_bytes;
        break;
      case NcclKind::kAllToAll:
        collective.kind = CollectiveKind::kAlltoall;
        break;
      default:
        collective.kind = CollectiveKind::kAllreduce;
        collective.element_bytes = call.element_bytes;
    }
    added.push_back(builder_.add_collective(collective, cpu));
  }

  // Reports that begin or end at other calls would make a graph that never ends.
  void check_counts() const {
    for (const auto& [hash, by_rank] : collectives_) {
      for (const Rank rank : communicators_.at(hash).ranks) {
        const auto found = by_rank.find(rank);
        const std::uint64_t calls = found == by_rank.end() ? 0 : found->second;
        if (calls == by_rank.begin()->second) continue;
        throw InputError(fmt::format(
            "communicator {:#x}: rank {} makes {} collective calls, rank {} makes {}; the reports "
            "must be of the same part of the run",
            hash, by_rank.begin()->first, by_rank.begin()->second, rank, calls));
      }
    }
    for (const auto* counts : {&sent_, &received_}) {
      for (const auto& [who, count] : *counts) {
        const auto& other = counts == &sent_ ? received_ : sent_;
        const auto found = other.find(who);
        if (found != other.end() && found->second == count) continue;
        const auto& [hash, from, to] = who;
        throw InputError(fmt::format(
            "communicator {:#x}: {} messages from rank {} to {} are {}, {} the other way round; the "
            "reports must be of the same part of the run",
            hash, count, from, to, counts == &sent_ ? "sent" : "received",
            found == other.end() ? 0 : found->second));
      }
    }
  }

  std::vector<NsysProcess> processes_;
  GraphBuilder builder_;
  NcclGraph made_;
  std::map<std::uint64_t, Members> communicators_;                      // by hash
  std::map<std::uint64_t, std::map<Rank, std::uint64_t>> collectives_;  // calls, by communicator and rank
  std::map<std::tuple<std::uint64_t, Rank, Rank>, std::uint32_t> sent_,
      received_;  // by communicator, from, to
};

}  // namespace

NcclGraph nccl_graph(std::vector<NsysProcess> processes) { return Assembly(std::move(processes)).make(); }

}  // namespace weft::goal
