// The random families and the random equivalent of other networks: what stays, what is drawn.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/topologies/families/measures.h"
#include "topologies/families/link_swaps.h"
#include "topologies/random_equivalent.h"

namespace weft::topologies {
namespace {

// Links of each router to others.
std::vector<std::uint32_t> degrees(const Topology& topology) {
  std::vector<std::uint32_t> degree(topology.switches());
  for (std::uint32_t s = 0; s < topology.switches(); ++s) {
    for (const std::uint32_t channel : topology.out_channels(topology.switch_at(s))) {
      degree[s] += topology.node(topology.channels()[channel].to).kind == NodeKind::kSwitch;
    }
  }
  return degree;
}

bool connected(const Topology& topology) {
  const std::vector<int> distance = distances(topology, topology.switch_at(0));
  return std::count(distance.begin(), distance.end(), 0) == 1;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> channel_ends(const Topology& topology) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ends;
  for (const Channel& channel : topology.channels()) ends.emplace_back(channel.from, channel.to);
  return ends;
}

std::uint32_t triangles(const Topology& topology) {
  const auto joined = joined_switches(topology);
  std::vector<std::vector<std::uint32_t>> above(topology.switches());
  for (const auto& [a, b] : joined) above[a].push_back(b);
  std::uint32_t count = 0;
  for (const auto& [a, b] : joined) {
    for (const std::uint32_t c : above[b]) count += joined.contains({a, c});
  }
  return count;
}

void check_regular(const std::string& choice, std::uint32_t routers, std::uint32_t degree,
                   std::uint32_t hosts) {
  for (const int seed : {1, 2, 3}) {
    const std::string seeded = choice + ",seed=" + std::to_string(seed);
    INFO(seeded);
    const Topology topology = make(seeded);
    CHECK(topology.switches() == routers);
    CHECK(topology.hosts() == hosts);
    CHECK(degrees(topology) == std::vector<std::uint32_t>(routers, degree));
    CHECK(joined_switches(topology).size() == routers * degree / 2);  // none twice
    CHECK(connected(topology));
    CHECK(channel_ends(topology) == channel_ends(make(seeded)));
  }
}

}  // namespace

TEST_CASE("Jellyfish: regular, connected, no links twice, the same for the same seed") {
  check_regular("jellyfish:n=3,r=2", 3, 2, 3);
  check_regular("jellyfish:n=200,r=2", 200, 2, 200);  // one circle
  check_regular("jellyfish:n=50,r=3", 50, 3, 50);
  check_regular("jellyfish:n=101,r=10", 101, 10, 505);
  check_regular("jellyfish:n=20,r=10,hosts=3", 20, 10, 60);
  check_regular("jellyfish:n=21,r=10", 21, 10, 105);
  check_regular("jellyfish:n=20,r=18", 20, 18, 180);  // all but a matching
  check_regular("jellyfish:n=9,r=8", 9, 8, 36);       // complete
  check_regular("jellyfish:n=2000,r=16,hosts=1", 2000, 16, 2000);
  CHECK(channel_ends(make("jellyfish:n=50,r=3")) == channel_ends(make("jellyfish:n=50,r=3,seed=1")));
  CHECK(channel_ends(make("jellyfish:n=50,r=3")) != channel_ends(make("jellyfish:n=50,r=3,seed=2")));
}

TEST_CASE("Jellyfish: as many triangles as random regular graphs have") {
  // Their number tends to a Poisson variable of mean (r - 1)³/6 (B. Bollobás 1980; N. Wormald 1981).
  const int draws = 60;
  double sum = 0;
  for (int seed = 0; seed < draws; ++seed) {
    sum += triangles(make("jellyfish:n=400,r=6,hosts=1,seed=" + std::to_string(seed)));
  }
  CHECK(sum / draws == Approx(125.0 / 6).margin(3 * 4.57 / std::sqrt(draws)));
}

TEST_CASE("Xpander: regular and connected; between two metanodes a matching, inside none") {
  check_regular("xpander:d=3,lifts=2", 8, 3, 8);
  check_regular("xpander:d=8", 72, 8, 288);
  check_regular("xpander:d=6,lifts=2x2x3", 84, 6, 252);
  CHECK(channel_ends(make("xpander:d=8,lifts=8")) == channel_ends(make("xpander:d=8")));
  CHECK(channel_ends(make("xpander:d=8")) != channel_ends(make("xpander:d=8,seed=2")));
  const Topology topology = make("xpander:d=6,lifts=2x5");
  std::map<std::vector<std::uint32_t>, int> links;  // of each router to each metanode
  for (const auto& [a, b] : joined_switches(topology)) {
    ++links[{a, topology.node(topology.switch_at(b)).group}];
    ++links[{b, topology.node(topology.switch_at(a)).group}];
  }
  for (std::uint32_t s = 0; s < 70; ++s) {
    CHECK(topology.node(topology.switch_at(s)).group == s / 10);
    for (std::uint32_t metanode = 0; metanode < 7; ++metanode) {
      CHECK(links[{s, metanode}] == (metanode == s / 10 ? 0 : 1));
    }
  }
}

TEST_CASE("random equivalent: the same equipment, other links") {
  for (const std::string of : {"slim_fly:q=5", "polarfly:q=7", "fat_tree:k=8", "torus:dims=5x6x7", "oft:k=4",
                               "mesh:dims=40,hosts=2", "hypercube:n=6", "kautz:b=3,n=3"}) {
    INFO(of);
    const Topology original = make(of);
    const Topology random = make("random_equivalent:of=[" + of + "],seed=7");
    REQUIRE(random.nodes() == original.nodes());
    CHECK(random.hosts() == original.hosts());
    for (Vertex v = 0; v < original.nodes(); ++v) {
      const Node &a = original.node(v), &b = random.node(v);
      CHECK((a.kind == b.kind && a.name == b.name && a.tier == b.tier && a.group == b.group));
      CHECK((a.rack == b.rack && a.plane == b.plane && a.switch_latency == b.switch_latency));
    }
    for (std::uint32_t h = 0; h < original.hosts(); ++h) {
      const std::uint32_t c = original.out_channels(original.host(h))[0];
      CHECK(random.channels()[random.out_channels(random.host(h))[0]].to == original.channels()[c].to);
    }
    CHECK(degrees(random) == degrees(original));
    CHECK(joined_switches(random).size() == joined_switches(original).size());
    CHECK(connected(random));
    CHECK(joined_switches(random) != joined_switches(original));
    CHECK(channel_ends(random) == channel_ends(random_equivalent(original, 7)));
    CHECK(channel_ends(random) != channel_ends(random_equivalent(original, 8)));
    CHECK(random.name() == "random_equivalent:of=[" + original.name() + "],seed=7");
    CHECK(channel_ends(make(random.name())) == channel_ends(random));
  }
}

TEST_CASE("random equivalent: nothing of the original's structure is left") {
  // A torus has no triangle; a random graph of degree 4 has 27/6 of them on average.
  const Topology torus = make("torus:dims=20x20");
  CHECK(triangles(torus) == 0);
  const int draws = 60;
  double sum = 0;
  for (int seed = 0; seed < draws; ++seed) {
    sum += triangles(random_equivalent(torus, static_cast<std::uint64_t>(seed)));
  }
  CHECK(sum / draws == Approx(4.5).margin(3 * 2.12 / std::sqrt(draws)));
}

TEST_CASE("random equivalent: parallel links only where there were some") {
  const std::string of = "leaf_spine:leaves=12,spines=8,hosts_per_leaf=4,links_per_pair=2";
  const Topology original = make(of), random = make("random_equivalent:of=[" + of + "]");
  CHECK(degrees(random) == degrees(original));
  CHECK(links_between_switches(random) == 12 * 8 * 2);
  CHECK(connected(random));
  CHECK(random.channels().size() == original.channels().size());
  // One switch has nothing to draw, and the leaves of a star no choice.
  CHECK(channel_ends(make("random_equivalent:of=[single_switch:hosts=4]")) ==
        channel_ends(make("single_switch:hosts=4")));
  CHECK(joined_switches(make("random_equivalent:of=[leaf_spine:leaves=5,spines=1,hosts_per_leaf=2]")) ==
        joined_switches(make("leaf_spine:leaves=5,spines=1,hosts_per_leaf=2")));
}

TEST_CASE("random equivalent: links keep their planes and their rates") {
  // Hosts with a link into each of two planes of 12 routers; in a plane a fast circle and slow chords.
  Topology original("planes");
  const Link fast{Bandwidth::gbps(400), Time::ns(10)}, slow{Bandwidth::gbps(100), Time::us(1)};
  std::vector<Vertex> routers;
  for (std::uint16_t plane = 0; plane < 2; ++plane) {
    for (int i = 0; i < 12; ++i) {
      routers.push_back(original.add_switch("r" + std::to_string(routers.size()), 1, 0, {}, plane));
    }
  }
  for (std::size_t i = 0; i < 12; ++i) {
    const Vertex host = original.add_host("h" + std::to_string(i));
    for (const std::size_t plane : {0, 12}) {
      original.add_link(host, routers[plane + i], fast);
      original.add_link(routers[plane + i], routers[plane + (i + 1) % 12], fast);
      if (i < 6) original.add_link(routers[plane + i], routers[plane + i + 6], slow);
    }
  }
  original.finish();
  const Topology random = random_equivalent(original, 3);
  const auto fast_links = [](const Topology& topology, Vertex v) {
    std::vector<std::int64_t> rates;
    for (const std::uint32_t c : topology.out_channels(v)) rates.push_back(topology.channels()[c].rate.bps());
    std::sort(rates.begin(), rates.end());
    return rates;
  };
  for (const Vertex v : routers) CHECK(fast_links(random, v) == fast_links(original, v));
  for (const Channel& channel : random.channels()) {
    const Node &from = random.node(channel.from), &to = random.node(channel.to);
    if (from.kind == NodeKind::kSwitch && to.kind == NodeKind::kSwitch) CHECK(from.plane == to.plane);
    CHECK(channel.latency == (channel.rate == fast.rate ? fast.latency : slow.latency));
  }
  CHECK(joined_switches(random) != joined_switches(original));
}

TEST_CASE("random equivalent: what would take the network apart stays") {
  // Two rings of eight, joined by two slow links: those two may be swapped, but must still join the rings.
  Topology original("rings");
  const Link fast{Bandwidth::gbps(400), Time::ns(10)}, slow{Bandwidth::gbps(100), Time::us(1)};
  for (int i = 0; i < 16; ++i) original.add_switch("r" + std::to_string(i), 1);
  for (Vertex i = 0; i < 16; ++i) original.add_link(i, i / 8 * 8 + (i + 1) % 8, fast);
  original.add_link(0, 8, slow);
  original.add_link(1, 9, slow);
  original.add_link(original.add_host("a"), 0, fast);
  original.add_link(original.add_host("b"), 12, fast);
  original.finish();
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const Topology random = random_equivalent(original, seed);  // finish() throws where hosts are cut off
    CHECK(degrees(random) == degrees(original));
    CHECK(connected(random));
  }
}

