// The data of the page against tables whose sums are known.
#include "tools/report/sections.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "sim/units/input_error.h"

namespace weft::report {
namespace {

namespace fs = std::filesystem;

// Tables as sim/results/SQLITE.md has them.
constexpr const char* kTables =
    "CREATE TABLE run (key, value); CREATE TABLE omitted (table_name, rows, kept, rule);"
    "CREATE TABLE ranks (rank, finish_ns, job, host, compute_ns, overhead_ns, waiting_ns, messages_sent, "
    "messages_received, bytes_sent, bytes_received, ops);"
    "CREATE TABLE jobs (job, start_ns);"
    "CREATE TABLE flows (flow, source, destination, bytes, start_ns, finish_ns, packets, retransmissions, "
    "ecn_marked, ideal_ns, slowdown, goodput_bps, out_of_order, reorder_distance);"
    "CREATE TABLE histograms (quantity, first, last, count);"
    "CREATE TABLE links (link, \"from\", \"to\", rate_bps, bytes, packets, busy_ns, utilization, drops, "
    "ecn_marks, "
    "max_queue_bytes);"
    "CREATE TABLE job_links (link, \"from\", \"to\", utilization, job, name, bytes, share);"
    "CREATE TABLE samples (time_ns, link, bytes, utilization, queue_bytes);"
    "CREATE TABLE network_samples (time_ns, packets_in_flight, packets_injected, packets_delivered, "
    "bytes_delivered, drops, ecn_marks);"
    "CREATE TABLE timeline (job, rank, cpu, kind, start_ns, end_ns, op, collective, peer, bytes, tag, "
    "message);"
    "CREATE TABLE timeline_messages (message, job, source, destination, bytes, tag, collective, sent_ns, "
    "arrived_ns);"
    "CREATE TABLE timeline_bins (job, first_rank, last_rank, start_ns, end_ns, compute_ns, send_ns, "
    "receive_ns, "
    "wait_network_ns, wait_peer_ns, wait_other_ns);";

std::string database_with(const std::string& sql) {
  const std::string path = (fs::path(std::getenv("TEST_TMPDIR")) / "results.sqlite").string();
  fs::remove(path);
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &database) == SQLITE_OK);
  REQUIRE(sqlite3_exec(database, (std::string(kTables) + sql).c_str(), nullptr, nullptr, nullptr) ==
          SQLITE_OK);
  sqlite3_close(database);
  return path;
}

// Gives the SQL that runs `insert` for rows 0 to count - 1, each with its number i.
std::string rows(std::size_t count, const std::string& insert) {
  return fmt::format(
      "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {}) {} FROM n;", count,
      insert);
}

double sum(const Json& column) {
  double all = 0;
  for (const Json& value : column) all += value.get<double>();
  return all;
}

TEST_CASE("neighbouring ranks of one job share a bar, and every sum stays") {
  // 10 ranks of job 0 and 7 of job 1; rank i computes i ns and waits 2 i ns.
  const Database database(database_with(
      rows(10, "INSERT INTO ranks SELECT i, 3 * i, 0, i, i, 1, 2 * i, 1, 1, 5, 5, 1") +
      rows(7, "INSERT INTO ranks SELECT i, 30 * i, 1, 10 + i, 10 * i, 1, 20 * i, 1, 1, 5, 5, 1")));
  Budget budget;
  const Json all = rank_times(database, budget);
  CHECK(all["count"] == 17);
  CHECK(all["together"] == 1);
  CHECK(all["by_rank"]["rank"].size() == 17);
  budget.ranks = 5;
  const Json few = rank_times(database, budget);
  CHECK(few["together"] == 4);
  CHECK(few["by_rank"]["rank"] == Json({0, 4, 8, 0, 4}));
  CHECK(few["by_rank"]["last_rank"] == Json({3, 7, 9, 3, 6}));
  for (const char* name : {"ranks", "compute_ns", "overhead_ns", "waiting_ns", "bytes_sent"}) {
    CHECK(sum(few["by_rank"][name]) == sum(all["by_rank"][name]));
    CHECK(sum(few["by_job"][name]) == sum(all["by_rank"][name]));
  }
  CHECK(all["by_job"]["compute_ns"] == Json({45, 210}));
  CHECK(all["by_job"]["finish_ns"] == Json({27, 180}));
  CHECK(all["by_job"]["wait_network_ns"] == Json({nullptr, nullptr}));
}

