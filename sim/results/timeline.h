// What the ranks of a run did when: slices of their cpus' time, the messages between them, and sums over
// time where there is too much of that to keep.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "sim/units/quantity.h"

namespace weft::results {

// What a cpu of a rank does. Those that wait do nothing: TIMELINE.md says which is which.
enum class SliceKind : std::uint8_t { kCompute, kSend, kReceive, kWaitNetwork, kWaitPeer, kWaitOther };
inline constexpr int kSliceKinds = 6;
// "compute", "send", "receive", "wait_network", "wait_peer", "wait_other".
std::string_view name(SliceKind kind);

// Operations, peers, tags and messages have these where there is none.
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
  // In the order in which they, or their requests, were handed to NICs; of one moment, by job and rank.
  std::uint64_t number = 0;
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
  std::vector<TimelineMessage> messages;        // by number, from 0 on
  // What there was in all. Where ranks were left out, slices are of those whose number, jobs behind each
  // other, is a multiple of `stride`, and messages from or to them, all of them up to `until`.
  std::uint64_t all_slices = 0, all_messages = 0;
  std::uint32_t stride = 1;
  Time until = Time::max();
  std::vector<TimelineBin> bins;  // of all ranks; empty where the slices say it all in few rows

  bool is_whole() const { return stride == 1 && until == Time::max(); }
};

// Whose the rows are, as all parts of a recorder know it.
struct TimelineRanks {
  std::vector<std::uint64_t> first_of_job;  // and, behind, the ranks of all
  std::vector<std::uint32_t> sent;          // messages of each rank, which one part alone counts
  std::uint64_t group_ranks = 1;            // ranks of one job in each group of bins
  std::vector<std::uint64_t> first_group;   // of each job
  std::uint64_t groups = 0;

  std::uint64_t all() const { return first_of_job.back(); }
  std::uint64_t number(std::uint32_t job, std::uint32_t rank) const { return first_of_job[job] + rank; }
};

// Takes slices and messages of some of the ranks as they come, in a thread of its own, and keeps so many that
// memory stays within bounds.
class TimelinePart {
 public:
  // `ranks` must outlive it.
  TimelinePart(TimelineRanks& ranks, std::uint64_t most) : ranks_(ranks), most_(most), bins_(ranks.groups) {}

  // What a message is known by until all are numbered: which of its sender's it is.
  std::uint64_t next_message(std::uint32_t job, std::uint32_t rank) {
    ++all_messages_;
    const std::uint64_t number = ranks_.number(job, rank);
    return number << 32 | ranks_.sent[number]++;
  }
  void add(const Slice& slice);
  void add(const TimelineMessage& message);

 private:
  friend class TimelineRecorder;
  static constexpr std::uint32_t kBins = 128;
  static constexpr Time kLeastWidth = Time::ps(1 << 20);
  using Cell = std::array<Time, kSliceKinds>;

  bool keeps(std::uint32_t job, std::uint32_t rank) const { return ranks_.number(job, rank) % stride_ == 0; }
  bool keeps(const Slice& slice) const { return slice.end <= until_ && keeps(slice.job, slice.rank); }
  bool keeps(const TimelineMessage& message) const {
    return message.sent <= until_ &&
           (keeps(message.job, message.source) || keeps(message.job, message.destination));
  }
  void thin(std::uint64_t most_at_last);
  void cut();
  void drop_others();
  void add_to_bins(const Slice& slice);
  void widen_bins();
  void take_in(TimelinePart& other);
  void take_in_bins(TimelinePart& other);

  TimelineRanks& ranks_;
  const std::uint64_t most_;
  std::uint64_t stride_ = 1, all_slices_ = 0, all_messages_ = 0;
  Time until_ = Time::max();
  std::vector<Slice> slices_;
  std::vector<TimelineMessage> messages_;
  std::vector<std::vector<Cell>> bins_;  // of each group; empty: nothing so far
  Time width_ = kLeastWidth;
};

// A run's recorder: a part for each partition. What it keeps does not depend on how ranks are divided.
class TimelineRecorder {
 public:
  // So many slices, and so many messages, are kept at most.
  static constexpr std::uint64_t kMostUnasked = 100'000, kMostAsked = 1'000'000;
  // Bins are given where there are more slices.
  static constexpr std::uint64_t kFewSlices = 10'000;

  explicit TimelineRecorder(std::uint64_t most) : most_(most) {}
  TimelineRecorder(const TimelineRecorder&) = delete;
  TimelineRecorder& operator=(const TimelineRecorder&) = delete;

  // Called once, before all else, with the ranks of each job, and what Timeline::collectives is to be.
  void begin(const std::vector<std::uint32_t>& ranks, std::size_t parts,
             std::vector<std::string> collectives);
  bool has_begun() const { return !parts_.empty(); }
  // All that a rank does, and the messages that it sends, are told to one part.
  TimelinePart& part(std::size_t index) { return parts_[index]; }
  // The end. Called once.
  Timeline finish();

 private:
  static constexpr std::uint32_t kGroups = 64;

  void append_bins(const TimelinePart& whole, Timeline& timeline) const;

  const std::uint64_t most_;
  TimelineRanks ranks_;
  std::vector<std::string> collectives_;
  std::deque<TimelinePart> parts_;
};

}  // namespace weft::results
