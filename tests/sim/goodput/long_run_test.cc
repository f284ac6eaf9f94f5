// Long runs of training against closed forms that don't come from their code: Daly's model, queues, machines
// with repair.
#include "sim/goodput/long_run.h"

#include <boost/math/special_functions/lambert_w.hpp>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "sim/goodput/closed_form.h"
#include "tools/sweep/statistics.h"

namespace weft::goodput {
namespace {

constexpr double kMinute = 60, kHour = 3600, kDay = 86400;

// Steps of a second for so many days, nothing fails.
LongRun undisturbed(double days) { return {.step_s = 1, .duration_s = days * kDay}; }

sweep::Estimate over_seeds(const LongRun& run, std::uint64_t seeds,
                           const std::function<double(const Outcome&)>& figure) {
  std::vector<double> values;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) values.push_back(figure(simulate(run, seed)));
  return sweep::estimate(values);
}
sweep::Estimate goodput_of(const LongRun& run, std::uint64_t seeds) {
  return over_seeds(run, seeds, [](const Outcome& outcome) { return outcome.goodput(); });
}

// A mean over seeds is what it should be: within four standard errors, which 1 of 16,000 isn't.
void check_mean(const sweep::Estimate& estimate, double expected) {
  const double error = std::sqrt(estimate.variance / static_cast<double>(estimate.count));
  INFO("mean " << estimate.mean << " +- " << error << ", expected " << expected);
  CHECK(std::abs(estimate.mean - expected) < 4 * error + 1e-9 * expected);
}

double sum(const Outcome& outcome) {
  return std::accumulate(outcome.spent_s.begin(), outcome.spent_s.end(), 0.0);
}

}  // namespace

TEST_CASE("without failures a run takes its steps and checkpoints") {
  LongRun run = undisturbed(1000);
  run.step_s = 3.9;
  run.steps = 1000;
  run.steps_between = 300;
  run.blocking_s = run.write_s = 20;
  Outcome outcome = simulate(run, 1);
  CHECK(outcome.steps == 1000);
  CHECK(outcome.checkpoints == 4);  // behind 300, 600, 900 and 1,000 steps
  CHECK(outcome.elapsed_s == Approx(1000 * 3.9 + 4 * 20).epsilon(1e-12));
  // Written beside computing: it waits for 2 s of each, and for all of the last.
  run.blocking_s = 2;
  outcome = simulate(run, 1);
  CHECK(outcome.elapsed_s == Approx(1000 * 3.9 + 3 * 2 + 20).epsilon(1e-12));
  CHECK(outcome.spent_s[kCheckpoints] == Approx(26).epsilon(1e-12));
  // Nor does one begin while the last is being written: 10 steps take 39 s, a checkpoint 50.
  run.steps = 30;
  run.steps_between = 10;
  run.write_s = 50;
  outcome = simulate(run, 1);
  CHECK(outcome.elapsed_s == Approx(39 + 50 + 2 + 48 + 50).epsilon(1e-12));
  run = undisturbed(1);
  run.straggler_factor = 1.25;
  outcome = simulate(run, 1);
  CHECK(outcome.steps == 69120);
  CHECK(outcome.goodput() == Approx(0.8).epsilon(1e-12));
  CHECK(outcome.share(kStragglers) == Approx(0.2).epsilon(1e-12));
}

TEST_CASE("Daly's published optima") {
  // Figures 3 to 5 of Daly 2006: a checkpoint of 5 min, failures every 24 h, 6 h and 15 min.
  CHECK(std::round(daly_interval(5, 24 * 60)) == 117);
  CHECK(std::round(daly_interval(5, 6 * 60)) == 57);
  CHECK(daly_interval(5, 15) == Approx(9.1).margin(0.05));
  CHECK(young_interval(5, 24 * 60) == Approx(120).epsilon(1e-12));
  CHECK(std::isinf(daly_interval(5, std::numeric_limits<double>::infinity())));
}

