#include "sim/run/measurements.h"

#include <fmt/core.h>

#include <string>
#include <utility>

#include "sim/run/sinks.h"
#include "sim/units/input_error.h"
#include "sim/units/names.h"

namespace weft::sim {
namespace {

std::vector<std::uint32_t> select_links(const SinkRequest& request) {
  const topologies::Topology& topology = *request.topology;
  const auto& channels = topology.channels();
  const std::vector<std::string> patterns = split(request.output().sample_links);
  std::vector<bool> used(patterns.size());
  std::vector<std::uint32_t> links;
  std::string name;
  for (std::uint32_t c = 0; c < channels.size(); ++c) {
    const topologies::Node& from = topology.node(channels[c].from);
    name = from.name + " -> " + topology.node(channels[c].to).name;
    bool chosen = false;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      const bool matches =
          patterns[i] == "all" ||
          (patterns[i] == "switches" ? from.kind == topologies::NodeKind::kSwitch : fits(patterns[i], name));
      if (!matches) continue;
      used[i] = true;
      chosen = true;
    }
    if (chosen) links.push_back(c);
  }
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    if (used[i]) continue;
    const topologies::Channel& first = channels[0];
    throw InputError(
        request.output().location("sample_links"),
        fmt::format("output.sample_links: no link is named '{}'; expected switches, all, or names "
                    "like '{} -> {}', with * for anything",
                    patterns[i], topology.node(first.from).name, topology.node(first.to).name));
  }
  return links;
}

}  // namespace

void check_measurements(const SinkRequest& request) {
  if (request.output().sample_interval > Time()) (void)select_links(request);
  for (const Sink& sink : sinks()) {
    if (sink.check != nullptr && acts(sink, request)) sink.check(request);
  }
}

// One sink of samples that tells all.
class Measurements::SampleTee final : public results::SeriesSink {
 public:
  void sample(Time begin, Time end, const results::NetworkSample& network,
              std::span<const results::LinkSample> links) override {
    for (results::SeriesSink* sink : all) sink->sample(begin, end, network, links);
  }

  std::vector<results::SeriesSink*> all;
};

// One observer that tells all.
class Measurements::ObserverTee final : public packet::Observer {
 public:
  void on_inject(Time now, const packet::Sighting& packet) override {
    for (packet::Observer* observer : all) observer->on_inject(now, packet);
  }
  void on_enqueue(Time now, std::uint32_t channel, const packet::Sighting& packet, Time departure) override {
    for (packet::Observer* observer : all) observer->on_enqueue(now, channel, packet, departure);
  }
  void on_transmit(Time now, std::uint32_t channel, const packet::Sighting& packet, Time departure) override {
    for (packet::Observer* observer : all) observer->on_transmit(now, channel, packet, departure);
  }
  void on_trim(Time now, std::uint32_t channel, const packet::Sighting& packet) override {
    for (packet::Observer* observer : all) observer->on_trim(now, channel, packet);
  }
  void on_drop(Time now, std::uint32_t channel, const packet::Sighting& packet) override {
    for (packet::Observer* observer : all) observer->on_drop(now, channel, packet);
  }
  void on_arrive(Time now, std::uint32_t channel, const packet::Sighting& packet) override {
    for (packet::Observer* observer : all) observer->on_arrive(now, channel, packet);
  }
  void on_deliver(Time now, const packet::Sighting& packet) override {
    for (packet::Observer* observer : all) observer->on_deliver(now, packet);
  }

  std::vector<packet::Observer*> all;
};

Measurements::Measurements(const SinkRequest& request)
    : samples_(std::make_unique<SampleTee>()), observers_(std::make_unique<ObserverTee>()) {
  for (const Sink& sink : sinks()) {
    if (!sink.make_recorder || !acts(sink, request)) continue;
    Recorder& recorder = *recorders_.emplace_back(sink.make_recorder(request));
    if (results::SeriesSink* samples = recorder.samples()) samples_->all.push_back(samples);
    if (packet::Observer* observer = recorder.observer()) observers_->all.push_back(observer);
  }
  if (observers_->all.size() == 1) {
    observer_ = observers_->all.front();
  } else if (!observers_->all.empty()) {
    observer_ = observers_.get();
  }
  if (!samples_->all.empty()) {
    series_.emplace(request.output().sample_interval, select_links(request), *samples_);
  }
}

Measurements::~Measurements() = default;

void Measurements::close(Time end_of_run, std::vector<std::string>& warnings) {
  if (series_) series_->close(end_of_run);
  for (const auto& recorder : recorders_) {
    recorder->close();
    if (std::string remark = recorder->remark(); !remark.empty()) warnings.push_back(std::move(remark));
  }
}

}  // namespace weft::sim
