// Programs made of phases: compute, exchange, compute, exchange, … as bulk-synchronous applications do.
#pragma once

#include <cstdint>
#include <vector>

#include "goal/graph/graph.h"
#include "sim/units/module.h"

namespace weft::goal {

// How often a pattern is repeated, and what goes on in between.
struct Repetition {
  std::uint32_t iterations = 1;
  std::uint64_t compute_ns = 0;  // of each rank, before every iteration
};

// The programs of all ranks, one after the other, phase by phase: what stands in a phase starts when all of
// the phase before has finished; within a phase nothing waits for anything else.
class Phases {
 public:
  // Without a builder, operations and dependencies are only counted. Both arguments must outlive this.
  explicit Phases(const Parameters& parameters, GraphBuilder* builder = nullptr)
      : parameters_(parameters), builder_(builder) {}

  // Operations of the phase that has begun; each gives its index within the rank. They throw InputError,
  // about the parameter `iterations`, when the graph gets larger than any machine's memory.
  OpIndex send(std::uint64_t bytes, Rank to, std::uint32_t tag = 0) {
    return add({.kind = OpKind::kSend, .peer = to, .tag = tag, .value = bytes});
  }
  // `from`: kAny for any source.
  OpIndex recv(std::uint64_t bytes, std::uint32_t from, std::uint32_t tag = 0) {
    return add({.kind = OpKind::kRecv, .peer = from, .tag = tag, .value = bytes});
  }
  OpIndex collective(const Collective& collective);
  // Within the phase, `dependent` waits for the end of `first` all the same.
  void edge(OpIndex first, OpIndex dependent);

  // Ends the phase: what follows waits for all of it, and then for so many nanoseconds of compute.
  void then(std::uint64_t compute_ns = 0);
  // Calls body(iteration) for each of them, with the compute before, and ends the phase after each.
  template <typename Body>
  void repeat(const Repetition& repetition, const Body& body) {
    const std::uint64_t before = ops_in_rank_;
    for (std::uint32_t iteration = 0; iteration < repetition.iterations; ++iteration) {
      then(repetition.compute_ns);
      body(iteration);
      then();
      // The first holds no more than the others: no need to count for long what is too much.
      if (iteration == 0) check_size((ops_in_rank_ - before) * repetition.iterations);
    }
  }
  void end_rank();

  // These count all ranks so far.
  std::uint64_t ops() const { return ops_; }
  std::uint64_t edges() const { return edges_; }

 private:
  OpIndex add(const Op& op) {
    if (ended_) begin_next();
    return append(op);
  }
  OpIndex append(const Op& op) {
    if (builder_ != nullptr) link(builder_->add(op));
    return counted();
  }
  OpIndex counted() {
    edges_ += before_count_;
    ++now_count_;
    return static_cast<OpIndex>(ops_in_rank_++);
  }
  void link(OpIndex op);
  void wait_for_all();
  void begin_next();
  void check_size(std::uint64_t ops_in_rank) const;

  const Parameters& parameters_;
  GraphBuilder* builder_;
  std::uint64_t before_count_ = 0, now_count_ = 0;  // operations that the phase waits for; that it holds
  std::vector<OpIndex> before_, now_;               // which they are, if there is a builder
  bool ended_ = false;                              // the next operation begins a new phase
  std::uint64_t ops_in_rank_ = 0, ops_ = 0, edges_ = 0;
};

// The parameters `iterations` and `compute`. `help` is a sentence that says what `compute` is.
ParameterSpec iterations_parameter(const char* most = "2147483647");
ParameterSpec compute_parameter(const char* default_value = "0ns",
                                const char* help = "Compute of every rank before each iteration.");
// Their values. Throws InputError unless there is an iteration at least, and compute is whole nanoseconds.
Repetition repetition(const Parameters& parameters);

// The allreduce with which iterative solvers test for convergence: parameters `allreduce` and
// `allreduce_size`.
class ConvergenceTest {
 public:
  static std::vector<ParameterSpec> parameters();
  // Throws InputError for a negative number, or a size without any allreduce.
  explicit ConvergenceTest(const Parameters& parameters);
  // A phase of its own if iteration `iteration`, counted from 0, ends with one.
  void add_to(Phases& phases, std::uint32_t iteration) const;

 private:
  std::uint32_t every_;
  Collective allreduce_;
};

// Makes room for what was counted. Throws InputError, with the memory it takes, if there is not enough.
void reserve(const Parameters& parameters, GraphBuilder& builder, const Phases& counted);

// The graph in which rank r runs what program(r, phases) writes. The program is called twice for each rank,
// to count and to build, and must write the same both times. Memory: 32 bytes an operation and 4 a
// dependency. `builder` may hold communicators.
template <typename Program>
Graph phased_graph(const Parameters& parameters, std::uint32_t ranks, const Program& program,
                   GraphBuilder builder = {}) {
  Phases counted(parameters);
  for (Rank r = 0; r < ranks; ++r) {
    program(r, counted);
    counted.end_rank();
  }
  reserve(parameters, builder, counted);
  Phases phases(parameters, &builder);
  for (Rank r = 0; r < ranks; ++r) {
    program(r, phases);
    phases.end_rank();
  }
  return builder.finish();
}

}  // namespace weft::goal
