// What the subcommands of weft topo that write a file share.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/weft/cli/command.h"
#include "topologies/export/formats.h"
#include "topologies/export/text_sink.h"
#include "topologies/graph/topology.h"

namespace weft::cli {

// Whom an output is for. In what people read, names can't command a terminal (sim/units/printable.h), not
// even behind a pipe to `less` or in a file that is shown later; programs get every byte as it is, but for a
// terminal.
enum class ReadBy : bool { kPeople, kPrograms };

// -o FILE; without it, the standard output.
struct TextOutput {
  std::string path;

  void add_to(Command& command);
  // Calls write(sink). A file appears under its name only when all of it is written. Throws InputError if it
  // can't be.
  void write(ReadBy readers, const std::function<void(topologies::TextSink&)>& write) const;
};

// --format FORMAT, of a file for a network.
class FormatArgument {
 public:
  void add_to(Command& command);
  bool given() const { return !name_.empty(); }
  // The format given, else the one that the name of the file tells; GraphML for the standard output ("").
  // Throws InputError if there is no such format, or the name tells none.
  const topologies::Format& choose(const std::string& path) const;

 private:
  std::string name_;
};

// With which options a network runs as it does under its family's name, where a file that is read back
// doesn't tell what weft then takes by default; "": it needs none.
std::string options_when_read_back(const ModuleChoice& choice, const topologies::Format& format);

// A folder that `weft sim … -o` left.
struct RunFolder {
  // Throw InputError that names the file if it is missing, damaged, or of a run without what is asked for.
  static nlohmann::json summary(const std::string& run);  // its summary.json, an object
  static std::string topology(const std::string& run);    // in short form
  static double goodput_bps(const std::string& run);      // of all messages together
  // The share of the time that each channel of the network was busy. Throws InputError if the run's
  // links are not those of `topology`.
  static std::vector<double> load(const std::string& run, const topologies::Topology& topology);
};

}  // namespace weft::cli
