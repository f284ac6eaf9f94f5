// Replay and the LogGOPS network against the naive reference, over random programs and parameters.
#include "tests/sim/replay/reference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <catch2/catch.hpp>
#include <optional>

#include "goal/text/text.h"
#include "tests/sim/replay/random_program.h"
#include "tests/sim/replay/replay_fixture.h"

using namespace weft;
using namespace weft::sim;

namespace {

ReferenceResult replay_run(const goal::Graph& graph, const ReferenceParameters& p) {
  HostConfig hosts;
  hosts.overhead = Time::ps(p.o_ps);
  hosts.overhead_per_byte = TimePerByte::ns(static_cast<double>(p.O_fs) * 1e-6);
  hosts.reduction_per_byte = TimePerByte::ns(static_cast<double>(p.reduction_fs) * 1e-6);
  hosts.copy_per_byte = hosts.copy_from_memory = TimePerByte::ns(static_cast<double>(p.copy_fs) * 1e-6);
  hosts.eager_limit_bytes = p.S;
  hosts.collective_limit_bytes = p.collective_limit;
  hosts.first_fragment_bytes = p.first_fragment;
  hosts.rendezvous = p.get ? Rendezvous::kGet : Rendezvous::kPut;
  hosts.fragment_bytes = p.fragment;
  hosts.pipeline_depth = p.depth;
  hosts.connections_per_pair = p.connections;
  hosts.ranks_per_host = p.ranks_per_host;
  hosts.collectives = goal::CollectiveSelection(p.algorithms);
  Engine engine(1);
  Replay replay(graph, hosts, engine);
  LogGopsNetwork network(
      {Time::ps(p.L_ps), Time::ps(p.g_ps), TimePerByte::ns(static_cast<double>(p.G_fs) * 1e-6)},
      hosts_needed(graph, hosts), graph.max_nic() + 1u, FlowRecord::kNothing, engine, replay.client());
  NeverStop control;
  replay.start(network.part());
  network.run(control);
  ReferenceResult result;
  for (const results::Rank& rank : replay.ranks()) {
    result.ranks.push_back({rank.finish.ps(), rank.compute.ps(), rank.overhead.ps(), rank.messages_sent,
                            rank.messages_received, rank.bytes_sent, rank.bytes_received, rank.ops});
  }
  const ReplayTotals totals = replay.totals();
  result.messages = totals.messages;
  result.bytes = totals.bytes;
  result.executed_ops = totals.executed_ops;
  result.unreceived = totals.unreceived;
  // The account of a run that could not go on must be there, whatever the reason.
  if (replay.complete() == replay.diagnose().empty()) return result;
  result.unreceived = UINT64_MAX;
  return result;
}

bool differ(const Program& program, const ReferenceParameters& p) {
  const goal::Graph graph = program.graph();
  return replay_run(graph, p) != reference_run(graph, p);
}

std::string text(const ReferenceResult& result) {
  std::string lines = fmt::format("{} messages, {} bytes, {} ops, {} unreceived\n", result.messages,
                                  result.bytes, result.executed_ops, result.unreceived);
  for (const ReferenceRank& r : result.ranks) {
    lines +=
        fmt::format("  finish {} ps, compute {}, overhead {}, sent {} ({} B), received {} ({} B), {} ops\n",
                    r.finish_ps, r.compute_ps, r.overhead_ps, r.messages_sent, r.bytes_sent,
                    r.messages_received, r.bytes_received, r.ops);
  }
  return lines;
}

// Takes away operations, dependencies and parameters as long as the two still differ.
std::string smallest_difference(Program program, ReferenceParameters p) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    const auto keep_if_differs = [&](const auto& change) {
      Program candidate = program;
      ReferenceParameters parameters = p;
      change(candidate, parameters);
      if (!differ(candidate, parameters)) return;
      program = candidate;
      p = parameters;
      smaller = true;
    };
    for (std::size_t r = 0; r < program.ranks.size(); ++r) {
      for (std::size_t i = program.ranks[r].size(); i-- > 0;) {
        keep_if_differs([&](Program& candidate, auto&) { candidate.remove(r, i); });
      }
      for (std::size_t i = 0; i < program.ranks[r].size(); ++i) {
        for (std::size_t e = program.ranks[r][i].after.size(); e-- > 0;) {
          keep_if_differs([&](Program& candidate, auto&) {
            auto& after = candidate.ranks[r][i].after;
            after.erase(after.begin() + static_cast<std::ptrdiff_t>(e));
          });
        }
      }
    }
    for (std::int64_t ReferenceParameters::*field :
         {&ReferenceParameters::L_ps, &ReferenceParameters::o_ps, &ReferenceParameters::g_ps,
          &ReferenceParameters::G_fs, &ReferenceParameters::O_fs, &ReferenceParameters::reduction_fs,
          &ReferenceParameters::copy_fs}) {
      if (p.*field != 0)
        keep_if_differs([&](Program&, ReferenceParameters& parameters) { parameters.*field = 0; });
    }
  }
  const goal::Graph graph = program.graph();
  return fmt::format(
      "L={}ps o={}ps g={}ps G={}fs O={}fs S={} S of collectives={} reduction={}fs copy={}fs "
      "ranks_per_host={} first={} "
      "get={} "
      "fragment={} "
      "depth={} connections={} algorithms={}\n{}reference: {}replay: {}",
      p.L_ps, p.o_ps, p.g_ps, p.G_fs, p.O_fs, p.S, p.collective_limit, p.reduction_fs, p.copy_fs,
      p.ranks_per_host, p.first_fragment, p.get, p.fragment, p.depth, p.connections,
      fmt::join(p.algorithms, ","), goal::to_text(graph), text(reference_run(graph, p)),
      text(replay_run(graph, p)));
}

