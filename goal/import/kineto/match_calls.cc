#include <algorithm>
#include <array>
#include <compare>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "goal/import/kineto/timeline.h"

namespace weft::goal {
namespace {

bool is_message(const CommCall& call) { return call.kind == CommKind::kSend || call.kind == CommKind::kRecv; }

bool is_usable(const CommCall& call) {
  if (call.kind == CommKind::kCollective) return call.sized || call.collective == CollectiveKind::kBarrier;
  return is_message(call) && call.sized;
}

// Must a kernel carry it out? NCCL has none for a group of one rank.
bool needs_kernel(const CommCall& call) {
  const bool moves =
      is_message(call) || (call.kind == CommKind::kCollective && call.collective != CollectiveKind::kBarrier);
  return moves && call.sized && call.in_bytes + call.out_bytes > 0 && call.group.size != 1 &&
         call.group.ranks.size() != 1;
}

// A record_param_comms of a thread.
struct Record {
  std::int64_t start, end;
  std::uint32_t call;
  bool used = false;
};

class Matcher {
 public:
  Matcher(RankTrace& trace, const Timeline& timeline, KinetoNotes& notes)
      : trace_(trace), timeline_(timeline), notes_(notes), records_(trace.threads) {
    for (std::uint32_t thread = 0; thread < trace.threads; ++thread) find_records(thread);
  }

  std::map<std::uint32_t, std::vector<std::uint32_t>> match() {
    std::vector<std::uint32_t> kernels;
    for (std::uint32_t i = 0; i < trace_.gpu.size(); ++i) {
      if (trace_.gpu[i].communicates) kernels.push_back(i);
    }
    std::stable_sort(kernels.begin(), kernels.end(), [&](std::uint32_t a, std::uint32_t b) {
      return timeline_.launched(a) < timeline_.launched(b);
    });
    count_grouped(kernels);
    std::map<std::uint32_t, std::vector<std::uint32_t>> found;
    for (const std::uint32_t kernel : kernels) {
      if (continues(kernel)) {
        notes_.add(KinetoNote::kContinuedKernels);
        found.emplace(kernel, std::vector<std::uint32_t>());
        continue;
      }
      std::vector<std::uint32_t> calls = calls_of(kernel);
      std::erase_if(calls, [&](std::uint32_t call) { return !is_usable(trace_.calls[call]); });
      if (calls.empty()) {
        notes_.add(KinetoNote::kUnknownSize);
      } else {
        found.emplace(kernel, std::move(calls));
      }
    }
    count_left();
    return found;
  }

 private:
  // A launch outside of any call's record, of a collective or of what its name does not say (RCCL's
  // ncclDevKernel_Generic): the end of a group of calls.
  struct GroupEnd {
    std::uint32_t thread;
    std::ptrdiff_t behind;  // the records before it
    std::optional<CollectiveKind> kind;
    auto operator<=>(const GroupEnd&) const = default;
  };

  // Records of a thread that began by then.
  std::ptrdiff_t records_by(std::uint32_t thread, std::int64_t time) const {
    const std::vector<Record>& records = records_[thread];
    return std::upper_bound(records.begin(), records.end(), time,
                            [](std::int64_t t, const Record& r) { return t < r.start; }) -
           records.begin();
  }

  // The record in which a kernel was launched; null if there is none, or only the bracket around several
  // calls.
  Record* record_around(std::uint32_t thread, std::int64_t time) {
    const std::ptrdiff_t behind = records_by(thread, time);
    if (behind == 0) return nullptr;
    Record& last = records_[thread][static_cast<std::size_t>(behind - 1)];
    const CommCall& call = trace_.calls[last.call];
    const bool bracket = call.kind == CommKind::kNone && !call.name.empty();
    return last.end >= time && !bracket ? &last : nullptr;
  }

  // The end of a group that a kernel stands at, if only records before tell what it carries out.
  std::optional<GroupEnd> group_end(std::uint32_t kernel) {
    const CommCall& own = trace_.calls[trace_.gpu[kernel].call];
    const std::uint32_t launch = timeline_.launch(kernel);
    const bool unknown = own.kind == CommKind::kUnknown;
    if (launch == kNone || is_usable(own) || (own.kind != CommKind::kCollective && !unknown))
      return std::nullopt;
    const HostEvent& host = trace_.host[launch];
    if (record_around(host.thread, host.start) != nullptr) return std::nullopt;
    return GroupEnd{host.thread, records_by(host.thread, host.start),
                    unknown ? std::nullopt : std::optional(own.collective)};
  }

  using Words = std::tuple<std::string, std::string, std::uint64_t, std::uint64_t>;
  static Words words_of(const CommCall& call) {
    return {call.name, call.group.name, call.in_bytes, call.out_bytes};
  }

  void count_grouped(const std::vector<std::uint32_t>& kernels) {
    for (const std::uint32_t kernel : kernels) {
      if (const auto end = group_end(kernel)) ++kernels_at_[*end];
    }
  }

  // A collective of many ranks or tensors may take several kernels, all launched in the record of its call.
  bool continues(std::uint32_t kernel) {
    const std::uint32_t launch = timeline_.launch(kernel);
    if (launch == kNone) return false;
    const Record* const around = record_around(trace_.host[launch].thread, trace_.host[launch].start);
    return around != nullptr && around->used && trace_.calls[around->call].kind == CommKind::kCollective;
  }

