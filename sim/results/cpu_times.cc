#include "sim/results/cpu_times.h"

#include <algorithm>

namespace weft::results {

CpuTimes& CpuTimes::operator+=(const CpuTimes& run) {
  compute += run.compute;
  overhead += run.overhead;
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

}  // namespace weft::results