TEST_CASE("the interval is that of the minimum, by Lambert's W") {
  for (const double ratio : {1e-4, 1e-3, 1e-2, 0.1, 0.5}) {
    // d/dt of exp((t + c) / M) / t is 0 where (t/M - 1) exp(t/M - 1) = -exp(-c/M - 1).
    const double exact = 1 + boost::math::lambert_w0(-std::exp(-ratio - 1));
    CHECK(daly_interval(ratio, 1) == Approx(exact).epsilon(0.01));
  }
}

TEST_CASE("simulated runtimes are Daly's") {
  // M, checkpoint, restart, interval, all in minutes: his cases, and failures in most restarts.
  const std::vector<std::array<double, 4>> cases = {{1440, 5, 10, 117}, {360, 5, 10, 57}, {360, 5, 10, 20},
                                                    {360, 5, 10, 300},  {15, 5, 10, 9},   {10, 1, 20, 5}};
  for (const auto& [between, checkpoint, restart, interval] : cases) {
    LongRun run = undisturbed(1e6);
    run.steps_between = static_cast<std::uint64_t>(interval * kMinute);
    run.steps = 200 * run.steps_between;
    run.failure_rate = 1 / (between * kMinute);
    run.restart_s = restart * kMinute;
    run.blocking_s = run.write_s = checkpoint * kMinute;
    const double expected = daly_runtime(static_cast<double>(run.steps), between * kMinute, run.restart_s,
                                         interval * kMinute, run.write_s);
    check_mean(over_seeds(run, 100, [](const Outcome& outcome) { return outcome.elapsed_s; }), expected);
    CHECK(is_exact(run));
    CHECK(expected_goodput(run) == Approx(static_cast<double>(run.steps) / expected).epsilon(1e-12));
  }
}

TEST_CASE("the optimum is a minimum of simulated times") {
  LongRun run = undisturbed(1e6);
  run.failure_rate = 1 / (6 * kHour);
  run.restart_s = 10 * kMinute;
  run.blocking_s = run.write_s = 5 * kMinute;
  const auto best = static_cast<std::uint64_t>(daly_interval(run.write_s, 6 * kHour));
  const auto runtime = [&](double factor) {
    run.steps_between = static_cast<std::uint64_t>(static_cast<double>(best) * factor);
    run.steps = best * 400;
    return over_seeds(run, 40, [](const Outcome& outcome) { return outcome.elapsed_s; }).mean;
  };
  // Seeds draw the same failures for all.
  const double least = runtime(1);
  for (const double factor : {0.25, 0.5, 2.0, 4.0}) CHECK(runtime(factor) > least);
}

TEST_CASE("every second has a cause") {
  LongRun run = undisturbed(30);
  run.steps_between = 900;
  run.blocking_s = 3;
  run.write_s = 60;
  run.failure_rate = 1 / (3 * kHour);
  run.restart_s = 600;
  run.straggler_factor = 1.01;
  run.link_rate = 1 / kDay;
  run.link_failures = LinkFailures::kRetire;
  run.detection_s = 1;
  run.link_repair_s = 4 * kHour;
  run.degraded_factor = 1.1;
  run.elastic = true;
  run.replicas = 16;
  run.reconfiguration_s = 60;
  run.repair_s = 12 * kHour;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Outcome outcome = simulate(run, seed);
    CHECK(outcome.elapsed_s == Approx(30 * kDay).epsilon(1e-12));
    CHECK(sum(outcome) == Approx(outcome.elapsed_s).epsilon(1e-9));
    for (const double spent : outcome.spent_s) CHECK(spent >= 0);
    // All that counts are whole steps, but for the one under way.
    const double under_way = outcome.spent_s[kComputing] - static_cast<double>(outcome.steps) * run.step_s;
    CHECK(under_way > -1e-3);
    CHECK(under_way < run.step_s + 1e-3);
    CHECK(simulate(run, seed).spent_s == outcome.spent_s);
  }
  CHECK(simulate(run, 1).steps != simulate(run, 2).steps);
  check_mean(over_seeds(run, 50, [](const Outcome& o) { return static_cast<double>(o.link_failures); }), 30);
}

