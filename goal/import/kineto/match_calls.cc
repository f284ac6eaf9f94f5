#include <algorithm>
#include <set>

#include "goal/import/kineto/timeline.h"

namespace weft::goal {
namespace {

bool is_message(const CommCall& call) { return call.kind == CommKind::kSend || call.kind == CommKind::kRecv; }

bool is_usable(const CommCall& call) {
  if (call.kind == CommKind::kCollective) return call.sized || call.collective == CollectiveKind::kBarrier;
  return is_message(call) && call.sized;
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
    std::map<std::uint32_t, std::vector<std::uint32_t>> found;
    for (const std::uint32_t kernel : kernels) {
      std::vector<std::uint32_t> calls = calls_of(kernel);
      std::erase_if(calls, [&](std::uint32_t call) { return !is_usable(trace_.calls[call]); });
      if (calls.empty()) {
        notes_.add(KinetoNote::kUnknownSize);
      } else {
        found.emplace(kernel, std::move(calls));
      }
    }
    return found;
  }

 private:
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
    if (launch == kNone) return own_usable ? std::vector{own} : std::vector<std::uint32_t>();
    std::vector<Record>& records = records_[trace_.host[launch].thread];
    const std::int64_t at = trace_.host[launch].start;
    // The last record that began by then.
    const auto behind = std::upper_bound(records.begin(), records.end(), at,
                                         [](std::int64_t time, const Record& r) { return time < r.start; });
    Record* around = nullptr;
    if (behind != records.begin() && std::prev(behind)->end >= at) around = &*std::prev(behind);
    if (around != nullptr && trace_.calls[around->call].joined && is_usable(trace_.calls[around->call])) {
      own_usable = false;
    }
    const CommCall& call = trace_.calls[own_usable || around == nullptr ? own : around->call];
    std::vector<std::uint32_t> calls;
    if (call.kind == CommKind::kCollective) {
      if (around != nullptr) around->used = true;
      if (own_usable || around != nullptr) return {own_usable ? own : around->call};
      return earlier(
          records, behind - records.begin(),
          [&](const CommCall& c) { return c.collective == call.collective; }, true);
    }
    if (own_usable) {
      if (around != nullptr) around->used = true;
      calls.push_back(own);
    }
    // Messages of a group are asked for one by one, and carried out by one kernel at its end.
    for (const std::uint32_t c : earlier(records, behind - records.begin(), is_message, false)) {
      calls.push_back(c);
    }
    return calls;
  }

  // The records before `end` that nothing carried out yet and that are of such a kind: the first, or all.
  template <typename Wanted>
  std::vector<std::uint32_t> earlier(std::vector<Record>& records, std::ptrdiff_t end, const Wanted& wanted,
                                     bool only_first) {
    std::vector<std::uint32_t> calls;
    std::ptrdiff_t& from = searched_[&records];
    for (std::ptrdiff_t i = from; i < end; ++i) {
      Record& record = records[static_cast<std::size_t>(i)];
      if (record.used || !wanted(trace_.calls[record.call])) continue;
      record.used = true;
      calls.push_back(record.call);
      if (only_first) return calls;
    }
    from = end;  // what was passed over is of no kernel
    return calls;
  }

  RankTrace& trace_;
  const Timeline& timeline_;
  KinetoNotes& notes_;
  std::vector<std::vector<Record>> records_;
  std::map<const std::vector<Record>*, std::ptrdiff_t> searched_;
};

}  // namespace

std::map<std::uint32_t, std::vector<std::uint32_t>> match_calls(RankTrace& trace, const Timeline& timeline,
                                                                KinetoNotes& notes) {
  return Matcher(trace, timeline, notes).match();
}

}  // namespace weft::goal