  // What was asked for and nothing carried out. Gloo's calls, and those made of others, have no kernel.
  void count_left() {
    std::array<bool, 256> on_host{};
    for (const HostEvent& event : trace_.host) {
      if (event.kind != HostKind::kHostComm) continue;
      on_host[static_cast<std::uint8_t>(trace_.calls[event.call].collective)] = true;
    }
    for (const std::vector<Record>& records : records_) {
      for (std::size_t i = 0; i < records.size(); ++i) {
        const CommCall& call = trace_.calls[records[i].call];
        const bool made_of_others = i + 1 < records.size() && records[i + 1].start < records[i].end;
        if (records[i].used || made_of_others || !needs_kernel(call)) continue;
        if (on_host[static_cast<std::uint8_t>(call.collective)]) continue;
        if (std::uint32_t& elsewhere = carried_out_elsewhere_[words_of(call)]; elsewhere > 0) {
          --elsewhere;
          continue;
        }
        notes_.add(KinetoNote::kCallsWithoutKernel);
        notes_.name(KinetoNote::kCallsWithoutKernel, call.name);
      }
    }
  }

  // Older profiles have the sizes in an annotation within the record.
  void find_records(std::uint32_t thread) {
    const auto [first, last] = timeline_.events_of(thread);
    std::vector<Record>& records = records_[thread];
    for (std::uint32_t i = first; i < last; ++i) {
      const HostEvent& event = trace_.host[i];
      if (event.kind == HostKind::kComm) {
        records.push_back({event.start, event.end, event.call});
      } else if (event.kind == HostKind::kAnnotation) {
        const bool within = !records.empty() && event.start <= records.back().end;
        if (!within) {
          records.push_back({event.start, event.end, event.call});
        } else if (trace_.calls[records.back().call].name.empty()) {
          trace_.calls[records.back().call] = trace_.calls[event.call];
        }
      }
    }
  }

  std::vector<std::uint32_t> calls_of(std::uint32_t kernel) {
    const std::uint32_t own = trace_.gpu[kernel].call;
    const std::uint32_t launch = timeline_.launch(kernel);
    bool own_usable = is_usable(trace_.calls[own]);
    if (launch == kNone && own_usable) ++carried_out_elsewhere_[words_of(trace_.calls[own])];
    if (launch == kNone) return own_usable ? std::vector{own} : std::vector<std::uint32_t>();
    std::vector<Record>& records = records_[trace_.host[launch].thread];
    const std::int64_t at = trace_.host[launch].start;
    const std::ptrdiff_t behind = records_by(trace_.host[launch].thread, at);
    Record* const around = record_around(trace_.host[launch].thread, at);
    if (around != nullptr && trace_.calls[around->call].joined && is_usable(trace_.calls[around->call])) {
      own_usable = false;
    }
    const CommCall& call = trace_.calls[own_usable || around == nullptr ? own : around->call];
    std::vector<std::uint32_t> calls;
    if (call.kind == CommKind::kCollective) {
      if (around != nullptr) around->used = true;
      if (own_usable || around != nullptr) return {own_usable ? own : around->call};
      const auto alike = [&](const CommCall& c) {
        return c.kind == CommKind::kCollective && c.collective == call.collective;
      };
      // One kernel carries out the whole group; of several each has its part.
      std::uint32_t& kernels = kernels_at_[*group_end(kernel)];
      return earlier(records, behind, alike, kernels--);
    }
    if (own_usable) {
      if (around != nullptr) around->used = true;
      calls.push_back(own);
    }
    if (const auto end = group_end(kernel))
      return earlier(records, behind, needs_kernel, kernels_at_[*end]--);
    // Messages of a group are asked for one by one, and carried out by one kernel at its end.
    for (const std::uint32_t c : earlier(records, behind, is_message, 1)) {
      calls.push_back(c);
    }
    return calls;
  }

  // The records before `end` that nothing carried out yet and that are of such a kind: the first `1 / parts`.
  template <typename Wanted>
  std::vector<std::uint32_t> earlier(std::vector<Record>& records, std::ptrdiff_t end, const Wanted& wanted,
                                     std::uint32_t parts) {
    std::vector<Record*> found;
    std::ptrdiff_t& from = searched_[&records];
    const auto is_over = [&](const Record& record) {
      return record.used || !needs_kernel(trace_.calls[record.call]);
    };
    while (from < end && is_over(records[static_cast<std::size_t>(from)])) ++from;
    for (std::ptrdiff_t i = from; i < end; ++i) {
      Record& record = records[static_cast<std::size_t>(i)];
      if (!record.used && wanted(trace_.calls[record.call])) found.push_back(&record);
    }
    found.resize((found.size() + parts - 1) / std::max<std::uint32_t>(parts, 1));
    std::vector<std::uint32_t> calls;
    for (Record* const record : found) {
      record->used = true;
      calls.push_back(record->call);
    }
    return calls;
  }

  RankTrace& trace_;
  const Timeline& timeline_;
  KinetoNotes& notes_;
  std::vector<std::vector<Record>> records_;
  std::map<const std::vector<Record>*, std::ptrdiff_t> searched_;
  // How many kernels that tell their calls have no launch in the profile.
  std::map<Words, std::uint32_t> carried_out_elsewhere_;
  std::map<GroupEnd, std::uint32_t> kernels_at_;  // how many have not got their part yet
};

}  // namespace

std::map<std::uint32_t, std::vector<std::uint32_t>> match_calls(RankTrace& trace, const Timeline& timeline,
                                                                KinetoNotes& notes) {
  return Matcher(trace, timeline, notes).match();
}

}  // namespace weft::goal
