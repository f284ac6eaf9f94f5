#include "goal/import/mpi/trace_summary.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>

#include "goal/import/mpi/time_split.h"
#include "goal/import/mpi/trace_files.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

namespace fs = std::filesystem;
using trace::Function;
using trace::Shape;

bool is_send_request(const TraceRecord& r) {
  return trace::function_info(r.function).shape == Shape::kSendRequest;
}

// What all ranks' calls come to.
struct Totals {
  std::map<std::string, FunctionUse, std::less<>> functions;
  std::map<std::uint64_t, CommunicatorUse> communicators;  // by key; 0 is every rank's MPI_COMM_SELF
  std::uint64_t named = 0;                                 // communicators other than those two
  std::map<std::pair<Rank, Rank>, Exchange> exchanges;
  std::map<std::string, RegionUse> regions;
};

std::string this_host() {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return host;
}

// Whether a process of this machine has the file mapped, as a rank that is traced has.
bool has_mapped(std::uint64_t process, const std::string& file) {
  std::ifstream maps(fmt::format("/proc/{}/maps", process));
  for (std::string line; std::getline(maps, line);) {
    if (line.ends_with("/" + file)) return true;
  }
  return false;
}

// One file.
class RankReader {
 public:
  RankReader(const fs::path& path, std::uint64_t now_ns, Totals& totals, TraceSummary& summary)
      : reader_(path.string()), now_ns_(now_ns), totals_(totals), summary_(summary) {
    state_.file = path.filename().string();
  }

  RankState read() {
    TraceRecord record;
    while (reader_.next(record)) {
      take_regions();
      add(record);
    }
    take_regions();
    take_end();
    end_regions();
    const TraceHeader& header = reader_.header();
    state_.rank = header.rank;
    state_.size = header.size;
    state_.host = header.host;
    state_.program = header.program;
    state_.library = header.mpi_library;
    state_.process = header.process;
    state_.status = reader_.status();
    state_.facts = reader_.facts();
    state_.calls = reader_.records();
    state_.file_bytes = reader_.used_bytes();
    state_.elapsed_ns = since_init(end_ns_);
    add_threads();
    for (const TraceCounter& counter : reader_.counters()) {
      FunctionUse& use =
          function(counter.name,
                   counter.call_class == trace::CallClass::kLocal ? Coverage::kCounted : Coverage::kTimed);
      use.calls += counter.calls;
      use.ns += counter.ns;
    }
    for (const TraceNowIn& now : reader_.now_in()) state_.now_in.push_back(state_of(now));
    if (reader_.records() > 0) state_.last = last_call();
    take_open();
    state_.end = rank_end();
    if (state_.end == RankEnd::kRunning) {
      const std::uint64_t now_ns = since_init(now_ns_);
      for (CallState& call : state_.now_in) call.for_ns = now_ns > call.enter_ns ? now_ns - call.enter_ns : 0;
    }
    return std::move(state_);
  }

 private:
  struct Request {
    Function function = Function::kIsend;
    std::int32_t peer = trace::kUndefined, tag = trace::kUndefined;
    std::uint32_t comm = trace::kNoComm;
    std::uint64_t bytes = 0;
    bool active = true, sends = false, receives = false;
  };

  struct Last {
    Function function = Function::kInit;
    std::string_view function_name;
    std::uint32_t comm = trace::kNoComm;
    std::int32_t peer = trace::kUndefined, to = trace::kUndefined, tag = trace::kUndefined;
    std::uint32_t requests = 0, thread = 0;
    std::uint64_t enter_ns = 0, leave_ns = 0;
  };

  RankEnd rank_end() const {
    switch (reader_.end()) {
      case trace::End::kFinalize:
        return RankEnd::kFinished;
      case trace::End::kAbort:
        return RankEnd::kAborted;
      case trace::End::kExit:
        return RankEnd::kExited;
      case trace::End::kStopped:
        return RankEnd::kStopped;
      case trace::End::kNone:
        break;
    }
    if (state_.process == 0) return RankEnd::kCut;  // version 1
    if (state_.host != this_host()) return RankEnd::kOpen;
    return has_mapped(state_.process, state_.file) ? RankEnd::kRunning : RankEnd::kCut;
  }

  std::uint64_t since_init(std::uint64_t ns) const { return ns > init_ns_ ? ns - init_ns_ : 0; }

