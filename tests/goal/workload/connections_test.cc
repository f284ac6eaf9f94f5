#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "goal/check/check.h"
#include "goal/workload/connection_matrix.h"
#include "goal/workload/message_graph.h"
#include "sim/units/random.h"
#include "tests/goal/workload/traffic.h"

using namespace weft;
using namespace weft::goal;

namespace {

Graph graph(const std::string& text, std::uint32_t ranks) {
  return connection_graph(parse_connection_matrix(text, "x.cm"), ranks).graph;
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
  // One after the other: operations 0 to 3 are receives, 4 to 7 sends.
  std::vector<Sent> expected;
  for (Rank r = 0; r < ranks; ++r) {
    for (Rank i = 1; i < ranks; ++i) expected.push_back({r, (r + i) % ranks, 16384});
  }
  CHECK(sends(read) == expected);
  REQUIRE(read.edges() == 3 * ranks);
  for (Rank r = 0; r < ranks; ++r) {
    for (OpIndex i = 4; i < 7; ++i) {
      const auto dependents = read.rank(r).dependents(i);
      REQUIRE(dependents.size() == 1);
      CHECK(dependents[0] == Edge(i + 1, false));
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

TEST_CASE("triggers that can't act are refused") {
  const std::string first = "Nodes 4\n0->1 start 0 size 5 send_done_trigger 1\n";
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
            .find("x.cm:5:1: trigger 1 is a multishot with 2 activations for 1 connections") == 0);
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
  // A circle: 1->2 and 2->3 wait for each other.
  CHECK(refused("Nodes 4\n0->1 start 0 size 5\n1->2 trigger 1 size 5 send_done_trigger 2\n"
                "2->3 trigger 2 size 5 recv_done_trigger 1\ntrigger id 1 oneshot\ntrigger id 2 oneshot\n") ==
        "x.cm:3:1: the connection never starts: what activates trigger 1 waits for it");
}

TEST_CASE("a trigger whose connections have no rank in common travels as a message of 0 bytes") {
  const ConnectionGraph made =
      connection_graph(parse_connection_matrix("Nodes 4\n0->1 start 0 size 5 send_done_trigger 1\n"
                                               "2->3 size 6 trigger 1\n2->0 size 7 trigger 1\n"
                                               "0->3 size 8 trigger 1\ntrigger id 1 oneshot\n",
                                               "x.cm"),
                       4);
  // 2 is told by 1, who received; once for both. 0 sent: it knows.
  const std::vector<Message> messages = {{0, 1, 5}, {2, 3, 6}, {2, 0, 7}, {0, 3, 8}, {1, 2, 0}};
  const std::vector<Release> releases = {{0, 4, true}, {4, 1, true}, {4, 2, true}, {0, 3, false}};
  CHECK(made.graph == message_graph(4, messages, releases));
  CHECK(made.trigger_messages == 1);
  CHECK(made.travelling_triggers == 1);
}

TEST_CASE("a barrier between many is gathered at the first sender") {
  // Three receivers, three senders: 3 + 2 messages instead of 9.
  const ConnectionGraph made = connection_graph(
      parse_connection_matrix(
          "Nodes 9\n0->1 start 0 size 5 recv_done_trigger 1\n"
          "2->3 start 0 size 5 recv_done_trigger 1\n4->5 start 0 size 5 recv_done_trigger 1\n"
          "6->0 trigger 1 size 6\n7->0 trigger 1 size 6\n8->0 trigger 1 size 6\n"
          "6->1 trigger 1 size 6\ntrigger id 1 barrier count 3\n",
          "x.cm"),
      9);
  const std::vector<Message> messages = {{0, 1, 5}, {2, 3, 5}, {4, 5, 5}, {6, 0, 6}, {7, 0, 6}, {8, 0, 6},
                                         {6, 1, 6}, {6, 7, 0}, {6, 8, 0}, {1, 6, 0}, {3, 6, 0}, {5, 6, 0}};
  const std::vector<Release> releases = {{7, 8, false}, {0, 9, true},  {9, 7, true},  {1, 10, true},
                                         {10, 7, true}, {2, 11, true}, {11, 7, true}, {7, 3, false},
                                         {7, 4, true},  {8, 5, true},  {7, 6, false}};
  CHECK(made.graph == message_graph(9, messages, releases));
  CHECK(made.trigger_messages == 5);
}

TEST_CASE("a multishot starts one connection for each activation, in the order they come") {
  const ConnectionGraph made = connection_graph(
      parse_connection_matrix("Nodes 5\n0->1 start 5e6 size 5 recv_done_trigger 1\n"
                              "2->3 start 0 size 5 recv_done_trigger 1\n3->4 trigger 1 size 6\n"
                              "2->4 trigger 1 size 7\ntrigger id 1 multishot\n",
                              "x.cm"),
      5);
  // 3 is told of both, once by itself; what comes first starts 3->4, what comes next has 2 told.
  const std::vector<Message> messages = {{0, 1, 5, 5000}, {2, 3, 5}, {3, 4, 6}, {2, 4, 7},
                                         {1, 3, 0},       {3, 3, 0}, {3, 2, 0}};
  const std::vector<Release> releases = {
      {0, 4, true}, {1, 5, true}, {4, 2, true}, {5, 6, true}, {6, 3, true}};
  const std::vector<Race> races = {{4, 2}};
  CHECK(made.graph == message_graph(5, messages, releases, races));
  CHECK(check(made.graph).clean());
}

TEST_CASE("random triggers make sound graphs in which every connection is sent once") {
  RandomStream random(7, 0);
  for (int round = 0; round < 200; ++round) {
    const std::uint32_t nodes = 2 + random.below(6);
    const auto pair = [&] {
      const auto from = random.below(nodes), to = (from + 1 + random.below(nodes - 1)) % nodes;
      return std::to_string(from) + "->" + std::to_string(to);
    };
    // Layers: what starts by themselves, then what each trigger starts; later ones activate the next.
    std::string text = "Nodes " + std::to_string(nodes) + "\n", triggers;
    std::uint32_t connections = 0, in_layer = 1 + random.below(4);
    const std::uint32_t layers = 1 + random.below(4);
    for (std::uint32_t layer = 0; layer < layers; ++layer) {
      const bool last = layer + 1 == layers;
      const char* kinds[] = {"oneshot", "multishot", "barrier count "};
      const auto kind = in_layer > 1 ? 1 + random.below(2) : random.below(3);
      for (std::uint32_t i = 0; i < in_layer; ++i, ++connections) {
        text += pair() + (layer == 0 ? " start 0" : " trigger " + std::to_string(layer)) + " size 9";
        if (!last)
          text +=
              (random.below(2) ? " send_done_trigger " : " recv_done_trigger ") + std::to_string(layer + 1);
        text += "\n";
      }
      if (last) break;
      triggers += "trigger id " + std::to_string(layer + 1) + " " + kinds[kind];
      if (kind == 2) triggers += std::to_string(in_layer);
      triggers += "\n";
      if (kind != 1) in_layer = 1 + random.below(4);
    }
    INFO(text << triggers);
    const ConnectionGraph made = connection_graph(parse_connection_matrix(text + triggers, "x.cm"), nodes);
    CHECK(check(made.graph).clean());
    std::uint64_t sends = 0, of_connections = 0;
    for (Rank r = 0; r < nodes; ++r) {
      for (OpIndex i = 0; i < made.graph.rank(r).ops(); ++i) {
        if (made.graph.rank(r).kind(i) != OpKind::kSend) continue;
        ++sends;
        of_connections += made.graph.rank(r).value(i) == 9;
      }
    }
    CHECK(of_connections == connections);
    CHECK(sends == connections + made.trigger_messages);
  }
}

TEST_CASE("the workload reads the file") {
  const auto path = std::filesystem::temp_directory_path() / "weft_connections_test.cm";
  std::ofstream(path) << "Nodes 2\nConnections 1\n0->1 start 0 size 9\n";
  CHECK(sends(traffic("connections:file=" + path.string(), 2)) == std::vector<Sent>{{0, 1, 9}});
  // A trigger that starts nothing is told, one that starts something is not.
  const auto remarks = [&](const char* last) {
    std::ofstream(path) << "Nodes 2\nConnections 2\nTriggers 1\n0->1 start 0 size 9 send_done_trigger 1\n"
                        << last << "trigger id 1 oneshot\n";
    const Workload& workload =
        find_module(workloads(), parse_module_choice("connections"), "traffic pattern");
    const ModuleChoice choice = parse_module_choice("connections:file=" + path.string());
    return workload.remarks(Parameters(workload.info, choice), 2);
  };
  CHECK(remarks("0->1 start 5 size 9\n") ==
        std::vector<std::string>{path.string() + ": 1 of 1 triggers start no connection"});
  CHECK(remarks("0->1 trigger 1 size 9\n").empty());
  std::filesystem::remove(path);
  CHECK(refusal("connections", 2).find("it must be the path of a connection matrix") != std::string::npos);
  CHECK(refusal("connections:file=not/there.cm", 2).find("not/there.cm") != std::string::npos);
}
