#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "topologies/families/link_swaps.h"
#include "topologies/families/random.h"
#include "topologies/families/router_network.h"

namespace weft::topologies {
namespace {

const ModuleInfo& xpander_info() {
  static const ModuleInfo info = {
      .name = "xpander",
      .summary = "Random lifts of a complete graph: an expander of routers with d links each.",
      .source =
          "A. Valadarsky, G. Shahaf, M. Dinitz, M. Schapira, Xpander: towards optimal-performance "
          "datacenters, CoNEXT 2016",
      .parameters = with_router_hosts(
          {
              {"d", ParameterType::kInteger, "", "Links of each router to others, 3 or more."},
              {"lifts", ParameterType::kText, "",
               "Copies made by each lift, written like 2x2x4; none: one lift by d."},
              {"seed", ParameterType::kInteger, "1", "Which of the random networks."},
          },
          "half as many as links, rounded down"),
  };
  return info;
}

std::uint64_t xpander_endpoints(std::uint32_t d, std::uint64_t copies) { return (d + 1) * copies * (d / 2); }

// Throws InputError unless they are 2 or more each and make kMostHosts or fewer.
std::vector<std::uint32_t> read_lifts(const Parameters& parameters, std::uint32_t d) {
  const std::string& text = parameters.text("lifts");
  if (text.empty()) return {d};
  std::vector<std::uint32_t> lifts;
  const std::uint64_t most = kMostHosts / xpander_endpoints(d, 1);
  std::uint64_t copies = 1;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data();; ++at) {
    std::uint32_t lift = 0;
    const auto [stop, error] = std::from_chars(at, end, lift);
    const bool too_large = error == std::errc::result_out_of_range;
    if (!too_large && (error != std::errc() || lift < 2 || (stop != end && *stop != 'x'))) {
      parameters.fail("lifts", "it must be factors of 2 or more, written like 2x2x4");
    }
    copies *= lift;
    if (too_large || copies > most) {
      parameters.fail("lifts", fmt::format("the factors must multiply to {} or less", most));
    }
    lifts.push_back(lift);
    if (stop == end) return lifts;
    at = stop;
  }
}

// Router u becomes u·factor to u·factor + factor - 1.
RouterLinks lift(const RouterLinks& links, std::uint32_t factor, RandomStream& random) {
  RouterLinks lifted;
  lifted.reserve(links.size() * factor);
  std::vector<std::uint32_t> partner(factor);
  for (const auto& [a, b] : links) {
    std::iota(partner.begin(), partner.end(), 0u);
    for (std::uint32_t i = factor; i > 1; --i) std::swap(partner[i - 1], partner[random.below(i)]);
    for (std::uint32_t i = 0; i < factor; ++i) lifted.emplace_back(a * factor + i, b * factor + partner[i]);
  }
  return lifted;
}

Topology build_xpander(const Parameters& parameters) {
  const std::vector<std::uint32_t> sizes =
      within_limit(all_from(3, 2048), [](std::uint32_t d) { return xpander_endpoints(d, 2); });
  const std::uint32_t d = read_possible(parameters, "d", sizes, "");
  const std::vector<std::uint32_t> lifts = read_lifts(parameters, d);
  RandomStream random(static_cast<std::uint64_t>(parameters.integer("seed")), d, 1);
  RouterNetwork network;
  std::uint32_t copies = 1;
  for (std::uint32_t a = 0; a <= d; ++a) {
    for (std::uint32_t b = a + 1; b <= d; ++b) network.links.emplace_back(a, b);
  }
  for (const std::uint32_t factor : lifts) {
    copies *= factor;
    // Nearly every lift is connected.
    RouterLinks lifted;
    do {
      lifted = lift(network.links, factor, random);
    } while (LinkSwaps((d + 1) * copies, lifted, false).parts() > 1);
    network.links = std::move(lifted);
  }
  std::sort(network.links.begin(), network.links.end());
  for (std::uint32_t metanode = 0; metanode <= d; ++metanode) {
    for (std::uint32_t i = 0; i < copies; ++i) {
      network.routers.push_back({.name = fmt::format("router {}.{}", metanode, i), .group = metanode});
    }
  }
  return build_routers(xpander_info().name, parameters, network, d / 2);
}

// One lift by d, which makes d² + d routers.
SizeParameters size_xpander(std::uint64_t wanted) {
  const std::uint32_t d = least_size(xpander_info().name, wanted, 3, 202, 1,
                                     [](std::uint32_t links) { return xpander_endpoints(links, links); });
  return {{"d", std::to_string(d)}, {"lifts", std::to_string(d)}};
}

}  // namespace

Family xpander() { return {xpander_info(), build_xpander, size_xpander}; }

}  // namespace weft::topologies
