// What a packet run records while it goes, beside the report at its end: samples over time, logs of packets.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/packet/observer.h"
#include "sim/packet/packet_log.h"
#include "sim/packet/pcapng.h"
#include "sim/results/series.h"
#include "sim/scenario/scenario.h"
#include "topologies/graph/topology.h"

namespace weft::sim {

// What is to be recorded, checked against the topology.
struct MeasurementPlan {
  std::string directory;
  Time sample_interval;  // 0: no samples
  std::vector<results::Series::Link> sample_links;
  std::optional<packet::FlowSelection> packet_log;
  std::vector<std::uint32_t> capture_hosts;
};
// Throws InputError for links, flows and hosts that the topology does not have.
MeasurementPlan plan_measurements(const Output& output, const topologies::Topology& topology);

// The files of a plan, open and ready. Throws InputError if one can't be written.
class Measurements {
 public:
  // The topology must outlive it.
  Measurements(const MeasurementPlan& plan, const topologies::Topology& topology);
  ~Measurements();
  Measurements(const Measurements&) = delete;
  Measurements& operator=(const Measurements&) = delete;

  // For the network; null where nothing is to be observed or sampled. Who observes sees every packet, so the
  // network runs in one partition.
  packet::Observer* observer();
  results::Series* series() { return series_ ? &*series_ : nullptr; }
  // After the run, and after Series::finish().
  void close();

 private:
  class Observers;

  std::unique_ptr<results::SeriesSink> series_files_;
  std::optional<results::Series> series_;
  std::unique_ptr<Observers> observer_;
};

}  // namespace weft::sim
