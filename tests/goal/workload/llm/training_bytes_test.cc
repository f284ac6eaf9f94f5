// What a step sends on each axis, against the closed forms of the papers, for any combination of axes.
#include <fmt/core.h>

#include <map>
#include <sstream>

#include "goal/workload/llm/model.h"
#include "sim/units/random.h"
#include "tests/goal/workload/traffic.h"
#include "tests/sim/replay/replay_fixture.h"

using namespace weft;
using namespace weft::goal;

namespace {

// Sums over all ranks of the bytes that operations name: "tp allreduce", "pp send" …
using Bytes = std::map<std::string, std::uint64_t>;

Bytes bytes_of(const Graph& graph) {
  Bytes sums;
  for (Rank r = 0; r < graph.ranks(); ++r) {
    const RankView rank = graph.rank(r);
    for (OpIndex i = 0; i < rank.ops(); ++i) {
      const bool collective = rank.kind(i) == OpKind::kCollective;
      if (!collective && rank.kind(i) != OpKind::kSend) continue;
      const std::uint32_t comm = collective ? rank.collective(i).comm : rank.comm(i);
      std::string axis;
      std::istringstream(graph.communicators()[comm].name) >> axis;
      const std::string what = collective ? std::string(name(rank.collective(i).kind)) : "send";
      sums[axis + " " + what] += collective ? rank.collective(i).bytes : rank.value(i);
    }
  }
  sums.erase("world allreduce");  // the norm of gradients
  return sums;
}

std::string text(const Bytes& bytes) {
  std::string all;
  for (const auto& [what, sum] : bytes) all += fmt::format("{} {}\n", what, sum);
  return all;
}

struct Case {
  std::uint64_t tp = 1, sp = 0, cp = 1, pp = 1, vp = 1, dp = 1, ep = 1, b = 1, m = 1;
  std::string sharding = "zero1", recompute = "none", model = "tiny", schedule = "auto";
  std::uint64_t overlap = 0;  // of tp with products
  std::string dp_overlap = "all";
  std::uint64_t groups = 1;  // of dp, that divide weights each
  std::uint64_t ranks() const { return tp * cp * pp * dp; }
  bool staggered() const { return schedule == "zb2p" || schedule == "zbv"; }
  std::uint64_t copies() const { return schedule == "dualpipe" ? 2 : 1; }
  std::string text() const {
    return fmt::format(
        "llm:model={},tp={},sp={},cp={},pp={},vp={},dp={},ep={},micro_batch={},micro_batches={},sharding={},"
        "recompute={},schedule={},tp_overlap={},dp_overlap={},dp_replicate={}",
        model, tp, sp == 1 ? "true" : "false", cp, pp, vp, dp, ep, b, m, sharding, recompute, schedule,
        overlap == 1 ? "true" : "false", dp_overlap, groups > 1 ? groups : 0);
  }
};

void add(Bytes& bytes, const char* what, std::uint64_t sum) {
  if (sum > 0) bytes[what] += sum;
}

// Section by section as in the table of the README: tiny has 4 layers of h = 256, 4 heads of 64, MLPs of
// 1,024, a vocabulary of 1,024, sequences of 128.
Bytes closed_forms(const Case& c) {
  constexpr std::uint64_t kLayers = 4, kHidden = 256, kSequence = 128, kFfn = 1024, kVocab = 1024;
  const std::uint64_t stage = c.tp * c.cp * c.dp, tokens = c.b * kSequence / c.cp;
  const std::uint64_t activation = 2 * tokens * kHidden, again = c.recompute == "full" ? 1 : 0;
  Bytes bytes;
  if (c.tp > 1) {
    std::uint64_t small = 3 * 4 * tokens * c.m;  // the loss
    if (c.sp == 1) {
      add(bytes, "tp allgather", stage * c.m * ((6 + 2 * again) * kLayers + 3) * activation / c.tp);
      add(bytes, "tp reduce_scatter", stage * c.m * ((4 + 2 * again) * kLayers + 2) * activation / c.tp);
      small += c.copies() * 4 * (2 * kLayers + 1) * kHidden;  // gradients of norms
    } else {
      small += c.m * ((4 + 2 * again) * kLayers + 2) * activation;
    }
    add(bytes, "tp allreduce", stage * (small + (c.staggered() ? 8 * c.pp : 0)));
  }
  // A model in the form of a V has both parts at its turn in one stage.
  const std::uint64_t parts = c.schedule == "zbv" ? 2 * c.pp - 1 : c.pp * c.vp;
  const std::uint64_t boundaries = c.pp > 1 ? parts - 1 : 0;
  const std::uint64_t norms = c.staggered() ? 2 * 8 * (c.pp - 1) : 0;
  add(bytes, "pp send", stage * (c.m * 2 * boundaries * activation / (c.sp == 1 ? c.tp : 1) + norms));
  // Keys and values go around; their gradients as well, and keys and values once more, backward.
  // Attention's core is computed again, but by PyTorch only with all else.
  const bool kept = c.recompute == "none" || (c.recompute == "selective" && c.sharding == "fsdp");
  const std::uint64_t rounds = kept ? 3 : 4;
  add(bytes, "cp send", stage * c.m * kLayers * rounds * (c.cp - 1) * 2 * activation / c.tp);
  const std::uint64_t split = kLayers * (4 * kHidden * kHidden + 3 * kHidden * kFfn) + 2 * kVocab * kHidden;
  const std::uint64_t whole = (2 * kLayers + 1) * kHidden, replicas = c.dp / c.groups * c.cp * c.copies();
  // In all shard groups together, each of which has all of a replica.
  const std::uint64_t parameters = c.groups * (split + c.tp * whole);
  if (replicas > 1 && c.staggered()) add(bytes, "dp allreduce", 8 * c.ranks());
  if (replicas > 1) {
    if (c.sharding == "none") add(bytes, "dp allreduce", replicas * 4 * parameters);
    if (c.sharding == "zero1" || c.sharding == "zero2") {
      add(bytes, "dp reduce_scatter", (c.sharding == "zero2" ? c.m : 1) * 4 * parameters);
      add(bytes, "dp allgather", 2 * parameters);
    }
    if (c.sharding == "fsdp") {
      // Stages keep weights, and reduce the sums of all micro-batches' gradients.
      add(bytes, "dp reduce_scatter", (c.pp > 1 ? 1 : c.m) * 4 * parameters);
      add(bytes, "dp allgather", (c.pp > 1 ? 1 : c.m * 2) * 2 * parameters);
    }
  }
  // What a group has reduced is added up over the groups: each rank has its part of that.
  if (c.groups > 1) {
    const bool once = c.sharding == "zero1" || (c.sharding == "fsdp" && c.pp > 1);
    add(bytes, "dp_replicate allreduce",
        (once ? 1 : c.m) * 4 * parameters + (c.staggered() ? 8 * c.ranks() : 0));
  }
  return bytes;
}

}  // namespace

