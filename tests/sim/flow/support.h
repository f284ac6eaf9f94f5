// A flow network with a client that notes when what came.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/flow/flow_network.h"
#include "sim/routing/policies/spray.h"
#include "tests/sim/packet/support.h"
#include "topologies/families.h"

namespace weft::sim::flow {

// Everything one simulation needs.
class Run {
 public:
  Run(const topologies::Topology& topology, routing::Policy policy, const FlowConfig& config,
      std::vector<LinkShare> changes = {}, std::uint64_t seed = 1, PathMaker make = {})
      : engine(seed),
        client(engine),
        topology_(topology),
        table_(topology),
        policy_(std::move(policy)),
        network(engine, client, {topology, table_, policy_, config, std::move(changes), std::move(make)}) {}

  // Injects a message now; its number is the key in the client's maps.
  std::uint32_t send(std::uint32_t source, std::uint32_t destination, std::uint64_t bytes) {
    network.inject({.source = source,
                    .destination = destination,
                    .notify_sent = true,
                    .bytes = bytes,
                    .client = {messages_}});
    bytes_ += bytes;
    return messages_++;
  }
  void run() {
    packet::RunOn on;
    network.run(on);
  }
  results::Flow flow(std::size_t index) const { return network.flows().at(index); }
  results::Link link(const std::string& from, const std::string& to) const {
    for (const results::Link& link : network.links()) {
      if (link.from == from && link.to == to) return link;
    }
    throw std::logic_error("no link " + from + " -> " + to);
  }

  // "" if every message came exactly once, none was faster than alone on its path, every switch has sent on
  // what it has got, and no link was busy for longer than the run.
  std::string verdict() const {
    if (client.deliveries != messages_ || client.delivered.size() != messages_) return "messages are missing";
    if (client.sent.size() != messages_) return "senders were not told";
    if (network.open_flows() != 0) return "flows are left";
    if (network.totals().messages != messages_ || network.totals().bytes != bytes_) return "wrong totals";
    for (const results::Flow& flow : network.flows()) {
      if (flow.finish - flow.start < flow.ideal) return "a message was faster than alone";
    }
    const std::vector<results::Link> links = network.links();
    std::vector<std::uint64_t> in(topology_.nodes()), out(topology_.nodes());
    for (std::size_t c = 0; c < links.size(); ++c) {
      out[topology_.channels()[c].from] += links[c].bytes;
      in[topology_.channels()[c].to] += links[c].bytes;
      // Shares of one in 2^30 round.
      if (links[c].busy.seconds() > engine.now().seconds() * (1 + 1e-6))
        return "a link carried more than it can";
    }
    std::uint64_t from_hosts = 0;
    for (std::uint32_t h = 0; h < topology_.hosts(); ++h) from_hosts += out[topology_.host(h)];
    if (from_hosts != network.totals().bytes_injected) return "hosts have sent something else";
    for (std::uint32_t s = 0; s < topology_.switches(); ++s) {
      if (in[topology_.switch_at(s)] != out[topology_.switch_at(s)]) return "a switch lost bytes";
    }
    return "";
  }

  Engine engine;
  packet::RecordingClient client;

 private:
  const topologies::Topology& topology_;
  routing::RoutingTable table_;
  routing::Policy policy_;
  std::uint32_t messages_ = 0;
  std::uint64_t bytes_ = 0;

 public:
  FlowNetwork network;
};

}  // namespace weft::sim::flow
