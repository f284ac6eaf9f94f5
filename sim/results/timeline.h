// What the ranks of a run did when: slices of their cpus' time, the messages between them, and sums over
// time where there is too much of that to keep.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/units/quantity.h"

namespace weft::results {

// What a cpu of a rank does. Those that wait do nothing: README.md says which is which.
enum class SliceKind : std::uint8_t { kCompute, kSend, kReceive, kWaitNetwork, kWaitPeer, kWaitOther };
inline constexpr int kSliceKinds = 6;
// "compute", "send", "receive", "wait_network", "wait_peer", "wait_other".
std::string_view name(SliceKind kind);

// Of operations, peers and tags: there is none.
inline constexpr std::uint32_t kNotGiven = 0xFFFFFFFFu;
inline constexpr std::uint64_t kNoMessage = UINT64_MAX;

// One cpu of one rank from start to end. Those of a cpu don't overlap. Some have no length: a send, or a
// receive, that costs no cpu time.
struct Slice {
  Time start, end;
  std::uint64_t message = kNoMessage;  // sent, received or waited for
  std::uint64_t bytes = 0;             // of that message, or of what is combined
  std::uint32_t job = 0, rank = 0;
  std::uint32_t op = kNotGiven;  // operation of the graph
  std::uint32_t peer = kNotGiven, tag = kNotGiven;
  std::uint16_t cpu = 0;
  SliceKind kind = SliceKind::kCompute;
  std::uint8_t collective = 0;  // place in Timeline::collectives
};

// A message between two ranks of a job; handshakes are none, and one that shakes hands is one.
struct TimelineMessage {
  static constexpr Time kNever = Time::max();
  std::uint64_t number = 0;  // in the order in which they, or their requests, were handed to NICs
  std::uint64_t bytes = 0;
  Time sent;                                           // it, or its request, was handed to the NIC
  Time arrived = kNever;                               // its last byte was in the receiver's NIC
  std::uint32_t job = 0, source = 0, destination = 0;  // ranks
  std::uint32_t tag = kNotGiven;
  std::uint8_t collective = 0;
};

// Sums over the cpus of ranks that follow each other, in an interval.
struct TimelineBin {
  std::uint32_t job = 0, first_rank = 0, last_rank = 0;
  Time start, end;
  std::array<Time, kSliceKinds> time;
};

struct Timeline {
  // Why there is none, or "".
  std::string absent = "the network model does not tell";
  std::vector<std::string> collectives = {""};  // "allreduce"; the first stands for none
  std::vector<Slice> slices;                    // by job, rank, cpu and time
  std::vector<TimelineMessage> messages;        // by number
  // What there was in all. Where ranks were left out, slices are of those whose number, jobs behind each
  // other, is a multiple of `stride`, and messages from or to them, all of them up to `until`.
  std::uint64_t all_slices = 0, all_messages = 0;
  std::uint32_t stride = 1;
  Time until = Time::max();
  std::vector<TimelineBin> bins;  // of all ranks; empty where the slices say it all in few rows

  bool is_whole() const { return stride == 1 && until == Time::max(); }
};

// Takes slices and messages as they come, and keeps so many that memory stays within bounds.
class TimelineRecorder {
 public:
  // Of slices and of messages, so many are kept at most.
  static constexpr std::uint64_t kMostUnasked = 100'000, kMostAsked = 1'000'000;
  // Bins are given where there are more slices.
  static constexpr std::uint64_t kFewSlices = 10'000;

  explicit TimelineRecorder(std::uint64_t most) : most_(most) {}

  // Called once, before all else, with the ranks of each job.
  void begin(const std::vector<std::uint32_t>& ranks);
  bool has_begun() const { return !first_of_job_.empty(); }
  std::uint64_t next_message() { return all_messages_++; }
  void add(const Slice& slice);
  void add(const TimelineMessage& message);
  // The place of a name among Timeline::collectives.
  std::uint8_t collective(std::string_view collective);
  // The end. Called once.
  Timeline finish();

 private:
  static constexpr std::uint32_t kGroups = 64, kBins = 128;
  static constexpr Time kLeastWidth = Time::ps(1 << 20);
  using Cell = std::array<Time, kSliceKinds>;

  bool keeps(std::uint32_t job, std::uint32_t rank) const {
    return (first_of_job_[job] + rank) % stride_ == 0;
  }
  bool keeps(const TimelineMessage& message) const {
    return keeps(message.job, message.source) || keeps(message.job, message.destination);
  }
  void thin(Time now);
  void add_to_bins(const Slice& slice);
  void widen_bins();
  void append_bins(Timeline& timeline) const;

  std::vector<std::uint64_t> first_of_job_;  // and, behind, the ranks of all
  const std::uint64_t most_;
  std::uint64_t stride_ = 1, all_slices_ = 0, all_messages_ = 0;
  Time until_ = Time::max();
  std::vector<std::string> collectives_ = {""};
  std::vector<Slice> slices_;
  std::vector<TimelineMessage> messages_;
  std::uint64_t group_ranks_ = 1;           // ranks of one job in each group of bins
  std::vector<std::uint64_t> first_group_;  // of each job
  std::vector<std::vector<Cell>> bins_;     // of each group; empty: nothing so far
  Time width_ = kLeastWidth;
};

}  // namespace weft::results