TEST_CASE("random equivalent: of a network in brackets, with the cabling of both") {
  const Topology topology = make("random_equivalent:of=[slim_fly:q=5,latency=2us],link=100Gbps,seed=4");
  for (const Channel& channel : topology.channels()) {
    CHECK(channel.rate == Bandwidth::gbps(100));
    CHECK(channel.latency == Time::us(2));
  }
  CHECK(make("random_equivalent:of=slim_fly:q=5").hosts() == 200);
  CHECK(make("random_equivalent:of=[slim_fly:endpoints=1000]").hosts() == 1134);
  CHECK(make("random_equivalent:of=[random_equivalent:of=[slim_fly:q=4]]").hosts() == 96);
  const auto check = [](const std::string& short_form, const std::string& message) {
    CHECK_THROWS_WITH(make(short_form), Catch::Contains(message));
  };
  check("random_equivalent",
        "random_equivalent: of is '', but it must be another network, written like [slim_fly:q=5]");
  check("random_equivalent:of=[slimfly:q=5]", "'slimfly' is not a topology; did you mean 'slim_fly'?");
  check("random_equivalent:of=[slim_fly:q=6]", "slim_fly: q is '6', but it must be a prime power");
  check("random_equivalent:of=[slim_fly:q=5,link=1Gbps],link=100Gbps",
        "random_equivalent: link is '100Gbps', but `of` gives it too; leave one of them out");
}

