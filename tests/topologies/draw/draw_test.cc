#include <boost/property_tree/xml_parser.hpp>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "sim/units/input_error.h"
#include "topologies/draw/picture.h"
#include "topologies/families.h"

namespace weft::topologies {
namespace {

constexpr Area kArea{0, 0, 1500, 740};

Topology make(const std::string& short_form) { return build(parse_module_choice(short_form)); }

std::string svg_of(const Topology& topology, const PictureOptions& options = {}) {
  std::string text;
  TextSink sink([&](std::string_view piece) { text += piece; });
  write_svg(topology, options, sink);
  return text;
}

// Elements by class, anywhere in the file.
void count_classes(const boost::property_tree::ptree& tree, std::map<std::string, std::size_t>& counts) {
  for (const auto& [name, child] : tree) {
    if (const auto found = child.get_optional<std::string>("<xmlattr>.class")) ++counts[*found];
    count_classes(child, counts);
  }
}
// Throws for a text that is not well-formed.
std::map<std::string, std::size_t> classes(const std::string& svg) {
  boost::property_tree::ptree tree;
  std::istringstream text(svg);
  boost::property_tree::read_xml(text, tree);
  std::map<std::string, std::size_t> counts;
  count_classes(tree.get_child("svg"), counts);
  return counts;
}

struct Picture {
  const char* network;
  Arrangement arrangement;
};
const Picture kPictures[] = {
    {"single_switch:hosts=8", Arrangement::kTiers},
    {"leaf_spine:leaves=8,spines=4,hosts_per_leaf=8", Arrangement::kTiers},
    {"fat_tree:k=4", Arrangement::kTiers},
    {"fat_tree:k=8", Arrangement::kTiers},
    {"oft:k=4", Arrangement::kTiers},
    {"torus:dims=8x8", Arrangement::kGrid},
    {"torus:dims=4x4x4", Arrangement::kGrid},
    {"mesh:dims=5x3", Arrangement::kGrid},
    {"hyperx:dims=4x4", Arrangement::kGrid},
    {"hypercube:n=5", Arrangement::kGrid},
    {"hammingmesh:a=2,b=2,x=4,y=3", Arrangement::kBoards},
    {"hammingmesh:a=2,b=2,x=4,y=3,radix=4", Arrangement::kBoards},
    {"dragonfly:p=2", Arrangement::kGroups},
    {"slim_fly:q=5", Arrangement::kGroups},
    {"megafly:p=3,g=1", Arrangement::kGroups},
    {"jellyfish:n=40,r=6", Arrangement::kRing},
};

}  // namespace

TEST_CASE("draw: every family gets its arrangement, and every node its own place in the picture") {
  for (const Picture& picture : kPictures) {
    INFO(picture.network);
    const Topology topology = make(picture.network);
    const Layout layout = lay_out(topology, kArea);
    CHECK(layout.arrangement == picture.arrangement);
    std::set<std::pair<int, int>> taken;
    for (Vertex v = 0; v < topology.nodes(); ++v) {
      if (topology.node(v).kind == NodeKind::kHost && !layout.draws_hosts) continue;
      const Point at = layout.at[v];
      CHECK(at.x >= kArea.left - 1);
      CHECK(at.x <= kArea.right + 1);
      CHECK(at.y >= kArea.top - 1);
      CHECK(at.y <= kArea.bottom + 1);
      // No two nearer than a quarter of a unit.
      CHECK(taken.emplace(std::lround(at.x * 4), std::lround(at.y * 4)).second);
    }
  }
}

TEST_CASE("draw: switches don't cover each other") {
  for (const Picture& picture : kPictures) {
    INFO(picture.network);
    const Topology topology = make(picture.network);
    const Layout layout = lay_out(topology, kArea);
    for (std::uint32_t a = 0; a < topology.switches(); ++a) {
      for (std::uint32_t b = 0; b < a; ++b) {
        const Point p = layout.at[topology.switch_at(a)], q = layout.at[topology.switch_at(b)];
        CHECK(std::max(std::abs(p.x - q.x), std::abs(p.y - q.y)) >= 1.3F * layout.switch_radius);
      }
    }
  }
}

TEST_CASE("draw: the SVG is well-formed and has a shape for every node and link") {
  for (const Picture& picture : kPictures) {
    INFO(picture.network);
    const Topology topology = make(picture.network);
    const auto counts = classes(svg_of(topology));
    CHECK(counts.at("switch") == topology.switches());
    CHECK(counts.at("link") == topology.channels().size() / 2);
    CHECK(counts.at("host") == topology.hosts());
  }
}

TEST_CASE("draw: endpoints that are too many are counted instead") {
  const Topology topology = make("slim_fly:q=13");
  const std::string svg = svg_of(topology);
  const auto counts = classes(svg);
  CHECK(counts.at("switch") == 338);
  CHECK(counts.at("link") == 3211);
  CHECK(!counts.contains("host"));
  CHECK(svg.find("switch with 10 endpoints") != std::string::npos);
}

TEST_CASE("draw: pods and groups are boxed") {
  CHECK(classes(svg_of(make("fat_tree:k=8"))).at("box") == 8);
  CHECK(classes(svg_of(make("dragonfly:p=2"))).at("box") == 9);
  CHECK(classes(svg_of(make("hammingmesh:a=2,b=2,x=4,y=3"))).at("box") == 12);
  CHECK(!classes(svg_of(make("torus:dims=4x4"))).contains("box"));
}

TEST_CASE("draw: tiers are rows, the hosts' at the bottom") {
  const Topology topology = make("fat_tree:k=4");
  const Layout layout = lay_out(topology, kArea);
  std::map<unsigned, std::set<float>> rows;
  for (Vertex v = 0; v < topology.nodes(); ++v) rows[topology.node(v).tier].insert(layout.at[v].y);
  REQUIRE(rows.size() == 4);
  for (const auto& [tier, heights] : rows) CHECK(heights.size() == 1);
  CHECK(*rows[0].begin() > *rows[1].begin());
  CHECK(*rows[1].begin() > *rows[2].begin());
  CHECK(*rows[2].begin() > *rows[3].begin());
}

TEST_CASE("draw: a grid's rows and columns are straight") {
  const Topology topology = make("mesh:dims=3x5");
  const Layout layout = lay_out(topology, kArea);
  std::set<float> xs, ys;
  for (std::uint32_t s = 0; s < topology.switches(); ++s) {
    xs.insert(layout.at[topology.switch_at(s)].x);
    ys.insert(layout.at[topology.switch_at(s)].y);
  }
  CHECK(xs.size() == 5);
  CHECK(ys.size() == 3);
}

TEST_CASE("draw: rows of a HammingMesh have their switch on the right, columns theirs below") {
  const Topology topology = make("hammingmesh:a=2,b=2,x=4,y=3");
  const Layout layout = lay_out(topology, kArea);
  float right = 0, bottom = 0;
  for (std::uint32_t s = 0; s < topology.switches(); ++s) {
    const Vertex v = topology.switch_at(s);
    if (!topology.node(v).in_host) continue;
    right = std::max(right, layout.at[v].x);
    bottom = std::max(bottom, layout.at[v].y);
  }
  for (std::uint32_t s = 0; s < topology.switches(); ++s) {
    const Vertex v = topology.switch_at(s);
    if (topology.node(v).in_host) continue;
    const bool row = topology.node(v).name.starts_with("row");
    CHECK((layout.at[v].x > right) == row);
    CHECK((layout.at[v].y > bottom) == !row);
  }
}

TEST_CASE("draw: load colours links, the busier direction counts") {
  const Topology topology = make("fat_tree:k=4");
  PictureOptions options;
  options.load.emplace(topology.channels().size(), 0.0);
  (*options.load)[1] = 1;
  const std::string svg = svg_of(topology, options);
  CHECK(classes(svg).at("link") == topology.channels().size() / 2);
  // One link in the darkest colour of the scale, all others grey.
  const auto count = [&](const std::string& word) {
    std::size_t found = 0;
    for (std::size_t at = svg.find(word); at != std::string::npos; at = svg.find(word, at + 1)) ++found;
    return found;
  };
  CHECK(count("stroke=\"#440154\"") == 1);
  CHECK(count("stroke=\"#D8D8D8\"") == topology.channels().size() / 2 - 1);
  CHECK(svg.find("the busiest 100.0%") != std::string::npos);
}

TEST_CASE("draw: the same network gives the same file") {
  for (const Picture& picture : kPictures) {
    CHECK(svg_of(make(picture.network)) == svg_of(make(picture.network)));
  }
}

TEST_CASE("draw: arrangements by name") {
  CHECK(find_arrangement("ring") == Arrangement::kRing);
  CHECK_THROWS_WITH(find_arrangement("rings"), Catch::Matchers::Contains("did you mean 'ring'"));
  CHECK(lay_out(make("torus:dims=4x4"), kArea, Arrangement::kRing).arrangement == Arrangement::kRing);
  CHECK_THROWS_WITH(lay_out(make("slim_fly:q=5"), kArea, Arrangement::kGrid),
                    Catch::Matchers::Contains("is no grid"));
}

}  // namespace weft::topologies
