// How long steps take where the network takes no time: the bubbles of the schedules' formulas, exactly.
#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>

#include "goal/check/check.h"
#include "goal/workload/llm/step.h"
#include "goal/workload/llm/times.h"
#include "tests/sim/replay/replay_fixture.h"

using namespace weft;
using namespace weft::goal;
using namespace weft::goal::llm;

namespace {

constexpr sim::LogGops kNothing0{.L = 0, .o = 0, .g = 0, .G = 0};

std::int64_t end(const Graph& graph, const sim::LogGops& network = kNothing0) {
  const sim::Times all = sim::LogGopsRun(graph, network).finish();
  return *std::max_element(all.begin(), all.end());
}

// A network that takes time for bytes alone.
sim::LogGops only_bytes(double ns_per_byte) {
  return {.L = 0, .o = 0, .g = 0, .G = ns_per_byte, .S = 1 << 30};
}

// Equal stages: no embedding, no head.
Training pipeline(std::uint32_t stages, std::uint32_t chunks, std::uint32_t micro_batches) {
  Training training;
  training.model = find_model("tiny");
  training.model.vocab = 0;
  training.model.layers = 12 * chunks;
  training.layout.pipeline = training.schedule.stages = stages;
  training.schedule.chunks = chunks;
  training.schedule.micro_batches = micro_batches;
  training.sequence = 512;
  training.device = &find_device("h100");
  training.efficiency = 0.001;  // so that rounding to nanoseconds is nothing
  return training;
}

// The first stage computes these: forward and backward of a chunk, and the optimizer. REQUIRES: several
// stages.
struct Parts {
  std::int64_t forward = 0, backward = 0, optimizer = 0;
};
Parts parts_of(const Graph& graph) {
  std::vector<std::int64_t> calcs;
  const RankView rank = graph.rank(0);
  for (OpIndex i = 0; i < rank.ops(); ++i) {
    if (rank.kind(i) == OpKind::kCalc && rank.value(i) > 0)
      calcs.push_back(static_cast<std::int64_t>(rank.value(i)));
  }
  REQUIRE(calcs.size() >= 3);
  return {calcs.front(), calcs[calcs.size() - 2], calcs.back()};
}

}  // namespace

TEST_CASE("bubbles: (p-1)(F+B), divided by the chunks of a stage if interleaved") {
  for (const std::uint32_t stages : {2u, 3u, 4u, 6u}) {
    for (const std::uint32_t chunks : {1u, 2u, 4u}) {
      for (const std::uint32_t groups : {1u, 2u, 5u}) {
        const Graph graph = training_graph(pipeline(stages, chunks, groups * stages));
        CHECK(check(graph).clean());
        const Parts parts = parts_of(graph);
        const std::int64_t both = parts.forward + parts.backward;
        INFO(stages << " stages of " << chunks << " chunks, " << groups << " groups of micro-batches, F "
                    << parts.forward << ", B " << parts.backward);
        const std::int64_t passes = std::int64_t{groups} * stages * chunks + stages - 1;
        // Each is rounded to a nanosecond, of some 10 ms.
        CHECK(std::abs(end(graph) - passes * both - parts.optimizer) <= passes);
      }
    }
  }
}

TEST_CASE("bubbles: embedding and head in parts of their own, as long as a layer, count as one") {
  constexpr std::int64_t kMs = 1'000'000;
  for (const std::uint32_t stages : {2u, 3u, 6u}) {
    for (const std::uint32_t chunks : {2u, 4u}) {
      Training training = pipeline(stages, chunks, 2 * stages);
      training.model = find_model("tiny");
      training.model.layers = stages * chunks - 2;
      training.efficiency = 1e9;  // the optimizer takes no time
      Times times;
      times.attention.in = times.attention.in_by_inputs = times.attention.in_by_weights = kMs;
      times.head = times.attention;
      times.embedding = kMs;
      INFO(stages << " stages of " << chunks << " chunks");
      // Each part takes 1 ms forward and 2 backward, but for the embedding's 1 ms, which ends the step.
      const std::int64_t passes = 2 * stages * chunks + stages - 1;
      CHECK(end(training_graph(training, times)) == (3 * passes - 1) * kMs);
    }
  }
}

TEST_CASE("bubbles: GPipe takes as long as 1F1B, and keeps all micro-batches") {
  Training training = pipeline(4, 1, 12);
  const std::int64_t alternating = end(training_graph(training));
  const DeviceMemory few = device_memory(training, 0);
  training.schedule.kind = ScheduleKind::kGpipe;
  CHECK(end(training_graph(training)) == alternating);
  CHECK(device_memory(training, 0).activations == Approx(few.activations * 12 / 4));
}