  FunctionUse& decoded(Function f) {
    FunctionUse*& use = decoded_[static_cast<std::uint8_t>(f)];
    if (use == nullptr) use = &function(trace::function_info(f).name, Coverage::kDecoded);
    return *use;
  }

  FunctionUse& function(std::string_view name, Coverage coverage) {
    const auto found = totals_.functions.find(name);
    if (found != totals_.functions.end()) return found->second;
    FunctionUse& use = totals_.functions[std::string(name)];
    use.name = name;
    use.coverage = coverage;
    return use;
  }

  // What ranks have in common of a communicator. Every rank has a MPI_COMM_SELF of its own.
  CommunicatorUse* communicator(std::uint32_t id) {
    if (id >= reader_.communicators().size()) return nullptr;
    if (communicators_.size() <= id) communicators_.resize(id + 1);
    if (communicators_[id] == nullptr) communicators_[id] = find_communicator(id);
    return communicators_[id];
  }
  CommunicatorUse* find_communicator(std::uint32_t id) {
    const TraceCommunicator& c = reader_.communicators()[id];
    CommunicatorUse& use = totals_.communicators[id == trace::kCommSelf ? 0 : c.key];
    if (!use.name.empty()) return &use;
    use.name = id == trace::kCommWorld  ? "MPI_COMM_WORLD"
               : id == trace::kCommSelf ? "MPI_COMM_SELF"
                                        : fmt::format("communicator {}", ++totals_.named);
    use.ranks = c.ranks.size() + c.remote_ranks.size();
    use.inter = c.inter;
    return &use;
  }
  std::string communicator_name(std::uint32_t id) {
    const CommunicatorUse* use = communicator(id);
    return use == nullptr ? std::string() : use->name;
  }

  void sent(std::int32_t to, std::uint64_t bytes) {
    if (to < 0) return;
    if (static_cast<std::uint32_t>(to) >= reader_.header().size) {
      throw InputError({state_.file},
                       fmt::format("call {}: a message has peer {}, but MPI_COMM_WORLD has only {} ranks",
                                   reader_.records(), to, reader_.header().size));
    }
    summary_.sent_bytes += bytes;
    const auto from = static_cast<Rank>(reader_.header().rank), receiver = static_cast<Rank>(to);
    Exchange& exchange =
        totals_.exchanges.try_emplace({from, receiver}, Exchange{from, receiver}).first->second;
    ++exchange.messages;
    exchange.bytes += static_cast<double>(bytes);
  }

  void wildcards(std::int32_t peer, std::int32_t tag) {
    if (peer == trace::kProcNull) return;
    summary_.any_source += peer == trace::kAnySource;
    summary_.any_tag += tag == trace::kAnyTag;
  }

  // Bytes that the call moves, and what it leaves open.
  std::uint64_t effect(const TraceRecord& r) {
    switch (trace::function_info(r.function).shape) {
      case Shape::kSend:
        sent(r.peer, r.bytes());
        return moved_bytes(r);
      case Shape::kSendrecv:
        sent(r.peer, r.bytes());
        wildcards(r.recv_peer, r.recv_tag);
        return moved_bytes(r);
      case Shape::kRecv:
      case Shape::kProbe:
        wildcards(r.peer, r.tag);
        return trace::function_info(r.function).shape == Shape::kProbe ? 0 : r.received.bytes;
      case Shape::kMessageRecv:
        return r.received.bytes;
      case Shape::kSendRequest:
      case Shape::kRecvRequest:
        return make_request(r);
      case Shape::kSendrecvRequest:
        sent(r.peer, r.bytes());
        wildcards(r.recv_peer, r.recv_tag);
        requests_[r.request] = {
            .function = r.function, .peer = r.recv_peer, .tag = r.recv_tag, .comm = r.comm, .receives = true};
        return moved_bytes(r);
      case Shape::kMessageRecvRequest:
      case Shape::kCommCreateRequest:
        requests_[r.request] = {.function = r.function, .comm = r.comm};
        return 0;
      case Shape::kCollectiveRequest:
        requests_[r.request] = {.function = r.function, .peer = r.root, .comm = r.comm};
        return moved_bytes(r);
      case Shape::kPartitionedInit:
        requests_[r.request] = {.function = r.function,
                                .peer = r.peer,
                                .tag = r.tag,
                                .comm = r.comm,
                                .bytes = moved_bytes(r),
                                .active = false,
                                .sends = r.function == Function::kPsend_init,
                                .receives = r.function == Function::kPrecv_init};
        return 0;
      case Shape::kCollectiveInit:
      case Shape::kNeighborInit:
        requests_[r.request] = {
            .function = r.function, .peer = r.root, .comm = r.comm, .bytes = moved_bytes(r), .active = false};
        return 0;  // each Start moves them
      case Shape::kComplete:
        complete(r);
        return 0;
      case Shape::kStart:
        start(r);
        return 0;
      case Shape::kRequest:
        if (r.function == Function::kRequest_free) requests_.erase(r.request);
        return 0;
      case Shape::kNeighborRequest:
      case Shape::kOneSidedRequest:
      case Shape::kFileRequest:
        requests_[r.request] = {.function = r.function, .peer = r.peer, .comm = r.comm};
        return moved_bytes(r);
      case Shape::kCollective:
      case Shape::kNeighbor:
      case Shape::kOneSided:
      case Shape::kFile:
        return moved_bytes(r);
      default:
        return 0;
    }
  }

