#include "goal/workload/phases.h"

#include <fmt/core.h>

#include <new>
#include <stdexcept>

#include "goal/workload/message_graph.h"

namespace weft::goal {
namespace {

// Up to so many operations are waited for one by one; beyond that, an empty calc gathers them.
constexpr std::uint64_t kMostDirect = 2;

constexpr std::uint64_t kBytesOfOp = 32, kBytesOfEdge = 4;
constexpr std::uint64_t kMostOps = 10'000'000'000;
constexpr std::uint64_t kMostOpsOfRank = 0x7FFFFFFF;

}  // namespace

OpIndex Phases::collective(const Collective& collective) {
  if (ended_) begin_next();
  if (builder_ != nullptr) link(builder_->add_collective(collective));
  return counted();
}

void Phases::link(OpIndex op) {
  for (const OpIndex first : before_) builder_->add_edge(first, op);
  now_.push_back(op);
}

void Phases::edge(OpIndex first, OpIndex dependent) {
  if (builder_ != nullptr) builder_->add_edge(first, dependent);
  ++edges_;
}

void Phases::wait_for_all() {
  if (now_count_ == 0) return;
  before_count_ = now_count_;
  now_count_ = 0;
  before_.swap(now_);
  now_.clear();
}

void Phases::begin_next() {
  ended_ = false;
  wait_for_all();
  if (before_count_ <= kMostDirect) return;
  append({.kind = OpKind::kCalc});
  wait_for_all();
}

// An empty calc is left until something follows, so that no program ends with one.
void Phases::then(std::uint64_t compute_ns) {
  ended_ = true;
  if (ops_in_rank_ > kMostOpsOfRank) check_size(ops_in_rank_);
  if (compute_ns == 0) return;
  wait_for_all();
  append({.kind = OpKind::kCalc, .value = compute_ns});
}

void Phases::end_rank() {
  if (builder_ != nullptr) builder_->end_rank();
  check_size(ops_in_rank_);
  ops_ += ops_in_rank_;
  ops_in_rank_ = 0;
  ended_ = false;
  before_count_ = now_count_ = 0;
  before_.clear();
  now_.clear();
}

void Phases::check_size(std::uint64_t ops_in_rank) const {
  if (ops_in_rank <= kMostOpsOfRank && ops_ + ops_in_rank <= kMostOps) return;
  parameters_.fail("iterations", fmt::format("the graph would have more operations than fit: at most {} in a "
                                             "rank and {} in all, of {} bytes each",
                                             kMostOpsOfRank, kMostOps, kBytesOfOp));
}

ParameterSpec iterations_parameter(const char* most) {
  return {"iterations", ParameterType::kInteger, "1",
          "How often all of it happens; a rank begins the next when it has finished its part of the last.",
          from_to("1", most)};
}

ParameterSpec compute_parameter(const char* default_value, const char* help) {
  return {"compute", ParameterType::kTime, default_value, help, at_least("0")};
}

Repetition repetition(const Parameters& parameters) {
  const Time compute = parameters.time("compute");
  if (compute.ps() % 1000 != 0) parameters.fail("compute", "it must be whole nanoseconds");
  return {parameters.whole("iterations"), static_cast<std::uint64_t>(compute.ps() / 1000)};
}

std::vector<ParameterSpec> ConvergenceTest::parameters() {
  return {{"allreduce", ParameterType::kInteger, "0",
           "After every so many iterations, all ranks meet in an allreduce; 0: never.",
           from_to("0", "2147483647")},
          {"allreduce_size", ParameterType::kBytes, "auto", "Bytes of that allreduce; auto: 8."}};
}

ConvergenceTest::ConvergenceTest(const Parameters& parameters)
    : every_(parameters.whole("allreduce")), allreduce_{.kind = CollectiveKind::kAllreduce, .bytes = 8} {
  if (parameters.automatic("allreduce_size")) return;
  if (every_ == 0) parameters.fail("allreduce_size", "there is none: `allreduce` is 0");
  allreduce_.bytes = parameters.bytes("allreduce_size");
}

void ConvergenceTest::add_to(Phases& phases, std::uint32_t iteration) const {
  if (every_ == 0 || (iteration + 1) % every_ != 0) return;
  phases.collective(allreduce_);
  phases.then();
}

void reserve(const Parameters& parameters, GraphBuilder& builder, const Phases& counted) {
  const auto fail = [&] {
    const std::uint64_t bytes = counted.ops() * kBytesOfOp + counted.edges() * kBytesOfEdge;
    parameters.fail("iterations",
                    fmt::format("the graph would have {} operations and {} dependencies, and there is no "
                                "memory of {:.1f} GB for it",
                                counted.ops(), counted.edges(), static_cast<double>(bytes) * 1e-9));
  };
  try {
    builder.reserve(counted.ops(), counted.edges());
  } catch (const std::bad_alloc&) {
    fail();
  } catch (const std::length_error&) {
    fail();
  }
}

}  // namespace weft::goal
