#include "sim/routing/nics/rails.h"

#include <algorithm>

namespace weft::routing {
namespace {

using topologies::HostTraffic;
using topologies::MatrixEntry;

std::vector<Rail> rails_of_ranks(const NicNetwork& network, const sim::RailUse& use, std::uint32_t from,
                                 std::uint32_t to) {
  const sim::RankPlace source{.host = from}, destination{.host = to};
  const std::uint32_t own = network.nics(source, destination).own;
  const std::uint32_t pieces = std::clamp(use.most, 1u, own);
  std::vector<Rail> rails;
  for (std::uint32_t i = 0; i < pieces; ++i) {
    const sim::NicPair pair = network.nics(source, destination, i);
    rails.push_back({pair.source, pair.destination, 1.0 / pieces});
  }
  return rails;
}

// visit(from, to, bit/s) for each pair of hosts.
template <typename Visit>
void each_pair(const HostTraffic& traffic, const Visit& visit) {
  for (const MatrixEntry& entry : traffic.entries) visit(entry.from, entry.to, entry.weight);
  for (std::uint32_t from = 0; from < traffic.weight.size(); ++from) {
    for (std::uint32_t to = 0; to < traffic.weight.size(); ++to) {
      const double rate = traffic.weight[from] * traffic.weight[to];
      if (from != to && rate > 0) visit(from, to, rate);
    }
  }
}

// Gives the load of the busiest NIC, as a part of its rate.
double fullest(const NicNetwork& network, const std::vector<MatrixEntry>& entries) {
  const topologies::Topology& topology = network.topology();
  std::vector<double> sent(topology.hosts()), received(topology.hosts());
  for (const MatrixEntry& entry : entries) {
    sent[entry.from] += entry.weight;
    received[entry.to] += entry.weight;
  }
  double most = 0;
  for (std::uint32_t endpoint = 0; endpoint < topology.hosts(); ++endpoint) {
    const std::uint32_t cable = topology.out_channels(topology.host(endpoint)).front();
    const auto rate = static_cast<double>(topology.channels()[cable].rate.bps());
    most = std::max(most, std::max(sent[endpoint], received[endpoint]) / rate);
  }
  return most;
}

}  // namespace

std::vector<Rail> rails_between(const NicNetwork& network, NicChoice choice, const sim::RailUse& use,
                                std::uint32_t from, std::uint32_t to) {
  if (is_by_rank(choice)) return rails_of_ranks(network, use, from, to);
  if (choice == NicChoice::kGiven) return {{0, network.arrival(from, 0, to, 0), 1}};
  const std::uint32_t nics = network.nics_of(from);
  const auto leads = [&](std::uint32_t nic) { return network.leads_to(from, nic, to); };
  std::vector<Rail> rails;
  for (std::uint32_t nic = 0; nic < nics; ++nic) {
    if (leads(nic)) rails.push_back({nic, network.arrival(from, nic, to, nic % network.nics_of(to)), 1});
  }
  if (rails.empty()) return {Rail{}};
  for (Rail& rail : rails) rail.share = 1 / static_cast<double>(rails.size());
  return rails;
}

HostTraffic over_nics(const HostTraffic& traffic, const NicNetwork& network, NicChoice choice,
                      const sim::RailUse& use) {
  HostTraffic divided{.name = traffic.name};
  each_pair(traffic, [&](std::uint32_t from, std::uint32_t to, double rate) {
    for (const Rail& rail : rails_between(network, choice, use, from, to)) {
      divided.entries.push_back(
          {network.endpoint(from, rail.source), network.endpoint(to, rail.destination), rate * rail.share});
    }
  });
  const double most = fullest(network, divided.entries);
  for (MatrixEntry& entry : divided.entries) entry.weight /= most;
  return divided;
}

double rail_entries(const HostTraffic& traffic, const NicNetwork& network) {
  const auto hosts = static_cast<double>(traffic.weight.size());
  return network.most_nics() * (hosts * hosts + static_cast<double>(traffic.entries.size()));
}

}  // namespace weft::routing
