#include "topologies/families/cabling.h"

#include <fmt/core.h>

#include <iterator>

namespace weft::topologies {
Bandwidth rate_parameter(const Parameters& parameters, std::string_view name) {
  const Bandwidth value = parameters.bandwidth(name);
  if (value < kLeastRate) {
    parameters.fail(name,
                    fmt::format("it must be at least {}; write it like 400Gbps", to_string(kLeastRate)));
  }
  return value;
}

std::vector<ParameterSpec> with_cabling(std::vector<ParameterSpec> own, const CablingDefaults& defaults) {
  const std::vector<ParameterSpec> shared = {
      {"link", ParameterType::kBandwidth, defaults.link, "Rate of a link between switches, each direction."},
      {"host_link", ParameterType::kBandwidth, defaults.host_link, "Rate of a host's link; auto: as `link`."},
      {"latency", ParameterType::kTime, defaults.latency, "Propagation time of every link."},
      {"switch_latency", ParameterType::kTime, defaults.switch_latency,
       "Time from the last bit in to the first bit out of an idle switch."},
  };
  own.insert(own.end(), shared.begin(), shared.end());
  return own;
}

Cabling read_cabling(const Parameters& parameters) {
  Cabling cabling;
  cabling.fabric.rate = rate_parameter(parameters, "link");
  cabling.fabric.latency = parameters.time("latency");
  cabling.host = cabling.fabric;
  if (!parameters.automatic("host_link")) cabling.host.rate = rate_parameter(parameters, "host_link");
  cabling.switch_latency = parameters.time("switch_latency");
  return cabling;
}

std::uint32_t count_parameter(const Parameters& parameters, std::string_view name, std::uint32_t most) {
  const std::int64_t value = parameters.integer(name);
  if (value < 1 || value > most) {
    parameters.fail(name,
                    fmt::format("it must be from 1 to {}; the nearest is {}", most, value < 1 ? 1 : most));
  }
  return static_cast<std::uint32_t>(value);
}

std::uint32_t count_parameter(const Parameters& parameters, std::string_view name, std::uint32_t most,
                              std::uint32_t automatic) {
  return parameters.automatic(name) ? automatic : count_parameter(parameters, name, most);
}

void add_hosts(Topology& topology, Vertex router, std::uint32_t count, const Link& link) {
  for (std::uint32_t h = 0; h < count; ++h) {
    const Vertex host =
        topology.add_host(fmt::format("host {}", topology.hosts()), topology.node(router).group);
    topology.add_link(host, router, link);
  }
}

std::vector<ParameterSpec> with_forwarding_hosts(std::vector<ParameterSpec> own) {
  std::vector<ParameterSpec> all = with_cabling(std::move(own));
  for (ParameterSpec& spec : all) {
    if (spec.name == "host_link")
      spec.help = "Rate from a host to its own router; auto: all its ports together.";
  }
  return all;
}

Link link_inside_host(const Parameters& parameters, const Cabling& cabling, std::uint32_t ports) {
  Link link;
  link.rate = parameters.automatic("host_link") ? Bandwidth::bps(cabling.fabric.rate.bps() * ports)
                                                : cabling.host.rate;
  return link;
}

}  // namespace weft::topologies