TEST_CASE("iterations follow each other, and recomputation adds a forward pass") {
  Training training = pipeline(1, 1, 3);
  const std::int64_t once = end(training_graph(training));
  training.iterations = 4;
  CHECK(end(training_graph(training)) == 4 * once);
  training.iterations = 1;
  const Parts half = parts_of(training_graph(pipeline(2, 1, 3)));
  training.recompute = Recompute::kFull;
  CHECK(static_cast<double>(end(training_graph(training)) - once) ==
        Approx(3 * 2.0 * static_cast<double>(half.forward)).epsilon(1e-6));
}

TEST_CASE("what is computed: FLOPs at the device's rate where products are large") {
  // A layer of Llama 3 405B on each of two stages; norms and the like are the rest.
  Training training = pipeline(2, 1, 1);
  training.model = find_model("llama3_405b");
  training.model.vocab = 0;
  training.model.layers = 2;
  training.sequence = 8192;
  training.efficiency = 1;
  const Parts parts = parts_of(training_graph(training));
  const double rate = training.device->peak_flops(Precision::kBf16) * 0.7;
  const double seconds = step_flops(training) / 2 / rate;
  CHECK(static_cast<double>(parts.forward + parts.backward) * 1e-9 == Approx(seconds).epsilon(0.05));
}

TEST_CASE("experts: products, what is read and written beside them, casts to 8 bits and gradients' sums") {
  // 16 of Qwen3 30B's 128 experts, h = 2,048 and 768 in the middle, gated; 512 copies of tokens for each.
  Training training;
  training.model = find_model("qwen3_30b_a3b");
  training.layout.expert = training.layout.data = 8;
  training.device = &find_device("h100");
  constexpr double kCopies = 16 * 512, kHidden = 2048, kMiddle = 768;
  const auto product = [&](std::uint64_t m, std::uint64_t n, std::uint64_t k) {
    return training.device->gemm_ns({m, n, k, 16, training.precision});
  };
  const auto bytes = [&](double sum) { return training.device->memory_ns(sum); };
  for (const Precision precision : {Precision::kBf16, Precision::kFp8}) {
    training.precision = precision;
    training.accumulate_apart = false;
    const ExpertTimes times = expert_times(training, 16 * 512);
    // What was sent in 8 bits is read and turned, 2 bytes; all else is cast, 4, and so are gradients.
    const double cast = precision == Precision::kFp8 ? kCopies : 0;
    const double forward = product(512, 2 * 768, 2048) + product(512, 2048, 768) +
                           bytes(2 * kCopies * (3 * kMiddle + 4 * kHidden)) +
                           bytes(cast * (2 * kHidden + 4 * kMiddle));
    CHECK(times.forward == Approx(forward).epsilon(0.01));
    const double by_inputs = product(512, 2048, 2 * 768) + product(512, 768, 2048) +
                             bytes(2 * kCopies * (5 * kMiddle + 4 * kHidden)) +
                             bytes(cast * 4 * (2 * kMiddle + kHidden));
    CHECK(times.by_inputs == Approx(by_inputs).epsilon(0.01));
    // Sums of 4 bytes are read and written, by a kernel of its own with what is added, too.
    const double by_weights = product(2 * 768, 2048, 512) + product(2048, 768, 512);
    const double sums = bytes(16 * 3 * kHidden * kMiddle * 8);
    CHECK(times.by_weights > std::max(by_weights, sums));
    CHECK(times.by_weights < by_weights + sums);
    training.accumulate_apart = true;
    CHECK(expert_times(training, 16 * 512).by_weights == Approx(by_weights + 10.0 / 8 * sums).epsilon(0.01));
  }
}

