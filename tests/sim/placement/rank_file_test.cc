// Placements that files give: rankfiles, hostfiles, real runs.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "sim/placement/policies/policies.h"
#include "sim/placement/policies/rank_list.h"
#include "sim/units/input_error.h"
#include "topologies/families.h"

namespace weft::placement {
namespace {

using Hosts = std::vector<std::uint32_t>;

std::vector<std::string> names(const char* text, std::uint32_t ranks) {
  std::vector<std::string> list;
  for (const RankPlace& place : read_rank_list(text, "r", ranks)) list.push_back(place.host);
  return list;
}

std::string write(const std::string& name, const std::string& text) {
  const char* folder = std::getenv("TEST_TMPDIR");
  const std::string path = std::string(folder != nullptr ? folder : "/tmp") + "/" + name;
  std::ofstream(path) << text;
  return path;
}

// Six hosts whose names are those of Leonardo's first allocation, and two others.
topologies::Topology leonardo() {
  topologies::Topology topology("leonardo, a part");
  const topologies::Vertex hub = topology.add_switch("leaf", 1);
  const topologies::Link link{.rate = Bandwidth::gbps(100), .latency = {}};
  for (const char* name :
       {"lrdn0041", "lrdn0084", "lrdn0089", "lrdn0128", "lrdn0140", "lrdn0353", "lrdn0673", "lrdn0708"})
    topology.add_link(topology.add_host(name), hub, link);
  topology.finish();
  return topology;
}

Outcome on_leonardo(const std::string& policy, const std::string& path, const Request& request,
                    const std::map<std::string, std::string>& more = {}) {
  static const topologies::Topology topology = leonardo();
  ModuleChoice choice{.name = policy, .given = more, .location = {}, .locations = {}};
  choice.given["file"] = path;
  Machine machine = idle_machine(topology);
  machine.state[4] = HostState::kFailed;
  machine.state[0] = HostState::kTaken;
  return place(choice, request, machine);
}

constexpr const char* kRuns =
    "machine,timestamp,nodes,hosts\n"
    "leonardo,2025_03_13___15_38_05,4,lrdn0089:1@1/10304 lrdn0353:1@2/11202 lrdn0673:1@4/21100 "
    "lrdn0708:1@4/21204\n"
    "leonardo,2025_03_13___15_47_02,4,lrdn0041:1@1/10204 lrdn0084:1@1/10302 lrdn0128:1@1/10500 "
    "lrdn0140:1@1/10504\n"
    "lumi,2025_03_14,2,lrdn0084:4 lrdn0128:4\n";

}  // namespace

TEST_CASE("rank lists: the forms of Open MPI and Slurm") {
  using Names = std::vector<std::string>;
  CHECK(names("rank 1=bb slot=0\nrank 0=aa slot=1:0-2 # socket 1\n\nrank 2=+n0\n", 3) ==
        Names{"aa", "bb", "+n0"});
  CHECK(names("aa slots=2\nbb slots=4 max_slots=4\n", 5) == Names{"aa", "aa", "bb", "bb", "bb"});
  CHECK(names("aa\nbb\naa\n", 3) == Names{"aa", "bb", "aa"});
  CHECK(names("aa,bb*2 cc:2", 5) == Names{"aa", "bb", "bb", "cc", "cc"});
  CHECK(names("n[08-10,3]-ib\r\n", 4) == Names{"n08-ib", "n09-ib", "n10-ib", "n3-ib"});
  CHECK(names("n[1-2]:2", 4) == Names{"n1", "n1", "n2", "n2"});
  CHECK(names("\"host 7\" \"host 8\" slots=2", 3) == Names{"host 7", "host 8", "host 8"});
  CHECK(names("lrdn0089:1@1/10304 lrdn0353:1@2/11202", 2) == Names{"lrdn0089", "lrdn0353"});
  // LSF's LSB_MCPU_HOSTS, and a line for each of its hosts.
  CHECK(names("tux5 2\ntux6 2\n", 4) == Names{"tux5", "tux5", "tux6", "tux6"});
  CHECK(names("tux5,2\ntux6,1\n", 3) == Names{"tux5", "tux5", "tux6"});
  CHECK(names("tux5 2 tux6 1", 3) == Names{"tux5", "tux5", "tux6"});
  CHECK(names("n[1-2] 2, \"host 7\" 1", 5) == Names{"n1", "n1", "n2", "n2", "host 7"});
  // A rank and its host, in any order; and numbers alone, which are hosts.
  CHECK(names("1 tux5\n2,tux6\n0 \"host 7\"\n", 3) == Names{"host 7", "tux5", "tux6"});
  CHECK(names("0 tux5\nrank 1=tux6\n", 2) == Names{"tux5", "tux6"});
  CHECK(names("0 5\n1 6\n", 4) == Names{"0", "5", "1", "6"});
  // Longer than the job, and far longer.
  CHECK(names("aa\nbb\n", 1) == Names{"aa"});
  CHECK(names("n[0-4294967295]:4294967295", 2) == Names{"n0", "n0"});
}

TEST_CASE("rank lists: places left over are counted") {
  const auto left_over = [](const char* text, std::uint32_t ranks) {
    std::uint64_t left = 0;
    (void)read_rank_list(text, "r", ranks, &left);
    return left;
  };
  CHECK(left_over("aa\nbb\n", 2) == 0);
  CHECK(left_over("aa\nbb\n", 1) == 1);
  CHECK(left_over("aa 4\nbb slots=4\n", 3) == 5);
  CHECK(left_over("n[1-8]:2", 3) == 13);
  CHECK(left_over("0 5\n1 6\n", 2) == 2);
  CHECK(left_over("0 tux5\n1 tux6\n", 2) == 0);
  CHECK(left_over("n[0-4294967295]:4294967295", 2) == (std::uint64_t{4294967295} << 32) - 2);
  CHECK(left_over("n[0-4294967295]:4294967295 m[0-4294967295]:4294967295", 2) == UINT64_MAX);
}

TEST_CASE("rank lists: mistakes are told with their line") {
  const auto error = [](const char* text, std::uint32_t ranks, const char* what) {
    CHECK_THROWS_WITH(read_rank_list(text, "r", ranks), Catch::Contains(what));
  };
  error("rank 0=a\nrank 0=b\n", 2, "r:2: rank 0 has a host already, in line 1");
  error("rank 0=a\nrank 2=b\n", 2, "r:2: rank 2, but the job has 2 (0 to 1)");
  error("rank 1=a\n", 2, "r: it has no host for rank 0 of 2");
  error("a\n", 2, "r: it has no host for rank 1 of 2");
  error("rank 0=a\nb\n", 2, "r:2: 'b', but line 1 is of a rank: expected one kind of lines");
  error("a\nrank 0=b\n", 2, "r:2: 'rank 0=b', but line 1 is a host");
  error("rank x=a\n", 2, "r:1: 'rank x=a', but expected a line like rank 0=node7");
  error("\na slots=0\n", 2, "r:2: '0', but expected a number of ranks");
  error("n[3-1]\n", 2, "r:1: '3-1', but expected a range like 01-16");
  error("n[3-5\n", 2, "r:1: 'n[3-5', but expected one range in brackets");
  error("\"host 1\n", 2, "r:1: a quote is not closed");
  error("a:3 slots=3\n", 2, "two numbers of ranks");
  error("a:3 3\n", 2, "two numbers of ranks");
  for (const char* text : {"tux5 2 3", "tux5 tux6 2", "0 tux5 tux6", "2 tux5 2 tux6", "tux5 slots=2 2",
                           "0 tux5 slots=2", "tux5 2 tux6"}) {
    error(text, 2, "has names and bare numbers; expected hosts alone, each with its number of ranks");
  }
  error("tux5 0\n", 2, "r:1: '0', but expected a number of ranks above 0");
  error("0 tux5\n0 tux6\n", 2, "r:2: rank 0 has a host already, in line 1");
  error("0 tux5\n2 tux6\n", 2, "r:2: rank 2, but the job has 2 (0 to 1)");
  error("0 tux5\ntux6\n", 2, "r:2: 'tux6', but line 1 is of a rank: expected one kind of lines");
  error("99999999999 tux5\n", 2, "expected a line like rank 0=node7 slot=0, or 0 node7");
  error("", 1, "it has no host for rank 0 of 1");
}

TEST_CASE("rank file: hosts by name and number, taken, failed, full and unknown ones") {
  CHECK(on_leonardo("rank_file", write("a", "lrdn0708\n3\nh5\n+n1\n"), {.ranks = 4}).hosts ==
        Hosts{7, 3, 5, 1});
  CHECK(on_leonardo("rank_file", write("b", "1:2 2:2"), {.ranks = 4, .ranks_per_node = 2}).hosts ==
        Hosts{1, 1, 2, 2});
  CHECK(on_leonardo("rank_file", write("c", "1 0"), {.ranks = 2}).no_room == "lrdn0041 is taken");
  CHECK(on_leonardo("rank_file", write("e", "lrdn0708 2\nh5 2"), {.ranks = 4, .ranks_per_node = 2}).hosts ==
        Hosts{7, 7, 5, 5});
  CHECK(on_leonardo("rank_file", write("f", "1 lrdn0084\n0 h5"), {.ranks = 2}).hosts == Hosts{5, 1});
  CHECK(on_leonardo("rank_file", write("g", "1\n2\n"), {.ranks = 2}).remark.empty());
  CHECK(on_leonardo("rank_file", write("g", "1\n2\n3\n5\n"), {.ranks = 2})
            .remark.ends_with("g has places for 2 ranks more than the job's 2; they are left over"));
  const auto error = [](const char* text, const char* what) {
    CHECK_THROWS_WITH(on_leonardo("rank_file", write("d", text), {.ranks = 2}), Catch::Contains(what));
  };
  error("1\n4\n", "d:2: lrdn0140 has failed");
  error("1\n1\n", "d:2: lrdn0084 gets rank 1 as its 2., but a host takes 1 of this job's");
  error("1\n8\n", "d:2: '8', but the network has 8 hosts (0 to 7)");
  error("1\nlrdn009\n", "d:2: 'lrdn009' is no host of leonardo, a part (did you mean 'lrdn00");
  error("1\nlrdn0090\n", "the first is 'lrdn0041'");
  CHECK_THROWS_WITH(on_leonardo("rank_file", "/nowhere", {.ranks = 2}),
                    "/nowhere: can't read the file: No such file or directory");
  CHECK_THROWS_WITH(on_leonardo("rank_file", "", {.ranks = 2}), Catch::Contains("rank_file:file=PATH"));
}

TEST_CASE("allocation: the hosts of a real run") {
  const std::string path = write("runs.csv", kRuns);
  const auto run = [&](const char* stamp, const Request& request, const char* tasks = "as_run") {
    return on_leonardo("allocation", path, request, {{"run", stamp}, {"tasks", tasks}});
  };
  CHECK(run("2025_03_13___15_38_05", {.ranks = 4}).hosts == Hosts{2, 5, 6, 7});
  CHECK(run("2025_03_13___15_38_05", {.ranks = 2}).hosts == Hosts{2, 5});
  CHECK(run("2025_03_14", {.ranks = 6, .ranks_per_node = 4}).hosts == Hosts{1, 1, 1, 1, 3, 3});
  CHECK(run("2025_03_14", {.ranks = 3, .ranks_per_node = 2}, "as_job").hosts == Hosts{1, 1, 3});
  CHECK_THROWS_WITH(run("2025_03_13___15_47_02", {.ranks = 4}),
                    Catch::Contains("runs.csv:3: lrdn0140 has failed"));
  CHECK_THROWS_WITH(run("2025_03_14", {.ranks = 2}), Catch::Contains("a host takes 1"));
  CHECK_THROWS_WITH(run("2025_03_13___15_38_05", {.ranks = 5}),
                    Catch::Contains("runs.csv:2: the run has room for 4 ranks, and the job has 5"));
  CHECK_THROWS_WITH(run("", {.ranks = 2}),
                    Catch::Contains("it has 3 runs; choose one with run=TIMESTAMP or line=N, like line=2"));
  CHECK_THROWS_WITH(run("2024", {.ranks = 2}), Catch::Contains("it has no run with timestamp 2024"));
  CHECK(on_leonardo("allocation", path, {.ranks = 4}, {{"line", "2"}}).hosts == Hosts{2, 5, 6, 7});
  CHECK_THROWS_WITH(on_leonardo("allocation", path, {.ranks = 4}, {{"line", "9"}}),
                    Catch::Contains("it has no run in line 9"));
  CHECK(on_leonardo("allocation", path, {.ranks = 2, .ranks_per_node = 4}, {{"machine", "lumi"}}).hosts ==
        Hosts{1, 1});
  CHECK_THROWS_WITH(on_leonardo("allocation", write("x.csv", "a,b\n"), {.ranks = 2}),
                    Catch::Contains("x.csv:1: 'a,b', but expected machine,timestamp,nodes,hosts"));
  CHECK_THROWS_WITH(
      on_leonardo("allocation", write("y.csv", "machine,timestamp,nodes,hosts\nm,1\n"), {.ranks = 2}),
      Catch::Contains("y.csv:2: 'm,1…'"));
}

}  // namespace weft::placement