  std::uint64_t make_request(const TraceRecord& r) {
    Request& request = requests_[r.request];
    request = {.function = r.function,
               .peer = r.peer,
               .tag = r.tag,
               .comm = r.comm,
               .bytes = r.peer == trace::kProcNull ? 0 : r.bytes(),
               .active = !makes_persistent(r.function),
               .sends = is_send_request(r),
               .receives = !is_send_request(r)};
    if (!request.active) return 0;
    if (!request.sends) {
      wildcards(r.peer, r.tag);
      return 0;  // known when it completes
    }
    sent(r.peer, r.bytes());
    return moved_bytes(r);
  }

  void complete(const TraceRecord& r) {
    for (const TraceCompletion& completion : r.completions) {
      const auto found = requests_.find(completion.request);
      if (found == requests_.end()) continue;
      const std::uint64_t bytes = completion.message.valid ? completion.message.bytes : 0;
      decoded(found->second.function).bytes += bytes;
      if (CommunicatorUse* use = communicator(found->second.comm)) use->bytes += bytes;
      if (makes_persistent(found->second.function)) {
        found->second.active = false;
      } else {
        requests_.erase(found);
      }
    }
  }

  void start(const TraceRecord& r) {
    for (const std::uint64_t number : r.started) {
      const auto found = requests_.find(number);
      if (found == requests_.end()) continue;
      Request& request = found->second;
      request.active = true;
      if (request.receives) {
        wildcards(request.peer, request.tag);
        continue;
      }
      if (request.sends) sent(request.peer, request.bytes);
      decoded(request.function).bytes += request.bytes;
      if (CommunicatorUse* use = communicator(request.comm)) use->bytes += request.bytes;
    }
  }

  struct Region {
    std::uint64_t depth = 0, begin_ns = 0, entries = 0, ns = 0;
  };

  void take_regions() {
    for (const TraceRegionEvent& event : reader_.take_region_events()) {
      const bool known = regions_.count(event.name) > 0;
      Region& region = regions_[event.name];
      // The program is in this one from the start.
      if (!known && event.name == trace::kPcontrolRegion) region = {1, init_ns_, 1, 0};
      if (event.begin && region.depth++ == 0) {
        region.begin_ns = event.at_ns;
        ++region.entries;
      }
      if (!event.begin && region.depth > 0 && --region.depth == 0) leave(region, event.at_ns);
    }
  }
  static void leave(Region& region, std::uint64_t at_ns) {
    if (at_ns > region.begin_ns) region.ns += at_ns - region.begin_ns;
  }
  void end_regions() {
    for (auto& [name, region] : regions_) {
      if (region.depth > 0) leave(region, end_ns_);
      RegionUse& use = totals_.regions[name];
      use.name = name;
      use.ranks += region.entries > 0;
      use.entries += region.entries;
      use.ns += region.ns;
    }
  }

