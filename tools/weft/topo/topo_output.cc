#include "tools/weft/topo/topo_output.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "goal/file.h"
#include "sim/fabrics/fabrics.h"
#include "sim/results/report_tables.h"
#include "sim/results/results_folder.h"
#include "sim/units/input_error.h"
#include "sim/units/printable.h"
#include "topologies/composed.h"
#include "topologies/recommended_routing.h"

namespace weft::cli {
namespace {

void refuse_incomplete(const std::string& run) {
  const std::string marker = run + "/" + results::kIncompleteMarker;
  if (std::filesystem::exists(marker)) {
    throw InputError(fmt::format("{}: these results are not complete; {} says why", run, marker));
  }
}

}  // namespace

void TextOutput::add_to(Command& command) {
  command.add_option("-o,--output", path, "Write here instead of the standard output");
}

void TextOutput::write(ReadBy readers, const std::function<void(topologies::TextSink&)>& write) const {
  const bool is_text = readers == ReadBy::kPeople || (path.empty() && isatty(STDOUT_FILENO) == 1);
  std::optional<goal::FileWriter> file;
  if (!path.empty()) file.emplace(path);
  const auto put = [&](std::string_view piece) {
    file ? file->write(piece) : static_cast<void>(std::fwrite(piece.data(), 1, piece.size(), stdout));
  };
  // Text is made fit as a whole, for pieces may end within a character.
  std::string text;
  const auto gather = [&](std::string_view piece) { text += piece; };
  topologies::TextSink sink = is_text ? topologies::TextSink(gather) : topologies::TextSink(put);
  write(sink);
  put(printable_text(text));
  if (file) file->commit();
}

void FormatArgument::add_to(Command& command) {
  std::string names;
  for (const topologies::Format& format : topologies::formats()) {
    names += fmt::format("{}{} ({})", names.empty() ? "" : "; ", format.name, format.summary);
  }
  command.add_option("--format", name_, names + "; otherwise what the file's name ends in");
}

const topologies::Format& FormatArgument::choose(const std::string& path) const {
  if (given()) return topologies::find_format(name_);
  return path.empty() ? topologies::find_format("graphml") : topologies::format_of_file(path);
}

std::string options_when_read_back(const ModuleChoice& choice, const topologies::Format& format) {
  const bool is_read = format.name == "graphml" || format.loses_shape;
  const std::string family = topologies::routed_family(choice);
  const topologies::RecommendedRouting best = topologies::recommended_routing(family);
  constexpr const char* kFile = "graph_file";
  const std::string other = topologies::recommended_routing(kFile).policy;
  if (!is_read || choice.name == kFile || best.policy == other) return "";
  return fmt::format("--fabric {} --routing {}", fabrics::default_fabric(family, best.policy).name,
                     best.policy);
}

nlohmann::json RunFolder::summary(const std::string& run) {
  refuse_incomplete(run);
  const std::string path = run + "/summary.json";
  const goal::FileView file(path);
  nlohmann::json json = nlohmann::json::parse(file.bytes(), nullptr, false);
  if (!json.is_object()) throw InputError(SourceLocation{.file = path}, "this is no JSON object");
  return json;
}

std::string RunFolder::topology(const std::string& run) {
  const nlohmann::json json = summary(run);
  const auto found = json.find("topology");
  if (found == json.end() || !found->is_string() || found->get<std::string>().empty()) {
    throw InputError(fmt::format("{}: this run had no topology", run));
  }
  return *found;
}

double RunFolder::goodput_bps(const std::string& run) {
  const nlohmann::json json = summary(run);
  const nlohmann::json::json_pointer place("/goodput/total_bps");
  if (!json.contains(place) || !json[place].is_number()) {
    throw InputError(fmt::format("{}/summary.json: goodput.total_bps is missing", run));
  }
  return json[place];
}

std::vector<double> RunFolder::load(const std::string& run, const topologies::Topology& topology) {
  refuse_incomplete(run);
  const std::string path = run + "/links.csv";
  const goal::FileView file(path);
  std::string_view rest = file.bytes();
  SourceLocation at{.file = path};
  const auto next_line = [&] {
    ++at.line;
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    return line;
  };
  // Columns are counted from the right: names of nodes, which may hold commas, stand left of all numbers.
  const std::string_view header = next_line();
  const std::size_t column = header.find(",utilization");
  if (!header.starts_with("link,from,to,") || column == std::string_view::npos) {
    throw InputError(at, "found no columns link, from, to and utilization");
  }
  const auto behind = std::count(header.begin() + static_cast<std::ptrdiff_t>(column) + 1, header.end(), ',');
  std::vector<double> load;
  for (const topologies::Channel& channel : topology.channels()) {
    const std::string start =
        fmt::format("{},{},{},", load.size(), results::csv_field(topology.node(channel.from).name),
                    results::csv_field(topology.node(channel.to).name));
    const bool as_expected = rest.starts_with(start);
    if (as_expected) rest.remove_prefix(start.size());  // a name may hold newlines
    std::string_view line = next_line();
    if (!as_expected) {
      throw InputError(
          at, fmt::format("found '{}' where '{}…' is expected: the run was on another network than {}",
                          line.substr(0, 60), start, topology.name()));
    }
    for (auto i = behind; i > 0; --i) line = line.substr(0, line.rfind(','));
    line.remove_prefix(line.rfind(',') + 1);
    double value = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
    if (error != std::errc() || end != line.data() + line.size()) {
      throw InputError(at, fmt::format("found '{}' where the utilization is expected", line));
    }
    load.push_back(value);
  }
  if (!next_line().empty()) {
    throw InputError(
        at, fmt::format("found more links than {} has: the run was on another network", topology.name()));
  }
  return load;
}

}  // namespace weft::cli
