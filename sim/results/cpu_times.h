// What the time of the cpus that compute consists of, and which communication they wait for.
#pragma once

#include <string>
#include <vector>

#include "sim/units/quantity.h"

namespace weft::results {

// Communication of one class: an axis of a parallel program ("tp"), or where communicators name none a kind
// of operation ("allreduce", "point to point").
struct CommunicationTime {
  std::string name;
  // The cpu has nothing to do, and what lets it go on is the end of such communication: mean over the ranks,
  // and the most of any.
  Time exposed_mean, exposed_most;
  // This part of the mean no network could spare: it was until the message that the cpu waits for was handed
  // to the network, as its sender was not ready (in a pipeline that is the bubble); in a collective until the
  // member had called it from which the last chain of messages came.
  Time unsent_mean;
  // Collectives of the class are under way while the cpu computes.
  bool has_collectives = false;
  Time hidden_mean, hidden_most;
};

// Divides the time of the lowest of each rank's cpus, from the start of a job to the end of the rank's last
// operation. Compute, overhead, idle and what is exposed of all classes add up to that time; so do means, but
// for rounding.
struct CpuTimes {
  Time compute, overhead;
  Time slowed;                                   // of compute: what it took longer beside collectives
  Time idle;                                     // it waits for other cpus of the rank that compute
  std::vector<CommunicationTime> communication;  // the most exposed first

  // Adds up runs that come one behind the other.
  CpuTimes& operator+=(const CpuTimes& run);
  Time exposed() const;  // of all classes
  Time all() const { return compute + overhead + idle + exposed(); }
};

// Adds up those of all ranks of a program, each with all of its classes.
class CpuTimesOfRanks {
 public:
  void add(const CpuTimes& rank);
  // The most exposed communication first, and of the same time by name; without what takes no time.
  CpuTimes together() const;

 private:
  // Sums of so many ranks may be beyond what a Time holds.
  using Sum = __int128;
  struct OfClass {
    Sum exposed = 0, unsent = 0, hidden = 0;
  };
  Time mean(Sum sum) const { return Time::ps(static_cast<std::int64_t>(sum / ranks_)); }

  std::int64_t ranks_ = 0;
  Sum compute_ = 0, overhead_ = 0, slowed_ = 0, idle_ = 0;
  std::vector<CommunicationTime> classes_;  // names and the most of any rank
  std::vector<OfClass> sums_;
};

}  // namespace weft::results