  void add(const TraceRecord& r) {
    if (begins_mpi(r.function) && init_ns_ == 0) {
      init_ns_ = end_ns_ = r.leave_ns;
    } else {
      end_ns_ = std::max(end_ns_, ends_mpi(r.function) ? r.enter_ns : r.leave_ns);
      if (!begins_mpi(r.function) && !ends_mpi(r.function)) {
        state_.mpi_ns += r.inside_ns;
        state_.off_inside += at_most(r.off_inside, r.inside_ns);
      }
    }
    account_gap(r.thread, r.enter_ns, r.leave_ns, r.off_before);
    const std::uint64_t bytes = r.error == 0 || !r.completions.empty() ? effect(r) : 0;
    if (CommunicatorUse* use = communicator(r.comm)) {
      use->calls += r.polls;
      use->bytes += bytes;
    }
    if (r.name.empty()) {  // others are in the counters
      FunctionUse& use = decoded(r.function);
      use.calls += r.polls;
      use.bytes += bytes;
      if (!begins_mpi(r.function) && !ends_mpi(r.function)) use.ns += r.inside_ns;
    }
    remember(r);
  }

  // What a thread did before a call. Its own time begins with its first, that of thread 0 with MPI_Init.
  void account_gap(std::uint32_t number, std::uint64_t enter_ns, std::uint64_t leave_ns,
                   const trace::OffCore& off) {
    const auto [found, is_first] = threads_.try_emplace(number, enter_ns, leave_ns);
    if (is_first) return;
    auto& [first_ns, last_ns] = found->second;
    if (enter_ns > last_ns) state_.off_between += at_most(off, enter_ns - last_ns);
    last_ns = std::max(last_ns, leave_ns);
  }

  void add_threads() {
    state_.threads = threads_.size();
    state_.threads_ns = state_.elapsed_ns;
    for (const auto& [number, bounds] : threads_) {
      if (number > 0) state_.threads_ns += bounds.second - bounds.first;
    }
  }

  // The first thread ended the process between two calls.
  void take_end() {
    for (const TraceThreadEnd& end : reader_.take_thread_ends()) {
      if (end.thread != 0 || end.at_ns < end_ns_) continue;
      account_gap(0, end.at_ns, end.at_ns, end.off_before);
      end_ns_ = end.at_ns;
    }
  }

  // The last call in words.
  CallState last_call() {
    CallState last;
    last.function = last_.function_name;
    last.peer = last_.peer;
    last.tag = last_.tag;
    if (trace::function_info(last_.function).shape == Shape::kSendrecv) last.to = last_.to;
    last.communicator = communicator_name(last_.comm);
    last.requests = last_.requests;
    last.thread = last_.thread;
    last.enter_ns = since_init(last_.enter_ns);
    last.leave_ns = since_init(last_.leave_ns);
    return last;
  }

  void remember(const TraceRecord& r) {
    const bool exchange = trace::function_info(r.function).shape == Shape::kSendrecv;
    last_ = {.function = r.function,
             .function_name = r.function_name(),
             .comm = r.comm,
             .peer = r.root >= 0                   ? root_of(r)
                     : r.root != trace::kUndefined ? r.root
                     : exchange                    ? r.recv_peer
                                                   : r.peer,
             .to = r.peer,
             .tag = exchange ? r.recv_tag : r.tag,
             .requests = r.requests_given,
             .thread = r.thread,
             .enter_ns = r.enter_ns,
             .leave_ns = r.leave_ns};
  }

  std::int32_t root_of(const TraceRecord& r) const {
    if (r.comm >= reader_.communicators().size()) return trace::kUndefined;
    const TraceCommunicator& c = reader_.communicators()[r.comm];
    const std::vector<std::int32_t>& ranks = c.inter ? c.remote_ranks : c.ranks;
    return static_cast<std::size_t>(r.root) < ranks.size() ? ranks[static_cast<std::size_t>(r.root)]
                                                           : trace::kUndefined;
  }

  CallState state_of(const TraceNowIn& now) {
    CallState state;
    state.function = now.name;
    state.peer = now.peer;
    state.to = now.to;
    state.tag = now.tag;
    state.communicator = communicator_name(now.comm);
    state.requests = now.requests;
    state.thread = now.thread;
    state.enter_ns = since_init(now.enter_ns);
    return state;
  }

  void take_open() {
    for (const auto& [number, request] : requests_) {  // in the order they were made
      if (!request.active || ++state_.open_requests > kMostOpen) continue;
      state_.open.push_back({trace::function_info(request.function).name, request.peer, request.tag,
                             communicator_name(request.comm), request.bytes});
    }
  }

