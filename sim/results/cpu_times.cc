#include "sim/results/cpu_times.h"

#include <algorithm>
#include <utility>

namespace weft::results {

CpuTimes& CpuTimes::operator+=(const CpuTimes& run) {
  compute += run.compute;
  overhead += run.overhead;
  slowed += run.slowed;
  idle += run.idle;
  for (const CommunicationTime& more : run.communication) {
    auto own = std::ranges::find(communication, more.name, &CommunicationTime::name);
    if (own == communication.end()) {
      communication.push_back(more);
      continue;
    }
    own->exposed_mean += more.exposed_mean;
    own->exposed_most += more.exposed_most;
    own->unsent_mean += more.unsent_mean;
    own->has_collectives |= more.has_collectives;
    own->hidden_mean += more.hidden_mean;
    own->hidden_most += more.hidden_most;
  }
  return *this;
}

Time CpuTimes::exposed() const {
  Time sum;
  for (const CommunicationTime& one : communication) sum += one.exposed_mean;
  return sum;
}

void CpuTimesOfRanks::add(const CpuTimes& rank) {
  if (classes_.empty()) classes_ = rank.communication;
  sums_.resize(classes_.size());
  ++ranks_;
  compute_ += rank.compute.ps();
  overhead_ += rank.overhead.ps();
  slowed_ += rank.slowed.ps();
  idle_ += rank.idle.ps();
  for (std::size_t i = 0; i < classes_.size() && i < rank.communication.size(); ++i) {
    const CommunicationTime& own = rank.communication[i];
    sums_[i].exposed += own.exposed_mean.ps();
    sums_[i].unsent += own.unsent_mean.ps();
    sums_[i].hidden += own.hidden_mean.ps();
    classes_[i].exposed_most = std::max(classes_[i].exposed_most, own.exposed_most);
    classes_[i].hidden_most = std::max(classes_[i].hidden_most, own.hidden_most);
  }
}

CpuTimes CpuTimesOfRanks::together() const {
  if (ranks_ == 0) return {};
  CpuTimes all{.compute = mean(compute_),
               .overhead = mean(overhead_),
               .slowed = mean(slowed_),
               .idle = mean(idle_),
               .communication = {}};
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    CommunicationTime one = classes_[i];
    if (one.exposed_most == Time() && one.hidden_most == Time()) continue;
    one.exposed_mean = mean(sums_[i].exposed);
    one.unsent_mean = mean(sums_[i].unsent);
    one.hidden_mean = mean(sums_[i].hidden);
    all.communication.push_back(std::move(one));
  }
  std::ranges::sort(all.communication, [](const CommunicationTime& a, const CommunicationTime& b) {
    return a.exposed_mean != b.exposed_mean ? a.exposed_mean > b.exposed_mean : a.name < b.name;
  });
  return all;
}

}  // namespace weft::results
