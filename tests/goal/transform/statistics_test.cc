#include "goal/transform/statistics.h"

#include <catch2/catch.hpp>

#include "goal/text/text.h"
#include "goal/transform/heat_map.h"
#include "tests/goal/random_graph.h"

using namespace weft::goal;

TEST_CASE("sums over bins, exchanges and ranks agree") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    RandomGraphOptions options;
    options.wide = false;
    options.collectives = false;
    const Graph graph = random_graph(seed, options);
    const Statistics s = statistics(graph);
    std::uint64_t in_bins = 0, in_pairs = 0, messages = 0;
    double bytes_in_bins = 0, bytes_in_pairs = 0, calc = 0;
    for (const SizeBin& bin : s.sizes) {
      in_bins += bin.messages;
      bytes_in_bins += bin.bytes;
      // Every message is in the range of its bin.
      REQUIRE(bin.bytes >= static_cast<double>(bin.from * bin.messages));
      if (bin.from > 0) REQUIRE(bin.bytes < 2.0 * static_cast<double>(bin.from * bin.messages));
    }
    for (std::size_t i = 0; i < s.exchanges.size(); ++i) {
      in_pairs += s.exchanges[i].messages;
      bytes_in_pairs += s.exchanges[i].bytes;
      if (i > 0) {
        REQUIRE(std::pair(s.exchanges[i - 1].from, s.exchanges[i - 1].to) <
                std::pair(s.exchanges[i].from, s.exchanges[i].to));
      }
    }
    for (const double ns : s.rank_calc_ns) calc += ns;
    for (Rank r = 0; r < graph.ranks(); ++r) {
      for (OpIndex i = 0; i < graph.rank(r).ops(); ++i) messages += graph.rank(r).kind(i) == OpKind::kSend;
    }
    INFO("seed " << seed);
    REQUIRE(s.messages == messages);
    REQUIRE(in_bins == messages);
    REQUIRE(in_pairs == messages);
    REQUIRE(bytes_in_bins == s.bytes);
    REQUIRE(bytes_in_pairs == s.bytes);
    REQUIRE(calc == s.calc_ns);
    if (s.complete) REQUIRE(s.path.calc_ns == s.makespan_ns);
  }
}

TEST_CASE("a pipeline: path, chain and matrix by hand") {
  // Rank 0 computes 10, sends 0 B; rank 1 computes 20, sends 1000 B; rank 2 computes 5 and another 100
  // beside.
  const Graph graph = parse_text(
      "num_ranks 3\nrank 0 {\na: calc 10\nb: send 0b to 1\nb requires a\n}\n"
      "rank 1 {\na: recv 0b from 0\nb: calc 20\nb requires a\nc: send 1000b to 2\nc requires b\nd: send 24b "
      "to 2 tag 1\n"
      "d requires c\n}\n"
      "rank 2 {\na: recv 1000b from 1\nb: calc 5\nb requires a\nc: recv 24b from 1 tag 1\nd: calc 34 cpu "
      "1\n}\n",
      "test");
  const Statistics s = statistics(graph);
  REQUIRE(s.complete);
  REQUIRE(s.makespan_ns == 35);
  REQUIRE(s.path.messages == 2);
  REQUIRE(s.path.bytes == 1000);
  REQUIRE(s.longest_chain == 2);
  REQUIRE(s.sizes.size() == 3);
  REQUIRE(s.sizes[0].from == 0);
  REQUIRE(s.sizes[1].from == 16);
  REQUIRE(s.sizes[2].from == 512);
  REQUIRE(matrix_csv(s.exchanges) == "from,to,messages,bytes\n0,1,1,0\n1,2,2,1024\n");
  REQUIRE_FALSE(statistics(parse_text("num_ranks 1\nrank 0 {\nrecv 8b from 0\n}\n", "test")).complete);
}

TEST_CASE("cells hold all bytes, however many ranks share one") {
  std::vector<Exchange> exchanges;
  double all = 0;
  for (Rank a = 0; a < 10; ++a) {
    for (Rank b = 0; b < 10; b += a + 1) {
      exchanges.push_back({a, b, 1, static_cast<double>(1 + a * b)});
      all += exchanges.back().bytes;
    }
  }
  for (const std::uint32_t most : {1u, 3u, 4u, 9u, 10u, 50u}) {
    const MatrixCells cells = bin_matrix(exchanges, 10, most);
    REQUIRE(cells.cells <= most);
    REQUIRE(cells.cells * cells.ranks_per_cell >= 10);
    REQUIRE((cells.cells - 1) * cells.ranks_per_cell < 10);
    double sum = 0;
    for (const double bytes : cells.bytes) sum += bytes;
    REQUIRE(sum == all);
  }
  REQUIRE(bin_matrix(exchanges, 10, 5).bytes[1] == 5);  // 0 and 1 to 2 and 3: 1 + 1 + 3
}

TEST_CASE("pictures: white is nothing, black the most, in logarithmic steps") {
  const std::vector<Exchange> exchanges{{0, 1, 1, 10}, {1, 2, 1, 100}, {2, 0, 1, 1000}};
  const MatrixCells cells = bin_matrix(exchanges, 3, 3);
  REQUIRE(matrix_pgm(cells) == "P2\n3 3\n255\n255 254 255\n255 255 127\n0 255 255\n");
  const std::string svg = matrix_svg(cells, 3);
  std::size_t drawn = 0;
  for (std::size_t at = 0; (at = svg.find("<title>", at)) != std::string::npos; ++at) ++drawn;
  REQUIRE(drawn == 3);
  REQUIRE(svg.find("1 to 2: 100 B") != std::string::npos);
  REQUIRE(svg.substr(svg.size() - 7) == "</svg>\n");
  REQUIRE(matrix_pgm(bin_matrix({}, 2, 9)) == "P2\n2 2\n255\n255 255\n255 255\n");
  REQUIRE(matrix_svg(bin_matrix({}, 0, 9), 0).find("<svg") == 0);
}
