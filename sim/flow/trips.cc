#include "sim/flow/trips.h"

#include <algorithm>

#include "sim/routing/path_draws.h"

namespace weft::sim::flow {

Trips::Trips(const FlowSetup& setup, std::uint64_t seed)
    : topology_(setup.topology),
      seed_(seed),
      sprays_(setup.policy.all_nics || setup.config.nic_choice == NicChoice::kSpray),
      choice_(setup.config.nic_choice),
      nics_(setup.nics, setup.topology.hosts()) {}

Trip Trips::make(const Message& message, std::uint64_t identity) {
  Trip trip{.source = message.source,
            .destination = message.destination,
            .entropy = static_cast<std::uint32_t>(routing::flow_draws(seed_, identity).next())};
  choose_nics(message, trip);
  return trip;
}

void Trips::choose_nics(const Message& message, Trip& trip) {
  const std::uint32_t count = nics_of(message.source);
  if (sprays_) {
    trip.nics = static_cast<std::uint8_t>(std::min<std::uint32_t>(count, UINT8_MAX));
    return;
  }
  const auto load = [](std::uint32_t) { return 0; };  // nothing is least loaded here
  const std::uint32_t nic = nics_.source(choice_, message, trip.entropy, count, load);
  trip.first_nic = static_cast<std::uint8_t>(nic);
  nics_.require_way(message, nic);
  const routing::NicNetwork* const network = nics_.network();
  if (network == nullptr || !network->unfolded()) return;
  const std::uint32_t there = nics_.destination(choice_, message, nic, nics_of(message.destination));
  trip.first_nic = 0;
  trip.source = network->endpoint(message.source, nic);
  trip.destination = network->endpoint(message.destination, there);
}

}  // namespace weft::sim::flow
