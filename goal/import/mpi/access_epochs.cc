#include "goal/import/mpi/access_epochs.h"

namespace weft::goal {
namespace {

using trace::Function;
using trace::Shape;

// A window's identity at all ranks; spreads bits as the finalizer of SplitMix64 (Steele, Lea, Flood, 2014).
std::uint64_t window_key(std::uint64_t comm_key, std::uint64_t ordinal) {
  std::uint64_t z = comm_key + (ordinal + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

// Does no rank leave this call before all have entered it?
bool synchronizes(const TraceRecord& record) {
  switch (record.function) {
    case Function::kBarrier:
      return true;
    case Function::kAllreduce:
      return record.bytes() > 0;
    default:
      return false;
  }
}

bool ends_epoch(Function function) {
  return function == Function::kWin_unlock || function == Function::kWin_unlock_all;
}
bool needs_acknowledgement(Function function) {
  return ends_epoch(function) || function == Function::kWin_flush || function == Function::kWin_flush_all;
}
bool is_of_all_targets(Function function) {
  return function == Function::kWin_unlock_all || function == Function::kWin_flush_all;
}

}  // namespace

AccessWindow* AccessEpochs::window(std::uint64_t number) {
  const auto found = windows_.find(number);
  return found == windows_.end() ? nullptr : &found->second;
}

void AccessEpochs::add(const TraceRecord& record, const std::vector<TraceCommunicator>& known) {
  synchronization_.reset();
  meeting_.reset();
  acknowledgements_.clear();
  exposures_.clear();
  const Shape shape = trace::function_info(record.function).shape;
  if (shape == Shape::kCollective) {
    if (!synchronizes(record) || record.comm >= known.size()) return;
    const TraceCommunicator& comm = known[record.comm];
    if (comm.inter || comm.outside) return;
    synchronize(comm.key, of_comm_[comm.key], record.comm, comm.ranks.size() == world_size_);
  } else if (shape == Shape::kWindowCreate) {
    create(record, known);
  } else if (shape >= Shape::kWindow && shape <= Shape::kOneSidedRequest) {
    AccessWindow* const found = window(record.window);
    if (found == nullptr) return;
    if (shape == Shape::kOneSided || shape == Shape::kOneSidedRequest) {
      operate(*found, record);
    } else {
      change(*found, record, known);
    }
  }
}

void AccessEpochs::synchronize(std::uint64_t key, std::uint64_t& count, std::uint32_t comm, bool all_ranks) {
  synchronization_ = MeetingPoint{.key = key, .ordinal = static_cast<std::uint32_t>(++count)};
  const Latest latest{++synchronizations_, *synchronization_};
  latest_[comm] = latest;
  if (all_ranks) latest_of_all_ = latest;
}

void AccessEpochs::create(const TraceRecord& record, const std::vector<TraceCommunicator>& known) {
  if (record.window == 0 || record.comm >= known.size()) return;
  const TraceCommunicator& comm = known[record.comm];
  AccessWindow window{.key = window_key(comm.key, windows_made_[comm.key]++), .comm = record.comm};
  synchronize(window.key, window.synchronizations, record.comm, comm.ranks.size() == world_size_);
  windows_.insert_or_assign(record.window, std::move(window));
}

void AccessEpochs::change(AccessWindow& window, const TraceRecord& record,
                          const std::vector<TraceCommunicator>& known) {
  switch (record.function) {
    case Function::kWin_fence:
    case Function::kWin_free:
      window.fenced = true;
      synchronize(window.key, window.synchronizations, window.comm,
                  known[window.comm].ranks.size() == world_size_);
      break;
    case Function::kWin_lock:
      window.targets[record.peer].locked = true;
      break;
    case Function::kWin_lock_all:
      window.all_locked = true;
      break;
    case Function::kWin_start:
      for (const std::int32_t rank : record.group) {
        AccessWindow::Target& target = window.targets[rank];
        target.started = true;
        target.exposure = {window.key, rank_ + 1, ++target.exposures};
      }
      break;
    case Function::kWin_post:
      for (const std::int32_t rank : record.group) {
        exposures_.push_back({window.key, static_cast<std::uint32_t>(rank) + 1, ++window.exposed_to[rank]});
      }
      break;
    case Function::kWin_complete:
      for (auto& [rank, target] : window.targets) target.started = false;
      break;
    default:
      if (needs_acknowledgement(record.function)) acknowledge(window, record);
  }
}

void AccessEpochs::operate(AccessWindow& window, const TraceRecord& record) {
  if (record.peer < 0) return;
  AccessWindow::Target& target = window.targets[record.peer];
  const Latest& of_comm = latest_[window.comm];
  passive_ = target.locked || window.all_locked;
  if (passive_) {
    meeting_ = latest_of_all_.number > of_comm.number ? latest_of_all_.point : of_comm.point;
    if (record.bytes_in == 0) target.unacknowledged = true;
  } else if (target.started) {
    meeting_ = target.exposure;
  } else if (window.fenced) {
    meeting_ =
        MeetingPoint{.key = window.key, .ordinal = static_cast<std::uint32_t>(window.synchronizations)};
  }
  if (meeting_) target.last = *meeting_;
}

void AccessEpochs::acknowledge(AccessWindow& window, const TraceRecord& record) {
  for (auto& [rank, target] : window.targets) {
    if (!is_of_all_targets(record.function) && rank != record.peer) continue;
    if (target.unacknowledged) acknowledgements_.push_back({rank, target.last});
    target.unacknowledged = false;
    if (record.function == Function::kWin_unlock) target.locked = false;
  }
  if (record.function == Function::kWin_unlock_all) window.all_locked = false;
}

}  // namespace weft::goal
