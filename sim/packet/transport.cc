#include "sim/packet/transport.h"

namespace weft::sim::packet {

Transport::Transport(Engine& engine, NetworkClient& client, Fabric& fabric, Channels& channels, Hosts& hosts,
                     const TransportSetup& setup, std::uint32_t partition, Outbox& outbox)
    : side_{engine, client, fabric, channels, hosts, setup, partition, outbox},
      connections_(side_),
      turns_(side_, connections_),
      answers_(side_, connections_, turns_),
      receiving_(side_),
      copies_(side_) {}

void Transport::add_signals(Counting what, Signals& sum) const {
  const auto add = [&](const std::vector<std::string>& names, const std::vector<std::uint64_t>& counts) {
    for (std::size_t i = 0; i < names.size(); ++i) add_signal(names[i], counts[i], sum);
  };
  switch (what) {
    case Counting::kControl:
      return add(side_.setup.control.signals, side_.signals.senders);
    case Counting::kReceivers:
      return receiving_.add_signals(sum);
    case Counting::kRecovery:
      return add(side_.setup.recovery_kind.signals, side_.signals.recoveries);
    case Counting::kPaths:
      return add(side_.setup.policy.path_signals, side_.signals.paths);
  }
}

void Transport::start(const Message& message) {
  const std::uint32_t number = side_.hosts.message_count[message.source]++;
  if (message.source == message.destination) {
    ++copies_under_way_;
    copies_.start(message, number);
    return;
  }
  const FlowStart flow = connections_.start(message, number);
  const std::uint32_t to = side_.part_of_host(message.destination);
  if (to == side_.partition) {
    receiving_.expect(to, flow);
  } else {
    side_.outbox.send(to, flow);
  }
  turns_.begin(flow.send_slot);
}

void Transport::local_copy_done(std::uint32_t slot) {
  Message message = copies_.message(slot);
  --copies_under_way_;
  const DeliveredMessage delivered = copies_.finish(slot);
  receiving_.record(message, delivered);
  message.alone_ps = static_cast<float>(delivered.record.ideal.ps());
  if (message.notify_sent) side_.client.on_sent(message);
  side_.client.on_delivered(message);
}

void Transport::packet_at_host(ChannelId channel, PacketHandle handle) {
  side_.fabric.deliver(handle);
  const ChannelId way_back = opposite(channel);
  const PacketConfig& config = side_.setup.config;
  if (config.takes_time_in_host()) [[unlikely]] {
    const Packet& packet = side_.fabric.packets()[handle];
    const Time in_host = packet.data() && !packet.returned() ? config.host_delay : Time();
    const PortId port = side_.channels.places[way_back].port;
    side_.engine.schedule(side_.engine.now() + config.receive_delay + in_host,
                          side_.hosts.nics[side_.hosts.nic_at(packet.destination, port)].entity, kReceive,
                          handle, static_cast<std::uint16_t>(port));
    return;
  }
  receive(handle, way_back);
}

void Transport::received(PacketHandle handle, PortId port) {
  const std::uint32_t endpoint = side_.fabric.packets()[handle].destination;
  receive(handle, side_.hosts.nics[side_.hosts.nic_at(endpoint, port)].channel);
}

void Transport::receive(PacketHandle handle, ChannelId way_back) {
  const Packet& packet = side_.fabric.packets()[handle];
  if (!packet.data()) {
    answers_.on_answer(handle);
  } else if (packet.returned()) [[unlikely]] {
    answers_.on_returned(handle);
  } else {
    receiving_.on_data(handle, way_back);
  }
}

}  // namespace weft::sim::packet
