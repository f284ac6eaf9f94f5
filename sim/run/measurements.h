// What a run records while it goes, beside the report at its end: samples over time, logs of packets. Joins
// the sinks that ask for it (Sink::make_recorder).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sim/packet/observer.h"
#include "sim/results/series.h"
#include "sim/run/sink.h"

namespace weft::sim {

// Throws InputError for links, flows and hosts that the topology does not have. REQUIRES: a topology.
void check_measurements(const SinkRequest& request);

// The recorders of one run, their files open and ready.
class Measurements {
 public:
  // What the request refers to must outlive it. Throws InputError as check_measurements() does, and for files
  // that can't be written. REQUIRES: a topology.
  explicit Measurements(const SinkRequest& request);
  ~Measurements();
  Measurements(const Measurements&) = delete;
  Measurements& operator=(const Measurements&) = delete;

  // For the network; null where nothing is to be observed or sampled. Who observes sees every packet, so the
  // network runs in one partition.
  packet::Observer* observer() { return observer_; }
  results::Series* series() { return series_ ? &*series_ : nullptr; }
  // After the run, which ended at `end_of_run`, and after Series::finish(). Adds what recorders have to say.
  void close(Time end_of_run, std::vector<std::string>& warnings);

 private:
  class SampleTee;
  class ObserverTee;

  std::vector<std::unique_ptr<Recorder>> recorders_;
  std::unique_ptr<SampleTee> samples_;
  std::unique_ptr<ObserverTee> observers_;
  packet::Observer* observer_ = nullptr;
  std::optional<results::Series> series_;
};

}  // namespace weft::sim