TEST_CASE("waiting is divided where the timeline has all of it, else by the bins") {
  const std::string ranks = "INSERT INTO ranks VALUES (0, 10, 0, 0, 4, 1, 5, 1, 1, 8, 8, 1);";
  const std::string slices =
      "INSERT INTO timeline VALUES (0, 0, 0, 'compute', 0, 4, 0, '', NULL, NULL, NULL, NULL), "
      "(0, 0, 0, 'wait_peer', 4, 6, NULL, '', 1, 8, 0, 0), (0, 0, 0, 'wait_network', 6, 9, NULL, '', 1, 8, "
      "0, 0), "
      "(0, 0, 0, 'receive', 9, 10, 1, '', 1, 8, 0, 0), (0, 0, 0, 'send', 10, 10, 2, '', 1, 8, 0, 1);";
  const Budget budget;
  {
    const Database database(database_with(ranks + slices));
    const Json times = rank_times(database, budget);
    CHECK(times["by_rank"]["wait_network_ns"] == Json({3}));
    CHECK(times["by_rank"]["wait_peer_ns"] == Json({2}));
    const Json line = timeline(database, budget);
    CHECK(line["rows"] == 4);  // what has no length isn't drawn
    CHECK(line["slices"]["kind"] == Json({0, 3, 2, 1}));
    CHECK(line["slices"]["end"] == Json({4, 6, 9, 10}));
  }
  const Database thinned(database_with(ranks + slices +
                                       "INSERT INTO omitted VALUES ('timeline', 10, 5, 'even');"
                                       "INSERT INTO timeline_bins VALUES (0, 0, 0, 0, 5, 4, 0, 0, 0, 1, 0), "
                                       "(0, 0, 0, 5, 10, 0, 0, 1, 3, 1, 0);"));
  const Json times = rank_times(thinned, budget);
  CHECK(times["by_rank"]["wait_network_ns"] == Json({nullptr}));
  CHECK(times["by_job"]["wait_network_ns"] == Json({3}));
  CHECK(times["by_job"]["wait_peer_ns"] == Json({2}));
}

TEST_CASE("a rank with several cpus waits while none of them works") {
  // From 20 on: four cpus for 100 ns each, one of which computes for 30; a rank beside it has one cpu. Of
  // 370 ns that the four wait, 74 in the network, the rank waits 70.
  const Database database(
      database_with("INSERT INTO jobs VALUES (0, 20);"
                    "INSERT INTO ranks VALUES (0, 120, 0, 0, 30, 0, 370, 1, 1, 8, 8, 1), (1, 120, 0, 1, 90, "
                    "0, 10, 1, 1, 8, 8, 1);"
                    "INSERT INTO timeline VALUES (0, 0, 1, 'wait_network', 20, 94, NULL, '', 1, 8, 0, 0);"));
  const Json times = rank_times(database, Budget());
  CHECK(times["by_rank"]["waiting_ns"] == Json({70.0, 10}));
  CHECK(times["by_rank"]["wait_network_ns"] == Json({14, nullptr}));
  CHECK(times["by_job"]["waiting_ns"] == Json({80}));
}

TEST_CASE("a file that lacks a rank's waiting, or a bin's, is drawn all the same") {
  const std::string bins = "INSERT INTO timeline_bins VALUES (0, 0, 0, 0, 5, 4, 0, 0, NULL, 1, 0);";
  const Database unknown(
      database_with("INSERT INTO ranks VALUES (0, 10, 0, 0, 4, 1, NULL, 1, 1, 8, 8, 1);" + bins));
  const Json times = rank_times(unknown, Budget());
  CHECK(times["by_job"]["waiting_ns"] == Json({nullptr}));
  CHECK(times["by_job"]["wait_network_ns"] == Json({0}));
  CHECK(times["by_job"]["wait_peer_ns"] == Json({1}));
}

