#include "goal/import/mpi/partitioned.h"

#include <fmt/core.h>

#include <utility>

#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

using trace::Function;

// Tags of messages are 32 bits, and each of a sender's partitions has one.
constexpr std::uint64_t kMostTags = std::uint64_t{1} << 31;

}  // namespace

void Partitioned::make(const TraceRecord& record, const std::vector<TraceCommunicator>& known) {
  if (record.comm >= known.size()) throw InputError("a partitioned message in no communicator");
  Request request{.sends = record.function == Function::kPsend_init,
                  .peer = static_cast<std::uint32_t>(record.peer),
                  .bytes = record.bytes(),
                  .sender_bytes = record.bytes(),
                  .started = {},
                  .active = {},
                  .expected = {}};
  const std::uint32_t from = request.sends ? rank_ : request.peer, to = request.sends ? request.peer : rank_;
  const PartitionedChannel* channel =
      traffic_.partitioned().next(request.sends, known[record.comm].key, from, to, record.tag);
  if (channel == nullptr) {
    notes_.add(Note::kLostPartitions);  // no other side: its starts make no operation
  } else {
    if (channel->first + channel->partitions > kMostTags) {
      throw InputError(
          fmt::format("ranks {} and {} exchange messages in more than 2^31 partitions", from, to));
    }
    request.first_tag = static_cast<std::uint32_t>(channel->first);
    request.sender_bytes = channel->bytes;
    if (!request.sends) request.expected = channel->ready;
  }
  request.comm = communicators_.partitioned_number(known, record.comm);
  requests_[record.request] = std::move(request);
}

Op Partitioned::message(OpKind kind, const Request& request, std::uint32_t thread,
                        std::uint32_t partition) const {
  return {.kind = kind,
          .cpu = static_cast<std::uint16_t>(thread),
          .peer = request.peer,
          .tag = request.first_tag + partition,
          .comm = request.comm,
          .value = request.sender_bytes};
}

void Partitioned::start(RankProgram::Thread& thread, std::uint32_t number, std::uint64_t which) {
  Request& request = requests_[which];
  request.active.clear();
  const auto cpu = static_cast<std::uint16_t>(number);
  if (request.sends) {
    program_.flush(thread, cpu);
    // Other threads may give partitions, and each waits for this point.
    if (!thread.joins.empty()) program_.blocking(thread, {.kind = OpKind::kCalc, .cpu = cpu, .value = 0});
    request.thread = number;
    request.started = thread.point;
    return;
  }
  for (auto at = request.expected.begin(); at != request.expected.end();) {
    const OpIndex op = program_.nonblocking(thread, message(OpKind::kRecv, request, number, at->first));
    if (op != RankProgram::kNone) request.active[at->first] = op;
    at = --at->second == 0 ? request.expected.erase(at) : std::next(at);
  }
}

void Partitioned::ready(RankProgram::Thread& thread, const TraceRecord& record) {
  const auto found = requests_.find(record.request);
  if (found == requests_.end()) return;
  Request& request = found->second;
  if (record.thread != request.thread && request.started.op != RankProgram::kNone && !record.ready.empty()) {
    program_.flush(thread, static_cast<std::uint16_t>(record.thread));
    thread.joins.push_back(request.started);
  }
  for (const std::uint32_t partition : record.ready) {
    if (partition >= kMostTags - request.first_tag) throw InputError(fmt::format("partition {}", partition));
    const OpIndex op =
        program_.nonblocking(thread, message(OpKind::kSend, request, record.thread, partition));
    if (op != RankProgram::kNone) request.active[partition] = op;
    notes_.add(Note::kPartitions);
    notes_.not_replayed.all_bytes += request.bytes;
  }
}

// Waits for those of the sender's partitions that have bytes of the receiver's.
void Partitioned::arrived(RankProgram::Thread& thread, const TraceRecord& record) {
  const auto found = requests_.find(record.request);
  if (found == requests_.end() || record.ready.empty()) return;
  const Request& request = found->second;
  const unsigned __int128 begin = static_cast<unsigned __int128>(record.ready[0]) * request.bytes;
  const unsigned __int128 end = begin + request.bytes;
  for (const auto& [partition, op] : request.active) {
    const unsigned __int128 first = static_cast<unsigned __int128>(partition) * request.sender_bytes;
    if (first >= end || first + request.sender_bytes <= begin) continue;
    program_.join(thread, static_cast<std::uint16_t>(record.thread), op);
  }
}

void Partitioned::complete(RankProgram::Thread& thread, std::uint32_t number, std::uint64_t which) {
  for (const auto& [partition, op] : std::exchange(requests_[which].active, {})) {
    program_.join(thread, static_cast<std::uint16_t>(number), op);
  }
}

}  // namespace weft::goal
