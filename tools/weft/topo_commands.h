// The subcommands of weft topo: one file each. Each adds itself to `parent` as subcommand.h describes;
// topo.cc lists them.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "topologies/graph/topology.h"

namespace weft::cli {

void add_topo_gen(CLI::App& parent);      // topo_gen.cc
void add_topo_info(CLI::App& parent);     // topo_info.cc
void add_topo_analyze(CLI::App& parent);  // topo_analyze.cc
void add_topo_compare(CLI::App& parent);  // topo_compare.cc
void add_topo_cost(CLI::App& parent);     // topo_cost.cc
void add_topo_draw(CLI::App& parent);     // topo_draw.cc
void add_topo_export(CLI::App& parent);   // topo_export.cc

// What all of them take: NAME:key=value,… and --endpoints N.
class TopologyArgument {
 public:
  void add_to(CLI::App& app);
  // `text` is used instead of the argument where several can be given.
  topologies::Topology build() const { return build(text_); }
  topologies::Topology build(const std::string& text) const;
  // With the sizes that --endpoints stands for.
  ModuleChoice choice(const std::string& text) const;
  void add_endpoints_to(CLI::App& app);

 private:
  std::string text_;
  std::optional<std::uint64_t> endpoints_;
};

}  // namespace weft::cli
