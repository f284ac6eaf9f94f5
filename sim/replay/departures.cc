#include "sim/replay/departures.h"

namespace weft::sim {

// Any two ranks have connections of their own, whichever ranks share their hosts.
void Departures::place(Message& message, std::uint32_t rank, const MessageRoute& route) const {
  const PlacedRank from = placed_[rank], to = placed_[route.peer];
  message.source = from.host;
  message.destination = to.host;
  message.channel +=
      plan_.place.first_channel + (from.slot * plan_.most_ranks_on_host + to.slot) * connections_;
  message.instance = plan_.place.instance;
  if (plan_.nics != nullptr) plan_.put_nics(from, to, route.channel, message);
}

}  // namespace weft::sim