// For each kind of collective any of its algorithms that all numbers of ranks can use.
std::array<std::string, goal::kCollectiveKinds> some_algorithms(std::mt19937_64& random, int segment) {
  std::array<std::vector<std::string>, goal::kCollectiveKinds> known;
  for (const goal::CollectiveAlgorithm& algorithm : goal::collective_algorithms()) {
    if (algorithm.objection != nullptr) continue;
    std::string& text = known[static_cast<std::size_t>(algorithm.kind)].emplace_back(algorithm.info.name);
    for (const ParameterSpec& spec : algorithm.info.parameters) {
      const char* separator = text == algorithm.info.name ? ":" : ",";
      if (spec.name == "segment") text += fmt::format("{}segment={}", separator, segment);
      if (spec.name == "ranks_per_node") text += fmt::format("{}ranks_per_node=2", separator);
    }
  }
  std::array<std::string, goal::kCollectiveKinds> chosen;
  for (std::size_t kind = 0; kind < known.size(); ++kind)
    chosen[kind] = known[kind][random() % known[kind].size()];
  return chosen;
}

// Times of odd picoseconds, so that two things hardly ever happen in the same moment.
ReferenceParameters odd_parameters(std::mt19937_64& random) {
  const auto or_zero = [&](std::uint64_t bound) {
    return random() % 6 == 0 ? 0 : static_cast<std::int64_t>(random() % bound);
  };
  ReferenceParameters p{.L_ps = or_zero(3'000'000),
                        .o_ps = or_zero(1'000'000),
                        .g_ps = or_zero(1'000'000),
                        .G_fs = or_zero(3'000'000),
                        .O_fs = or_zero(500'000),
                        .reduction_fs = or_zero(900'000),
                        .copy_fs = or_zero(900'000),
                        .S = static_cast<std::uint64_t>(or_zero(8000)),
                        .ranks_per_host = static_cast<std::uint32_t>(1 + random() % 3)};
  p.algorithms = some_algorithms(random, 1000);
  return p;
}

// Times of 0, 1 or 2 ns: nearly everything happens at the same moment as something else.
ReferenceParameters tied_parameters(std::mt19937_64& random) {
  const auto few = [&](std::int64_t unit) { return static_cast<std::int64_t>(random() % 3) * unit; };
  ReferenceParameters p{.L_ps = few(1000),
                        .o_ps = few(1000),
                        .g_ps = few(1000),
                        .G_fs = few(1'000'000),
                        .O_fs = few(1'000'000),
                        .reduction_fs = few(1'000'000),
                        .copy_fs = few(1'000'000),
                        .S = random() % 6,
                        .ranks_per_host = static_cast<std::uint32_t>(1 + random() % 3)};
  p.algorithms = some_algorithms(random, 2);
  return p;
}

struct Seen {
  int complete = 0, incomplete = 0;
};

// Large messages go as a library would send them.
void add_protocol(ReferenceParameters& p, std::mt19937_64& random) {
  p.first_fragment = p.S == 0 || random() % 3 == 0 ? 0 : 1 + random() % p.S;
  p.get = random() % 3 == 0;
  p.fragment = p.get || random() % 3 == 0 ? UINT64_MAX : 1 + random() % 3000;
  if (p.S < 6) p.fragment = p.get ? UINT64_MAX : 1 + random() % 3;
  p.depth = static_cast<std::uint32_t>(1 + random() % 3);
  p.connections = static_cast<std::uint32_t>(1 + random() % 3);
  if (random() % 2 == 0) p.collective_limit = p.first_fragment + random() % (p.S + 1 - p.first_fragment);
}

Seen compare(std::uint64_t first_seed, int programs, ProgramOptions options, bool ties,
             bool protocol = false) {
  if (ties) options.most_bytes = 6, options.most_ns = 3;
  Seen seen;
  for (std::uint64_t seed = first_seed; seed < first_seed + static_cast<std::uint64_t>(programs); ++seed) {
    const Program program = random_program(seed, options);
    std::mt19937_64 random(~seed);
    ReferenceParameters p = ties ? tied_parameters(random) : odd_parameters(random);
    if (protocol) add_protocol(p, random);
    if (differ(program, p)) {
      FAIL("seed " << seed << "\n" << smallest_difference(program, p));
    }
    const goal::Graph graph = program.graph();
    const ReferenceResult result = reference_run(graph, p);
    ++(result.executed_ops == graph.ops() && result.unreceived == 0 ? seen.complete : seen.incomplete);
  }
  return seen;
}

constexpr ProgramOptions kWithNics{.nics = true}, kWild{.wildcards = true, .nics = true, .sparse_cpus = true},
    kBroken{.broken = true, .wildcards = true, .nics = true};

}  // namespace

TEST_CASE("matched programs finish at the reference's times") {
  CHECK(compare(0, 1500, {}, false).complete > 1000);
}

TEST_CASE("so they do where everything happens at once, by the written rule for ties") {
  CHECK(compare(10'000, 3000, {}, true).complete > 2000);
}

TEST_CASE("several NICs and sparse cpus: the reference's times, with and without ties") {
  CHECK(compare(20'000, 1000, kWithNics, false).complete > 600);
  CHECK(compare(30'000, 2000, kWithNics, true).complete > 1200);
}

TEST_CASE("wildcards take the messages the reference takes") {
  const Seen odd = compare(40'000, 1000, kWild, false), tied = compare(50'000, 2000, kWild, true);
  CHECK(odd.complete > 500);
  CHECK(tied.complete > 1000);
}

TEST_CASE("programs that block get as far as in the reference") {
  const Seen odd = compare(60'000, 1000, kBroken, false), tied = compare(70'000, 2000, kBroken, true);
  CHECK(odd.incomplete > 500);
  CHECK(tied.incomplete > 1000);
}

TEST_CASE("requests with a first fragment, gets and pieces: the reference's times, with and without ties") {
  CHECK(compare(80'000, 500, {}, false, true).complete > 300);
  CHECK(compare(90'000, 1000, kWithNics, true, true).complete > 600);
  CHECK(compare(100'000, 400, kWild, true, true).complete > 150);
}
