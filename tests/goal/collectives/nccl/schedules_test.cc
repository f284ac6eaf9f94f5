// NCCL's schedules against closed forms and published properties. (That each moves the right data, the tests
// of all listed algorithms hold: tests/goal/collectives/data_test.cc.)
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "goal/collectives/nccl/algorithms.h"
#include "goal/collectives/nccl/places.h"
#include "goal/collectives/nccl/work.h"
#include "tests/goal/collectives/interpreter.h"

namespace weft::goal::nccl {
namespace {

using u64 = std::uint64_t;

ChosenAlgorithm chosen(CollectiveKind kind, const std::string& text) {
  return choose_collective_algorithm(kind, text);
}

Outcome outcome_of(CollectiveKind kind, const std::string& text, u64 bytes, std::uint32_t ranks) {
  const Outcome outcome = run(chosen(kind, text), {.kind = kind, .bytes = bytes, .element_bytes = 8}, ranks);
  INFO(text << " on " << ranks << " ranks with " << bytes << " bytes: " << outcome.fault);
  CHECK(outcome.fault.empty());
  return outcome;
}

struct Layout {
  std::uint32_t ranks, per_node, channels, first = 0;
  std::uint32_t node_of(std::uint32_t rank) const {
    if (rank < first) return 0;
    return (rank - first) / per_node + (first > 0 ? 1 : 0);
  }
  std::uint32_t nodes() const { return node_of(ranks - 1) + 1; }
  std::string text() const { return fmt::format("ranks_per_node={},first_node={}", per_node, first); }
};
const Layout kLayouts[] = {{2, 1, 1},      {4, 4, 2},      {8, 8, 4},       {12, 4, 8},  {16, 4, 16},
                           {64, 8, 4},     {24, 8, 2},     {100, 4, 6},     {9, 1, 2},   {22, 8, 4},
                           {64, 56, 8, 8}, {28, 12, 4, 4}, {30, 12, 16, 6}, {4, 8, 2, 4}};

struct Call {
  explicit Call(const Layout& layout, u64 bytes = 1 << 20) {
    collective = {.kind = CollectiveKind::kAllreduce, .bytes = bytes, .element_bytes = 4};
    options.channels = layout.channels;
    options.ranks_per_node = layout.per_node;
    options.first_node = layout.first;
    call = {&collective, layout.ranks, 0, &options};
  }
  const CollectiveCall& of(std::uint32_t rank) {
    call.me = rank;
    return call;
  }
  Collective collective;
  CollectiveOptions options;
  CollectiveCall call;
};

// Bytes on the wire from each rank to each other, of one collective.
std::map<std::pair<std::uint32_t, std::uint32_t>, u64> traffic(CollectiveKind kind, const std::string& text,
                                                               u64 bytes, std::uint32_t ranks) {
  const ChosenAlgorithm algorithm = chosen(kind, text);
  const Collective collective{.kind = kind, .bytes = bytes, .element_bytes = 4};
  std::map<std::pair<std::uint32_t, std::uint32_t>, u64> all;
  Group group;
  for (std::uint32_t me = 0; me < ranks; ++me) {
    const CollectiveCall call{&collective, ranks, me, &algorithm.options};
    for (std::uint32_t lane = 0; lane < algorithm.lanes(call); ++lane) {
      for (std::uint32_t i = 0;; ++i) {
        group.clear();
        if (!algorithm.algorithm->expand(call, lane, i, group)) break;
        for (const auto& step : group.steps()) {
          if (step.kind == StepKind::kSend) all[{me, step.peer}] += call.wire_bytes(step, step.peer);
        }
      }
    }
  }
  return all;
}

}  // namespace

TEST_CASE("NCCL's rings take 2(n-1) or n-1 steps and send as little as can be") {
  for (const std::uint32_t p : {2u, 3u, 4u, 8u, 15u, 16u, 32u}) {
    const u64 n = 1024 * p;
    const Outcome allreduce = outcome_of(CollectiveKind::kAllreduce, "nccl_ring:channels=1", n, p);
    CHECK(allreduce.rounds == 2 * (p - 1));
    CHECK(allreduce.bytes == 2 * (p - 1) * n);
    CHECK(allreduce.combined == (p - 1) * n);
    for (const u64 sent : allreduce.bytes_sent) CHECK(sent == 2 * (p - 1) * n / p);
    for (const CollectiveKind kind : {CollectiveKind::kAllgather, CollectiveKind::kReduceScatter}) {
      const Outcome half = outcome_of(kind, "nccl_ring:channels=1", 1024, p);
      CHECK(half.rounds == p - 1);
      for (const u64 sent : half.bytes_sent) CHECK(sent == (p - 1) * 1024);
    }
    for (const CollectiveKind kind : {CollectiveKind::kBcast, CollectiveKind::kReduce}) {
      const Outcome chain = outcome_of(kind, "nccl_ring:channels=1,chunk=256B", 1024, p);
      CHECK(chain.rounds == p - 1 + 4 - 1);
      CHECK(chain.bytes == (p - 1) * 1024);
    }
  }
}

TEST_CASE("a chunk of a ring with Simple goes in two slices of 32 KiB or more, others in one") {
  const u64 n = 4 * 65536;
  const auto messages = [&](const char* text) {
    return outcome_of(CollectiveKind::kAllreduce, text, n, 4).messages;
  };
  CHECK(messages("nccl_ring:channels=1") == 2 * 6 * 4);
  CHECK(messages("nccl_ring:channels=1,protocol=ll128") == 6 * 4);
  // 32 KiB of data in a chunk: two turns.
  CHECK(messages("nccl_ring:channels=1,protocol=ll") == 2 * 6 * 4);
  CHECK(outcome_of(CollectiveKind::kAllreduce, "nccl_ring:channels=1", 4 * 32768, 4).messages == 6 * 4);
}

TEST_CASE("along a chain lines of LL and LL128 go in pieces, which share their chunk's step") {
  // Two chunks and the start of a third; a rank in the middle, which takes in a piece while it hands one on.
  const auto firsts = [](CollectiveKind kind, const char* text, u64 bytes) {
    const ChosenAlgorithm chosen = choose_collective_algorithm(kind, text);
    const Collective collective{.kind = kind, .bytes = bytes, .element_bytes = 4};
    const CollectiveCall call{&collective, 3, kind == CollectiveKind::kBcast ? 1u : 2u, &chosen.options};
    std::map<StepKind, std::pair<int, int>> count;  // all, and those with a step of their own
    Group group;
    for (std::uint32_t i = 0; group.clear(), chosen.algorithm->expand(call, 0, i, group); ++i) {
      for (const Step& step : group.steps()) {
        ++count[step.kind].first;
        count[step.kind].second += step.goes_on ? 0 : 1;
      }
    }
    return count;
  };
  for (const CollectiveKind kind : {CollectiveKind::kBcast, CollectiveKind::kReduce}) {
    for (const StepKind step : {StepKind::kSend, StepKind::kRecv}) {
      CHECK(firsts(kind, "nccl_ring:channels=1,protocol=ll128", 2 * 576'000 + 4)[step] == std::pair(31, 3));
      CHECK(firsts(kind, "nccl_ring:channels=1,protocol=ll", 2 * 32'768 + 4)[step] == std::pair(17, 3));
      CHECK(firsts(kind, "nccl_ring:channels=1", (2 << 19) + 4)[step] == std::pair(3, 3));
    }
  }
}

TEST_CASE("before NCCL 2.20 no chunk but the last was shorter than the least, and channels took turns") {
  const auto messages = [](const char* text, u64 bytes) {
    return outcome_of(CollectiveKind::kAllreduce, text, bytes, 4).messages;
  };
  // One chunk for all, which goes over 6 edges; five chunks of 768 bytes, the first channel's and the
  // second's.
  CHECK(messages("nccl_ring:channels=1,protocol=ll,least_chunk=768B", 256) == 6);
  CHECK(messages("nccl_ring:channels=2,protocol=ll,least_chunk=768B", 5 * 768 - 512) == 5 * 6);
  // More than all least chunks: those of 1536 bytes.
  CHECK(messages("nccl_ring:channels=1,protocol=ll128,least_chunk=768B", 5 * 768) == 3 * 6);
  // Two turns.
  CHECK(messages("nccl_ring:channels=1,protocol=ll,least_chunk=768B", 4 * 32768 + 768) == 5 * 6);
}

TEST_CASE("in NCCL 2.20 and 2.21 chunks of the last turn are multiples of a grain") {
  const auto messages = [](const char* text, u64 bytes) {
    return outcome_of(CollectiveKind::kAllreduce, text, bytes, 4).messages;
  };
  // 256 bytes are one chunk, which goes over 6 edges; 1,000 are two; Simple's have no grain.
  CHECK(messages("nccl_ring:channels=1,protocol=ll", 256) == 4 * 6);
  CHECK(messages("nccl_ring:channels=1,protocol=ll,chunk_grain=768B", 256) == 6);
  CHECK(messages("nccl_ring:channels=1,protocol=ll,chunk_grain=768B", 1000) == 2 * 6);
  CHECK(messages("nccl_ring:channels=1,chunk_grain=768B", 256) == 4 * 6);
  // Four ranks' shares of 800 bytes make two grains each: the last chunk is empty and the third cut short.
  CHECK(messages("nccl_ring:channels=1,protocol=ll128,chunk_grain=768B", 3200) == 3 * 6);
}

TEST_CASE("chunks are as long as NCCL's") {
  const auto bytes = [](Shape shape, WireFormat format, u64 total = 1 << 30) {
    return chunk_bytes(shape, CollectiveKind::kAllreduce, format, total, 64, {8});
  };
  CHECK(bytes(Shape::kRing, WireFormat::kPlain) == 2 << 20);
  CHECK(bytes(Shape::kRing, WireFormat::kFlagPerWord) == 32 << 10);
  CHECK(bytes(Shape::kRing, WireFormat::kFlagPerLine) == 576'000);
  CHECK(bytes(Shape::kTree, WireFormat::kPlain) == 512 << 10);
  CHECK(bytes(Shape::kChain, WireFormat::kPlain) == 512 << 10);
  // 8 nodes of 8: s = 4.8, so down to 128 KiB below 38.4 chunks, and to 32 KiB below 9.6.
  CHECK(bytes(Shape::kTree, WireFormat::kFlagPerLine) == 576'000);
  CHECK(bytes(Shape::kTree, WireFormat::kFlagPerLine, 8 << 20) == 576'000 / 4 / 1920 * 1920);
  CHECK(bytes(Shape::kTree, WireFormat::kFlagPerLine, 1 << 18) == 576'000 / 32 / 1920 * 1920);
  CHECK(chunk_bytes(Shape::kPat, CollectiveKind::kAllgather, WireFormat::kPlain, 1 << 20, 8, {1}) == 65'536);
  CHECK(chunk_bytes(Shape::kPat, CollectiveKind::kReduceScatter, WireFormat::kPlain, 8 << 20, 8, {1}) ==
        512 << 10);
}

TEST_CASE("LL doubles the bytes on the wire, LL128 makes them 16/15") {
  CHECK(wire_bytes(WireFormat::kFlagPerWord, 4096) == 8192);
  CHECK(wire_bytes(WireFormat::kFlagPerWord, 1) == 16);
  CHECK(wire_bytes(WireFormat::kFlagPerLine, 1920) == 2048);
  CHECK(wire_bytes(WireFormat::kFlagPerLine, 121) == 256);
  CHECK(wire_bytes(WireFormat::kFlagPerWord, 0) == 0);
  CHECK(wire_bytes(WireFormat::kPlain, 77) == 77);
  u64 sum[3] = {0, 0, 0};
  const char* const names[3] = {"simple", "ll", "ll128"};
  for (int i = 0; i < 3; ++i) {
    const std::string text = fmt::format("nccl_ring:channels=1,ranks_per_node=4,protocol={}", names[i]);
    for (const auto& [pair, bytes] : traffic(CollectiveKind::kAllreduce, text, 1920 * 64, 8)) sum[i] += bytes;
  }
  CHECK(sum[0] == 2 * 7 * 1920 * 64);
  CHECK(sum[1] == 2 * sum[0]);
  CHECK(sum[2] == sum[0] / 15 * 16);
}

std::vector<std::pair<Layout, bool>> layouts_and_links() {
  std::vector<std::pair<Layout, bool>> all;
  for (const Layout& layout : kLayouts) {
    all.emplace_back(layout, false);
    all.emplace_back(layout, true);
  }
  return all;
}

TEST_CASE("every ring visits each rank once and leaves each node once") {
  for (const auto& [layout, in_pairs] : layouts_and_links()) {
    Call call(layout);
    call.options.in_pairs = in_pairs;
    std::set<std::uint32_t> leaves;  // the GPU from which rings leave node 0
    for (std::uint32_t channel = 0; channel < layout.channels; ++channel) {
      const NodeOrder order(call.of(0), channel);
      std::set<std::uint32_t> seen;
      std::uint32_t crossings = 0;
      for (std::uint32_t position = 0; position < layout.ranks; ++position) {
        const std::uint32_t rank = order.rank_at(position);
        const std::uint32_t next = order.rank_at((position + 1) % layout.ranks);
        CHECK(order.position(rank) == position);
        seen.insert(rank);
        CHECK(order.node_of(rank) == layout.node_of(rank));
        if (layout.node_of(rank) == layout.node_of(next)) continue;
        ++crossings;
        if (layout.node_of(rank) == 0) leaves.insert(rank);
      }
      CHECK(seen.size() == layout.ranks);
      CHECK(crossings == (layout.nodes() > 1 ? layout.nodes() : 0));
    }
    const std::uint32_t of_first = layout.first > 0 ? layout.first : layout.per_node;
    const std::uint32_t different = std::max(1u, std::min(layout.channels / 2, of_first));
    if (layout.nodes() > 1) CHECK(leaves.size() == different);
  }
}

TEST_CASE("rings and trees share a node's NICs evenly where it has fewer than GPUs") {
  for (const auto& [nics, is_told] : {std::pair(2u, true),
                                      {3, true},
                                      {4, true},
                                      {6, true},
                                      {8, true},  //
                                      {2, false},
                                      {4, false},
                                      {6, false}}) {
    Call call({.ranks = 24, .per_node = 8, .channels = 2 * nics});
    call.options.rings = is_told ? nics : 0;                // else half of the channels
    std::map<std::uint32_t, std::uint32_t> leaves, enters;  // by GPU, how many rings
    std::set<std::uint32_t> second;                         // GPUs that trees of nodes are attached to
    for (std::uint32_t channel = 0; channel < 2 * nics; ++channel) {
      const NodeOrder order(call.of(0), channel);
      ++enters[order.rank_in_node(0, 0)];
      ++leaves[order.rank_in_node(0, 7)];
      second.insert(order.rank_in_node(0, 1));
      for (std::uint32_t rank = 0; rank < 24; ++rank) CHECK(order.rank_at(order.position(rank)) == rank);
    }
    // The GPUs with NICs are the first; each has as many rings in as out.
    CHECK(enters.size() == nics);
    CHECK(leaves == enters);
    CHECK(leaves.rbegin()->first == nics - 1);
    CHECK(second.size() >= std::min(nics, 8 - nics + 2));
  }
}

TEST_CASE("rings of GPUs linked in pairs use all links alike") {
  // In one node each of the n(n-1) directed links carries its part of 2(n-1)/n times the vector of n GPUs.
  for (const std::uint32_t gpus : {3u, 4u, 5u, 6u, 8u, 16u}) {
    const std::uint32_t channels = rings_in_pairs(gpus);
    const u64 bytes = u64{gpus} * channels * 262144;
    const auto sent = traffic(
        CollectiveKind::kAllreduce,
        fmt::format("nccl_ring:channels={},ranks_per_node={},in_pairs=true", channels, gpus), bytes, gpus);
    CHECK(sent.size() == gpus * (gpus - 1));
    for (const auto& [pair, each] : sent) CHECK(static_cast<double>(each) == Approx(2.0 * bytes / gpus));
  }
  // A ring through two nodes passes each in a path, and so many paths as GPUs pass each link once.
  for (const std::uint32_t gpus : {4u, 8u}) {
    const u64 bytes = u64{gpus} * 2 * gpus * 262144;
    const auto sent = traffic(
        CollectiveKind::kAllreduce,
        fmt::format("nccl_ring:channels={},rings={},ranks_per_node={},in_pairs=true", gpus, gpus, gpus),
        bytes, 2 * gpus);
    std::set<u64> inside;
    std::size_t links = 0;
    for (const auto& [pair, each] : sent) {
      if (pair.first / gpus != pair.second / gpus) continue;
      inside.insert(each);
      ++links;
    }
    CHECK(links == 2 * gpus * (gpus - 1));
    CHECK(inside.size() == 1);
  }
}

TEST_CASE("channels left by a limit are different rings, as the last ones repeat the first") {
  // 8 rings found, and used twice: of 16 channels 8 are left, each of which leaves a node by another GPU.
  const auto leaving = [](const std::string& text) {
    std::set<std::uint32_t> from;
    for (const auto& [pair, bytes] : traffic(CollectiveKind::kAllreduce, text, 1 << 20, 16)) {
      if (pair.first < 8 && pair.second >= 8) from.insert(pair.first);
    }
    return from.size();
  };
  CHECK(leaving("nccl_ring:channels=16,ranks_per_node=8") == 8);
  CHECK(leaving("nccl_ring:channels=8,ranks_per_node=8,rings=8") == 8);
  CHECK(leaving("nccl_ring:channels=3,ranks_per_node=8,rings=8") == 3);
  CHECK(leaving("nccl_ring:channels=8,ranks_per_node=8,rings=2") == 2);
  // Trees: those of the first 8 channels are the first tree, in which a node of two is the other's child.
  Call call({16, 8, 16});
  call.options.rings = 8;
  for (std::uint32_t channel = 0; channel < 16; ++channel) {
    bool is_root_first = false;
    for (std::uint32_t rank = 0; rank < 8; ++rank) {
      is_root_first |= tree_place(call.of(rank), channel).up == kNoRank;
    }
    CHECK(is_root_first == (channel < 8));
  }
}

TEST_CASE("between nodes a ring allreduce sends 2(n-1)/n of the vector, spread over the NICs") {
  const u64 n = 64 * 64 * 1024;
  const auto all =
      traffic(CollectiveKind::kAllreduce, "nccl_ring:channels=8,ranks_per_node=4,protocol=ll", n, 16);
  std::map<std::uint32_t, u64> out_of;  // bytes that a rank sends to other nodes
  for (const auto& [pair, bytes] : all) {
    if (pair.first / 4 != pair.second / 4) out_of[pair.first] += bytes;
  }
  CHECK(out_of.size() == 16);
  for (const auto& [rank, bytes] : out_of) CHECK(bytes == 2 * (2 * 15 * n / 16) / 4);
}

TEST_CASE("NCCL's trees: one parent, as many children as said, all ranks joined, logarithmic depth") {
  for (const Layout& layout : kLayouts) {
    Call call(layout);
    const std::uint32_t nodes = layout.nodes();
    for (std::uint32_t channel = 0; channel < layout.channels; ++channel) {
      std::vector<TreePlace> at(layout.ranks);
      for (std::uint32_t rank = 0; rank < layout.ranks; ++rank) at[rank] = tree_place(call.of(rank), channel);
      std::uint32_t roots = 0, deepest = 0;
      for (std::uint32_t rank = 0; rank < layout.ranks; ++rank) {
        for (std::uint32_t i = 0; i < at[rank].children; ++i) CHECK(at[at[rank].down[i]].up == rank);
        roots += at[rank].up == kNoRank;
        std::uint32_t depth = 0;  // in links between nodes
        std::uint32_t r = rank;
        for (std::uint32_t hops = 0; at[r].up != kNoRank && hops <= layout.ranks; ++hops, r = at[r].up) {
          const auto& siblings = at[at[r].up];
          CHECK(std::count(siblings.down.begin(), siblings.down.begin() + siblings.children, r) == 1);
          depth += layout.node_of(r) != layout.node_of(at[r].up);
        }
        CHECK(at[r].up == kNoRank);
        deepest = std::max(deepest, depth);
      }
      CHECK(roots == 1);
      CHECK(deepest <= static_cast<std::uint32_t>(std::bit_width(nodes)));
    }
  }
}

TEST_CASE("a rank sends up or down in at most one of the two trees") {
  for (const std::uint32_t p : {2u, 4u, 8u, 16u, 30u, 64u}) {
    Call call({p, 1, 2});
    for (std::uint32_t rank = 0; rank < p; ++rank) {
      const bool first = tree_place(call.of(rank), 0).children > 0;
      const bool second = tree_place(call.of(rank), 1).children > 0;
      // Inner in one, leaf in the other; the root of one tree is a leaf of the other too.
      CHECK_FALSE((first && second));
    }
  }
}

TEST_CASE("the tree of 8 nodes is NCCL's") {
  // Even places are inner: 4 is the root's only child, 2 and 6 are its children, odd places are leaves.
  Call call({8, 1, 2});
  const std::uint32_t up[8] = {kNoRank, 2, 4, 2, 0, 6, 4, 6};
  for (std::uint32_t rank = 0; rank < 8; ++rank) CHECK(tree_place(call.of(rank), 0).up == up[rank]);
  for (std::uint32_t rank = 0; rank < 8; ++rank) {
    const std::uint32_t mirrored = up[7 - rank] == kNoRank ? kNoRank : 7 - up[7 - rank];
    CHECK(tree_place(call.of(rank), 1).up == mirrored);
  }
}

TEST_CASE("a tree allreduce sends the vector up and down every link") {
  for (const Layout& layout : kLayouts) {
    const u64 n = 64 * 1024 * layout.channels;
    const auto all =
        traffic(CollectiveKind::kAllreduce,
                fmt::format("nccl_tree:channels={},{}", layout.channels, layout.text()), n, layout.ranks);
    u64 sum = 0, between = 0;
    for (const auto& [pair, bytes] : all) {
      sum += bytes;
      if (layout.node_of(pair.first) != layout.node_of(pair.second)) between += bytes;
    }
    const u64 nodes = layout.nodes();
    CHECK(sum == 2 * (layout.ranks - 1) * n);
    CHECK(between == 2 * (nodes - 1) * n);
  }
}

TEST_CASE("a first node with fewer ranks has all data too") {
  for (const Layout& layout : kLayouts) {
    if (layout.first == 0) continue;
    for (const char* name : {"nccl_ring", "nccl_tree"}) {
      outcome_of(CollectiveKind::kAllreduce, fmt::format("{}:channels=2,{}", name, layout.text()), 100'000,
                 layout.ranks);
    }
    outcome_of(CollectiveKind::kAllgather, "nccl_ring:channels=2," + layout.text(), 96, layout.ranks);
    outcome_of(CollectiveKind::kAlltoall, "nccl_p2p:" + layout.text(), 96, layout.ranks);
  }
  CHECK_THROWS_WITH(chosen(CollectiveKind::kAllreduce, "nccl_ring:ranks_per_node=4,first_node=5"),
                    Catch::Contains("ranks_per_node at most"));
}

TEST_CASE("PAT takes log2 n steps, rounded up") {
  for (const std::uint32_t p : {2u, 3u, 5u, 8u, 16u, 21u}) {
    for (const CollectiveKind kind : {CollectiveKind::kAllgather, CollectiveKind::kReduceScatter}) {
      const Outcome outcome = outcome_of(kind, "nccl_pat:channels=1,ranks_per_node=1", 256, p);
      CHECK(outcome.rounds == static_cast<std::uint32_t>(std::bit_width(p - 1)));
      CHECK(outcome.bytes == u64{p} * (p - 1) * 256);
    }
  }
}

TEST_CASE("NVLS: a GPU's links carry n + n/k each way in an allreduce, n in others, and what it can't use") {
  for (const std::uint32_t k : {3u, 4u, 8u, 16u}) {
    const u64 block = 3 << 20, n = k * block;
    const auto check = [&](CollectiveKind kind, u64 bytes, u64 data, const std::string& efficiency) {
      const std::string text = "nccl_nvls:channels=4,ranks_per_node=16" + efficiency;
      const u64 expected = efficiency.empty() ? (data * 100 + 84) / 85 : data;  // by default as on Hopper
      std::vector<u64> out(k), in(k);
      for (const auto& [pair, sent] : traffic(kind, text, bytes, k)) {
        out[pair.first] += sent;
        in[pair.second] += sent;
      }
      // Up to two bytes more for each message, which has 8 KiB or more.
      for (std::uint32_t rank = 0; rank < k; ++rank) {
        CHECK(out[rank] >= expected);
        CHECK(in[rank] >= expected);
        CHECK(out[rank] - expected <= expected / 4096);
        CHECK(in[rank] - expected <= expected / 4096);
      }
    };
    for (const std::string efficiency : {"", ",efficiency=100"}) {
      check(CollectiveKind::kAllreduce, n, n + block, efficiency);
      check(CollectiveKind::kAllgather, block, n, efficiency);
      check(CollectiveKind::kReduceScatter, block, n, efficiency);
    }
  }
}

TEST_CASE("NVLS takes two steps to and from the heads, its tree two for each level between") {
  const auto rounds = [](CollectiveKind kind, const char* name, u64 bytes, std::uint32_t ranks) {
    return outcome_of(kind, fmt::format("{}:channels=1,ranks_per_node=4", name), bytes, ranks).rounds;
  };
  const u64 n = 4 * 16 * 1024;  // a turn
  CHECK(rounds(CollectiveKind::kAllreduce, "nccl_nvls", n, 4) == 2);
  CHECK(rounds(CollectiveKind::kAllgather, "nccl_nvls", n / 4, 4) == 1);
  CHECK(rounds(CollectiveKind::kReduceScatter, "nccl_nvls", n / 4, 4) == 1);
  for (const std::uint32_t nodes : {1u, 2u, 4u, 8u, 16u}) {
    const auto levels = static_cast<std::uint32_t>(std::bit_width(nodes) - 1);
    CHECK(rounds(CollectiveKind::kAllreduce, "nccl_nvls_tree", n, 4 * nodes) == 2 + 2 * levels);
  }
}

TEST_CASE("between nodes the NVLS tree sends each place's share up and down, on its own rail") {
  const u64 n = 32 << 20;
  const std::uint32_t k = 4, nodes = 6;
  std::map<std::uint32_t, u64> of_place;
  for (const auto& [pair, bytes] :
       traffic(CollectiveKind::kAllreduce, "nccl_nvls_tree:channels=16,ranks_per_node=4", n, k * nodes)) {
    if (pair.first / k == pair.second / k) continue;
    CHECK(pair.first % k == pair.second % k);
    of_place[pair.first % k] += bytes;
  }
  CHECK(of_place.size() == k);
  for (const auto& [place, bytes] : of_place) CHECK(bytes == 2 * (nodes - 1) * n / k);
}

TEST_CASE("chunks of NVLS are as long as NCCL's") {
  const auto bytes = [](Shape shape, u64 total, std::uint32_t nodes) {
    return chunk_bytes(shape, CollectiveKind::kAllreduce, WireFormat::kPlain, total, 8 * nodes, {8});
  };
  const u64 turn = 8 * 1024;  // of 8 heads with a KiB each
  CHECK(bytes(Shape::kNvls, 64 * 128 * turn, 1) == 128 << 10);
  CHECK(bytes(Shape::kNvls, 64 * 128 * turn - 8, 1) == 64 << 10);
  CHECK(bytes(Shape::kNvls, 8 * 64 * turn - 8, 1) == 32 << 10);
  CHECK(bytes(Shape::kNvls, 2 * 32 * turn - 8, 1) == 16 << 10);
  CHECK(bytes(Shape::kNvlsTree, 4 * 128 * turn, 2) == 128 << 10);
  CHECK(bytes(Shape::kNvlsTree, 4 * 128 * turn, 4) == 64 << 10);
  CHECK(bytes(Shape::kNvlsTree, 4 * 128 * turn - 8, 2) == 64 << 10);
  CHECK(bytes(Shape::kNvlsTree, 64 * turn - 8, 2) == 32 << 10);
}

TEST_CASE("reductions in switches between nodes are refused") {
  const auto objection = [](const char* text, std::uint32_t ranks) {
    const ChosenAlgorithm algorithm = chosen(CollectiveKind::kAllreduce, text);
    return algorithm.algorithm->objection(algorithm.options, ranks);
  };
  CHECK_THAT(objection("nccl_nvls:ranks_per_node=8", 16), Catch::Contains("SHARP"));
  CHECK(objection("nccl_nvls:ranks_per_node=8", 8).empty());
  CHECK(objection("nccl_nvls_tree:ranks_per_node=8", 16).empty());
  CHECK_THAT(objection("nccl_nvls_tree:ranks_per_node=8", 20), Catch::Contains("every node"));
  CHECK_THAT(objection("nccl_nvls_tree:ranks_per_node=8,first_node=4", 16), Catch::Contains("every node"));
  CHECK_THROWS_WITH(objection("nccl_nvls_tree:protocol=ll", 16), Catch::Contains("it must be simple"));
  for (const char* text : {"nccl_collnet_direct", "nccl_collnet_chain:channels=2"}) {
    CHECK_THROWS_WITH(chosen(CollectiveKind::kAllreduce, text), Catch::Contains("SHARP"));
  }
}

TEST_CASE("the point-to-point schedule reaches every rank once, and pairs fit") {
  for (const Layout& layout : kLayouts) {
    Call call(layout);
    std::vector<std::set<std::uint32_t>> reached(layout.ranks);
    for (std::uint32_t round = 0; round < layout.ranks; ++round) {
      for (std::uint32_t rank = 0; rank < layout.ranks; ++rank) {
        const P2pRound peers = p2p_round(call.of(rank), round);
        CHECK(p2p_round(call.of(peers.to), round).from == rank);
        reached[rank].insert(peers.to);
        if (round == 0) CHECK(peers.to == rank);
      }
    }
    for (const auto& peers : reached) CHECK(peers.size() == layout.ranks);
  }
  // Distances between groups: 0, 1, 3, 6, 10, 15, 21, 28 modulo 8.
  Call call({64, 8, 1});
  const std::uint32_t far[8] = {0, 1, 3, 6, 2, 7, 5, 4};
  for (std::uint32_t k = 0; k < 8; ++k) CHECK(p2p_round(call.of(0), k * 8).to == far[k] * 8);
}

}  // namespace weft::goal::nccl