TEST_CASE("link swaps: the four ends stay, loops and doubles are refused") {
  LinkSwaps swaps(6, {{0, 1}, {2, 3}, {0, 3}, {4, 5}}, false);
  CHECK_FALSE(swaps.swap(0, 0));
  CHECK_FALSE(swaps.swap(0, 1));  // 0–3 is there
  CHECK_FALSE(swaps.swap(0, 2));  // the same router twice: 0–1, 0–3 would become 0–3, 0–1
  CHECK(swaps.links() == RouterLinks{{0, 1}, {2, 3}, {0, 3}, {4, 5}});
  CHECK(swaps.parts() == 2);
  CHECK(swaps.swap(0, 3));
  CHECK(swaps.links() == RouterLinks{{0, 5}, {2, 3}, {0, 3}, {4, 1}});
  CHECK(swaps.parts() == 2);
  // Two triangles become a circle of six.
  LinkSwaps triangles(6, {{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}}, false);
  CHECK(triangles.join_parts(1, {0, 1, 2, 3, 4, 5}));
  CHECK(triangles.parts() == 1);
  // With the links of one only there is no way.
  LinkSwaps apart(6, {{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}}, false);
  CHECK_FALSE(apart.join_parts(1, {0, 1, 2}));
  // Loops and doubles go away.
  RandomStream random(1, 1);
  LinkSwaps messy(8, {{0, 0}, {1, 1}, {2, 3}, {2, 3}, {4, 5}, {4, 5}, {6, 7}, {6, 7}}, false);
  REQUIRE(messy.make_simple(random));
  std::vector<std::pair<std::uint32_t, std::uint32_t>> links;
  for (const auto& [a, b] : messy.links()) links.push_back(std::minmax({a, b}));
  std::sort(links.begin(), links.end());
  CHECK(std::adjacent_find(links.begin(), links.end()) == links.end());
  for (const auto& [a, b] : links) CHECK(a != b);
}

