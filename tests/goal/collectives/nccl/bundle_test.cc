// Channels in bundles: which, and that their schedules do what those of single channels do.
#include "goal/collectives/nccl/bundle.h"

#include <catch2/catch.hpp>

#include "goal/collectives/nccl/choice.h"
#include "goal/collectives/selection.h"
#include "tests/goal/collectives/interpreter.h"

namespace weft::goal::nccl {
namespace {

Collective allreduce(std::uint64_t bytes) {
  return {.kind = CollectiveKind::kAllreduce, .bytes = bytes, .element_bytes = 4};
}

ChosenAlgorithm nvls(const char* text, std::uint32_t bundle) {
  ChosenAlgorithm chosen = choose_collective_algorithm(CollectiveKind::kAllreduce, text);
  chosen.options.channels /= bundle;
  chosen.options.bundle = bundle;
  return chosen;
}

std::uint32_t by_rule(const std::string& text, std::uint64_t bytes, std::uint32_t ranks, std::uint32_t asked,
                      double gpu_gbs = 0) {
  const ChosenAlgorithm chosen = choose_collective_algorithm(CollectiveKind::kAllreduce, text);
  const Collective collective = allreduce(bytes);
  return bundle_of(*chosen.algorithm, {&collective, ranks, 0, &chosen.options}, node_preset("dgx_h100"),
                   asked, gpu_gbs);
}

constexpr const char* kTree = "nccl_nvls_tree:channels=16,ranks_per_node=8";

}  // namespace

TEST_CASE("bundles add up the same data, in as many times fewer messages") {
  struct Case {
    const char* text;
    std::uint32_t ranks;
  };
  for (const Case& each : {Case{"nccl_nvls:channels=16,ranks_per_node=8,chunk=256B", 8},
                           Case{"nccl_nvls_tree:channels=16,ranks_per_node=4,chunk=256B", 12}}) {
    // Whole turns of every channel: nothing is shorter.
    const std::uint64_t bytes = std::uint64_t{16} * 8 * 256 * 2;
    const Outcome exact = run(nvls(each.text, 1), allreduce(bytes), each.ranks);
    REQUIRE(exact.fault.empty());
    for (const std::uint32_t bundle : {2u, 4u, 8u}) {
      const Outcome bundled = run(nvls(each.text, bundle), allreduce(bytes), each.ranks);
      CHECK(bundled.fault.empty());
      CHECK(bundled.messages * bundle == exact.messages);
      CHECK(bundled.bytes_sent == exact.bytes_sent);
      CHECK(bundled.combined == exact.combined);
    }
  }
}

TEST_CASE("rings go as one with the same data, over the same neighbors") {
  const ChosenAlgorithm apart = choose_collective_algorithm(
      CollectiveKind::kAllreduce, "nccl_ring:channels=16,ranks_per_node=2,chunk=256B");
  const std::uint64_t bytes = std::uint64_t{16} * 8 * 256 * 2;
  for (const std::uint32_t ranks : {2u, 8u}) {
    const std::uint32_t bundle = ranks == 2 ? 16 : 8;
    ChosenAlgorithm chosen = apart;
    chosen.options.channels /= bundle;
    chosen.options.bundle = bundle;
    const Outcome exact = run(apart, allreduce(bytes), ranks), bundled = run(chosen, allreduce(bytes), ranks);
    CHECK(exact.fault.empty());
    CHECK(bundled.fault.empty());
    CHECK(bundled.messages * bundle <= exact.messages);
    CHECK(bundled.bytes_sent == exact.bytes_sent);
    CHECK(bundled.combined == exact.combined);
  }
}

TEST_CASE("groups far apart are chosen for by what they have on a node") {
  const auto on = [](const std::vector<Rank>& members, std::span<const std::uint32_t> nodes = {}) {
    const GroupNodes group = nodes_of_group(members, 8, nodes);
    CHECK(group.order == nullptr);
    CHECK(group.uneven == 0);
    return group.on;
  };
  CHECK(on({}) == NodeRanks{8});
  CHECK(on({0, 1, 2, 3}) == NodeRanks{8});    // inside a node
  CHECK(on({0, 8, 16, 24}) == NodeRanks{1});  // one on each
  CHECK(on({0, 4, 8, 12, 16, 20}) == NodeRanks{2});
  CHECK(on({0, 1, 8, 9, 16}) == NodeRanks{2});  // the last has fewer
  CHECK(on({0, 8, 9, 16}) == NodeRanks{2, 1});  // the first, too
  CHECK(on({5, 6, 7, 8, 9, 10, 11}) == NodeRanks{4, 3});
  CHECK(on({4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}) == NodeRanks{8, 4});
  // Placed from the middle of a node on, the world, a group within it, and one that crosses.
  const std::vector<std::uint32_t> nodes = {3, 3, 3, 3, 4, 4, 4, 4};
  CHECK(on({}, nodes) == NodeRanks{4});
  CHECK(on({0, 1, 2, 3}, nodes) == NodeRanks{8});
  CHECK(on({2, 3, 4, 5}, nodes) == NodeRanks{2});
  const std::vector<Communicator> groups = {
      {"", {}}, {"in", {0, 1, 2, 3, 4, 5, 6, 7}}, {"apart", {0, 8, 16, 24, 32, 40, 48, 56}}};
  CollectiveSelection selection({{}, {}, "nccl:node=dgx_h100"});
  selection.know_groups({.ranks = 64, .communicators = groups});
  const auto chosen = [&](std::uint32_t comm) {
    Collective collective = allreduce(64 << 20);
    collective.comm = comm;
    return selection.choose(collective, 8);
  };
  CHECK(chosen(1).algorithm->info.name == "nccl_nvls");
  CHECK(chosen(1).options.ranks_per_node == 8);
  CHECK(chosen(2).algorithm->info.name != "nccl_nvls");  // there is no NVLink between them
  CHECK(chosen(2).options.ranks_per_node == 1);
}

TEST_CASE("groups that come back to nodes are ordered by node") {
  using Ranks = std::vector<std::uint32_t>;
  const GroupNodes twice = nodes_of_group({0, 8, 1, 9}, 8);
  CHECK(twice.on == NodeRanks{2});
  CHECK(twice.order->ranks == Ranks{0, 2, 1, 3});
  CHECK(twice.order->places == Ranks{0, 2, 1, 3});
  CHECK(!twice.order->tells_nodes());
  // By cards 1, 0, 0, 2, 1, 0, 2, 2: 2 on the node met first, 3 on the others.
  const Ranks cards = {1, 0, 0, 2, 1, 0, 2, 2};
  const GroupNodes first = nodes_of_group({}, 3, cards);
  CHECK(first.on == NodeRanks{3, 2});
  CHECK(first.order->ranks == Ranks{0, 4, 1, 2, 5, 3, 6, 7});
  CHECK(first.order->places == Ranks{0, 2, 3, 5, 1, 4, 6, 7});
}

TEST_CASE("nodes with other numbers of ranks are told one by one") {
  const GroupNodes group = nodes_of_group({0, 8, 9, 16, 24, 25, 26, 27}, 8);  // 1, 2, 1, 4
  CHECK(group.on == NodeRanks{4, 1});
  CHECK(group.uneven == 4);
  const NodePlaces nodes(group.on, 8, group.order.get());
  CHECK(nodes.count() == 4);
  CHECK(group.order->divisor == 1);
  const std::vector<std::uint32_t> of_place = {0, 1, 1, 2, 3, 3, 3, 3}, on = {1, 2, 1, 4},
                                   first = {0, 1, 3, 4};
  for (std::uint32_t place = 0; place < 8; ++place) {
    CHECK(group.order->ranks[place] == place);
    CHECK(nodes.node_of(place) == of_place[place]);
  }
  for (std::uint32_t node = 0; node < 4; ++node) {
    CHECK(nodes.first(node) == first[node]);
    CHECK(nodes.on(node) == on[node]);
  }
  CHECK(nodes_of_group({0, 1, 2, 3, 8, 9, 16, 17, 18, 19}, 8).order->divisor == 2);
}

// Two nodes of 8 by turns: every ring has 2 ranks whose successor is on the other node, and 14 others.
TEST_CASE("rings of a group that comes back to nodes cross between them once each way") {
  std::vector<std::uint32_t> nodes(16);
  for (std::uint32_t rank = 0; rank < 16; ++rank) nodes[rank] = rank % 2;
  const std::vector<Communicator> groups = {{"", {}}};
  CollectiveSelection selection({{}, {}, "nccl:node=dgx_h100,algo=ring"});
  selection.know_groups({.ranks = 16, .communicators = groups}, nodes);
  const Collective collective = allreduce(64 << 20);
  const ChosenAlgorithm& chosen = selection.choose(collective, 16);
  CHECK(chosen.options.ranks_per_node == 8);
  const CollectiveCall one{&collective, 16, 0, &chosen.options};
  const std::uint32_t lanes = chosen.lanes(one);
  std::uint32_t crossing = 0;
  for (std::uint32_t me = 0; me < 16; ++me) {
    const CollectiveCall call{&collective, 16, me, &chosen.options};
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      Group group;
      REQUIRE(chosen.algorithm->expand(call, lane, 0, group));
      for (const Step& step : group.steps()) {
        crossing += step.kind == StepKind::kSend && nodes[step.peer] != nodes[me] ? 1 : 0;
      }
    }
  }
  CHECK(crossing == 2 * lanes);
}