TEST_CASE("bytes of every axis: closed forms, for any layout") {
  RandomStream random(7, 0);
  const auto one_of = [&](std::initializer_list<std::uint64_t> values) {
    return values.begin()[random.below(values.size())];
  };
  for (int i = 0; i < 200; ++i) {
    Case c;
    c.tp = one_of({1, 2, 4});
    c.sp = c.tp > 1 ? one_of({0, 1}) : 0;
    c.overlap = c.sp == 1 ? one_of({0, 1}) : 0;
    c.cp = one_of({1, 2, 4});
    c.pp = one_of({1, 2, 4});
    c.vp = c.pp == 2 ? one_of({1, 2}) : 1;
    c.dp = one_of({1, 2, 4});
    c.b = one_of({1, 3});
    c.m = c.pp * one_of({1, 2});
    c.sharding = std::array{"none", "zero1", "fsdp", c.pp == 1 ? "zero2" : "fsdp"}[random.below(4)];
    c.recompute = std::array{"none", "selective", "full"}[random.below(3)];
    if (c.pp > 1 && c.vp == 1 && c.recompute != "full") {
      // Four layers are too few for the eight parts of zbv in four stages.
      c.schedule =
          std::array{"1f1b", "zb1p", "zb2p", c.pp == 2 ? "zbv" : "zb2p", "dualpipe"}[random.below(5)];
      if (c.schedule == "dualpipe") c.m *= 2;
      if (c.schedule == "dualpipe" && c.sharding == "fsdp") c.sharding = "zero1";
    }
    if (c.sharding != "fsdp") {
      c.dp_overlap = std::array{"all", "gradients", "none"}[random.below(c.sharding == "zero2" ? 2 : 3)];
    }
    if (c.sharding != "none" && c.dp * c.cp > 1)
      c.groups = c.cp > 1 ? one_of({1, c.dp}) : one_of({1, c.dp / 2});
    INFO(c.text());
    const Graph graph = traffic(c.text(), static_cast<std::uint32_t>(c.ranks()));
    CHECK(text(bytes_of(graph)) == text(closed_forms(c)));
    if (i % 10 != 0) continue;
    CHECK(check(graph).clean());
    // It ends, whether messages need their receiver or not.
    for (const std::uint64_t eager : {std::uint64_t{0}, std::uint64_t{1} << 40}) {
      CHECK(sim::LogGopsRun(graph, {.S = eager}).replay.complete());
    }
  }
}

