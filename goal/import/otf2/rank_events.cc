#include "goal/import/otf2/rank_events.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "goal/import/mpi_calls/call.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

using Kind = Otf2Event::Kind;
using trace::Function;
using trace::Shape;

Shape shape_of(Function function) { return trace::function_info(function).shape; }

bool is_completion(Kind kind) {
  return kind == Kind::kIsendComplete || kind == Kind::kIrecv || kind == Kind::kCancelled ||
         kind == Kind::kCollectiveComplete;
}

}  // namespace

Otf2RankEvents::Otf2RankEvents(Otf2Run& run, Rank rank, std::vector<OTF2_LocationRef> locations)
    : run_(run), rank_(rank), locations_(std::move(locations)) {}

// All calls of the rank's threads in the order in which they returned; threads are numbered by their first
// call.
template <typename Take>
void Otf2RankEvents::for_each_call(Unread* unread, const Take& take) {
  std::vector<std::unique_ptr<LocationCalls>> streams;
  std::vector<std::uint32_t> threads(locations_.size(), kNotKnown);
  for (const OTF2_LocationRef location : locations_) {
    streams.push_back(std::make_unique<LocationCalls>(run_.archive, location, run_.mpi_regions, unread));
  }
  std::uint32_t next_thread = 0;
  for (;;) {
    std::size_t first = streams.size();
    for (std::size_t i = 0; i < streams.size(); ++i) {
      const Otf2Call* call = streams[i]->front();
      if (call != nullptr && (first == streams.size() || call->leave_ns < streams[first]->front()->leave_ns))
        first = i;
    }
    if (first == streams.size()) return;
    if (threads[first] == kNotKnown) threads[first] = next_thread++;
    take(threads[first], *streams[first]->front());
    streams[first]->pop();
  }
}

void Otf2RankEvents::add_shares() {
  for_each_call(nullptr, [&](std::uint32_t, const Otf2Call& call) {
    for (const Otf2Event& event : call.events) {
      const bool collective = event.kind == Kind::kCollective || event.kind == Kind::kCollectiveComplete;
      const std::uint32_t number = number_of(event.comm);
      if (!collective || !otf2_of_v_form(event.op) || number == kNotKnown) continue;
      const auto size = static_cast<std::uint32_t>(run_.known[number].ranks.size());
      if (number != trace::kCommSelf) run_.shares.add(event, rank_in(number), size);
    }
  });
}

// A receive's request says nothing but its number; what it was stands where it completed.
void Otf2RankEvents::find_completions() {
  for_each_call(nullptr, [&](std::uint32_t, const Otf2Call& call) {
    for (const Otf2Event& event : call.events) {
      if (is_completion(event.kind) && event.kind != Kind::kIsendComplete) {
        completions_[event.request].push_back(event);
      }
    }
  });
}

void Otf2RankEvents::import(const MpiImportOptions& options, CommunicatorTable& communicators,
                            ImportNotes& notes, GraphBuilder& builder) {
  find_completions();
  const auto ranks = static_cast<Rank>(run_.known[trace::kCommWorld].ranks.size());
  run_.known[trace::kCommSelf].ranks = {static_cast<std::int32_t>(rank_)};
  run_.known[trace::kCommSelf].key = (std::uint64_t{1} << 32) + rank_;
  OneSidedTraffic traffic(ranks, [](OneSidedTraffic&) {});  // windows are not decoded
  RankImporter importer(options, rank_, ranks, communicators, traffic, notes);
  for_each_call(&run_.unread,
                [&](std::uint32_t thread, const Otf2Call& call) { add_call(importer, notes, thread, call); });
  elapsed_ns_ = importer.elapsed_ns();
  importer.finish(builder);
}

