// Who sends how much to whom: against graphs whose collectives have been spelled out.
#include "sim/placement/exchanges.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "goal/pack/pack.h"
#include "goal/text/text.h"
#include "goal/transform/expand.h"
#include "sim/units/input_error.h"

namespace weft::placement {
namespace {

using Matrix = std::map<std::pair<std::uint32_t, std::uint32_t>, double>;

// By all sends of the graph that has no collectives any more.
Matrix sends_of(const goal::Graph& graph) {
  Matrix matrix;
  for (goal::Rank r = 0; r < graph.ranks(); ++r) {
    const goal::RankView rank = graph.rank(r);
    for (goal::OpIndex i = 0; i < rank.ops(); ++i) {
      if (rank.kind(i) == goal::OpKind::kSend && rank.value(i) > 0 && rank.peer(i) != r)
        matrix[{r, rank.peer(i)}] += static_cast<double>(rank.value(i));
    }
  }
  return matrix;
}

// Checks the order on the way.
Matrix matrix_of(const std::vector<Exchange>& list) {
  Matrix matrix;
  for (std::size_t i = 0; i < list.size(); ++i) {
    CHECK(list[i].from != list[i].to);
    CHECK(list[i].bytes > 0);
    if (i > 0) {
      CHECK(std::pair(list[i - 1].from, list[i - 1].to) < std::pair(list[i].from, list[i].to));
    }
    matrix[{list[i].from, list[i].to}] = list[i].bytes;
  }
  return matrix;
}

// Two communicators in another order than the world; collectives of every kind with sizes, some of them
// twice; messages, to oneself and of no bytes too.
goal::Graph mixed_graph() {
  std::string text = "num_ranks 6\ncomm 1 { 4 2 0 }\ncomm 2 { 5 1 3 0 }\n";
  for (int r = 0; r < 6; ++r) {
    text += "rank " + std::to_string(r) + " {\n";
    const int up = (r + 1) % 6, down = (r + 5) % 6;
    text += "send 700b to " + std::to_string(up) + " tag 1\nrecv 700b from " + std::to_string(down) +
            " tag 1\nsend 0b to " + std::to_string(down) + " tag 2\nrecv 0b from " + std::to_string(up) +
            " tag 2\nsend 5b to " + std::to_string(r) + " tag 3\nrecv 5b from " + std::to_string(r) +
            " tag 3\n";
    text += "allreduce 4096b\nallreduce 4096b\nalltoall 33b\nbarrier\nallgather 100b\nallreduce 64b\n";
    if (r % 2 == 0 && r < 5) text += "bcast 1000b root 1 comm 1\nreduce 500b root 2 comm 1\n";
    if (r == 5 || r == 1 || r == 3 || r == 0) text += "reduce_scatter 256b comm 2\nallreduce 4096b comm 2\n";
    text += "}\n";
  }
  return goal::parse_text(text, "mixed");
}

}  // namespace

TEST_CASE("exchanges: what the sends of the graph come to once its collectives are spelled out") {
  const goal::Graph graph = mixed_graph();
  for (const std::string algorithm : {"", "ring", "recursive_doubling"}) {
    INFO("allreduce: " << algorithm);
    goal::CollectiveChoices choices;
    choices.forced[static_cast<int>(goal::CollectiveKind::kAllreduce)] = algorithm;
    const goal::CollectiveSelection selection(choices);
    const Matrix expected = sends_of(goal::expand_collectives(graph, selection, {}));
    CHECK(expected.at({0, 1}) >= 700 + 33);
    CHECK(matrix_of(exchanges_of(graph, selection)) == expected);
  }
}

TEST_CASE("exchanges: a packed file's are those of its graph") {
  const goal::Graph graph = mixed_graph();
  const std::string bytes = goal::to_pack(graph, {});
  const goal::PackedProgram packed(bytes, "mixed.weft");
  const goal::CollectiveSelection selection;
  CHECK(matrix_of(exchanges_of(packed, selection)) == matrix_of(exchanges_of(graph, selection)));
}

TEST_CASE("exchanges: nobody but members calls a communicator's collectives") {
  const goal::Graph graph = goal::parse_text(
      "num_ranks 3\ncomm 1 { 1 2 }\nrank 0 {\nbarrier comm 1\n}\nrank 1 {\n}\nrank 2 {\n}\n", "test");
  CHECK_THROWS_WITH(exchanges_of(graph, goal::CollectiveSelection()),
                    Catch::Contains("rank 0") && Catch::Contains("not in it"));
}

}  // namespace weft::placement
