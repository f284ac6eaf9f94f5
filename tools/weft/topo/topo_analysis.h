// What weft topo analyze and weft topo compare have in common.
#pragma once

#include <string>
#include <vector>

#include "tools/weft/cli/command.h"
#include "topologies/analysis/analyze.h"

namespace weft::cli {

class AnalysisArguments {
 public:
  // Adds --json, --only, --skip, --throughput, --matrix, --seed and -o.
  void add_to(Command& command);
  // Throws InputError for unknown measures, and for options that could have no effect.
  topologies::AnalysisOptions options() const;
  bool json() const { return json_; }
  // To the file given, or the standard output.
  void write(const std::string& text) const;

 private:
  topologies::AnalysisOptions options_;
  std::vector<std::string> only_, skip_;
  std::string output_;
  bool json_ = false;
};

}  // namespace weft::cli
