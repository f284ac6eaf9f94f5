// What the set-up of every network model has in common: a replay in partitions, each with an engine that its
// hosts and its part of the network share, and the report of both.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "sim/core/engine.h"
#include "sim/core/network.h"
#include "sim/replay/jobs.h"
#include "sim/results/records.h"
#include "sim/results/report.h"
#include "sim/run/network_model.h"

namespace weft::sim {

// Is a run at its end though messages are left that no receive took? All of its operations were executed, and
// these messages are the program's own: no member of a communicator lacks a collective.
bool only_leaves_messages(const results::Report& report, std::uint64_t unreceived,
                          std::span<const ReplayJob> jobs);
// Makes it a complete run with a warning, in the place of its diagnosis.
void warn_of_messages_left(std::uint64_t unreceived, results::Report& report);

class ModelReplay {
 public:
  // `jobs` are those of the run, with what the model has to say of their hosts. In so many partitions; host h
  // belongs to partition_of_host[h], which may be empty with one. What `run` refers to must outlive it. The
  // network is to be built after it, so that the ranks' entities come first. Throws InputError as Replay
  // does.
  ModelReplay(const ModelRun& run, std::vector<ReplayJob> jobs, std::uint32_t partitions,
              std::span<const std::uint16_t> partition_of_host);

  // One of each for each partition.
  std::span<Engine* const> engines() const { return engines_; }
  std::span<NetworkClient* const> clients() const { return clients_; }

  // Starts the operations, lets `run` do the network's part, and fills in how it ended: outcome, diagnosis,
  // makespan, digest, events, what became of jobs, ops, messages and bytes, totals of the network, ranks,
  // links, flows. `network` is a Network itself or has a part(p) for each partition.
  template <std::derived_from<results::Reporter> Model>
  void run(Model& network, const std::function<StopReason()>& run, results::Report& report) {
    std::vector<Network*> parts;
    for (std::uint32_t p = 0; p < engines_.size(); ++p) {
      if constexpr (std::derived_from<Model, Network>) {
        parts.push_back(&network);
      } else {
        parts.push_back(&network.part(p));
      }
    }
    run_parts(parts, network, run, report);
  }

 private:
  void run_parts(std::span<Network* const> parts, const results::Reporter& network,
                 const std::function<StopReason()>& run, results::Report& report);

  RunControl& control_;
  std::span<const ReplayJob> jobs_;
  std::vector<std::unique_ptr<Engine>> owned_;
  std::vector<Engine*> engines_;
  JobReplays replay_;
  std::vector<NetworkClient*> clients_;
};

// Gives the memory of a run back, in this order, unless the process ends: for gigabytes that takes seconds.
template <typename... Parts>
void give_back(const RunControl& control, std::unique_ptr<Parts>... parts) {
  if (control.process_ends()) ((void)parts.release(), ...);
  (parts.reset(), ...);
}

// How a run ended that stopped for this reason.
results::Outcome outcome_of(StopReason reason, bool complete);

// Bytes that each host sends and receives outside of collectives, which load all hosts alike.
std::vector<double> host_loads(const ModelRun& run);

// By host its job, for networks that count what links carry by job; empty: this run doesn't ask for that.
std::vector<std::uint32_t> job_of_host(const ModelRun& run);

// Throws InputError where the memory isn't there that counting takes: of so many bytes, by link and job.
void expect_division(const ModelRun& run, double bytes_each);

// Highest number of a NIC that a job uses, and 1.
std::uint32_t nics_of_hosts(const ModelRun& run);

// Is one partition all that this run may have? Events are counted one by one, and jobs are started in one.
bool needs_one_partition(const ModelRun& run);

}  // namespace weft::sim
