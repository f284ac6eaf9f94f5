// Policies that choose by load: against what they improve on, and against closed forms.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "tests/sim/packet/divided.h"
#include "tests/sim/routing/registered.h"
#include "topologies/families.h"

namespace weft::sim::packet {
namespace {

using topologies::Topology;

Account run(const Topology& topology, const std::string& policy, const std::vector<Message>& messages,
            std::vector<LinkChange> changes = {}, const std::string& queue = "droptail:capacity=1GB") {
  const Options options{.control = "fixed_window:packets=64",
                        .queue = queue,
                        .policy = routing::registered(policy),
                        .changes = std::move(changes)};
  const Account account = run_divided(topology, options, messages, {.of_vertex = {}, .parts = 1}, 1);
  REQUIRE(account.delivered == messages.size());
  return account;
}

double end_us(const Account& account) { return static_cast<double>(account.end().ps()) / 1e6; }

}  // namespace

TEST_CASE("who looks at queues fills them less") {
  // A permutation of a non-blocking tree could be done in the time of a message alone, 40 us; hashed paths
  // meet.
  const Topology topology = topologies::build(parse_module_choice("fat_tree:k=8,latency=100ns"));
  const auto messages = shift(topology, 37, 2'000'000);
  const auto end = [&](const char* policy) { return end_us(run(topology, policy, messages)); };
  const double alone = 2e6 * 8 / 400e9 * 1e6 * 4160 / 4096;
  const double hashed = end("ecmp"), random = end("switch_spray"), two = end("power_of_two"),
               drill = end("drill"), least = end("minimal_adaptive"), exact = end("minimal_adaptive:grain=0");
  INFO("ecmp " << hashed << ", random " << random << ", power of two " << two << ", drill " << drill
               << ", least " << least << ", exact " << exact);
  REQUIRE(hashed > 2 * alone);
  REQUIRE(random < hashed);
  REQUIRE(two < random);
  REQUIRE(drill < random);
  for (const double each : {two, drill}) {
    REQUIRE(each > alone);
    REQUIRE(each < 1.25 * alone);
  }
  // By lengths to the byte, hosts that send in step take the same ports again and again: not better than
  // blind, but than hashed. By whole packets they do so less.
  REQUIRE(least > alone);
  REQUIRE(least < 1.1 * random);
  REQUIRE(exact > 1.2 * least);
  REQUIRE(exact < 0.5 * hashed);
}

TEST_CASE("slow links: adaptive policies go round them") {
  // All links of one of the four core switches run at a tenth of their rate.
  const Topology topology = topologies::build(parse_module_choice("fat_tree:k=4,latency=100ns"));
  std::vector<LinkChange> changes;
  for (std::uint32_t link = 0; link < topology.edges().size(); ++link) {
    const topologies::Edge& edge = topology.edges()[link];
    if (topology.node(edge.from).name == "core 0" || topology.node(edge.to).name == "core 0") {
      changes.push_back({.at = Time(), .link = link, .rate_share = 0.1});
    }
  }
  REQUIRE(changes.size() == 4);
  const auto messages = shift(topology, 4, 1'000'000);
  const double blind = end_us(run(topology, "switch_spray", messages, changes));
  for (const char* policy : {"minimal_adaptive", "drill", "power_of_two", "dlb:mode=per_packet"}) {
    INFO(policy);
    REQUIRE(end_us(run(topology, policy, messages, changes)) < 0.5 * blind);
  }
}

TEST_CASE("dlb: what is fixed or has no gap stays, and a look now and then does for the rest") {
  // Hosts of one leaf to those of another: what keeps its port fills as many uplinks as flows drew, the rest
  // ends when all uplinks are full to the end.
  const Topology topology =
      topologies::build(parse_module_choice("leaf_spine:leaves=2,spines=8,hosts_per_leaf=8,latency=100ns"));
  std::vector<Message> messages;
  for (std::uint32_t host = 0; host < 8; ++host) {
    messages.push_back(
        {.source = host, .destination = 8 + host, .notify_sent = true, .bytes = 4'000'000, .client = {host}});
  }
  const double alone = 4e6 * 8 / 400e9 * 1e6 * 4160 / 4096;
  const auto end = [&](const std::string& policy) { return end_us(run(topology, policy, messages)); };
  const double packets = end("dlb:mode=per_packet"), fixed = end("dlb:mode=fixed"),
               no_gap = end("dlb:gap=1s"), ecmp = end("ecmp");
  INFO("packets " << packets << ", fixed " << fixed << ", no gap " << no_gap << ", ecmp " << ecmp);
  REQUIRE(packets < 1.1 * alone);
  REQUIRE(fixed == no_gap);
  REQUIRE(fixed > alone);
  const Account once = run(topology, "dlb:mode=fixed", messages);
  // A flow's data at its leaf, and its ACKs at theirs.
  REQUIRE(once.signal("assignment") == 16);
  // What stale looks cost: all flows that begin within one find the same ports free.
  REQUIRE(end("dlb:mode=per_packet,sample=50us") > packets);
}

TEST_CASE("UGAL and its relatives take the better of minimal and Valiant") {
  // Balanced dragonfly, 72 hosts. To the next group: 8 hosts share one link, or two where there is another
  // way.
  const Topology topology = topologies::build(parse_module_choice("dragonfly:p=2,latency=100ns"));
  const auto adverse = shift(topology, 8, 1'000'000);
  std::vector<Message> benign;  // within the group of every host: each pair of routers has a link
  for (std::uint32_t host = 0; host < topology.hosts(); ++host) {
    benign.push_back({.source = host,
                      .destination = host / 8 * 8 + (host + 2) % 8,
                      .notify_sent = true,
                      .bytes = 1'000'000,
                      .client = {host}});
  }
  // What is full elsewhere shows in a switch's own queues where buffers are small and nothing is dropped.
  const auto end = [&](const char* policy, const std::vector<Message>& messages) {
    return end_us(run(topology, policy, messages, {}, "credit:vcs=8,buffer=64KB"));
  };
  const double minimal_adverse = end("minimal_adaptive", adverse), valiant_adverse = end("valiant", adverse);
  const double minimal_benign = end("minimal_adaptive", benign), valiant_benign = end("valiant", benign);
  REQUIRE(valiant_adverse < 0.7 * minimal_adverse);
  REQUIRE(minimal_benign < valiant_benign);
  for (const char* policy : {"ugal", "ugal_g", "par", "slingshot", "ugal:detours=4"}) {
    INFO(policy << ": " << minimal_adverse << " " << valiant_adverse << " " << end(policy, adverse) << "; "
                << minimal_benign << " " << valiant_benign << " " << end(policy, benign));
    REQUIRE(end(policy, adverse) < 1.45 * valiant_adverse);
    REQUIRE(end(policy, adverse) < 0.8 * minimal_adverse);
    REQUIRE(end(policy, benign) < 1.1 * minimal_benign);
  }
}

TEST_CASE("Slingshot's detours within a group stay there, and are as good as two ways more") {
  // Both hosts of each router send to the next router's, twice what its link takes.
  const Topology topology = topologies::build(parse_module_choice("dragonfly:p=2,latency=100ns"));
  std::vector<Message> messages;
  for (std::uint32_t host = 0; host < topology.hosts(); ++host) {
    messages.push_back({.source = host,
                        .destination = host / 8 * 8 + (host + 2) % 8,
                        .notify_sent = true,
                        .bytes = 1'000'000,
                        .client = {host}});
  }
  const auto between_groups = [&](const Account& account) {
    constexpr std::size_t kFigures = 5;
    std::uint64_t bytes = 0;
    for (std::size_t c = 0; c < topology.channels().size(); ++c) {
      const topologies::Channel& channel = topology.channels()[c];
      const topologies::Node &from = topology.node(channel.from), &to = topology.node(channel.to);
      const bool switches =
          from.kind == topologies::NodeKind::kSwitch && to.kind == topologies::NodeKind::kSwitch;
      if (switches && from.group != to.group) bytes += account.links[c * kFigures];
    }
    return bytes;
  };
  const std::string queue = "credit:vcs=8,buffer=64KB";
  const Account slingshot = run(topology, "slingshot", messages, {}, queue);
  REQUIRE(slingshot.signal("detoured_packet") > 0);
  REQUIRE(between_groups(slingshot) == 0);
  REQUIRE(between_groups(run(topology, "ugal", messages, {}, queue)) > 0);
  REQUIRE(end_us(slingshot) < end_us(run(topology, "minimal_adaptive", messages, {}, queue)));
}

TEST_CASE("par stays with the better of minimal and Valiant on a Dragonfly, whatever the lossless queue") {
  // To the next group, to a third of the groups further on, and within groups and to the next by halves.
  const Topology topology = topologies::build(parse_module_choice("dragonfly:p=2"));
  for (const std::uint32_t by : {8u, 24u, 2u}) {
    const auto messages = shift(topology, by, 1'000'000);
    for (const char* queue : {"pfc", "pfc:classes=2", "credit", "credit:vcs=8,buffer=64KB"}) {
      for (const char* control : {"fixed_window:packets=64", "dctcp"}) {
        const auto end = [&](const char* policy) {
          const Options options{.control = control, .queue = queue, .policy = routing::registered(policy)};
          const Account account = run_divided(topology, options, messages, {.of_vertex = {}, .parts = 1}, 1);
          // With pfc a Dragonfly has circles, which minimal routing fills.
          return account.delivered == messages.size() ? end_us(account) : 1e9;
        };
        const double minimal = end("minimal"), valiant = end("valiant"), par = end("par");
        INFO(queue << ", " << control << ", by " << by << ": minimal " << minimal << ", valiant " << valiant
                   << ", par " << par);
        CHECK(par < 1.1 * std::min(minimal, valiant));
      }
    }
  }
}

TEST_CASE("UGAL says where it can't see full links") {
  const auto remark = [](const char* policy, const char* network) {
    const Topology topology = topologies::build(parse_module_choice(network));
    const routing::RoutingTable table(topology);
    const routing::Policy registered = routing::registered(policy);
    const Parameters parameters(registered.info, std::map<std::string, std::string>());
    return registered.remark == nullptr ? "" : registered.remark({parameters, topology, table, 1});
  };
  for (const char* policy : {"ugal", "slingshot"}) {
    CHECK_THAT(remark(policy, "dragonfly:p=2"),
               Catch::Contains("full links between groups of a dragonfly are at other switches"));
    CHECK(remark(policy, "hyperx:dims=4x4,hosts=1").empty());
  }
  for (const char* policy : {"ugal_g", "par"}) CHECK(remark(policy, "dragonfly:p=2").empty());
}

TEST_CASE("UGAL on an idle network goes minimally") {
  const Topology topology = topologies::build(parse_module_choice("dragonfly:p=2"));
  const Account account =
      run(topology, "ugal",
          {{.source = 0, .destination = 71, .notify_sent = true, .bytes = 4096, .client = {0}}});
  REQUIRE(account.signal("minimal_packet") == 1);
  REQUIRE(account.signal("detoured_packet") == 0);
}

TEST_CASE("minimal in linked groups: one link between groups, as the closed form has it") {
  // J. Kim et al., 2008: all to the next group, minimally, takes a·p times as long as the hosts' links would:
  // the one link between two groups carries all 8 messages.
  const Topology topology = topologies::build(parse_module_choice("dragonfly:p=2,latency=100ns"));
  const auto messages = shift(topology, 8, 1'000'000);
  const Account account = run(topology, "ugal:bias=1s", messages);
  REQUIRE(account.signal("detoured_packet") == 0);
  std::uint64_t most = 0;
  for (std::uint32_t c = 0; c < topology.channels().size(); ++c) {
    const auto &from = topology.node(topology.channels()[c].from),
               &to = topology.node(topology.channels()[c].to);
    if (from.group != to.group) most = std::max(most, account.links[c * 5]);
  }
  REQUIRE(static_cast<double>(most) == Approx(8e6 * 4160 / 4096).epsilon(0.02));
}

}  // namespace weft::sim::packet
