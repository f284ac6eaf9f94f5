#include "sim/packet/queues.h"

#include <algorithm>
#include <array>

#include "sim/packet/droptail.h"
#include "sim/packet/ecn.h"
#include "sim/packet/phantom.h"
#include "sim/packet/priority.h"

namespace weft::sim::packet {

std::span<const Discipline> disciplines() {
  static const std::array list{droptail(), ecn(), phantom(), priority()};
  return list;
}

std::uint64_t capacity_or_default(const Parameters& parameters, const QueueSite& site) {
  if (parameters.automatic("capacity")) {
    const auto bdp = static_cast<unsigned __int128>(site.rate.bps()) *
                     static_cast<unsigned __int128>(site.rtt.ps()) / 8'000'000'000'000ULL;
    return std::max(static_cast<std::uint64_t>(bdp), std::uint64_t{32} * site.packet_bytes);
  }
  const std::uint64_t given = parameters.bytes("capacity");
  if (given < site.packet_bytes) {
    parameters.fail("capacity", "it must have room for one full packet (" +
                                    bytes_to_string(site.packet_bytes) + " on the wire)");
  }
  return given;
}

QueueSite queue_site(const NodeSite& node, std::size_t port) {
  return {node.ports[port].rate, node.rtt, node.packet_bytes};
}

}  // namespace weft::sim::packet
