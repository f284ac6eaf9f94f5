// NCCL's estimates against values worked out by hand from its tables, and the choices that follow.
#include "goal/collectives/nccl/tuner.h"

#include <catch2/catch.hpp>
#include <limits>

#include "goal/collectives/nccl/choice.h"
#include "goal/collectives/nccl/tuning_tables.h"
#include "goal/collectives/selection.h"
#include "sim/units/input_error.h"

namespace weft::goal::nccl {
namespace {

using Kind = CollectiveKind;
constexpr std::uint64_t kMiB = 1 << 20;

Candidate candidate(const Choice& choice, Algorithm algorithm, Protocol protocol) {
  for (const Candidate& one : choice.candidates) {
    if (one.algorithm == algorithm && one.protocol == protocol) return one;
  }
  FAIL("no such candidate");
  return {};
}

void check(const Candidate& one, double latency_us, double gbs, double estimate_us) {
  INFO(name(one.algorithm) << " " << name(one.protocol) << " " << one.why_not);
  CHECK(one.why_not.empty());
  CHECK(one.latency_us == Approx(latency_us).epsilon(1e-9));
  CHECK(one.bandwidth_gbs == Approx(gbs).epsilon(1e-9));
  CHECK(one.estimate_us == Approx(estimate_us).epsilon(1e-9));
}

}  // namespace

TEST_CASE("16 nodes of 8 H100: allreduce of 64 MiB, worked out by hand") {
  const Tuner tuner(node_preset("dgx_h100"), {});
  const Rings rings = tuner.rings(128);
  // A NIC of 50 GB/s feeds one ring of 48; eight of them, twice. Inside, 370.8 / 8 leave 40, and no less
  // than 48.
  CHECK(rings.channels == 8);
  CHECK(rings.used_channels == 16);
  CHECK(rings.between_gbs == 48);
  CHECK(rings.inside_gbs == 48);
  const Choice choice = tuner.choose(Kind::kAllreduce, 64 * kMiB, 128);
  const double n = 64.0 * kMiB / 1000, ratio = 128.0 / 254;
  // 254 steps of a ring, 30 of them between nodes.
  const auto ring = [&](Protocol protocol) { return candidate(choice, Algorithm::kRing, protocol); };
  check(ring(Protocol::kLl), 6.6 + 224 * 1 + 30 * 2.7, 20.4 * ratio, 311.6 + n / (20.4 * ratio));
  check(ring(Protocol::kLl128), 14 + 224 * 1.9 + 30 * 4, 384 * .92 * ratio, 559.6 + n / (384 * .92 * ratio));
  check(ring(Protocol::kSimple), 8.4 + 224 * 3.4 + 30 * 14, 384 * ratio, 1.4 * 1190 + n / (384 * ratio));
  // A tree: 7 links in the node and 4 levels, both ways.
  const auto tree = [&](Protocol protocol) { return candidate(choice, Algorithm::kTree, protocol); };
  const double rate = 384 * .92 * 120 / 128 / 2 * .9;
  check(tree(Protocol::kLl128), 14 + 2 * (7 * 1.25 + 4 * 8.5), rate, 99.5 + n / rate);
  check(tree(Protocol::kSimple), 8.4 + 2 * (7 * 4 + 4 * 14), 384 * .92 / 2 * .8,
        176.4 + n / (384 * .92 / 2 * .8));
  check(tree(Protocol::kLl), 6.8 + 2 * (7 * .6 + 4 * 5), 20.4 / 2, 55.2 + n / 10.2);
  CHECK(choice.best.algorithm == Algorithm::kTree);
  CHECK(choice.best.protocol == Protocol::kLl128);
  CHECK(choice.channels == 16);
  CHECK(choice.threads == 640);
}

TEST_CASE("all nodes have as many rings as the last, which may have fewer GPUs and their NICs") {
  const Tuner tuner(node_preset("dgx_h100"), {});
  CHECK(tuner.rings(12).channels == 4);
  CHECK(tuner.rings(19).channels == 3);
  CHECK(tuner.rings(16).channels == 8);
  // In an allgather 11 blocks pass the 4 NICs of 48 GB/s of the second node.
  const Candidate ring =
      candidate(tuner.choose(Kind::kAllgather, 16 * kMiB, 12), Algorithm::kRing, Protocol::kSimple);
  CHECK(ring.wire_us == Approx(11 * 16.0 * kMiB / 1000 / (4 * 48)));
}

TEST_CASE("one node of 8 H100 reduces in its switches, without them around rings") {
  const Tuner tuner(node_preset("dgx_h100"), {});
  CHECK(tuner.rings(8).channels == 12);
  CHECK(tuner.rings(8).used_channels == 24);
  const Choice choice = tuner.choose(Kind::kAllreduce, 1024 * kMiB, 8);
  const double rate = 40 * .85 * 7 / 8 * 2 * 8 * 8 / 14;
  check(candidate(choice, Algorithm::kNvls, Protocol::kSimple), 25, rate, 25 + 1024.0 * kMiB / 1000 / rate);
  CHECK(choice.best.algorithm == Algorithm::kNvls);
  Settings without;
  without.algorithms = Allowed::algorithms("^nvls");
  const Choice ring = Tuner(node_preset("dgx_h100"), without).choose(Kind::kAllreduce, 1024 * kMiB, 8);
  CHECK(ring.best.algorithm == Algorithm::kRing);
  CHECK(ring.best.bandwidth_gbs == Approx(360.0 * 8 / 14));
}

TEST_CASE("switches that reduce give a GPU's links one share more than there are heads") {
  // Bus rate 2 (h - 1) / h of h heads at v each, where (h + 1) v pass a GPU's links: 8 B200 80 GB/s, 72 of
  // them 32 heads of 20; .74 of it is reached.
  const auto bus = [](const char* node, std::uint32_t ranks) {
    const Choice choice = Tuner(node_preset(node), {}).choose(Kind::kAllreduce, 1024 * kMiB, ranks);
    return candidate(choice, Algorithm::kNvls, Protocol::kSimple).bandwidth_gbs * 2 * (ranks - 1) / ranks;
  };
  CHECK(bus("dgx_b200", 8) == Approx(2 * 7 * 80 * .74));
  CHECK(bus("gb200_nvl72", 72) == Approx(2 * 31 * 20 * .74));
  CHECK(bus("dgx_h100", 8) == Approx(2 * 7 * 40 * .85));
}

TEST_CASE("no time is less than a node's NICs need") {
  // Two nodes of 8 A100, 66.7 MB: each sends all of it to the other in a tree. Eight NICs of 1.25 GB/s take
  // 6.67 ms for that, with LL128's flags 16/15 of it.
  const auto best = [](double nic_gbs) {
    Node node = node_preset("dgx_a100");
    node.nic_gbs = nic_gbs;
    return Tuner(node, {}).choose(Kind::kAllreduce, 66'700'000, 16).best;
  };
  CHECK(best(1.25).wire_us == Approx(6670.0 * 16 / 15));
  CHECK(best(1.25).time_us >= 6670.0 * 16 / 15);
  CHECK(best(6.25).wire_us == Approx(1334.0 * 16 / 15));
  CHECK(best(6.25).time_us >= 1334.0 * 16 / 15);
  // A NIC is no faster than its PCIe slot: 400 Gb/s behind 24 GB/s.
  CHECK(best(50).wire_us == Approx(best(24).wire_us));
  for (const Candidate& one :
       Tuner(node_preset("dgx_h100"), {}).choose(Kind::kAllreduce, 64 * kMiB, 128).candidates) {
    if (one.why_not.empty()) CHECK(one.time_us >= one.wire_us);
  }
  CHECK(Tuner(node_preset("dgx_a100"), {}).choose(Kind::kAllreduce, kMiB, 8).best.wire_us == 0);
}

TEST_CASE("a limit of channels leaves the rings beyond it, and their NICs") {
  // Two nodes of 8 H100 have 8 rings, each through a NIC of 48 GB/s. Of 1 GiB 15/8 pass each link of a ring.
  Settings settings{.algorithms = Allowed::algorithms("ring"), .protocols = Allowed::protocols("simple")};
  const auto best = [&](std::uint32_t limit, std::uint32_t ranks) {
    settings.max_channels = limit;
    return Tuner(node_preset("dgx_h100"), settings).choose(Kind::kAllreduce, 1024 * kMiB, ranks).best;
  };
  const double one_us = 15.0 / 8 * 1024 * kMiB / 48e3;
  for (const std::uint32_t limit : {1, 2, 4, 8}) CHECK(best(limit, 16).wire_us == Approx(one_us / limit));
  CHECK(best(16, 16).wire_us == Approx(one_us / 8));
  for (const std::uint32_t limit : {1, 2, 4, 8, 16}) {
    CHECK(best(limit, 16).time_us >= best(limit, 16).wire_us);
    CHECK(best(limit, 16).time_us < 1.3 * best(limit, 16).wire_us);
  }
  // In a node NCCL says that a channel of a ring has 36.7 GB/s at most, of the bytes that pass a link.
  CHECK(best(1, 8).time_us == Approx(7.0 / 4 * 1024 * kMiB / 36.7e3).epsilon(0.1));
  // What NCCL compares knows the rings alone.
  CHECK(best(1, 16).estimate_us == Approx(best(8, 16).estimate_us).epsilon(0.05));
}

TEST_CASE("NICs that copies through the host keep from their rate") {
  const Node node = node_preset("a100_100g");
  CHECK(node.sends_gbs(8) == 9);
  CHECK(node.sends_gbs(1) == 6);
  // Two nodes of 8, 60 MB: each sends all of it in a tree, at 9 GB/s. NCCL counts 12, inside twice that, and
  // takes no LL128 past the host's bridge.
  const Tuner tuner(node, {.version = node.version});
  CHECK(tuner.rings(16).channels == 1);
  CHECK(tuner.rings(16).between_gbs == 12);
  CHECK(tuner.rings(16).inside_gbs == 24);
  const Choice choice = tuner.choose(Kind::kAllreduce, 60'000'000, 16);
  CHECK(!candidate(choice, Algorithm::kTree, Protocol::kLl128).why_not.empty());
  const Candidate& tree = candidate(choice, Algorithm::kTree, Protocol::kSimple);
  CHECK(tree.time_us == Approx(24.7 + tree.latency_us + 60e3 / 9));
}

TEST_CASE("NICs come with GPUs") {
  CHECK(with_gpus(node_preset("dgx_a100"), 1).nics == 1);
  CHECK(with_gpus(node_preset("dgx_a100"), 16).nics == 16);
  Node few = node_preset("dgx_a100");
  few.nics = 4;
  CHECK(with_gpus(few, 1).nics == 1);
  CHECK(with_gpus(few, 6).nics == 3);
  // Two nodes of one GPU: 8 times the time of nodes of 8 on the wire.
  const auto wire = [](std::uint32_t gpus) {
    const Tuner tuner(with_gpus(node_preset("dgx_a100"), gpus), {});
    return candidate(tuner.choose(Kind::kAllreduce, 64 * kMiB, 2 * gpus), Algorithm::kTree, Protocol::kSimple)
        .wire_us;
  };
  CHECK(wire(1) == Approx(8 * wire(8)));
}

TEST_CASE("what is replayed has as many GPUs in every node where switches reduce") {
  Settings replayed;
  replayed.replayed = true;
  const Tuner tuner(node_preset("dgx_h100"), replayed);
  const auto tree = [&](std::uint32_t ranks) {
    return candidate(tuner.choose(Kind::kAllreduce, 64 * kMiB, ranks), Algorithm::kNvlsTree,
                     Protocol::kSimple);
  };
  CHECK(tree(16).why_not.empty());
  CHECK(tree(20).why_not == "replayed with as many GPUs in every node only");
}

TEST_CASE("two nodes of 8 A100 gather by the rate of rings between them") {
  const Tuner tuner(node_preset("dgx_a100"), {});
  CHECK(tuner.rings(16).channels == 8);
  CHECK(tuner.rings(16).between_gbs == 24);
  CHECK(tuner.rings(16).inside_gbs == 30);
  const Choice choice = tuner.choose(Kind::kAllgather, kMiB, 16);
  CHECK(choice.bytes == 16 * kMiB);
  // AMD: a step takes 3 * 2 us at least.
  check(candidate(choice, Algorithm::kRing, Protocol::kSimple), 8.4 + 14 * 6 + 14, 192.0 * 16 / 15,
        106.4 + 16.0 * kMiB / 1000 / 204.8);
  CHECK(candidate(choice, Algorithm::kTree, Protocol::kSimple).why_not == "allreduce only");
}

TEST_CASE("rings between nodes are no faster than GPUs hand them on inside") {
  // 16 NICs could feed 768 GB/s; of 8 GPUs each sends 7/8 of all that passes, over 370.8 GB/s.
  Node node = node_preset("dgx_h100");
  node.nics = 16;
  const Rings many = Tuner(node, {}).rings(32);
  CHECK(many.channels * many.between_gbs * 7 / 8 <= 370.8);
  CHECK(many.channels * many.between_gbs * 7 / 8 > 0.8 * 370.8);
  const double least_us = 2. * 31 / 32 * 7 / 8 * 1e9 / 370.8e3;
  for (const Candidate& one :
       Tuner(node, {}).choose(CollectiveKind::kAllreduce, 1'000'000'000, 32).candidates) {
    if (one.algorithm == Algorithm::kRing && one.why_not.empty()) CHECK(one.time_us > least_us);
  }
}

TEST_CASE("PAT is for one GPU a node, and of later versions") {
  const Node alone = with_gpus(node_preset("dgx_h100"), 1);
  const Choice choice = Tuner(alone, {}).choose(Kind::kAllgather, 1024, 4);
  const Candidate pat = candidate(choice, Algorithm::kPat, Protocol::kSimple);
  CHECK(pat.latency_us == Approx(8 + 2 * 14 / 3.5 + 2.8 * 4));
  Settings old;
  old.version = Version::k2_20;
  const Choice before = Tuner(alone, old).choose(Kind::kAllgather, 1024, 4);
  CHECK(candidate(before, Algorithm::kPat, Protocol::kSimple).why_not == "from NCCL 2.23 on");
  const Choice many = Tuner(node_preset("dgx_h100"), {}).choose(Kind::kAllgather, 1024, 16);
  CHECK(candidate(many, Algorithm::kPat, Protocol::kSimple).why_not == "one GPU a node only");
}

TEST_CASE("version 2.20 has its own figures") {
  Settings old;
  old.version = Version::k2_20;
  const Choice choice = Tuner(node_preset("dgx_h100"), old).choose(Kind::kAllreduce, 64 * kMiB, 128);
  CHECK(candidate(choice, Algorithm::kTree, Protocol::kSimple).latency_us == Approx(2 * (7 * 28 + 4 * 28)));
  // By generation on one node: Hopper as Ampere.
  const Choice one = Tuner(node_preset("dgx_h100"), old).choose(Kind::kAllreduce, kMiB, 8);
  CHECK(candidate(one, Algorithm::kRing, Protocol::kLl).bandwidth_gbs == Approx(87.7 * 8 / 14));
}

TEST_CASE("version 2.20 rounds chunks of LL and LL128 by threads") {
  const auto choose = [](Version version, const char* protocol, std::uint64_t bytes) {
    Settings settings;
    settings.version = version;
    settings.algorithms = Allowed::algorithms("ring");
    settings.protocols = Allowed::protocols(protocol);
    return Tuner(node_preset("marenostrum5_acc"), settings).choose(Kind::kAllreduce, bytes, 16);
  };
  // 8 bytes for each of 96 threads; 480 for each of 20 warps.
  CHECK(choose(Version::k2_20, "ll", 256).chunk_grain_bytes == 768);
  CHECK(choose(Version::k2_20, "ll128", kMiB).chunk_grain_bytes == 9600);
  CHECK(choose(Version::k2_20, "simple", kMiB).chunk_grain_bytes == 0);
  CHECK(choose(Version::k2_30, "ll128", kMiB).chunk_grain_bytes == 0);
  CHECK(choose(Version::k2_19, "ll128", kMiB).chunk_grain_bytes == 0);
}

TEST_CASE("rings of Hopper are doubled once more if each has more than 45 GB/s between the nodes") {
  // Four NICs of 25 GB/s: rings of 24. NVLink would carry more, but a ring has one rate.
  CHECK(Tuner(node_preset("marenostrum5_acc"), {}).rings(16).used_channels == 8);
  Node fast = node_preset("marenostrum5_acc");
  fast.nic_gbs = 50;
  CHECK(Tuner(fast, {}).rings(16).used_channels == 16);
}

TEST_CASE("few bytes use fewer channels, then fewer threads") {
  Settings settings;
  settings.algorithms = Allowed::algorithms("ring");
  settings.protocols = Allowed::protocols("ll");
  const Tuner tuner(node_preset("dgx_h100"), settings);
  // 16 ranks: 128 bytes a thread, 65536 a channel of 512.
  const auto choose = [&](std::uint64_t bytes) { return tuner.choose(Kind::kAllreduce, bytes, 16); };
  CHECK(choose(16 * 65536).channels == 16);
  CHECK(choose(16 * 65536 - 1).channels == 15);
  CHECK(choose(3 * 65536).channels == 3);
  CHECK(choose(65536).threads == 512);
  CHECK(choose(65535).threads == 256);
  CHECK(choose(2048).channels == 1);
  CHECK(choose(2048).threads == 96);
}

TEST_CASE("users fix algorithms, protocols and channels as with NCCL's environment") {
  const Allowed others = Allowed::algorithms("^Tree");
  CHECK_FALSE(others.has(Kind::kAllreduce, static_cast<int>(Algorithm::kTree)));
  CHECK(others.has(Kind::kAllreduce, static_cast<int>(Algorithm::kRing)));
  const Allowed each = Allowed::algorithms("allreduce:tree;broadcast:ring");
  CHECK_FALSE(each.has(Kind::kAllreduce, static_cast<int>(Algorithm::kRing)));
  CHECK(each.has(Kind::kAllgather, static_cast<int>(Algorithm::kRing)));
  CHECK_THROWS_WITH(Allowed::algorithms("tre"), Catch::Contains("did you mean 'tree'?"));
  CHECK_THROWS_WITH(Allowed::protocols("^"), Catch::Contains("expected a list"));
  CHECK_THROWS_WITH(Allowed::algorithms("allredcue:ring"), Catch::Contains("did you mean 'allreduce'?"));
  CHECK_THROWS_AS(parse_version("2.18"), InputError);
  Settings settings;
  settings.max_channels = 4;
  CHECK(Tuner(node_preset("dgx_h100"), settings).choose(Kind::kAllreduce, 64 * kMiB, 128).channels == 4);
  settings.max_channels.reset();
  settings.min_channels = 32;
  CHECK(Tuner(node_preset("dgx_h100"), settings).rings(128).used_channels == 32);
  settings.min_channels = 65;
  CHECK_THROWS_WITH(Tuner(node_preset("dgx_h100"), settings), Catch::Contains("from 1 to 64"));
  Settings nothing;
  nothing.algorithms = Allowed::algorithms("tree");
  CHECK_THROWS_WITH(Tuner(node_preset("dgx_h100"), nothing).choose(Kind::kBcast, 8, 16),
                    Catch::Contains("nothing left for bcast on 16 ranks"));
}

TEST_CASE("LL128 needs NVLink, and NICs no farther than PCIe switches") {
  Node node = node_preset("dgx_a100");
  const auto why_not = [&](const Settings& settings) {
    return candidate(Tuner(node, settings).choose(Kind::kAllreduce, kMiB, 32), Algorithm::kRing,
                     Protocol::kLl128)
        .why_not;
  };
  CHECK(why_not({}).empty());
  node.nic_path = PathType::kHostBridge;
  CHECK(why_not({}) == "NICs are PHB from the GPUs, past PCIe switches");
  Settings forced;
  forced.protocols = Allowed::protocols("ll128");
  CHECK(why_not(forced).empty());
  node = node_preset("dgx_a100");
  node.nvlink_gbs = 0;
  CHECK(why_not({}) == "needs NVLink");
}

TEST_CASE("what can't be a node is refused, and too many bytes are") {
  Node node = node_preset("dgx_h100");
  node.gpus = 0;
  CHECK_THROWS_AS(Tuner(node, {}), InputError);
  node = node_preset("dgx_h100");
  node.nvlink_gbs = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(Tuner(node, {}), InputError);
  node = node_preset("dgx_h100");
  node.nics = 0;
  CHECK_THROWS_WITH(Tuner(node, {}).rings(16), Catch::Contains("no ring"));
  CHECK_THROWS_WITH(node_preset("dgx_h10"), Catch::Contains("did you mean 'dgx_h100'?"));
  const Tuner tuner(node_preset("dgx_h100"), {});
  CHECK_THROWS_WITH(tuner.choose(Kind::kAllgather, ~std::uint64_t{0} / 4, 16), Catch::Contains("2^64"));
}

TEST_CASE("the profile nccl chooses as the tuner says; what a graph asks for comes first") {
  CollectiveChoices choices;
  choices.profile = "nccl:node=dgx_h100";
  const CollectiveSelection selection(choices);
  const ChosenAlgorithm& tree = selection.choose({.kind = Kind::kAllreduce, .bytes = 64 * kMiB}, 128);
  CHECK(tree.algorithm->info.name == "nccl_tree");
  CHECK(tree.options.format == WireFormat::kFlagPerLine);
  CHECK(tree.options.channels == 16);
  CHECK(tree.options.ranks_per_node == 8);
  CHECK(selection.choose({.kind = Kind::kAlltoall, .bytes = 8}, 16).algorithm->info.name == "nccl_p2p");
  CHECK(selection.choose({.kind = Kind::kGather, .bytes = 8}, 16).algorithm->info.name == "linear");
  Collective recorded{.kind = Kind::kAllreduce, .bytes = 64 * kMiB};
  recorded.algorithm = "nccl_ring:protocol=ll,channels=2,ranks_per_node=4";
  const ChosenAlgorithm& ring = selection.choose(recorded, 128);
  CHECK(ring.algorithm->info.name == "nccl_ring");
  CHECK(ring.options.channels == 2);
  choices.profile = "nccl:algo=[ring,tree],proto=simple,gpus_per_node=4,max_channels=3";
  const ChosenAlgorithm simple =
      CollectiveSelection(choices).choose({.kind = Kind::kBcast, .bytes = kMiB}, 16);
  CHECK(simple.options.format == WireFormat::kPlain);
  CHECK(simple.options.ranks_per_node == 4);
  choices.profile = "nccl:nod=dgx_h100";
  CHECK_THROWS_AS(CollectiveSelection(choices), InputError);
}

}  // namespace weft::goal::nccl
