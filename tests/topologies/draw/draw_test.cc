#include <fmt/core.h>

#include <algorithm>
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
    {"single_switch:hosts=8", Arrangement::kRing},
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
    {"fat_tree2:k=8", Arrangement::kTiers},
    {"k_ary_n_tree:k=3,n=3", Arrangement::kTiers},
    {"xgft:m=4x4x3,w=1x2x4", Arrangement::kTiers},
    {"multi_plane:k=8,planes=4", Arrangement::kTiers},
    {"rail_optimized:units=2,nodes=8", Arrangement::kTiers},
    {"hpn:segments=3,nodes=8,rails=2,aggs=4", Arrangement::kTiers},
    {"mlfm:h=4", Arrangement::kTiers},
    {"bcube:n=4,k=2", Arrangement::kTiers},
    {"scale_up", Arrangement::kTiers},
    {"scale_up:switches=0,of=[leaf_spine:leaves=2,spines=2,hosts_per_leaf=2]", Arrangement::kTiers},
    {"scale_up:of=[fat_tree:k=4]", Arrangement::kTiers},
    {"express_mesh:dims=6x6", Arrangement::kGrid},
    {"flattened_butterfly:k=4,n=3", Arrangement::kGrid},
    {"tofu:x=2,y=2,z=2", Arrangement::kGrid},
    {"fugaku:shape=4x6x2", Arrangement::kGrid},
    {"tpu_torus:dims=8x4x4", Arrangement::kGrid},
    {"mesh:dims=9", Arrangement::kGrid},
    {"torus:dims=12", Arrangement::kRing},
    {"hyperx:dims=8", Arrangement::kRing},
    {"mesh:dims=40", Arrangement::kRing},
    {"cascade:g=2", Arrangement::kGroups},
    {"dcell:n=4,k=1", Arrangement::kGroups},
    {"polarfly:q=5", Arrangement::kGroups},
    {"polarstar:q=3,q2=5", Arrangement::kGroups},
    {"bundlefly:q1=3,q2=5", Arrangement::kGroups},
    {"xpander:d=5,lifts=8", Arrangement::kGroups},
    {"random_equivalent:of=[dragonfly:p=2]", Arrangement::kGroups},
    {"spectralfly:p=3,q=5", Arrangement::kRing},
    {"kautz:b=3,n=3", Arrangement::kRing},
    {"delorme:q=2", Arrangement::kRing},
    {"arrangement:n=5,k=2", Arrangement::kRing},
    {"datacenters:of=[fat_tree:k=4],borders=2", Arrangement::kSites},
    {"datacenters:of=[dragonfly:p=2; torus:dims=4x4; hammingmesh:a=2,b=2,x=4,y=4]", Arrangement::kSites},
    {"datacenters:of=[single_switch:hosts=4],sites=6,shape=ring", Arrangement::kSites},
};

// About 1,000 routers, or endpoints: what a picture must still be fit for.
const char* const kLarge[] = {
    "torus:dims=32x32",
    "leonardo",
    "leonardo_booster",
    "leonardo_dcgp",
    "lumi_c",
    "lumi_g",
    "alps",
    "frontier:groups=8",
    "marenostrum5_gpp",
    "marenostrum5_acc",
    "jupiter",
    "slim_fly:q=23",
    "bcube:n=10,k=2",
    "multi_plane:k=32,planes=8",
    "rail_optimized:units=8,nodes=64",
    "hpn:segments=4",
    "dragonfly:p=6",
    "cascade:g=8",
    "scale_up:of=[leaf_spine:leaves=8,spines=4,hosts_per_leaf=16]",
    "tpu_torus:dims=12x12x8",
    "tofu:x=5,y=5,z=4",
    "hypercube:n=10",
    "jellyfish:n=1000,r=16",
    "single_switch:hosts=1000",
    "hammingmesh:a=2,b=2,x=16,y=16",
    "megafly:p=8",
    "mlfm:h=20",
    "fat_tree:k=24",
};

