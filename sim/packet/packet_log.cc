#include "sim/packet/packet_log.h"

#include <fmt/core.h>

#include <charconv>

#include "sim/units/input_error.h"

namespace weft::sim::packet {
namespace {

// A number at the front of `text`, which loses it.
bool take_number(std::string_view& text, std::uint32_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool take(std::string_view& text, char expected) {
  if (text.empty() || text.front() != expected) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

FlowSelection parse_flow_selection(std::string_view text) {
  FlowSelection selection;
  std::string_view rest = text;
  const bool pair =
      take_number(rest, selection.source) && take(rest, '-') && take_number(rest, selection.destination);
  const bool number = !rest.empty() && take(rest, '#') && take_number(rest, selection.which);
  if (!pair || !rest.empty() || (number && selection.which == FlowSelection::kAll)) {
    throw InputError(fmt::format(
        "'{}' names no flows; expected two hosts, like 3-7, or one flow between them, like 3-7#0", text));
  }
  if (selection.source == selection.destination) {
    throw InputError(fmt::format("'{}': a message within a host has no packets", text));
  }
  return selection;
}

PacketLog::PacketLog(const topologies::Topology& topology, const FlowSelection& selection,
                     const std::string& path)
    : topology_(topology), selection_(selection), file_(path) {
  file_.print("{}\n", kPacketLogColumns);
}

void PacketLog::on_inject(Time now, const Sighting& packet) {
  // Only new flows of the pair make themselves known here.
  if (number_ < 0 && selection_.which != FlowSelection::kAll && !packet.ack &&
      packet.source == selection_.source && packet.destination == selection_.destination &&
      seen_.insert(packet.flow_number).second && seen_.size() == selection_.which + std::size_t{1}) {
    number_ = packet.flow_number;
    seen_.clear();
  }
  if (wanted(packet)) row(now, "inject", host_name(packet.source), packet, "");
}

void PacketLog::on_enqueue(Time now, std::uint32_t channel, const Sighting& packet, Time departure) {
  if (!wanted(packet)) return;
  row(now, "enqueue", channel_name(channel), packet, departure == Time::max() ? "" : to_ns_string(departure));
}

void PacketLog::on_transmit(Time now, std::uint32_t channel, const Sighting& packet, Time departure) {
  if (wanted(packet)) row(now, "transmit", channel_name(channel), packet, to_ns_string(departure));
}

void PacketLog::on_trim(Time now, std::uint32_t channel, const Sighting& packet) {
  if (wanted(packet)) row(now, "trim", channel_name(channel), packet, "");
}

void PacketLog::on_drop(Time now, std::uint32_t channel, const Sighting& packet) {
  if (wanted(packet)) row(now, "drop", channel_name(channel), packet, "");
}

void PacketLog::on_arrive(Time now, std::uint32_t channel, const Sighting& packet) {
  if (wanted(packet)) row(now, "arrive", channel_name(channel), packet, "");
}

void PacketLog::on_deliver(Time now, const Sighting& packet) {
  if (wanted(packet)) row(now, "deliver", host_name(packet.destination), packet, "");
}

bool PacketLog::wanted(const Sighting& packet) const {
  const bool back = packet.ack || packet.returned;
  const std::uint32_t from = back ? packet.destination : packet.source;
  const std::uint32_t to = back ? packet.source : packet.destination;
  if (from != selection_.source || to != selection_.destination) return false;
  return selection_.which == FlowSelection::kAll || number_ == packet.flow_number;
}

std::string PacketLog::channel_name(std::uint32_t channel) const {
  const topologies::Channel& wire = topology_.channels()[channel];
  return topology_.node(wire.from).name + " -> " + topology_.node(wire.to).name;
}

std::string PacketLog::remark() const {
  if (!is_empty_) return "";
  const bool one = selection_.which != FlowSelection::kAll;
  return fmt::format("packets.csv has no rows: {} sent {} {}", host_name(selection_.source),
                     one ? fmt::format("fewer than {} messages to", selection_.which + 1) : "nothing to",
                     host_name(selection_.destination));
}

void PacketLog::row(Time now, std::string_view event, std::string_view place, const Sighting& packet,
                    std::string_view departure) {
  is_empty_ = false;
  file_.print("{},{},{},{},{},{:d},{},{:d},{}\n", to_ns_string(now), event, place, packet.flow_number,
              packet.number, packet.ack, packet.bytes, packet.marked, departure);
}

}  // namespace weft::sim::packet
