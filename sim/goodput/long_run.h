// A long run of training with failures, event by event: how much of the time makes progress.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace weft::goodput {

// What a fabric makes of a link that fails under a running job.
enum class LinkFailures : std::uint8_t {
  kRestart,  // connections time out, and the job starts again from its checkpoint
  kRetire,   // the transport leaves the path
};

// Times are in seconds and rates are per second, of the whole machine.
struct LongRun {
  double step_s = 0;        // a step, undisturbed; above 0
  double duration_s = 0;    // when to stop; above 0
  std::uint64_t steps = 0;  // or as soon as so many are done and safe; 0: only then

  double failure_rate = 0;  // of devices
  double restart_s = 0;     // from a failure until steps are made again; failures during it begin it anew

  std::uint64_t steps_between = 0;  // checkpoints; 0: there are none, and a failure undoes everything
  double blocking_s = 0;            // of a checkpoint, for which computing waits
  double write_s = 0;               // from its start until it is safe; not less than blocking_s

  double straggler_factor = 1;  // so many times as long is a step in the mean, for devices that are slow

  double link_rate = 0;
  LinkFailures link_failures = LinkFailures::kRestart;
  double detection_s = 0;      // until a path is left
  double link_repair_s = 0;    // until a link is back
  double degraded_factor = 1;  // so many times as long is a step while any link is down

  bool elastic = false;        // replicas go on without one that failed
  std::uint32_t replicas = 1;  // of data parallelism
  double reconfiguration_s = 0;
  double repair_s = 0;  // until a replica is back
};

// What a moment was spent for.
enum Cause : int {
  kComputing,    // steps that count
  kCheckpoints,  // that computing waited for
  kLostWork,     // steps that a failure undid
  kRestarts,
  kDetection,  // of lost paths
  kStragglers,
  kDegraded,       // slower for links that are down
  kFewerReplicas,  // slower for replicas that are down
  kReconfiguration,
  kCauses,
};
std::string_view name(Cause cause);  // "computing"

struct Outcome {
  std::uint64_t steps = 0;  // whole ones, done and not undone
  double elapsed_s = 0;
  std::array<double, kCauses> spent_s = {};  // they add up to elapsed_s
  std::uint64_t device_failures = 0, link_failures = 0, restarts = 0, reconfigurations = 0, checkpoints = 0;

  double share(Cause cause) const { return elapsed_s > 0 ? spent_s[cause] / elapsed_s : 0; }
  double goodput() const { return share(kComputing); }
};

// The run that a seed draws. REQUIRES: a positive step_s and duration_s, nothing negative, factors and
// replicas of at least 1.
Outcome simulate(const LongRun& run, std::uint64_t seed);

}  // namespace weft::goodput