std::vector<std::string> all_pictures() {
  std::vector<std::string> networks(std::begin(kLarge), std::end(kLarge));
  for (const Picture& picture : kPictures) networks.emplace_back(picture.network);
  return networks;
}

bool within(const Area& inner, const Area& outer) {
  return inner.left >= outer.left && inner.top >= outer.top && inner.right <= outer.right &&
         inner.bottom <= outer.bottom;
}
bool within(Point at, float radius, const Area& area) {
  return within(Area{at.x - radius, at.y - radius, at.x + radius, at.y + radius}, area);
}

}  // namespace

TEST_CASE("draw: every family that builds without a file has a picture in these tests") {
  std::set<std::string> drawn;
  for (const std::string& network : all_pictures()) drawn.insert(network.substr(0, network.find(':')));
  for (const Family& family : families()) {
    if (family.info.name == "graph_file" || family.info.name == "slurm") continue;
    INFO(family.info.name);
    CHECK(drawn.contains(family.info.name));
  }
}

TEST_CASE("draw: networks get their arrangement") {
  for (const Picture& picture : kPictures) {
    INFO(picture.network);
    CHECK(lay_out(make(picture.network), kArea).arrangement == picture.arrangement);
  }
}

TEST_CASE("draw: every node has its own place in the picture, and no switch covers another node") {
  for (const std::string& network : all_pictures()) {
    INFO(network);
    const Topology topology = make(network);
    const Layout layout = lay_out(topology, kArea);
    // Left to right, so that only the next few can be near.
    std::vector<std::pair<Point, float>> nodes;
    for (Vertex v = 0; v < topology.nodes(); ++v) {
      const bool host = topology.node(v).kind == NodeKind::kHost;
      if (host && !layout.draws_hosts) continue;
      nodes.emplace_back(layout.at[v], host ? layout.host_radius : layout.switch_radius);
      CHECK(within(layout.at[v], nodes.back().second * 0.5F, kArea));
    }
    std::sort(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) { return a.first.x < b.first.x; });
    std::size_t covered = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto& [at, radius] = nodes[i];
      for (std::size_t j = i + 1; j < nodes.size(); ++j) {
        const auto& [other, other_radius] = nodes[j];
        const float apart = 0.65F * (radius + other_radius);
        if (other.x - at.x >= radius + layout.switch_radius) break;
        covered += std::hypot(other.x - at.x, other.y - at.y) < apart;
      }
    }
    CHECK(covered == 0);
  }
}

TEST_CASE("draw: boxes don't cut each other, and are in the picture") {
  for (const std::string& network : all_pictures()) {
    INFO(network);
    const Layout layout = lay_out(make(network), kArea);
    std::size_t cut = 0;
    for (std::size_t i = 0; i < layout.boxes.size(); ++i) {
      const Box& a = layout.boxes[i];
      CHECK(within(a.area, {kArea.left - 0.5F, kArea.top - 0.5F, kArea.right + 0.5F, kArea.bottom + 0.5F}));
      if (!a.label.empty()) CHECK(within(a.label_at, 0, kArea));
      for (std::size_t j = 0; j < i; ++j) {
        const Box& b = layout.boxes[j];
        const Point p = a.area.centre(), q = b.area.centre();
        const bool apart = a.round && b.round
                               ? std::hypot(p.x - q.x, p.y - q.y) >= (a.area.width() + b.area.width()) / 2
                               : !overlap(a.area, b.area);
        cut += !apart && !within(a.area, b.area) && !within(b.area, a.area);
      }
    }
    CHECK(cut == 0);
  }
}

// The curves of links stay on the page, where the title and the legend leave room.
TEST_CASE("draw: links stay on the page") {
  constexpr Area kPage{-35, -30, 1535, 770};
  for (const std::string& network : all_pictures()) {
    INFO(network);
    const Topology topology = make(network);
    const Layout layout = lay_out(topology, kArea);
    std::size_t outside = 0;
    for (std::size_t i = 0; i < layout.control.size(); ++i) {
      const Channel& channel = topology.channels()[2 * i];
      const Point middle{(layout.at[channel.from].x + layout.at[channel.to].x) / 4 + layout.control[i].x / 2,
                         (layout.at[channel.from].y + layout.at[channel.to].y) / 4 + layout.control[i].y / 2};
      outside += !within(middle, 0, kPage);
    }
    CHECK(outside == 0);
  }
}

