// The options that say what is simulated: a scenario file, and what is set beside it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/scenario.h"
#include "tools/weft/cli/command.h"

namespace weft::cli {

class ScenarioOptions {
 public:
  // This object must live until the command's callback has run. `with_output`: --output is one of them.
  void add_to(Command& command, bool with_output);

  // The scenario file; "": none.
  const std::string& file() const { return file_; }
  // Those that the file names and those given, to be loaded before it is read.
  std::vector<std::string> plugins() const;
  const std::vector<std::string>& given_plugins() const { return plugins_; }
  // All other options, in the order of the help. Throws InputError for an empty value.
  std::vector<sim::Setting> settings() const;

 private:
  std::string file_;
  // These are the values of options that stand for one field of the scenario each.
  std::vector<std::optional<std::string>> values_;
  std::vector<std::string> plugins_, jobs_, models_, faults_, sets_;
  bool no_flows_ = false, baseline_ = false, interference_ = false;
};

// The field that an option stands for, "job.traffic" for "traffic"; other names as they are.
std::string path_of_field(const std::string& name);

}  // namespace weft::cli
