#include "sim/packet/log_sinks.h"

#include <fmt/core.h>

#include <charconv>
#include <cstdint>
#include <string>

#include "sim/packet/packet_log.h"
#include "sim/packet/pcapng.h"
#include "sim/units/input_error.h"
#include "sim/units/names.h"

namespace weft::sim::packet {
namespace {

// A log that is an observer with a close() of its own.
template <typename Log>
class LogRecorder final : public Recorder {
 public:
  template <typename... Args>
  explicit LogRecorder(Args&&... args) : log_(std::forward<Args>(args)...) {}

  Observer* observer() override { return &log_; }
  void close() override { log_.close(); }
  std::string remark() const override {
    if constexpr (requires { log_.remark(); }) return log_.remark();
    return "";
  }

 private:
  Log log_;
};

void check_host(const SinkRequest& request, const char* field, std::uint32_t host) {
  const std::uint32_t hosts = request.topology->hosts();
  if (host < hosts) return;
  throw InputError(request.output().location(field),
                   fmt::format("output.{}: there is no host {}; hosts are 0 to {}", field, host, hosts - 1));
}

FlowSelection logged_flows(const SinkRequest& request) {
  FlowSelection selection;
  try {
    selection = parse_flow_selection(request.output().packet_log);
  } catch (const InputError& error) {
    throw InputError(request.output().location("packet_log"),
                     fmt::format("output.packet_log: {}", error.what()));
  }
  check_host(request, "packet_log", selection.source);
  check_host(request, "packet_log", selection.destination);
  return selection;
}

std::vector<std::uint32_t> captured_hosts(const SinkRequest& request) {
  std::vector<std::uint32_t> hosts;
  for (const std::string& text : split(request.output().pcapng)) {
    std::uint32_t host = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), host);
    if (error != std::errc() || end != text.data() + text.size()) {
      throw InputError(
          request.output().location("pcapng"),
          fmt::format("output.pcapng: '{}' is no host; expected a number, or several like 3,7", text));
    }
    check_host(request, "pcapng", host);
    hosts.push_back(host);
  }
  return hosts;
}

}  // namespace

Sink packet_log_sink() {
  return {.info = {.name = "packets_csv",
                   .summary = "A row for everything that happens to the packets between two hosts.",
                   .source = "sim/results/README.md",
                   .parameters = {}},
          .when = "with --packet-log, in networks with packets",
          .files = {{"packets.csv", kPacketLogColumns}},
          .acts = [](const SinkRequest& request) { return !request.output().packet_log.empty(); },
          .check = [](const SinkRequest& request) { (void)logged_flows(request); },
          .make_recorder =
              [](const SinkRequest& request) {
                return std::make_unique<LogRecorder<PacketLog>>(*request.topology, logged_flows(request),
                                                                request.path("packets.csv"));
              }};
}

Sink capture_sink() {
  return {.info = {.name = "capture_pcapng",
                   .summary = "The packets at the NICs of some hosts, for Wireshark or tshark.",
                   .source = "IETF draft-ietf-opsawg-pcapng",
                   .parameters = {}},
          .when = "with --pcapng, in networks with packets",
          .files = {{"capture.pcapng", ""}},
          .acts = [](const SinkRequest& request) { return !request.output().pcapng.empty(); },
          .check = [](const SinkRequest& request) { (void)captured_hosts(request); },
          .make_recorder =
              [](const SinkRequest& request) {
                return std::make_unique<LogRecorder<PcapngCapture>>(
                    *request.topology, captured_hosts(request), request.path("capture.pcapng"));
              }};
}

}  // namespace weft::sim::packet