void Otf2RankEvents::add_call(RankImporter& importer, ImportNotes& notes, std::uint32_t thread,
                              const Otf2Call& call) {
  const auto region = run_.mpi_regions.find(call.region);
  const std::string name = region == run_.mpi_regions.end() ? "an MPI event" : region->second;
  const Function function = function_of(name);
  std::uint64_t enter_ns = call.enter_ns;
  std::size_t added = 0;
  const auto add = [&](TraceRecord& record) {
    record.thread = thread;
    record.enter_ns = enter_ns;
    record.leave_ns = call.leave_ns;
    record.inside_ns = call.leave_ns - enter_ns;
    enter_ns = call.leave_ns;  // the others of this call take no time of their own
    ++added;
    try {
      importer.add(record, run_.known);
    } catch (const InputError& error) {
      throw InputError({run_.archive.path()}, fmt::format("rank {}, {}: {}", rank_, name, error.what()));
    }
  };
  TraceRecord send, done;
  for (const Otf2Event& event : call.events) {
    TraceRecord record;
    if (is_completion(event.kind)) {
      done.function = Function::kWaitall;
      ++done.requests_given;
      const auto found = requests_.find(event.request);
      TraceCompletion completion{.request = found == requests_.end() ? trace::kUnknownRequest : found->second,
                                 .cancelled = event.kind == Kind::kCancelled};
      if (event.kind == Kind::kIrecv) {
        completion.message = {.valid = true,
                              .source = world_rank(number_of(event.comm), event.peer),
                              .tag = static_cast<std::int32_t>(event.tag),
                              .bytes = event.bytes};
      }
      done.completions.push_back(completion);
      if (found != requests_.end()) requests_.erase(found);
    } else if (event.kind == Kind::kSend && function == Function::kSendrecv) {
      take_event(event, Function::kSendrecv, send);
    } else if (event.kind == Kind::kRecv && shape_of(send.function) == Shape::kSendrecv) {
      take_event(event, Function::kSendrecv, send);
      add(send);
      send = {};
    } else if (take_event(event, function, record)) {
      add(record);
    }
  }
  if (shape_of(send.function) == Shape::kSendrecv) {  // its receive was from MPI_PROC_NULL
    send.function = Function::kSend;
    add(send);
  }
  if (done.function == Function::kWaitall) add(done);
  if (added > 0 || (function == Function::kSendrecv && call.events.empty())) return;
  if (shape_of(function) == Shape::kPlain) {
    TraceRecord record{.function = function};
    add(record);
  } else if (is_communication(name) && shape_of(function) != Shape::kComplete &&
             shape_of(function) != Shape::kProbe) {
    notes.not_replayed.add(name, 1, 0, call.leave_ns - call.enter_ns);
    ++notes.not_replayed.all_calls;
  } else if (shape_of(function) == Shape::kComplete || shape_of(function) == Shape::kProbe) {
    TraceRecord record{.function = Function::kWaitall};  // of null requests: nothing, but the time was inside
    add(record);
  } else {
    ++notes.local_calls;
  }
}

// False for what is no operation of its own, or is not known well enough.
bool Otf2RankEvents::take_event(const Otf2Event& event, Function function, TraceRecord& record) {
  if (event.kind == Kind::kTest) {
    record.function = Function::kTest;
    record.flag = false;
    record.requests_given = 1;
    return true;
  }
  if (event.kind == Kind::kIrecvRequest) return take_receive_request(event, record);
  if (event.kind == Kind::kCollective) return take_collective(event, false, record);
  if (event.kind == Kind::kCollectiveRequest) {
    const auto found = completions_.find(event.request);
    if (found == completions_.end() || found->second.empty()) return false;
    const Otf2Event known = found->second.front();
    found->second.pop_front();
    if (!take_collective(known, true, record)) return false;
    record.request = requests_[event.request] = next_request_++;
    return true;
  }
  const std::uint32_t number = number_of(event.comm);
  if (number == kNotKnown) return false;
  record.comm = number;
  const std::int32_t peer = world_rank(number, event.peer);
  const auto tag = static_cast<std::int32_t>(event.tag);
  if (event.kind == Kind::kRecv && function == Function::kSendrecv) {
    record.function = Function::kSendrecv;
    record.recv_peer = peer;
    record.recv_tag = tag;
    record.recv_count = event.bytes;
    record.recv_type_size = 1;
    return true;
  }
  record.peer = peer;
  record.tag = tag;
  record.count = event.bytes;
  record.type_size = 1;
  if (event.kind == Kind::kRecv) {
    record.function = Function::kRecv;
    record.received = {.valid = true, .source = peer, .tag = tag, .bytes = event.bytes};
  } else if (event.kind == Kind::kIsend) {
    const bool own = shape_of(function) == Shape::kSendRequest &&
                     !(function >= Function::kSend_init && function <= Function::kRecv_init);
    record.function = own ? function : Function::kIsend;
    record.request = requests_[event.request] = next_request_++;
  } else {
    const bool own = shape_of(function) == Shape::kSend || function == Function::kSendrecv;
    record.function = own ? function : Function::kSend;
  }
  return true;
}