TEST_CASE("bytes of experts: top-k copies of each token, there and back, twice") {
  // Mixtral: 32 layers, two of 8 experts for a token, h = 4,096.
  const Bytes bytes = bytes_of(traffic("llm:model=mixtral_8x7b,ep=4,seq=512,micro_batches=2", 8));
  const std::uint64_t block = 512 * 2 * 2 * 4096 / 4;
  CHECK(bytes.at("ep alltoall") == 8 * 2 * 32 * 4 * block);
  // Each expert is on two ranks: 8 experts of 3 · 4,096 · 14,336; the rest is on all eight.
  const std::uint64_t experts = 32ull * 8 * 3 * 4096 * 14336;
  CHECK(bytes.at("edp reduce_scatter") == 4 * experts);
  CHECK(bytes.at("edp allgather") == 2 * experts);
  CHECK(bytes.at("dp reduce_scatter") == 4 * (46'702'792'704 - experts));
}

TEST_CASE("bytes of cp with PyTorch's kernels: keys and values are repeated first, for all queries") {
  // Llama 3 8B has 32 heads of 128 and 8 of keys and values, in 32 layers; both of two bytes go around a ring
  // of 4 forward, and backward with their gradients.
  const auto sent = [](const std::string& stack, const std::string& exchange) {
    return bytes_of(
        traffic("llm:model=llama3_8b,cp=4,micro_batches=1,seq=2048,sharding=fsdp,device=h100,stack=" + stack +
                    ",cp_exchange=" + exchange,
                4));
  };
  const std::uint64_t whole = 512ull * 2 * 2 * 32 * 128, shared = whole / 4;
  CHECK(sent("torchtitan", "ring").at("cp send") == 4ull * 32 * 3 * 3 * whole);
  CHECK(sent("torch_compile", "ring").at("cp send") == 4ull * 32 * 3 * 3 * whole);
  CHECK(sent("megatron", "ring").at("cp send") == 4ull * 32 * 3 * 3 * shared);
  CHECK(sent("torchtitan", "gather").at("cp allgather") == 4ull * 32 * 2 * whole);
  CHECK(sent("megatron", "gather").at("cp allgather") == 4ull * 32 * 2 * shared);
}

TEST_CASE("bytes of a tied embedding: the first and the last stage add up its gradients") {
  const Graph graph = traffic("llm:model=gpt_1_7b,tp=2,pp=2,micro_batches=2", 4);
  CHECK(bytes_of(graph).at("embedding allreduce") == 4ull * 4 * 51200 * 2304 / 2);
}

TEST_CASE("bytes in fp32: activations and weights have twice as many, gradients and the loss as many") {
  const auto with = [](const std::string& model, const std::string& more, std::uint32_t ranks) {
    return bytes_of(traffic("llm:model=" + model + ",seq=256,micro_batches=2," + more, ranks));
  };
  const std::string dense = "tp=2,cp=2,pp=2", experts = "ep=2,dp=4";
  const Bytes narrow = with("tiny", dense, 16), wide = with("tiny", dense + ",precision=fp32", 16);
  for (const char* what : {"tp allgather", "tp reduce_scatter", "pp send", "cp send", "dp allgather"}) {
    INFO(what);
    CHECK(wide.at(what) == 2 * narrow.at(what));
  }
  CHECK(wide.at("tp allreduce") == narrow.at("tp allreduce"));
  CHECK(wide.at("dp reduce_scatter") == narrow.at("dp reduce_scatter"));
  CHECK(with("mixtral_8x7b", experts + ",precision=fp32", 4).at("ep alltoall") ==
        2 * with("mixtral_8x7b", experts, 4).at("ep alltoall"));
  // Gradients of norms are reduced as all gradients are: 9 norms of 256 on each of the ranks, 3 numbers a
  // token in the loss of the last stage.
  const Bytes half = with("tiny", dense + ",gradients=bf16", 16);
  CHECK(narrow.at("tp allreduce") - half.at("tp allreduce") == 8 * 2 * 9 * 256);
}

TEST_CASE("published sizes: AICB's all-reduce of tensor parallelism") {
  // h = 5,120, s = 2,048, one sequence: 20,971,520 bytes; here with Llama's h of 4,096, 4/5 of that.
  const Graph graph = traffic("llm:model=llama3_8b,tp=2,sp=false,seq=2048", 2);
  std::uint64_t most = 0;
  const RankView rank = graph.rank(0);
  for (OpIndex i = 0; i < rank.ops(); ++i) {
    if (rank.kind(i) == OpKind::kCollective) most = std::max(most, rank.collective(i).bytes);
  }
  CHECK(most == 20'971'520 * 4 / 5);
}
