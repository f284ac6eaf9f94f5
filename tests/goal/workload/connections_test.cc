#include <filesystem>
#include <fstream>
#include <string>

#include "goal/workload/connection_matrix.h"
#include "goal/workload/message_graph.h"
#include "tests/goal/workload/traffic.h"

using namespace weft;
using namespace weft::goal;

namespace {

Graph graph(const std::string& text, std::uint32_t ranks) {
  return connection_graph(parse_connection_matrix(text, "x.cm"), ranks);
}

std::string refused(const std::string& text, std::uint32_t ranks = 4) {
  try {
    graph(text, ranks);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("connections start at their times, in picoseconds") {
  const Graph read = graph(
      "# two flows\nNodes 3\nConnections 3\n0->2 start 0 size 2000000\r\n1->2  id 7 start 1500400 size 10 \n"
      "1->0 size 20 start 2.5e6",
      5);
  const std::vector<Message> expected = {{0, 2, 2'000'000}, {1, 2, 10, 1500}, {1, 0, 20, 2500}};
  CHECK(read == message_graph(5, expected));
  CHECK(sends(read).size() == 3);
}

TEST_CASE("triggers are dependencies at the rank that sends") {
  const std::string header = "Nodes 3\nConnections 3\nTriggers 1\n";
  const std::vector<Message> messages = {{0, 1, 10}, {2, 1, 20}, {1, 2, 30}};
  const auto with = [&](std::vector<Release> releases) { return message_graph(3, messages, releases); };
  // A barrier over two receives.
  const Graph barrier =
      graph(header +
                "0->1 id 1 start 0 size 10 recv_done_trigger 5\n2->1 start 0 size 20 "
                "recv_done_trigger 5\n1->2 id 3 trigger 5 size 30\ntrigger id 5 barrier count 2\n",
            3);
  CHECK(barrier == with({{0, 2, true}, {1, 2, true}}));
  // The sender of the next connection is the receiver of the last: it goes by its receive, as in a ring.
  CHECK(graph(header +
                  "0->1 start 0 size 10 send_done_trigger 5\n2->1 start 0 size 20\n1->2 trigger 5 size 30\n"
                  "trigger id 5 oneshot\n",
              3) == with({{0, 2, true}}));
  // Where both ends would do, the trigger's own one counts.
  const std::string pair = "Nodes 2\n0->1 start 0 size 1 send_done_trigger 1\n0->1 trigger 1 size 2\n";
  const std::vector<Message> two = {{0, 1, 1}, {0, 1, 2}};
  const std::vector<Release> sent = {{0, 1, false}};
  CHECK(graph(pair + "trigger id 1 multishot", 2) == message_graph(2, two, sent));
}

TEST_CASE("a serial all-to-all with a trigger after each send is the one of parallel=1") {
  const std::uint32_t ranks = 5;
  std::string text = "Nodes 5\nConnections 20\nTriggers 15\n", triggers;
  int id = 0;
  for (std::uint32_t r = 0; r < ranks; ++r) {
    for (std::uint32_t i = 1; i < ranks; ++i) {
      text += std::to_string(r) + "->" + std::to_string((r + i) % ranks);
      text += i == 1 ? " start 0" : " trigger " + std::to_string(id);
      text += " size 16384";
      if (i + 1 < ranks) {
        text += " send_done_trigger " + std::to_string(++id);
        triggers += "trigger id " + std::to_string(id) + " oneshot\n";
      }
      text += "\n";
    }
  }
  const Graph read = graph(text + triggers, ranks);
  const Graph pattern = traffic("alltoall:parallel=1", ranks);
  CHECK(sends(read) == sends(pattern));
  REQUIRE(read.edges() == pattern.edges());
  for (Rank r = 0; r < ranks; ++r) {
    for (OpIndex i = 4; i < 8; ++i) {
      const auto a = read.rank(r).dependents(i), b = pattern.rank(r).dependents(i);
      CHECK(std::equal(a.begin(), a.end(), b.begin(), b.end()));
    }
  }
}

TEST_CASE("errors of connection matrices name line and column") {
  CHECK(refused("Nodes 4\n0->1 start 0 sise 5\n") ==
        "x.cm:2:14: found 'sise'; expected id, start, size, trigger, send_done_trigger or recv_done_trigger");
  CHECK(refused("Nodes 4\nNods 3\n").find("x.cm:2:1: found 'Nods'; expected Nodes, Connections") == 0);
  CHECK(refused("Nodes 4\nfailure switch_id 1\n").find("x.cm:2:1: found 'failure'") == 0);
  CHECK(refused("Nodes 4\n0->4 start 0 size 5\n") ==
        "x.cm:2:4: found '4'; expected a node, a whole number from 0 to 3");
  CHECK(refused("Nodes 4\n-1->2 start 0 size 5\n").find("x.cm:2:1: found '-1'") == 0);
  CHECK(refused("Nodes 4\n2->2 start 0 size 5\n") == "x.cm:2:1: node 2 sends to itself");
  CHECK(refused("Nodes 4\n0->1 start x size 5\n").find("x.cm:2:12: found 'x'; expected a start time") == 0);
  CHECK(
      refused("Nodes 4\n0->1 start 0 size\n").find("x.cm:2:18: found the end of the line; expected a size") ==
      0);
  CHECK(refused("Nodes 4\n0->1 start 0 size 0\n").find("x.cm:2:19: size 0 means a transfer without end") ==
        0);
  CHECK(refused("Nodes 4\n0->1 start 0\n") == "x.cm:2:1: the connection has no size");
  CHECK(refused("Nodes 4\n0->1 size 5\n").find("a start time or a trigger") != std::string::npos);
  CHECK(refused("Nodes 4\n0->1 size 5 size 6 start 0\n") == "x.cm:2:13: 'size' is given twice");
  CHECK(refused("Nodes 4\n0->1 id 3 size 5 start 0\n2->1 id 3 size 5 start 0\n").find("x.cm:3:9:") == 0);
  CHECK(refused("Nodes 4\nConnections 2\n0->1 size 5 start 0\n") ==
        "x.cm:2:1: 'Connections 2', but there are 1");
  CHECK(refused("Nodes 4\nTriggers 1\n") == "x.cm:2:1: 'Triggers 1', but there are 0");
  CHECK(refused("Nodes 4\nNodes 4\n") == "x.cm:2:1: 'Nodes' is given twice");
  CHECK(refused("Nodes 0\n") != "");
  CHECK(refused("0->1 size 5 start 0\n").find("x.cm:1:1: a connection before the line 'Nodes N'") == 0);
  CHECK(refused("") == "x.cm: the file has no line 'Nodes N'");
  CHECK(refused("Nodes 5\n0->1 size 5 start 0\n") ==
        "the connections are between 5 nodes, but there are 4 ranks");
}

TEST_CASE("triggers that can't be dependencies are refused") {
  const std::string first = "Nodes 4\n0->1 start 0 size 5 send_done_trigger 1\n";
  CHECK(refused(first + "2->3 size 5 trigger 1\ntrigger id 1 oneshot\n") ==
        "x.cm:3:21: trigger 1 starts 2->3 after 0->1, but node 2 has no part in that: it could learn of its "
        "end by "
        "a message only");
  CHECK(refused(first) == "x.cm:2:1: the connection names trigger 1, which no line describes");
  CHECK(refused("Nodes 4\n0->1 trigger 2 size 5\n") ==
        "x.cm:2:1: the connection names trigger 2, which no line describes");
  CHECK(refused("Nodes 4\n0->1 trigger 2 size 5\ntrigger id 2 oneshot\n")
            .find("x.cm:3:1: trigger 2 is never") == 0);
  const std::string both = first + "0->2 start 0 size 5 send_done_trigger 1\n0->3 trigger 1 size 5\n";
  CHECK(
      refused(both + "trigger id 1 oneshot\n").find("x.cm:5:1: trigger 1 is a oneshot, but 2 connections") ==
      0);
  CHECK(refused(both + "trigger id 1 multishot\n")
            .find("x.cm:5:1: trigger 1 is a multishot with 2 activations") == 0);
  CHECK(refused(both + "trigger id 1 barrier count 3\n") ==
        "x.cm:5:1: trigger 1 waits for 3 activations, but 2 connections activate it");
  CHECK(refused(both + "trigger id 1 barrier count 2\n") == "");
  CHECK(refused(both + "trigger id 1 barrier\n").find("x.cm:5:1: a barrier needs 'count N'") == 0);
  CHECK(refused(both + "trigger oneshot\n") == "x.cm:5:1: the trigger has no id");
  CHECK(refused(both + "trigger id 1\n").find("x.cm:5:1: the trigger has no kind") == 0);
  CHECK(refused(both + "trigger id 1 oneshot barrier\n") == "x.cm:5:22: the trigger has a kind already");
  CHECK(
      refused(both + "trigger id 1 sometimes\n").find("x.cm:5:14: found 'sometimes'; expected id, oneshot") ==
      0);
  CHECK(refused(both + "trigger id 1 barrier count 2\ntrigger id 1 oneshot\n") ==
        "x.cm:6:1: there is a trigger 1 already");
}

TEST_CASE("the workload reads the file") {
  const auto path = std::filesystem::temp_directory_path() / "weft_connections_test.cm";
  std::ofstream(path) << "Nodes 2\nConnections 1\n0->1 start 0 size 9\n";
  CHECK(sends(traffic("connections:file=" + path.string(), 2)) == std::vector<Sent>{{0, 1, 9}});
  std::filesystem::remove(path);
  CHECK(refusal("connections", 2).find("it must be the path of a connection matrix") != std::string::npos);
  CHECK(refusal("connections:file=not/there.cm", 2).find("not/there.cm") != std::string::npos);
}
