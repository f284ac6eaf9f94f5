// Made-up modules, so that these tests hold whatever modules there are.
#pragma once

#include "sim/scenario/scenario.h"

namespace weft::sim {

inline Registries test_registries() {
  Registries registries;
  registries.networks = {
      {.info = {"message",
                "level",
                "s",
                {{"o", ParameterType::kTime, "1500", "h"},
                 {"G", ParameterType::kReal, "6", "h"},
                 {"g", ParameterType::kTime, "1000", "h"}}}},
      {.info = {"wires", "level", "s", {{"mtu", ParameterType::kBytes, "4096", "h"}}},
       .has_fabric = true,
       .has_packets = true,
       .has_partitions = true,
       .has_connections = true},
      {.info = {"fluid", "level", "s", {}}, .has_fabric = true, .has_connections = true},
  };
  registries.topologies = {
      {.info = {"hub",
                "s",
                "s",
                {{"hosts", ParameterType::kInteger, "", "number of hosts"},
                 {"rows", ParameterType::kInteger, "auto", "h"}}}},
      {.info = {"tree",
                "s",
                "s",
                {{"k", ParameterType::kInteger, "4", "h"},
                 {"link", ParameterType::kBandwidth, "400Gbps", "h"},
                 {"taper", ParameterType::kReal, "1.0", "h"},
                 {"ring", ParameterType::kBoolean, "no", "h"}}}},
  };
  registries.routing = {{.info = {"hash", "s", "s", {}}},
                        {.info = {"spread", "s", "s", {{"paths", ParameterType::kInteger, "256", "h"}}}}};
  registries.congestion = {{.info = {"marked", "s", "s", {{"gain", ParameterType::kReal, "0.0625", "h"}}},
                            .needs = {.required = Capability::kMark}},
                           {.info = {"fixed", "s", "s", {{"packets", ParameterType::kInteger, "8", "h"}}}}};
  registries.queues = {
      {.info = {"tail", "s", "s", {{"capacity", ParameterType::kBytes, "0", "h"}}}},
      {.info = {"marking", "s", "s", {{"kmin", ParameterType::kBytes, "100KB", "h"}}},
       .offers = {.always = Capability::kMark}},
  };
  registries.traffic = {
      {.info = {"shift",
                "s",
                "s",
                {{"size", ParameterType::kBytes, "2MB", "h"}, {"by", ParameterType::kInteger, "1", "h"}}},
       .independent_flows = true},
      {.info = {"steps", "s", "s", {}}}};
  registries.protocols = {{"plain",
                           "s",
                           "s",
                           {{"eager_limit", ParameterType::kBytes, "64KiB", "h"},
                            {"send_buffer", ParameterType::kBytes, "0", "h"},
                            {"connections", ParameterType::kInteger, "1", "h"}}},
                          {"library",
                           "s",
                           "s",
                           {{"eager_limit", ParameterType::kBytes, "4KiB", "h"},
                            {"send_buffer", ParameterType::kBytes, "1MB", "h"},
                            {"connections", ParameterType::kInteger, "2", "h"}}}};
  registries.algorithms = {{"allreduce", {"doubling", "s", "s", {}}},
                           {"allreduce", {"ring", "s", "s", {}}},
                           {"barrier", {"dissemination", "s", "s", {}}}};
  return registries;
}

}  // namespace weft::sim