TEST_CASE("unfused attention: scores pass through memory, all pairs are computed") {
  Training training = pipeline(2, 1, 1);
  training.model = find_model("gpt3_175b");
  training.layout.tensor = 8;
  training.sequence = 2048;
  training.efficiency = 1;
  training.device = &find_device("a100");
  const BlockTimes flash = times_of(training).attention;
  training.attention = AttentionKernel::kUnfused;
  const BlockTimes unfused = times_of(training).attention;
  // 12 heads; softmax reads and writes 2 bytes, dropout as well and a mask of 1; products write and read 2.
  const double scores = 12.0 * 2048 * 2048, share = 1 / (2039 * 0.8215);
  CHECK(unfused.core > (4 + 5 + 2) * scores * share);
  CHECK(unfused.core < (4 + 5 + 4) * scores * share + 60'000);  // products of 12.9 GFLOP each, launches
  CHECK(unfused.core_backward > (6 + 5) * scores * share + 2 * 12.9e9 / 312e3);
  CHECK(unfused.core > 1.5 * flash.core);
  // Scores of every query and key and the mask are kept, unless they are computed again (Korthikanti 2022).
  const double with = device_memory(training, 1).activations;
  training.recompute = Recompute::kSelective;
  const double without = device_memory(training, 1).activations;
  CHECK(with - without == Approx(5.0 * 96 / 8 * 2048 * 2048 * 96 / 2).epsilon(1e-9));
}

TEST_CASE("gradients added up apart: the product, the sum so far and the new one pass through memory") {
  Training training = pipeline(1, 1, 2);
  training.efficiency = 1;
  const Device& device = *training.device;
  const double apart = [&] {
    training.accumulate_apart = true;
    return times_of(training).mlp.in_by_weights;
  }();
  training.accumulate_apart = false;
  const double fused = times_of(training).mlp.in_by_weights;
  training.sharding = Sharding::kFsdp;
  const double alone = times_of(training).mlp.in_by_weights;
  const double weights = static_cast<double>(mlp_input(training.model, training.model.ffn).out) *
                         static_cast<double>(training.model.hidden);
  CHECK(apart - alone == Approx(device.memory_ns((2 + 4 + 4) * weights)));
  CHECK(fused >= std::max(alone, device.memory_ns(8 * weights)));
  CHECK(fused <= alone + device.memory_ns(8 * weights));
}

TEST_CASE("8-bit training: values are cast, and head and attention stay in 16 bits") {
  Training training = pipeline(1, 1, 1);
  training.model = find_model("llama3_8b");
  training.sequence = 8192;
  training.efficiency = 1;
  const Times wide = times_of(training);
  training.precision = Precision::kFp8;
  const Times narrow = times_of(training);
  CHECK(narrow.head.in == wide.head.in);
  CHECK(narrow.attention.core == wide.attention.core);
  // The second projection's inputs, of the MLP's width: read, written, and written transposed.
  const Device& device = *training.device;
  const double product = device.gemm_ns({8192, 4096, 14336, 1, Precision::kFp8});
  CHECK(narrow.mlp.out - product == Approx(device.memory_ns(4.0 * 8192 * 14336)));
  CHECK(narrow.mlp.in < wide.mlp.in);
}

TEST_CASE("tensor parallelism beside its products: hidden where they take longer, else all but a piece is") {
  Training training = pipeline(1, 1, 1);
  training.model = find_model("llama3_8b");
  training.model.vocab = 0;
  training.model.layers = 2;
  training.layout.tensor = 4;
  training.sequence_parallel = true;
  training.sequence = 8192;
  training.efficiency = 1;
  const auto seconds = [&](double ns_per_byte, bool overlap) {
    training.tensor_overlap = overlap;
    const Graph graph = training_graph(training);
    CHECK(check(graph).clean());
    return static_cast<double>(end(graph, only_bytes(ns_per_byte))) * 1e-9;
  };
  // Nothing else changes.
  const double alone = seconds(0, false);
  CHECK(seconds(0, true) == Approx(alone).epsilon(1e-4));
  // 450 GB/s: three quarters of 67 MB for each of a layer's 6 gathers and sums that nothing but products
  // hides.
  const double shown = seconds(1 / 450.0, false) - alone;
  CHECK(shown == Approx(2 * 6 * 0.75 * 2 * 8192 * 4096 / 450e9).epsilon(0.05));
  // Three quarters of the shortest product, attention's output, take 85 us, a gather of it at 700 GB/s 72.
  CHECK(seconds(1 / 700.0, true) - alone < 0.02 * shown);
  // A network that is far slower than the device: what is left of the products is a piece at each of the six.
  const double slow = seconds(1.0, false), beside = seconds(1.0, true);
  const Times times = times_of(training);
  const double products = times.attention.in + times.attention.out + times.attention.out_by_inputs +
                          times.mlp.in + times.mlp.out + times.mlp.out_by_inputs;
  CHECK(slow - beside == Approx(2 * 0.75 * products * 1e-9).epsilon(0.05));
}

TEST_CASE("data parallelism that nothing is computed beside adds what it sends") {
  Training training = pipeline(1, 1, 2);
  training.layout.data = 4;
  training.model = find_model("llama3_8b");
  training.model.vocab = 0;
  training.model.layers = 4;
  training.efficiency = 1;
  const auto seconds = [&](double ns_per_byte) {
    return static_cast<double>(end(training_graph(training), only_bytes(ns_per_byte))) * 1e-9;
  };
  constexpr double kBytePerNs = 50;
  const double alone = seconds(0), hidden = seconds(1 / kBytePerNs) - alone;
  const RankWeights weights = stage_weights(training, 0);
  const double each = 0.75 * static_cast<double>(weights.dense) / kBytePerNs * 1e-9;
  training.gradients_overlap = training.weights_overlap = false;
  CHECK(seconds(1 / kBytePerNs) - alone == Approx((4 + 2) * each).epsilon(0.02));
  CHECK(hidden < (4 + 2) * each);
  training.gradients_overlap = true;
  const double half = seconds(1 / kBytePerNs) - alone;
  CHECK(half < (4 + 2) * each);
  CHECK(half > 2 * each);
}
