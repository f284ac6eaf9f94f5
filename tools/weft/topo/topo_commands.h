// The subcommands of weft topo: one file each. Each adds itself to `parent` as subcommand.h describes;
// topo.cc lists them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tools/weft/cli/command.h"
#include "topologies/graph/topology.h"

namespace weft::cli {

void add_topo_gen(Command& parent);      // topo_gen.cc
void add_topo_info(Command& parent);     // topo_info.cc
void add_topo_analyze(Command& parent);  // topo_analyze.cc
void add_topo_compare(Command& parent);  // topo_compare.cc
void add_topo_cost(Command& parent);     // topo_cost.cc
void add_topo_draw(Command& parent);     // topo_draw.cc
void add_topo_export(Command& parent);   // topo_export.cc

// What all of them take: NAME:key=value,… and --endpoints N.
class TopologyArgument {
 public:
  void add_to(Command& command);
  // As an option, "--topology".
  void add_option_to(Command& command);
  // `text` is used instead of the argument where several can be given.
  topologies::Topology build() const { return build(text_); }
  topologies::Topology build(const std::string& text) const;
  // With the sizes that --endpoints stands for.
  ModuleChoice choice(const std::string& text) const;
  ModuleChoice choice() const { return choice(text_); }
  void add_endpoints_to(Command& command);

 private:
  std::string text_;
  std::optional<std::uint64_t> endpoints_;
};

}  // namespace weft::cli
