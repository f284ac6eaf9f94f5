#include "topologies/families/lattice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <string_view>

#include "sim/units/brackets.h"

namespace weft::topologies {
namespace {

constexpr std::size_t kMostDimensions = 24;

// The coordinates of a point, the last fastest.
std::vector<std::uint32_t> place(std::uint32_t point, const std::vector<std::uint32_t>& dims) {
  std::vector<std::uint32_t> coordinates(dims.size());
  for (std::size_t d = dims.size(); d-- > 0;) {
    coordinates[d] = point % dims[d];
    point /= dims[d];
  }
  return coordinates;
}

}  // namespace

LineLinks path_links(std::uint32_t size) {
  LineLinks links;
  for (std::uint32_t i = 0; i + 1 < size; ++i) links.emplace_back(i, i + 1);
  return links;
}

LineLinks ring_links(std::uint32_t size) {
  LineLinks links = path_links(size);
  if (size > 2) links.emplace_back(size - 1, 0);
  return links;
}

LineLinks complete_links(std::uint32_t size) {
  LineLinks links;
  for (std::uint32_t i = 0; i < size; ++i) {
    for (std::uint32_t j = i + 1; j < size; ++j) links.emplace_back(i, j);
  }
  return links;
}

std::vector<ParameterSpec> with_hosts(ParameterSpec shape) {
  return with_cabling({
      std::move(shape),
      {"hosts", ParameterType::kInteger, "1", "Hosts on each router, 1 or more."},
  });
}

ParameterSpec dims_parameter() {
  return {"dims", ParameterType::kText, "", "Routers in each dimension, written like 8x8x4 or [8,8,4]."};
}

std::vector<std::uint32_t> read_dims(const Parameters& parameters, std::string_view name) {
  const std::string& given = parameters.text(name);
  const auto malformed = [&] {
    parameters.fail(name, "it must be sizes of 1 or more, written like 8x8x4 or [8,8,4]");
  };
  const std::string_view text = without_brackets(given);
  const char separator = text.size() == given.size() ? 'x' : ',';
  std::vector<std::uint32_t> dims;
  std::uint64_t points = 1;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (;;) {
    std::uint32_t size = 0;
    const auto [stop, error] = std::from_chars(at, end, size);
    const bool too_large = error == std::errc::result_out_of_range;
    if (!too_large && (error != std::errc() || size == 0 || (stop != end && *stop != separator))) malformed();
    points *= size;
    if (too_large || points > kMostHosts) {
      parameters.fail(name, fmt::format("the sizes must multiply to {} routers or fewer", kMostHosts));
    }
    dims.push_back(size);
    if (dims.size() > kMostDimensions) {
      parameters.fail(name, fmt::format("there can be {} dimensions at most", kMostDimensions));
    }
    if (stop == end) return dims;
    at = stop + 1;
  }
}

std::uint32_t hosts_parameter(const Parameters& parameters, const std::vector<std::uint32_t>& dims,
                              std::uint32_t automatic) {
  std::uint32_t routers = 1;
  for (const std::uint32_t size : dims) routers *= size;
  return count_parameter(parameters, "hosts", static_cast<std::uint32_t>(kMostHosts / routers), automatic);
}

Topology build_lattice(std::string name, const Lattice& lattice, const Cabling& cabling) {
  std::uint32_t routers = 1;
  for (const std::uint32_t size : lattice.dims) routers *= size;

  Topology topology(std::move(name));
  const auto add_hosts_of = [&](Vertex at) {
    const std::uint32_t first = topology.hosts();
    add_hosts(topology, at, lattice.hosts_per_router, cabling.host);
    for (std::uint32_t h = first; h < topology.hosts(); ++h) {
      for (std::uint32_t i = 1; i < lattice.links_per_host; ++i) {
        topology.add_link(topology.host(h), at, cabling.host);
      }
    }
  };
  std::vector<Vertex> router(routers);
  for (std::uint32_t r = 0; r < routers; ++r) {
    router[r] = topology.add_switch(fmt::format("router {}", fmt::join(place(r, lattice.dims), ".")), 1, r,
                                    cabling.switch_latency);
    if (lattice.order.empty()) add_hosts_of(router[r]);
  }
  for (const std::uint32_t r : lattice.order) add_hosts_of(router[r]);
  std::uint32_t stride = routers;
  for (std::size_t d = 0; d < lattice.dims.size(); ++d) {
    const std::uint32_t size = lattice.dims[d];
    stride /= size;
    for (std::uint32_t first = 0; first < routers; ++first) {
      if (first / stride % size != 0) continue;  // not the start of a line
      for (const auto& [a, b] : lattice.lines[d]) {
        topology.add_link(router[first + a * stride], router[first + b * stride], cabling.fabric);
      }
    }
  }
  topology.set_grid(lattice.dims);
  topology.finish();
  return topology;
}

Topology build_lattice(const std::string& family, const Parameters& parameters,
                       const std::vector<std::uint32_t>& dims,
                       const std::function<LineLinks(std::uint32_t size)>& links,
                       std::uint32_t automatic_hosts) {
  Lattice lattice{.dims = dims, .hosts_per_router = hosts_parameter(parameters, dims, automatic_hosts)};
  for (const std::uint32_t size : dims) lattice.lines.push_back(links(size));
  return build_lattice(to_short_form(family, parameters), lattice, read_cabling(parameters));
}

}  // namespace weft::topologies