bool Otf2RankEvents::take_receive_request(const Otf2Event& event, TraceRecord& record) {
  record.function = Function::kIrecv;
  record.comm = trace::kCommWorld;
  record.peer = trace::kAnySource;  // of one that never completed
  record.tag = trace::kAnyTag;
  record.type_size = 1;
  record.request = requests_[event.request] = next_request_++;
  const auto found = completions_.find(event.request);
  if (found == completions_.end() || found->second.empty()) return true;
  const Otf2Event known = found->second.front();
  found->second.pop_front();
  if (known.kind == Kind::kCancelled || number_of(known.comm) == kNotKnown) return true;
  record.comm = number_of(known.comm);
  record.peer = world_rank(record.comm, known.peer);
  record.tag = static_cast<std::int32_t>(known.tag);
  record.count = known.bytes;
  return true;
}

bool Otf2RankEvents::take_collective(const Otf2Event& event, bool nonblocking, TraceRecord& record) {
  const std::uint32_t number = number_of(event.comm);
  if (number == kNotKnown) return false;
  record.comm = number;
  record.function = otf2_collective(event.op, nonblocking);
  if (event.op == OTF2_COLLECTIVE_OP_CREATE_HANDLE) {
    // A communicator, or a window or a file, which the calling function would tell; all hold the ranks
    // together.
    record.function = Function::kComm_dup;
    return true;
  }
  if (record.function == Function::kUndecoded) return false;
  const auto size = static_cast<std::uint32_t>(run_.known[number].ranks.size());
  const std::uint32_t me = rank_in(number);
  record.root = event.peer < size ? static_cast<std::int32_t>(event.peer) : trace::kUndefined;
  const std::vector<std::uint64_t>* shares = nullptr;
  if (otf2_of_v_form(event.op) && number != trace::kCommSelf) {
    shares = run_.shares.next(event.comm, me);
    run_.spread_evenly += shares == nullptr;
  }
  set_otf2_sizes(record, event, me, size, shares);
  return true;
}

std::uint32_t Otf2RankEvents::number_of(std::uint32_t comm) const {
  const auto found = run_.communicators.find(comm);
  return found == run_.communicators.end() ? kNotKnown : found->second;
}

std::int32_t Otf2RankEvents::world_rank(std::uint32_t number, std::uint32_t rank) const {
  if (number == kNotKnown) return trace::kUndefined;
  if (number == trace::kCommSelf) return static_cast<std::int32_t>(rank_);
  const std::vector<std::int32_t>& ranks = run_.known[number].ranks;
  if (rank >= ranks.size()) {
    throw InputError({run_.archive.path()},
                     fmt::format("rank {}: a message with rank {} of a communicator of {} ranks", rank_, rank,
                                 ranks.size()));
  }
  return ranks[rank];
}

std::uint32_t Otf2RankEvents::rank_in(std::uint32_t number) const {
  const std::vector<std::int32_t>& ranks = run_.known[number].ranks;
  const auto found = std::find(ranks.begin(), ranks.end(), static_cast<std::int32_t>(rank_));
  if (number == trace::kCommSelf) return 0;
  if (found == ranks.end()) {
    throw InputError({run_.archive.path()},
                     fmt::format("rank {} takes part in a collective of a communicator it is not in", rank_));
  }
  return static_cast<std::uint32_t>(found - ranks.begin());
}

}  // namespace weft::goal
