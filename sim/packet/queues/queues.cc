#include "sim/packet/queues/queues.h"

#include <algorithm>
#include <array>

#include "sim/packet/queues/composite.h"
#include "sim/packet/queues/credit.h"
#include "sim/packet/queues/droptail.h"
#include "sim/packet/queues/ecn.h"
#include "sim/packet/queues/pfc.h"
#include "sim/packet/queues/phantom.h"
#include "sim/packet/queues/priority.h"
#include "sim/packet/queues/red.h"
#include "sim/packet/queues/shared.h"

namespace weft::sim::packet {

std::span<const Discipline> disciplines() {
  static const std::array list{
      droptail(),   //
      ecn(),        //
      phantom(),    //
      priority(),   //
      composite(),  //
      pfc(),        //
      credit(),     //
      shared(),     //
      red(),        //
  };
  return list;
}

std::uint64_t capacity_or_default(const Parameters& parameters, const QueueSite& site) {
  if (parameters.automatic("capacity")) return default_capacity(site);
  const std::uint64_t given = parameters.bytes("capacity");
  if (given < site.packet_bytes) {
    parameters.fail("capacity", "it must have room for one full packet (" +
                                    bytes_to_string(site.packet_bytes) + " on the wire)");
  }
  return site.in_node ? kNodeMemory : given;
}

std::uint64_t default_capacity(const QueueSite& site) {
  if (site.in_node) return kNodeMemory;
  return std::max(bytes_in(site.rate, site.rtt), std::uint64_t{32} * site.packet_bytes);
}

std::uint64_t bytes_in(Bandwidth rate, Time time) {
  const auto bits = static_cast<unsigned __int128>(rate.bps()) * static_cast<unsigned __int128>(time.ps());
  return static_cast<std::uint64_t>(bits / 8'000'000'000'000ULL);
}

QueueSite queue_site(const NodeSite& node, std::size_t port) {
  return {node.ports[port].rate, node.rtt, node.packet_bytes, node.in_node};
}

}  // namespace weft::sim::packet
