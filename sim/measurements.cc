#include "sim/measurements.h"

#include <fmt/core.h>

#include <charconv>

#include "sim/names.h"
#include "sim/units/input_error.h"

namespace weft::sim {
namespace {

// The parts between commas, without blanks around them.
std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t comma = text.find(',');
    parts.emplace_back(trim(text.substr(0, comma)));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

SourceLocation location(const Output& output, const char* field) {
  const auto found = output.locations.find(field);
  return found == output.locations.end() ? SourceLocation() : found->second;
}

std::vector<results::Series::Link> select_links(const Output& output, const topologies::Topology& topology) {
  const auto& channels = topology.channels();
  const std::vector<std::string> patterns = split(output.sample_links);
  std::vector<bool> used(patterns.size());
  std::vector<results::Series::Link> links;
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
    if (chosen) links.push_back({c, channels[c].rate});
  }
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    if (used[i]) continue;
    const topologies::Channel& first = channels[0];
    throw InputError(
        location(output, "sample_links"),
        fmt::format("output.sample_links: no link is named '{}'; expected switches, all, or names "
                    "like '{} -> {}', with * for anything",
                    patterns[i], topology.node(first.from).name, topology.node(first.to).name));
  }
  return links;
}

void check_host(const Output& output, const char* field, std::uint32_t host,
                const topologies::Topology& topology) {
  if (host < topology.hosts()) return;
  throw InputError(location(output, field), fmt::format("output.{}: there is no host {}; hosts are 0 to {}",
                                                        field, host, topology.hosts() - 1));
}

std::vector<std::uint32_t> parse_hosts(const Output& output, const topologies::Topology& topology) {
  std::vector<std::uint32_t> hosts;
  for (const std::string& text : split(output.pcapng)) {
    std::uint32_t host = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), host);
    if (error != std::errc() || end != text.data() + text.size()) {
      throw InputError(
          location(output, "pcapng"),
          fmt::format("output.pcapng: '{}' is no host; expected a number, or several like 3,7", text));
    }
    check_host(output, "pcapng", host, topology);
    hosts.push_back(host);
  }
  return hosts;
}

packet::FlowSelection parse_log(const Output& output, const topologies::Topology& topology) {
  packet::FlowSelection selection;
  try {
    selection = packet::parse_flow_selection(output.packet_log);
  } catch (const InputError& error) {
    throw InputError(location(output, "packet_log"), fmt::format("output.packet_log: {}", error.what()));
  }
  check_host(output, "packet_log", selection.source, topology);
  check_host(output, "packet_log", selection.destination, topology);
  return selection;
}

}  // namespace

MeasurementPlan plan_measurements(const Output& output, const topologies::Topology& topology) {
  MeasurementPlan plan;
  plan.directory = output.directory;
  plan.sample_interval = output.sample_interval;
  if (plan.sample_interval > Time()) plan.sample_links = select_links(output, topology);
  if (!output.packet_log.empty()) plan.packet_log = parse_log(output, topology);
  if (!output.pcapng.empty()) plan.capture_hosts = parse_hosts(output, topology);
  return plan;
}

// One observer for the network that tells both logs.
class Measurements::Observers final : public packet::Observer {
 public:
  Observers(const MeasurementPlan& plan, const topologies::Topology& topology) {
    if (plan.packet_log) log_.emplace(topology, *plan.packet_log, plan.directory + "/packets.csv");
    if (!plan.capture_hosts.empty()) {
      capture_.emplace(topology, plan.capture_hosts, plan.directory + "/capture.pcapng");
    }
  }

  void on_inject(Time now, const packet::Sighting& packet) override {
    if (log_) log_->on_inject(now, packet);
  }
  void on_enqueue(Time now, std::uint32_t channel, const packet::Sighting& packet, Time departure) override {
    if (log_) log_->on_enqueue(now, channel, packet, departure);
    if (capture_) capture_->on_enqueue(now, channel, packet, departure);
  }
  void on_transmit(Time now, std::uint32_t channel, const packet::Sighting& packet, Time departure) override {
    if (log_) log_->on_transmit(now, channel, packet, departure);
    if (capture_) capture_->on_transmit(now, channel, packet, departure);
  }
  void on_trim(Time now, std::uint32_t channel, const packet::Sighting& packet) override {
    if (log_) log_->on_trim(now, channel, packet);
  }
  void on_drop(Time now, std::uint32_t channel, const packet::Sighting& packet) override {
    if (log_) log_->on_drop(now, channel, packet);
  }
  void on_arrive(Time now, std::uint32_t channel, const packet::Sighting& packet) override {
    if (log_) log_->on_arrive(now, channel, packet);
    if (capture_) capture_->on_arrive(now, channel, packet);
  }
  void on_deliver(Time now, const packet::Sighting& packet) override {
    if (log_) log_->on_deliver(now, packet);
  }
  void close() {
    if (log_) log_->close();
    if (capture_) capture_->close();
  }

 private:
  std::optional<packet::PacketLog> log_;
  std::optional<packet::PcapngCapture> capture_;
};

Measurements::Measurements(const MeasurementPlan& plan, const topologies::Topology& topology) {
  if (plan.sample_interval > Time()) {
    series_files_ = results::make_series_files(plan.directory);
    series_.emplace(plan.sample_interval, plan.sample_links, *series_files_);
  }
  if (plan.packet_log || !plan.capture_hosts.empty()) observer_ = std::make_unique<Observers>(plan, topology);
}

Measurements::~Measurements() = default;

packet::Observer* Measurements::observer() { return observer_.get(); }

void Measurements::close() {
  if (series_files_ != nullptr) series_files_->close();
  if (observer_ != nullptr) observer_->close();
}

}  // namespace weft::sim
