#include "tests/goal/collectives/cases.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <numeric>
#include <set>

#include "goal/collectives/nccl/choice.h"

namespace weft::goal {
namespace {

struct Case {
  std::string what;
  std::vector<Collective> calls;  // per rank
};

bool has_v_form(CollectiveKind kind) {
  return kind == CollectiveKind::kAllgather || kind == CollectiveKind::kReduceScatter ||
         kind == CollectiveKind::kGather || kind == CollectiveKind::kScatter ||
         kind == CollectiveKind::kAlltoall;
}

std::set<std::uint32_t> roots(CollectiveKind kind, std::uint32_t p) {
  if (!has_root(kind)) return {0};
  return {0, 1, p / 2, p - 1};
}

// Bytes of the calls: none, one element, fewer elements than ranks, more, some that make no whole element,
// long ones. Kinds made of blocks have short ones, so that each of their elements is looked at.
void add_plain(CollectiveKind kind, std::uint32_t p, std::uint32_t root, std::vector<Case>& cases) {
  const auto add = [&](std::uint64_t bytes, std::uint32_t element) {
    cases.push_back(
        {fmt::format("{} bytes of {}, root {}", bytes, element, root),
         std::vector<Collective>(p, {.kind = kind, .root = root, .bytes = bytes, .element_bytes = element})});
  };
  if (kind == CollectiveKind::kBarrier) return add(0, 1);
  add(0, 8);
  add(8, 8);
  add(has_counts(kind) ? 36 : p * 12 - 12, 12);
  add(has_counts(kind) ? 7 : 2 * p + 3, 1);
  add(has_counts(kind) ? 21 : 3 * (p * 8) + 5, 8);
  add((has_counts(kind) ? 5 : 61) * 65536, 65536);
}

void add_v_form(CollectiveKind kind, std::uint32_t p, std::uint32_t root, bool only_root_knows,
                std::vector<Case>& cases) {
  // Gives the length of block i, or of what i sends to j: a fourth are empty; or, if sparse, all but one.
  const auto length = [&](bool sparse, std::uint64_t i, std::uint64_t j) {
    if (sparse) return i == p / 2 && j == p - 1 ? std::uint64_t{40} : 0;
    return (i * 13 + j * 5 + 1) % 4 * 8;
  };
  for (const bool sparse : {false, true}) {
    Case one{fmt::format("{} v form{}, root {}", sparse ? "sparse" : "dense",
                         only_root_knows ? " that the root knows" : "", root),
             {}};
    for (std::uint32_t r = 0; r < p; ++r) {
      Collective call{.kind = kind, .root = root, .element_bytes = 8};
      for (std::uint32_t i = 0; i < p; ++i) {
        const bool alltoall = kind == CollectiveKind::kAlltoall;
        call.counts.push_back(alltoall ? length(sparse, r, i) : length(sparse, i, p - 1));
        if (alltoall) call.receive_counts.push_back(length(sparse, i, r));
      }
      if (only_root_knows && r != root) {
        call.bytes = call.counts[r];
        call.counts.clear();
      }
      one.calls.push_back(std::move(call));
    }
    cases.push_back(std::move(one));
  }
}

std::vector<Case> cases_of(const CollectiveAlgorithm& algorithm, std::uint32_t p) {
  const CollectiveKind kind = algorithm.kind;
  std::vector<Case> cases;
  for (const std::uint32_t root : roots(kind, p)) {
    add_plain(kind, p, root, cases);
    if (!has_v_form(kind)) continue;
    add_v_form(kind, p, root, false, cases);
    // MPI_Gatherv and MPI_Scatterv: ranks that don't pass blocks on need not know the sizes of others.
    if (has_root(kind) && algorithm.info.name == "linear") add_v_form(kind, p, root, true, cases);
  }
  return cases;
}

std::vector<std::string> values_of(const std::string& parameter) {
  if (parameter == "segment") return {"0B", "40B"};
  if (parameter == "radix") return {"2", "3"};
  if (parameter == "parallel") return {"0", "1", "2", "5"};
  if (parameter == "ranks_per_node") return {"1", "3", "1000"};
  if (parameter == "first_node") return {"0", "1"};
  if (parameter == "dims") return {"0", "0x0", "0x0x0", "2x0"};
  if (parameter == "protocol") return {"simple", "ll128"};
  if (parameter == "channels") return {"1", "3"};
  if (parameter == "rings") return {"0", "2"};
  if (parameter == "in_pairs") return {"false", "true"};
  if (parameter == "chunk") return {"48B"};
  if (parameter == "least_chunk") return {"0B", "32B"};
  if (parameter == "chunk_grain") return {"0B", "48B"};
  // Percent: less makes messages in a node stand for more bytes than they have.
  if (parameter == "efficiency") return {"100"};
  FAIL("no test values for parameter " << parameter);
  return {};
}

// The algorithm where ranks go back and forth between nodes, with as many on each, or with other numbers.
std::vector<ChosenAlgorithm> on_mixed_nodes(const ChosenAlgorithm& chosen, std::uint32_t p) {
  std::vector<ChosenAlgorithm> all;
  if (chosen.algorithm->kernels == GpuKernels::kNone) return all;
  const std::uint32_t nodes = (p + 2) / 3;
  std::vector<std::uint32_t> even(p), uneven(p);
  for (std::uint32_t r = 0; r < p; ++r) {
    even[r] = r % nodes;
    uneven[r] = std::min(r * 5 % p, r * r % p);
  }
  for (const auto& of_rank : {even, uneven, std::vector<std::uint32_t>(uneven.rbegin(), uneven.rend())}) {
    const nccl::GroupNodes group = nccl::nodes_of_group({}, p, of_rank);
    ChosenAlgorithm& one = all.emplace_back(chosen);
    one.options.ranks_per_node = group.on.each;
    one.options.first_node = group.on.first;
    one.options.order = group.order;
  }
  return all;
}

}  // namespace

std::vector<std::string> algorithm_specs(CollectiveKind kind) {
  std::vector<std::string> specs;
  for (const CollectiveAlgorithm& algorithm : collective_algorithms()) {
    if (algorithm.kind != kind) continue;
    bool needs_values = false;
    std::vector<std::string> all = {algorithm.info.name};
    for (const ParameterSpec& spec : algorithm.info.parameters) {
      std::vector<std::string> with;
      for (const std::string& value : values_of(spec.name)) {
        const std::vector<std::string>& words = spec.limits.one_of;
        if (!words.empty() && std::ranges::find(words, value) == words.end()) continue;
        for (const std::string& before : all) {
          const char separator = before.find(':') == std::string::npos ? ':' : ',';
          with.push_back(fmt::format("{}{}{}={}", before, separator, spec.name, value));
        }
      }
      all = with;
      needs_values |= spec.default_value.empty();
    }
    if (!needs_values && !algorithm.info.parameters.empty()) specs.push_back(algorithm.info.name);
    specs.insert(specs.end(), all.begin(), all.end());
  }
  return specs;
}

void check_every_algorithm(CollectiveKind kind) {
  int faults = 0;
  std::uint64_t runs = 0;
  const auto check = [&](const ChosenAlgorithm& chosen, const std::string& spec, std::uint32_t p,
                         bool plain) {
    if (chosen.algorithm->objection != nullptr && !chosen.algorithm->objection(chosen.options, p).empty()) {
      return;
    }
    for (const Case& one : cases_of(*chosen.algorithm, p)) {
      for (const Order order : {Order::kShuffled, Order::kSendsEarly, Order::kSendsLate}) {
        if (p > (plain ? 17 : 9) && order != Order::kShuffled) continue;
        ++runs;
        const Outcome outcome = run(chosen, one.calls, order);
        if (outcome.fault.empty()) continue;
        if (++faults > 10) return;
        FAIL_CHECK(name(kind) << " " << spec << ", " << p << " ranks, " << one.what << ", order "
                              << static_cast<int>(order) << ": " << outcome.fault);
      }
    }
  };
  for (const std::string& spec : algorithm_specs(kind)) {
    const ChosenAlgorithm chosen = choose_collective_algorithm(kind, spec);
    const bool plain = spec.find(':') == std::string::npos;
    for (std::uint32_t p = 2; p <= 33; ++p) {
      if (plain || p <= 9 || p == 13 || p % 16 < 2) check(chosen, spec, p, plain);
    }
    const bool is_one_of_many = spec.find("ranks_per_node=3,first_node=0") != std::string::npos;
    for (const std::uint32_t p : {4u, 6u, 9u, 12u}) {
      if (!plain && !is_one_of_many) continue;
      for (const ChosenAlgorithm& mixed : on_mixed_nodes(chosen, p))
        check(mixed, spec + " by node", p, plain);
    }
    for (const std::uint32_t p : {64u, 100u, 128u}) {
      if (plain) check(chosen, spec, p, plain);
    }
  }
  CHECK(runs > 0);
}

std::vector<std::uint32_t> some_sizes() {
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t p = 2; p <= 17; ++p) sizes.push_back(p);
  for (const std::uint32_t p : {24u, 31u, 32u, 33u, 64u, 100u}) sizes.push_back(p);
  return sizes;
}