TEST_CASE("draw: titles fit the page, without what follows from the rest") {
  const auto title = [](const char* network) {
    const std::string svg = svg_of(make(network));
    const std::size_t at = svg.find("font-weight=\"bold\""), from = svg.find('>', at) + 1;
    return svg.substr(from, svg.find('<', from) - from);
  };
  CHECK(title("slim_fly:q=5") == "slim_fly q=5");
  CHECK(title("random_equivalent:of=[slim_fly:q=5]") == "random_equivalent of [slim_fly q=5] seed=1");
  CHECK(title("scale_up:node=dgx_h100") == "scale_up node=dgx_h100");
}

TEST_CASE("draw: files of networks of a thousand switches have a few megabytes at most") {
  for (const char* network : kLarge) {
    INFO(network);
    CHECK(svg_of(make(network)).size() < 3'000'000);
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

TEST_CASE("draw: switches show their numbers, or their names where these have none") {
  Topology topology("mine");
  const Vertex host = topology.add_host("host 0"), bern = topology.add_switch("Bern <CH>", 1),
               leaf = topology.add_switch("leaf 1.2", 1),
               nameless = topology.add_switch(std::string(200, 'x'), 1);
  const Link link{Bandwidth::gbps(100), Time::ns(500)};
  topology.add_link(host, bern, link);
  topology.add_link(bern, leaf, link);
  topology.add_link(leaf, nameless, link);
  topology.finish();
  const std::string svg = svg_of(topology);
  CHECK_THAT(svg, Catch::Contains(">Bern &lt;CH&gt;</text>"));
  CHECK_THAT(svg, Catch::Contains(">1.2</text>"));
  CHECK_THAT(svg, !Catch::Contains("xxx</text>"));  // it would cover the picture
  CHECK(classes(svg)["switch"] == 3);
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

TEST_CASE("draw: every network can have every arrangement, or the user hears why not") {
  for (const Picture& picture : kPictures) {
    const Topology topology = make(picture.network);
    for (const std::string& name : arrangement_names()) {
      INFO(picture.network << " as " << name);
      try {
        const Layout layout = lay_out(topology, kArea, find_arrangement(name));
        const bool finite = std::all_of(layout.at.begin(), layout.at.end(),
                                        [](Point at) { return std::isfinite(at.x) && std::isfinite(at.y); });
        CHECK(finite);
        CHECK(layout.switch_radius > 0);
      } catch (const InputError& error) {
        CHECK(std::string(error.what()).starts_with(topology.name()));
        const bool special = name == "grid" || name == "boards" || name == "sites";
        CHECK(special);
        CHECK(find_arrangement(name) != picture.arrangement);
      }
    }
  }
}

TEST_CASE("draw: networks whose tiers or sites are unusual have pictures too") {
  const Link link{.rate = Bandwidth::gbps(100), .latency = {}};
  Topology topology("a user's own");
  const Vertex low = topology.add_switch("low 0", 2), high = topology.add_switch("high 0", 4);
  for (int i = 0; i < 3; ++i) topology.add_link(topology.add_host(fmt::format("host {}", i)), low, link);
  topology.add_link(low, high, link);
  // A site of one switch without a host.
  Node away;
  away.tier = 5;
  away.site = 1;
  away.name = "away 0";
  topology.add_link(high, topology.add_node(away), link);
  topology.finish();
  for (const Arrangement arrangement : {Arrangement::kAuto, Arrangement::kTiers}) {
    const Layout layout = lay_out(topology, kArea, arrangement);
    CHECK(layout.arrangement == Arrangement::kTiers);
    for (const Point at : layout.at) CHECK(within(at, 0, kArea));
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