TEST_CASE("links that are down are an M/G/infinity queue") {
  LongRun run = undisturbed(3000);
  run.link_rate = 1 / kDay;
  run.link_failures = LinkFailures::kRetire;
  run.link_repair_s = 12 * kHour;
  run.degraded_factor = 2;
  // None is down for a share exp(-1/2) of the time.
  check_mean(goodput_of(run, 20), std::exp(-0.5) + (1 - std::exp(-0.5)) / 2);
  CHECK(expected_goodput(run) == Approx(std::exp(-0.5) + (1 - std::exp(-0.5)) / 2).epsilon(1e-12));
}

TEST_CASE("a path that is left costs no more than a restart") {
  LongRun run = undisturbed(30);
  run.steps_between = 1800;
  run.blocking_s = run.write_s = 10;
  run.failure_rate = 1 / (4 * kHour);
  run.link_rate = 1 / (8 * kHour);
  run.restart_s = 600;
  run.link_repair_s = 2 * kHour;
  run.degraded_factor = 1.05;
  run.detection_s = 1e-3;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    run.link_failures = LinkFailures::kRestart;
    const Outcome restarted = simulate(run, seed);
    run.link_failures = LinkFailures::kRetire;
    const Outcome retired = simulate(run, seed);
    CHECK(restarted.link_failures == retired.link_failures);
    CHECK(retired.goodput() > restarted.goodput());
  }
  LongRun waits = undisturbed(100);
  waits.link_rate = 1 / kHour;
  waits.link_failures = LinkFailures::kRetire;
  waits.detection_s = 36;
  // Renewal: computing for an hour in the mean, then waiting until no link failed for 36 s: (e^0.01 - 1) h.
  check_mean(goodput_of(waits, 20), 1 / (1 + std::expm1(0.01)));
}

TEST_CASE("replicas are machines with repair") {
  LongRun run = undisturbed(2000);
  run.step_s = 1e-2;  // so that a step under way that is lost is nothing
  run.elastic = true;
  run.replicas = 8;
  run.failure_rate = 8 / (10 * kDay);
  run.repair_s = 2.5 * kDay;
  // Each is up for 10 of 12.5 days, whatever the others do; that all are down at once, 0.2^8, does not show.
  check_mean(goodput_of(run, 20), 0.8);
  CHECK(expected_goodput(run) == Approx(0.8).epsilon(1e-5));
  // A failure takes a reconfiguration now, and one when the replica is back: 0.64 a day, 60 s each time.
  run.reconfiguration_s = 60;
  const sweep::Estimate pauses =
      over_seeds(run, 20, [](const Outcome& outcome) { return outcome.share(kReconfiguration); });
  CHECK(pauses.mean == Approx(2 * 0.64 * 60 / kDay).epsilon(0.02));
  // One replica has none to go on with.
  run.replicas = 1;
  run.restart_s = 3600;
  CHECK(simulate(run, 1).restarts == simulate(run, 1).device_failures);
}

TEST_CASE("writing behind computing is close to its first order") {
  LongRun run = undisturbed(1000);
  run.steps_between = 1200;
  run.blocking_s = 2;
  run.write_s = 120;
  run.failure_rate = 1 / (6 * kHour);
  run.restart_s = 300;
  CHECK(!is_exact(run));
  const double expected = expected_goodput(run);
  CHECK(goodput_of(run, 20).mean == Approx(expected).epsilon(0.003));
  // So it is by steps: what a checkpoint that was not yet safe had is gone.
  const auto by_steps = [](const Outcome& o) { return static_cast<double>(o.steps) / o.elapsed_s; };
  CHECK(over_seeds(run, 20, by_steps).mean == Approx(expected).epsilon(0.003));
}

}  // namespace weft::goodput