void check_counts(CollectiveKind kind, const std::string& spec,
                  Counts (*formula)(std::uint64_t p, std::uint64_t n), bool even) {
  const ChosenAlgorithm chosen = choose_collective_algorithm(kind, spec);
  for (const std::uint32_t p : some_sizes()) {
    const std::uint64_t unit = 8 * std::lcm(p, even ? 2 * std::bit_floor(p) : 1);
    for (std::uint64_t n : {unit, 3 * unit, even ? 5 * unit : 4'000}) {
      if (n > unit && n > 10'000) continue;
      if (kind == CollectiveKind::kBarrier) n = 0;
      const std::uint32_t root = p / 3;
      const Outcome outcome = run(chosen, {.kind = kind, .root = root, .bytes = n, .element_bytes = 8}, p);
      const Counts expected = formula(p, n);
      INFO(name(kind) << " " << spec << ", " << p << " ranks, " << n << " bytes");
      CHECK(outcome.fault.empty());
      if (expected.rounds != kAnyCount) CHECK(outcome.rounds == expected.rounds);
      if (expected.messages != kAnyCount) CHECK(outcome.messages == expected.messages);
      if (expected.bytes != kAnyCount) CHECK(outcome.bytes == expected.bytes);
      if (expected.combined != kAnyCount) CHECK(outcome.combined == expected.combined);
    }
  }
}

std::uint32_t ceil_log2(std::uint64_t n) { return static_cast<std::uint32_t>(std::bit_width(n - 1)); }

}  // namespace weft::goal
