// Accounts of traces whose times are written out here, and so can be added up by hand.
#include "goal/import/mpi/time_account.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

#include "goal/compute_times.h"
#include "goal/import/mpi/host_cores.h"
#include "goal/import/mpi/importer.h"
#include "goal/import/mpi/trace_summary.h"
#include "sim/units/input_error.h"
#include "tests/goal/import/mpi/trace_file.h"

namespace weft::goal {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMs = 1'000'000;

RankTimes rank_with(const std::string& host, const std::string& cores) {
  RankTimes rank{.host = host, .facts = {{"cores", cores}}, .split = {}, .elapsed_ns = 100 * kMs};
  rank.split = {.gaps_ns = 60 * kMs, .calls_ns = 40 * kMs, .compute_ns = 60 * kMs};
  return rank;
}

const Anomaly* anomaly(const PackInfo& info, const std::string& name) {
  for (const Anomaly& one : info.anomalies) {
    if (one.name == "compute_times_" + name) return &one;
  }
  return nullptr;
}

PackInfo report_of(const std::vector<RankTimes>& ranks, ComputeTimes policy = ComputeTimes::kAuto) {
  PackInfo info;
  report_times({ranks, policy, std::nullopt}, info);
  return info;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Two ranks on the one core 3. Rank 0: computes 4 ms of the 10 ms before its send, waits 5 ms for the core
// and sleeps 1 ms; the send takes 2 ms, half of it without the core. Rank 1: receives for 10 ms, then
// computes 2 ms.
fs::path shared_run() {
  const char* base = std::getenv("TEST_TMPDIR");
  const fs::path path = fs::path(base != nullptr ? base : "/tmp") / "shared_run";
  fs::remove_all(path);
  TraceFile(0, 2)
      .fact("cores", "3")
      .fact("unheard_of", "x")
      .init(kMs)
      .off_core(5000, 1000, 1000)
      .send(11 * kMs, 13 * kMs, 1, 5, 64)
      .finalize(13 * kMs)
      .end(trace::End::kFinalize)
      .write(path);
  TraceFile(1, 2)
      .fact("cores", "3")
      .init(kMs)
      .off_core(0, 0, 4000)
      .recv(kMs, 11 * kMs, 0, 5, 64)
      .finalize(13 * kMs)
      .end(trace::End::kFinalize)
      .write(path);
  return path;
}

}  // namespace

TEST_CASE("lists of cores") {
  CHECK(parse_cores("0-3,8") == std::set<unsigned>{0, 1, 2, 3, 8});
  CHECK(parse_cores("5") == std::set<unsigned>{5});
  for (const char* bad : {"", "x", "3-1", "1,,2", "0-99999999", "-1", "1-", "1;2"}) {
    CHECK(parse_cores(bad).empty());
  }
}

TEST_CASE("ranks share cores where there are more of them than cores they may use") {
  const auto one_host = [](std::vector<std::string> cores) {
    std::vector<RankTimes> ranks;
    for (const std::string& list : cores) ranks.push_back(rank_with("a", list));
    return host_cores(ranks).at(0);
  };
  CHECK(one_host({"0-1", "0-1"}).sharing == 0);
  CHECK(one_host({"0-1", "0-1", "0-1"}).sharing == 3);
  CHECK(one_host({"0-1", "0-1", "0-1"}).shared_cores == 2);
  // Enough cores in all, but two ranks were bound to the same.
  CHECK(one_host({"0", "0", "1-7"}).sharing == 2);
  CHECK(one_host({"0", "0", "1-7"}).shared_cores == 1);
  // Those confined to a part of what others may use count there too.
  CHECK(one_host({"0", "1", "0-1", "0-7"}).sharing == 3);
  CHECK(one_host({"", "", ""}).sharing == 0);  // not known

  const std::vector<HostCores> two =
      host_cores({rank_with("b", "0"), rank_with("a", "0"), rank_with("b", "1")});
  REQUIRE(two.size() == 2);
  CHECK(two[0].host == "a");
  CHECK(two[1].ranks == std::vector<std::size_t>{0, 2});
  CHECK(two[1].compute_ns == 120 * kMs);

  std::vector<RankTimes> limited(3, rank_with("a", "0-7"));
  limited[0].facts["cpu_quota"] = "1.5";
  CHECK(host_cores(limited).at(0).sharing == 3);
  CHECK(host_cores(limited).at(0).shared_cores == 1.5);
}

TEST_CASE("shares of parts") {
  const Shares shares = shares_of({10, 30, 5}, {100, 50, 0});
  CHECK(shares.mean == Approx(40.0 / 150));
  CHECK(shares.least == Approx(0.1));
  CHECK(shares.most == Approx(0.6));
  CHECK(shares_of({}, {}).mean == 0);
}

TEST_CASE("what ranks with a core each measured needs no warning") {
  const PackInfo info = report_of({rank_with("a", "0-1"), rank_with("a", "0-1")});
  CHECK(info.anomalies.empty());
  CHECK(info.metadata.at("traced_compute_share") == "0.6000 (0.6000 to 0.6000)");
  CHECK(info.metadata.at("traced_mpi_share") == "0.4000 (0.4000 to 0.4000)");
  CHECK(info.metadata.at("mpi_waits_by") == "spinning");
  CHECK(has(info.metadata.at("where_the_time_went"),
            "Of 0.100 s measured, a rank on average computed for 0.060 s (60.0%) and was in MPI for 0.040 s "
            "(40.0%)"));
}

TEST_CASE("traces that don't tell when ranks did not run are said to") {
  RankTimes old = rank_with("a", "");
  old.facts.clear();
  const PackInfo info = report_of({old});
  REQUIRE(anomaly(info, "unknown") != nullptr);
  CHECK(compute_times_warnings(info.anomalies).empty());
  CHECK(has(info.metadata.at("where_the_time_went"), "does not tell"));
}

TEST_CASE("other work on the machine, frequencies, a hypervisor and other threads are found") {
  RankTimes rank = rank_with("a", "0-3");
  rank.split.gaps_off = {.waiting_ns = 20 * kMs, .asleep_ns = 10 * kMs};
  rank.facts.insert({{"governor", "powersave"},
                     {"mhz", "2000"},
                     {"last_mhz", "1500"},
                     {"max_mhz", "3000"},
                     {"cores_online", "4"},
                     {"host_stolen_ns", "40000000"},
                     {"cpu_ns", "30000000"},
                     {"process_cpu_ns", "90000000"}});
  const PackInfo info = report_of({rank, rank_with("a", "0-3")});
  REQUIRE(anomaly(info, "busy_machine") != nullptr);
  CHECK(anomaly(info, "busy_machine")->severity == Severity::kInfo);  // corrected
  CHECK(has(anomaly(info, "busy_machine")->sentence, "(10.0% of the time) is left out"));
  REQUIRE(anomaly(info, "asleep") != nullptr);
  REQUIRE(anomaly(info, "frequency") != nullptr);
  CHECK(anomaly(info, "frequency")->count == 1);
  CHECK(has(anomaly(info, "frequency")->sentence, "1500 to 2000 of 3000 MHz"));
  CHECK(has(anomaly(info, "frequency")->sentence, "governor powersave"));
  REQUIRE(anomaly(info, "stolen") != nullptr);
  CHECK(has(anomaly(info, "stolen")->sentence, "10.0%"));  // 40 ms of 4 cores' 100 ms
  REQUIRE(anomaly(info, "other_threads") != nullptr);
  CHECK(compute_times_warnings(info.anomalies).size() == 2);  // frequency, stolen
  const PackInfo wall = report_of({rank, rank_with("a", "0-3")}, ComputeTimes::kWall);
  CHECK(anomaly(wall, "busy_machine")->severity == Severity::kWarning);
  CHECK(has(anomaly(wall, "busy_machine")->sentence, "is part of"));
}

TEST_CASE("cores that ranks' own threads shared are no other work on the machine") {
  RankTimes rank = rank_with("a", "0-1");
  rank.split.gaps_off = {.waiting_ns = 20 * kMs, .asleep_ns = 0};
  const auto told = [](const RankTimes& one) { return report_of({one, one}); };
  CHECK(anomaly(told(rank), "busy_machine") != nullptr);
  CHECK_FALSE(has(anomaly(told(rank), "busy_machine")->sentence, "threads"));
  rank.facts.insert({{"cpu_ns", "30000000"}, {"process_cpu_ns", "90000000"}});  // threads without MPI
  CHECK(has(anomaly(told(rank), "busy_machine")->sentence, "or other threads of the ranks,"));
  rank.threads = 2;
  const PackInfo shared = told(rank);
  CHECK(anomaly(shared, "busy_machine") == nullptr);
  REQUIRE(anomaly(shared, "shared_cores") != nullptr);
  CHECK(has(anomaly(shared, "shared_cores")->sentence, "(4 threads of 2 ranks on 2 cores of a)"));
  rank.split.gaps_off = {};  // nobody waited for another
  CHECK(anomaly(told(rank), "shared_cores") == nullptr);
}

TEST_CASE("a folder of traces: what was told, where the time went, and an ideal replay") {
  const fs::path path = shared_run();
  PackInfo info;
  import_mpi(path, {}, &info);
  const std::string& text = info.metadata.at("where_the_time_went");
  // On a core between calls: 4 ms and 2 ms; in MPI 2 ms and 10 ms, of which 5 ms without a core.
  CHECK(
      has(text, "Of 0.012 s measured, a rank on average computed for 0.003 s (25.0%, from 16.7% to 33.3%)"));
  CHECK(has(text, "waited 0.003 s for a core to compute on, slept 0.001 s between calls"));
  CHECK(
      has(text,
          "was in MPI for 0.006 s (50.0%, from 16.7% to 83.3%), of that 0.004 s on a core, 0.003 s waiting"));
  CHECK(has(text, "2 ranks on node1 shared 1 core: these take 0.006 s at least"));
  // 5 ms of rank 0 (it slept for one), then 2 ms of rank 1.
  CHECK(info.metadata.at("ideal_elapsed_ns") == "7000000");
  CHECK(has(text, "the replay takes 0.007 s (the traced run took 1.71 times as long)"));
  REQUIRE(anomaly(info, "shared_cores") != nullptr);
  CHECK(anomaly(info, "shared_cores")->count == 2);
  CHECK(compute_times_warnings(info.anomalies).size() == 1);

  import_mpi(path, {.compute_times = ComputeTimes::kWall}, &info);
  CHECK(info.metadata.at("ideal_elapsed_ns") == "12000000");
  import_mpi(path, {.compute_times = ComputeTimes::kCpu}, &info);
  CHECK(info.metadata.at("ideal_elapsed_ns") == "6000000");

  const TraceSummary summary = summarize_traces(path);
  CHECK(summary.ranks[0].facts.at("cores") == "3");
  CHECK(summary.ranks[0].off_between == trace::OffCore{5 * kMs, kMs});
  CHECK(summary.ranks[0].off_inside == trace::OffCore{kMs, 0});
  CHECK(summary.ranks[1].off_inside == trace::OffCore{4 * kMs, 0});
}

}  // namespace weft::goal
