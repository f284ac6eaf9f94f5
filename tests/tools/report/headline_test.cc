// What bound a run, and in which words.
#include "tools/report/headline.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace weft::report {
namespace {

using Json = nlohmann::ordered_json;

// Two ranks of one job that finish after 100 ns, with these times each.
Json run_of(double compute, double overhead, double waiting) {
  Json run = {{"summary", {{"outcome", "complete"}, {"makespan_ns", 100}, {"ranks", 2}}},
              {"jobs", {{"count", 1}}},
              {"links", {{"rows", {{"link", Json::array()}, {"utilization", Json::array()}}}}}};
  const auto columns = [&](int rows, int ranks) {
    const auto times = [&](double each) { return Json(std::vector<double>(rows, each * ranks)); };
    return Json{{"job", times(0)},
                {"rank", times(0)},
                {"ranks", Json(std::vector<int>(rows, ranks))},
                {"compute_ns", times(compute)},
                {"overhead_ns", times(overhead)},
                {"waiting_ns", times(waiting)},
                {"wait_network_ns", times(0)},
                {"wait_peer_ns", times(0)},
                {"finish_ns", Json(std::vector<int>(rows, 100))}};
  };
  run["ranks"] = {{"by_job", columns(1, 2)}, {"by_rank", columns(2, 1)}};
  return run;
}

void add_link(Json& run, const char* from, const char* to, double utilization) {
  run["links"]["rows"] = {{"link", {0}}, {"from", {from}}, {"to", {to}}, {"utilization", {utilization}}};
}

TEST_CASE("traffic that arrives as it likes has no runtime to shorten") {
  Json run = run_of(50, 0, 50);
  run["summary"]["open_loop"] = {{"offered_load", 0.6},
                                 {"accepted_load", 0.59},
                                 {"completion", {{"p50_ns", 5000}, {"p99_ns", 90000}}},
                                 {"slowdown", {{"p99", 7.25}}}};
  CHECK(headline(run)["bound"] == "arrivals");
  CHECK(headline(run)["because"] ==
        "Messages arrived at 60% of the hosts' links, and 59% was carried. Half of the messages took 5 µs or "
        "less, 99 in 100 90 µs (7.2 times as long as alone).");
  run["summary"]["open_loop"]["keeps_up"] = false;
  CHECK(headline(run)["bound"] == "bandwidth");
}

TEST_CASE("a run that computes says how little a network could do") {
  const Json told = headline(run_of(80, 10, 10));
  CHECK(told["bound"] == "compute");
  CHECK(told["title"] == "2 ranks finished after 100 ns.");
  CHECK(told["because"] ==
        "Computing took 80% of the ranks' time. A better network could shorten the run by 10% at most.");
  CHECK(told["floor_ns"] == 90);
}

TEST_CASE("computing that collectives slow down is no floor at its full length") {
  Json run = run_of(60, 10, 30);
  run["summary"]["overlap_slowdown"] = 1.5;
  const Json told = headline(run);
  CHECK(told["floor_ns"] == 50);
  CHECK(told["because"].get<std::string>().ends_with("shorten the run by 50% at most."));
  // On the critical path a third of the 60% may be gone without collectives, beside the network's own 10%.
  run["summary"]["critical_path"]["shares"] = {{"compute_ns", 60}, {"overhead_ns", 30}, {"bandwidth_ns", 10}};
  CHECK(headline(run)["because"].get<std::string>().ends_with("shorten the run by 30% at most."));
}

TEST_CASE("what ranks waited for follows from links, losses, slowdowns and the timeline") {
  CHECK(headline(run_of(20, 50, 30))["bound"] == "overhead");
  Json run = run_of(20, 10, 70);
  CHECK(headline(run)["bound"] == "latency");
  run["ranks"]["by_rank"]["compute_ns"] = {10, 30};
  CHECK(headline(run)["bound"] == "uneven computing");
  run["summary"]["flows"]["slowdown"]["mean"] = 3;
  CHECK(headline(run)["bound"] == "contention");
  run["ranks"]["by_job"]["wait_peer_ns"] = {120};
  run["ranks"]["by_rank"]["compute_ns"] = {20, 20};
  CHECK(headline(run)["bound"] == "waiting for each other");
  CHECK(headline(run)["because"].get<std::string>().starts_with(
      "Ranks waited for 70% of their time, mostly for other ranks"));
  run["summary"]["packets"]["dropped"] = 12;
  run["signals_by_name"]["timeout"] = 3;
  CHECK(headline(run)["bound"] == "losses");
  add_link(run, "leaf 1", "spine 2", 0.95);
  CHECK(headline(run)["bound"] == "network links");
  add_link(run, "host 1", "leaf 2", 0.95);
  CHECK(headline(run)["bound"] == "endpoint links");
}

TEST_CASE("a critical path tells more than sums over ranks") {
  Json run = run_of(20, 10, 70);
  run["summary"]["critical_path"]["missing"] = "not asked for";
  CHECK(headline(run)["bound"] == "latency");
  run["summary"]["critical_path"] = {
      {"shares", {{"compute_ns", 20}, {"queueing_ns", 50}, {"matching_ns", 30}}}};
  CHECK(headline(run)["bound"] == "contention");
  CHECK(headline(run)["because"].get<std::string>().starts_with(
      "The chain of work and messages that set the pace was 50% queues and shared links and 30% handshakes "
      "of large messages."));
}

TEST_CASE("a model without times of ranks, and a run that did not finish, are told") {
  Json run = run_of(0, 0, 0);
  CHECK(headline(run)["bound"] == "not known");
  run["summary"]["outcome"] = "time limit";
  run["summary"]["stopped_at_ns"] = 1234567;
  CHECK(headline(run)["title"] == "2 ranks did not finish: the run ended as 'time limit' after 1.23 ms.");
}

TEST_CASE("times have the unit that suits") {
  CHECK(time_text(0) == "0 ns");
  CHECK(time_text(999) == "999 ns");
  CHECK(time_text(12'500) == "12.5 µs");
  CHECK(time_text(4'240'115) == "4.24 ms");
  CHECK(time_text(90e9) == "1.5 min");
  CHECK(time_text(7.2e12) == "2 h");
}

}  // namespace
}  // namespace weft::report