TEST_CASE("bundles of what doesn't divide evenly add up the same data too") {
  for (const std::uint64_t bytes : {4u, 1000u, 100'000u, 765'432u}) {
    const Outcome bundled = run(nvls("nccl_nvls_tree:channels=16,ranks_per_node=4", 8), allreduce(bytes), 12);
    INFO(bytes);
    CHECK(bundled.fault.empty());
  }
}

// 64 nodes of 8, 2^30 bytes, 16 channels: 8 MiB a channel and head, 128 chunks of 64 KiB. A rank sends 14
// chunks in its node and 2 * 63 / 64 between nodes for each: 16 * 128 * 512 * 15.97 messages.
TEST_CASE("messages and what a bundle costs are reckoned by hand") {
  const ChosenAlgorithm chosen = choose_collective_algorithm(CollectiveKind::kAllreduce, kTree);
  const Collective collective = allreduce(1 << 30);
  const CollectiveCall call{&collective, 512, 0, &chosen.options};
  CHECK(messages_of(call) == Approx(16.0 * 128 * 512 * (14 + 2 * 63.0 / 64)));
  Node node = node_preset("dgx_h100");
  node.nic_gbs = 50;
  node.nvlink_gbs = 400;
  node.gpu.channels[static_cast<int>(Protocol::kSimple)].proxy_us = 3;
  // 12 hops of 64 KiB at 50 GB/s, 2 of 9 times as much at 400; the proxy's 3 us for 2 chunks a channel and
  // turn.
  // NVLS reaches 85% of the links.
  const double longer = 12 * 65536 / 50.0 + 2 * 9 / 0.85 * 65536 / 400.0, least = 2 * 16 * 128 * 3000.0;
  CHECK(bundle_error(call, node, 2) == Approx(longer / least));
  CHECK(bundle_error(call, node, 4) == Approx(3 * longer / least));
  // On hosts with 12.5 GB/s for all: 12 and 2 * 9 / 0.85 chunks more, of 9 / 0.85 each turn.
  CHECK(bundle_error(call, node, 8, 12.5) == Approx(7 * (12 + 2 * 9 / 0.85) / (16 * 128 * 9 / 0.85)));
  // A GPU with NVLink and a NIC has no less than the node.
  CHECK(bundle_error(call, node, 2, 450) == bundle_error(call, node, 2));
}

