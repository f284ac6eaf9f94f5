#include "goal/workload/message_graph.h"

#include <catch2/catch.hpp>
#include <vector>

#include "goal/check/check.h"

using namespace weft::goal;

TEST_CASE("receives first, then sends in the order of their times, each behind the clock of cpu 1") {
  const std::vector<Message> messages = {
      {0, 1, 10, 500}, {0, 1, 20, 0}, {1, 0, 30, 0}, {0, 1, 40, 500}, {0, 1, 50, 700}};
  GraphBuilder expected;
  expected.add_recv(30, 1, 0);
  expected.add_send(20, 1, 1);
  const OpIndex at_500 = expected.add_calc(500, 1);
  expected.add_edge(at_500, expected.add_send(10, 1, 0));
  expected.add_edge(at_500, expected.add_send(40, 1, 2));
  const OpIndex at_700 = expected.add_calc(200, 1);
  expected.add_edge(at_500, at_700);
  expected.add_edge(at_700, expected.add_send(50, 1, 3));
  expected.end_rank();
  expected.add_recv(10, 0, 0);
  expected.add_recv(20, 0, 1);
  expected.add_recv(40, 0, 2);
  expected.add_recv(50, 0, 3);
  expected.add_send(30, 0, 0);
  expected.end_rank();
  expected.end_rank();
  const Graph graph = message_graph(3, messages);
  CHECK(graph == expected.finish());
  CHECK(check(graph).clean());
}

TEST_CASE("a release is an edge at the sender of the later message") {
  // 0 -> 1, and then 1 -> 2 when that was received, and 1 -> 0 when 1 -> 2 was sent.
  const std::vector<Message> messages = {{0, 1, 10}, {1, 2, 20}, {1, 0, 30}};
  const std::vector<Release> releases = {{1, 2, false}, {0, 1, true}};
  GraphBuilder expected;
  expected.add_recv(30, 1, 1);
  expected.add_send(10, 1, 0);
  expected.end_rank();
  const OpIndex received = expected.add_recv(10, 0, 0);
  const OpIndex second = expected.add_send(20, 2, 0);
  const OpIndex third = expected.add_send(30, 0, 1);
  expected.add_edge(second, third);
  expected.add_edge(received, second);
  expected.end_rank();
  expected.add_recv(20, 1, 0);
  expected.end_rank();
  const Graph graph = message_graph(3, messages, releases);
  CHECK(graph == expected.finish());
  CHECK(check(graph).clean());
}

TEST_CASE("a fixed point of a permutation sends nothing") {
  const std::vector<Rank> to = {0, 2, 1};
  const Graph graph = message_graph(3, messages_to(to, 5));
  CHECK(graph.rank(0).ops() == 0);
  CHECK(graph.rank(1).ops() == 2);
  CHECK(graph.rank(2).ops() == 2);
}