TEST_CASE("a timeline that is too long keeps every k-th rank, and messages between these") {
  const Database database(database_with(
      rows(100,
           "INSERT INTO timeline SELECT 0, i / 10, 0, 'compute', i, i + 1, i, '', NULL, NULL, NULL, NULL") +
      rows(10, "INSERT INTO timeline_messages SELECT i, 0, i, (i + 2) % 10, 8, 0, '', i, i + 1")));
  Budget budget;
  budget.slices = 50;
  const Json line = timeline(database, budget);
  CHECK(line["step"] == 2);
  CHECK(line["slices"]["rank"].size() == 50);
  for (const Json& rank : line["slices"]["rank"]) CHECK(rank.get<int>() % 2 == 0);
  CHECK(line["messages"]["source"] == Json({0, 2, 4, 6, 8}));
}

TEST_CASE("why there is no timeline is told") {
  const Database database(database_with("INSERT INTO run VALUES ('timeline.absent', 'too many threads');"));
  CHECK(timeline(database, Budget())["absent"] == "too many threads");
}

TEST_CASE("messages are sampled by their number, and distributions keep every message") {
  const Database database(database_with(
      rows(1000,
           "INSERT INTO flows SELECT i, 0, 1, 100 + i, i, 2 * i + 7, 1, 0, 0, 5, 1 + i / 100.0, 1, 0, 0") +
      rows(1000, "INSERT INTO histograms SELECT 'completion_ns', 10 * i, 10 * i + 9, i")));
  Budget budget;
  budget.messages = 300;
  budget.buckets = 128;
  const Json all = messages(database, budget);
  CHECK(all["rows"] == 1000);
  CHECK(all["step"] == 4);
  CHECK(all["sample"]["flow"].size() == 250);
  CHECK(all["sample"]["flow"][1] == 4);
  CHECK(all["sample"]["completion_ns"][1] == 11);
  CHECK(all["completion_ns"]["count"].size() == 125);
  CHECK(sum(all["completion_ns"]["count"]) == 999 * 500);
  CHECK(all["completion_ns"]["first"][1] == 80);
  CHECK(all["completion_ns"]["last"][0] == 79);
  CHECK(all["slowest"]["flow"][0] == 999);
}

TEST_CASE("links that are first in any way are listed once") {
  // 0 is the busiest, 19 has the longest queue, 10 lost most; 5 carried nothing.
  const Database database(database_with(rows(20,
                                             "INSERT INTO links SELECT i, 'a' || i, 'b', 1e9, CASE i WHEN 5 "
                                             "THEN 0 ELSE 1 END, 1, 1, 1 - i / 20.0, "
                                             "CASE i WHEN 10 THEN 9 ELSE 0 END, 0, i * 100") +
                                        "INSERT INTO job_links VALUES (0, 'a0', 'b', 1, 0, 'x', 30, 0.75), "
                                        "(0, 'a0', 'b', 1, 1, 'y', 10, 0.25), "
                                        "(7, 'a7', 'b', 1, 0, 'x', 30, 1);"));
  Budget budget;
  budget.links = 4;
  const Json all = links(database, budget);
  CHECK(all["count"] == 20);
  CHECK(all["used"] == 19);
  CHECK(all["drops"] == 9);
  CHECK(all["rows"]["link"] == Json({0, 1, 10, 18, 19}));
  CHECK(all["by_job"]["name"] == Json({"x", "y"}));
  CHECK(sum(all["busy"]["links"]) == 20);
}