TEST_CASE("as few channels go as one as make few messages, and no more than 1% longer") {
  CHECK(by_rule(kTree, 1 << 30, 512, 0) == 2);
  CHECK(by_rule(kTree, 16 << 20, 512, 0) == 1);       // a chunk or two a channel: all of it is filling
  CHECK(by_rule(kTree, 1 << 30, 64, 0) == 4);         // two million messages
  CHECK(by_rule(kTree, 1 << 30, 16, 0) == 1);         // 245,760
  CHECK(by_rule(kTree, 1 << 30, 512, 0, 12.5) == 4);  // all of it takes longer on plain hosts
  CHECK(by_rule(kTree, 1 << 20, 64, 8) == 8);         // asked for
  CHECK(by_rule(kTree, 1 << 20, 64, 7) == 4);         // the trees share channels evenly
  CHECK(by_rule(kTree, 1 << 20, 64, 64) == 8);
  // Rings: 8 of 16 differ in where they enter nodes of 8; one where groups have a rank a node, 2 with two.
  CHECK(by_rule("nccl_ring:channels=16,ranks_per_node=8", 1 << 30, 512, 0) == 2);
  CHECK(by_rule("nccl_ring:channels=16,ranks_per_node=8", 1 << 20, 16, 0) == 1);  // few messages
  CHECK(by_rule("nccl_ring:channels=16,ranks_per_node=1", 1 << 30, 512, 0) == 16);
  CHECK(by_rule("nccl_ring:channels=16,ranks_per_node=2", 1 << 30, 512, 0) == 8);
  CHECK(by_rule("nccl_ring:channels=4,ranks_per_node=8", 1 << 30, 512, 0) == 2);
  // Inside a node all go the same way, whatever the size, but unevenly with 17 cells of 16 KiB on 16
  // channels.
  CHECK(by_rule("nccl_ring:channels=16,ranks_per_node=8", 1 << 20, 8, 0) == 16);
  CHECK(by_rule("nccl_ring:channels=16,ranks_per_node=8", 17 << 14, 8, 0) == 1);
  CHECK(by_rule("nccl_ring:channels=16,ranks_per_node=8", 1 << 20, 8, 5) == 4);
  CHECK(by_rule("nccl_ring:channels=16,least_chunk=4KiB,protocol=ll", 1 << 30, 512, 0) == 1);
  CHECK(by_rule("nccl_tree:channels=16", 1 << 30, 512, 4) == 1);
}

TEST_CASE("the profile bundles where it may, or where it is told to") {
  const Collective collective = allreduce(1 << 30);
  CollectiveSelection open({{}, {}, "nccl:node=dgx_h100"});
  CHECK(open.choose(collective, 512).options.bundle == 1);
  open.allow_bundles();
  const ChosenAlgorithm& chosen = open.choose(collective, 512);
  CHECK(chosen.options.bundle == 2);
  CHECK(chosen.options.channels == 8);
  CHECK(chosen.options.lane_costs.bundle == 2);
  CHECK(&open.choose(collective, 512) == &chosen);
  CHECK(CollectiveSelection({{}, {}, "nccl:node=dgx_h100,bundle=2"}).choose(collective, 64).options.bundle ==
        2);
  CollectiveSelection apart({{}, {}, "nccl:node=dgx_h100,bundle=1"});
  apart.allow_bundles();
  CHECK(apart.choose(collective, 512).options.bundle == 1);
  CHECK_THROWS_WITH(CollectiveSelection({{}, {}, "nccl:bundle=0"}), Catch::Contains("from 1 to 64"));
}

}  // namespace weft::goal::nccl