  TraceReader reader_;
  const std::uint64_t now_ns_;
  Totals& totals_;
  TraceSummary& summary_;
  RankState state_;
  Last last_;
  std::map<std::string, Region> regions_;
  std::array<FunctionUse*, 256> decoded_{};
  std::vector<CommunicatorUse*> communicators_;  // by id in the file
  std::map<std::uint64_t, Request> requests_;
  // When each thread entered its first call and left its last.
  std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> threads_;
  std::uint64_t init_ns_ = 0, end_ns_ = 0;
};

template <typename Value>
std::vector<Value> values_of(const auto& map) {
  std::vector<Value> values;
  for (const auto& [key, value] : map) values.push_back(value);
  return values;
}

void find_places(TraceSummary& summary) {
  const auto is_spawned = [](const RankState& rank) { return rank.facts.contains("spawned"); };
  summary.spawned =
      static_cast<std::uint64_t>(std::count_if(summary.ranks.begin(), summary.ranks.end(), is_spawned));
  if (summary.spawned == summary.ranks.size()) summary.spawned = 0;
  for (const RankState& rank : summary.ranks) {
    if (summary.spawned == 0 || !is_spawned(rank)) summary.places.emplace(rank.size, rank.rank);
  }
}

}  // namespace

std::string_view name(Coverage coverage) {
  constexpr std::string_view kNames[] = {"decoded", "timed", "counted"};
  return kNames[static_cast<std::size_t>(coverage)];
}

std::string_view name(RankEnd end) {
  constexpr std::string_view kNames[] = {"finished", "aborted", "exited", "stopped",
                                         "cut",      "running", "open"};
  return kNames[static_cast<std::size_t>(end)];
}

std::string_view TraceSummary::span() const {
  const bool finished = std::any_of(ranks.begin(), ranks.end(),
                                    [](const RankState& rank) { return rank.end == RankEnd::kFinished; });
  return finished ? "between MPI_Init and MPI_Finalize" : "from MPI_Init on";
}

TraceSummary summarize_traces(const fs::path& directory, std::uint64_t now_ns) {
  const std::vector<fs::path> files = trace_files(directory, kMpiTraces);
  if (files.empty()) {
    throw InputError(directory.string() +
                     ": no MPI traces here; expected files rank-000000.wtrc, rank-000001.wtrc …");
  }
  TraceSummary summary;
  Totals totals;
  double time = 0, inside = 0;
  for (const fs::path& path : files) {
    const RankState& rank = summary.ranks.emplace_back(RankReader(path, now_ns, totals, summary).read());
    summary.calls += rank.calls;
    summary.file_bytes += rank.file_bytes;
    summary.elapsed_ns = std::max(summary.elapsed_ns, rank.elapsed_ns);
    summary.world_size = std::max<std::uint64_t>(summary.world_size, rank.size);
    summary.hosts.insert(rank.host);
    summary.clocks.add(path.string(), rank.host, rank.facts);
    summary.libraries.insert(rank.library);
    summary.programs.insert(rank.program);
    if (const auto unseen = rank.facts.find("unseen_callers"); unseen != rank.facts.end()) {
      summary.unseen_callers.insert(unseen->second);
    }
    time += static_cast<double>(rank.threads_ns);
    inside += static_cast<double>(rank.mpi_ns);
  }
  find_places(summary);
  summary.mpi_share = time > 0 ? inside / time : 0;
  summary.functions = values_of<FunctionUse>(totals.functions);
  summary.communicators = values_of<CommunicatorUse>(totals.communicators);
  summary.regions = values_of<RegionUse>(totals.regions);
  summary.exchanges = values_of<Exchange>(totals.exchanges);
  std::stable_sort(summary.functions.begin(), summary.functions.end(),
                   [](const FunctionUse& a, const FunctionUse& b) {
                     return a.ns != b.ns ? a.ns > b.ns : a.calls > b.calls;
                   });
  std::stable_sort(summary.communicators.begin(), summary.communicators.end(),
                   [](const CommunicatorUse& a, const CommunicatorUse& b) { return a.calls > b.calls; });
  std::stable_sort(summary.ranks.begin(), summary.ranks.end(),
                   [](const RankState& a, const RankState& b) { return a.rank < b.rank; });
  return summary;
}

}  // namespace weft::goal