TEST_CASE("samples over time keep the longest queue and the sum of bytes") {
  // 1,000 intervals of 10 ns; the queue of link 3 is as long as the time, that of link 4 always 1.
  const Database database(
      database_with(rows(1000, "INSERT INTO network_samples SELECT 10 * (i + 1), i, 1, 1, 5, 0, i % 2") +
                    rows(1000, "INSERT INTO samples SELECT 10 * (i + 1), 3, 7, 0.5, i") +
                    rows(1000, "INSERT INTO samples SELECT 10 * (i + 1), 4, 7, 0.25, 1") +
                    "INSERT INTO links VALUES (3, 'a', 'b', 1, 1, 1, 1, 1, 0, 0, 999), (4, 'b', 'a', 1, 1, "
                    "1, 1, 1, 0, 0, 1);"));
  Budget budget;
  budget.intervals = 100;
  const Json all = series(database, budget);
  CHECK(all["interval_ns"] == 100);
  CHECK(all["network"]["place"].size() == 100);
  CHECK(all["network"]["place"][0] == 1);
  CHECK(all["network"]["packets_in_flight"][0] == 9);
  CHECK(sum(all["network"]["bytes_delivered"]) == 5000);
  CHECK(sum(all["network"]["ecn_marks"]) == 500);
  CHECK(all["queues"]["longest"][99] == 999);
  CHECK(all["queues"]["together"][99] == 1000);
  CHECK(all["queues"]["utilization"][5] == 0.5);
  CHECK(all["hot"]["links"]["link"] == Json({3, 4}));
  CHECK(all["hot"]["cells"]["queue"][0] == 9);
}

TEST_CASE("without samples there are no series") {
  CHECK(series(Database(database_with("")), Budget()).is_null());
}

TEST_CASE("parameters have the paths of their fields, and repeated ones numbers") {
  const Json all = parameters(
      "job {\n  goal: \"a \\\"b\\\".weft\"\n  at: 0\n}\njob {\n  at: \"1ms\"\n}\n"
      "topology {\n  fat_tree {\n    k: 4\n    link: \"100Gbps\"\n  }\n}\nseed: 1\n",
      Budget());
  CHECK(all["name"] ==
        Json({"job.goal", "job.at", "job[1].at", "topology.fat_tree.k", "topology.fat_tree.link", "seed"}));
  CHECK(all["value"] == Json({"a \"b\".weft", "0", "1ms", "4", "100Gbps", "1"}));
  const ModuleChoice choice = chosen_topology(all);
  CHECK(choice.name == "fat_tree");
  CHECK(choice.given == std::map<std::string, std::string>{{"k", "4"}, {"link", "100Gbps"}});
  CHECK(chosen_topology(parameters("seed: 1\n", Budget())).empty());
  // A module without parameters is one, too.
  const Json bare =
      parameters("routing {\n  dor {\n  }\n}\ntopology {\n  single_switch {\n  }\n}\n", Budget());
  CHECK(bare["name"] == Json({"routing.dor", "topology.single_switch"}));
  CHECK(chosen_topology(bare).name == "single_switch");
}

TEST_CASE("what is no scenario is no trouble") {
  for (const char* text : {"}", "}}}}", "{", "a {", ":", "a: \"", "\"\\", "a:\nb"}) {
    CHECK_NOTHROW(parameters(text, Budget()));
  }
  Budget small;
  small.text = 10;
  CHECK(parameters("seed: 1\nthreads: 2\n", small)["cut"] == true);
}

TEST_CASE("a file that is no database of ours is bad input") {
  const std::string path = (fs::path(std::getenv("TEST_TMPDIR")) / "other").string();
  CHECK_THROWS_WITH(Database(path + "/none"), Catch::Contains("there is no such file"));
  std::ofstream(path) << "this is text, and long enough to be looked at as a header of a database file, of "
                         "100 bytes and more";
  CHECK_THROWS_AS(Database(path), InputError);
  std::ofstream(path, std::ios::trunc).close();
  CHECK_THROWS_WITH(Database(path), Catch::Contains("found no table 'run'"));
  const Database database(database_with("DROP TABLE links;"));
  CHECK_THROWS_AS(links(database, Budget()), InputError);
}

}  // namespace
}  // namespace weft::report