TEST_CASE("random families: the smallest with so many endpoints") {
  for (const std::uint32_t endpoints : {1u, 50u, 1000u, 20000u}) {
    const std::string text = ":endpoints=" + std::to_string(endpoints);
    CHECK(make("jellyfish" + text).hosts() >= endpoints);
    CHECK(make("xpander" + text).hosts() >= endpoints);
  }
  // r²·r/2 and (d + 1)·d·(d/2) are the first to reach 1000.
  CHECK(make("jellyfish:endpoints=1000").switches() == 143);  // of degree 14, with 7 hosts
  CHECK(make("xpander:endpoints=1000").switches() == 14 * 13);
  CHECK_THROWS_WITH(make("jellyfish:endpoints=9000000"),
                    Catch::Contains("more than its largest network has"));
}

TEST_CASE("random families: impossible parameters name the nearest possible") {
  const auto check = [](const std::string& short_form, const std::string& message) {
    CHECK_THROWS_WITH(make(short_form), message);
  };
  check("jellyfish:n=5,r=3",
        "jellyfish: r is '3', but it must be even, since n is odd, and from 2 to 4; the nearest are 2 and 4");
  check("jellyfish:n=6,r=6", "jellyfish: r is '6', but it must be from 2 to 5; the nearest is 5");
  check("jellyfish:n=6,r=1", "jellyfish: r is '1', but it must be from 2 to 5; the nearest is 2");
  check("jellyfish:n=2,r=2", "jellyfish: n is '2', but it must be from 3 to 4194304; the nearest is 3");
  check("xpander:d=2", "xpander: d is '2', but it must be from 3 to 2047; the nearest is 3");
  for (const std::string bad : {"0", "1", "2x", "x2", "2x1", "2*2", "[2]", "-2"}) {
    check("xpander:d=4,lifts=" + bad,
          "xpander: lifts is '" + bad + "', but it must be factors of 2 or more, written like 2x2x4");
  }
  for (const std::string large : {"500000", "1024x1024", "99999999999999999999"}) {
    check("xpander:d=4,lifts=" + large,
          "xpander: lifts is '" + large + "', but the factors must multiply to 419430 or less");
  }
}

}  // namespace weft::topologies
