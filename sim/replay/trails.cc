#include "sim/replay/trails.h"

#include <algorithm>

namespace weft::sim {

void Trails::at_message(std::uint32_t local, const Message& message, bool is_handshake, Time now) {
  const Trail& trail = records_[message.trail];
  now_ = trail.path;
  const Time taken = now - trail.injected;
  if (is_handshake) {
    now_.matching += taken;
  } else {
    const Time alone =
        message.alone_ps > 0 ? std::min(Time::ps(static_cast<std::int64_t>(message.alone_ps)), taken) : taken;
    const Time bytes = nic_.of(message.bytes);
    const Time latency = alone - std::min(bytes, alone);
    Time& received = nics_[local].received;
    received = after(std::max(received, trail.injected), bytes);
    const Time bandwidth = std::min(std::max(trail.nic, received - trail.injected), taken - latency);
    now_.latency += latency;
    now_.bandwidth += bandwidth;
    now_.queueing += taken - latency - bandwidth;
  }
  free_.push_back(message.trail);
  if (free_.size() > 3 * TrailRecords::kAtATime) records_.give_back(free_);
}

void Trails::at_sent(std::uint32_t task, std::uint64_t bytes, Time now) {
  const Trail& trail = sending_[task];
  now_ = trail.path;
  const Time taken = now - trail.injected;
  const Time alone = std::min(nic_.of(bytes), taken);
  now_.bandwidth += alone;
  now_.queueing += taken - alone;
}

std::uint32_t Trails::leave(std::uint32_t local, std::uint64_t bytes, Time now) {
  Time& free = nics_[local].sent;
  free = after(std::max(free, now), nic_.of(bytes));
  if (free_.empty()) records_.take(free_);
  const std::uint32_t record = free_.back();
  free_.pop_back();
  records_[record] = {now_, now, free - now};
  return record;
}

void Trails::remember(std::uint32_t task, Time now) {
  if (sending_.size() <= task) sending_.resize(task + 1);
  sending_[task] = {.path = now_, .injected = now, .nic = {}};
}

void Trails::finish(std::uint32_t rank, Time now) {
  if (Last end{now_, now, rank}; end.is_behind(last_)) last_ = end;
}

void Trails::add_overhead(std::vector<results::CriticalPath>& paths, std::uint32_t index, Time duration) {
  if (paths.size() <= index) paths.resize(index + 1);
  paths[index] = now_;
  paths[index].overhead += duration;
}

}  // namespace weft::sim
