#include "topologies/import/graph_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "topologies/families/cabling.h"
#include "topologies/import/build_network.h"
#include "topologies/import/readers.h"

namespace weft::topologies {
namespace {

constexpr const char* kAutomatic = "auto";

std::vector<ParameterSpec> parameters_of_graph_file() {
  std::vector<ParameterSpec> all = {
      {"file", ParameterType::kFile, "", "The file's path; [in brackets] if it has a comma."},
      {"format", ParameterType::kText, kAutomatic,
       "What the file is: graphml, edges, topo (htsim) or adjacency (EvalNet); auto: by its name and "
       "content."},
      {"hosts", ParameterType::kText, kAutomatic,
       "A shell's pattern that the names of all hosts match, like node*; or the number of hosts to add to "
       "each "
       "router of a file without hosts. auto: by kinds, names and degrees, else 1 on each router."},
      {"ignore", ParameterType::kText, "",
       "Names of attributes or columns that are not to be read, like [weight,cost]."},
  };
  for (ParameterSpec& spec : with_cabling({})) {
    spec.help = spec.name == "host_link" ? "Where the file has no rate for a host's link; auto: as `link`."
                : spec.name == "switch_latency"
                    ? fmt::format("Where the file has none; auto: {}.", spec.default_value)
                    : fmt::format("Where the file has none for a link; auto: {}.", spec.default_value);
    spec.default_value = kAutomatic;
    all.push_back(std::move(spec));
  }
  return all;
}

const ModuleInfo& info() {
  static const ModuleInfo info = {
      .name = "graph_file",
      .summary =
          "A network of your own from a file: GraphML, an edge list, htsim's .topo or an adjacency list.",
      .source = "GraphML specification, http://graphml.graphdrawing.org; htsim, fat_tree_topology.cpp",
      .parameters = parameters_of_graph_file(),
  };
  return info;
}

const ImportFormat& read_format(const Parameters& parameters, std::string_view text,
                                const std::string& file) {
  const std::string& name = parameters.text("format");
  if (name == kAutomatic) return detect_format(text, file);
  std::string known = kAutomatic;
  for (const ImportFormat& format : import_formats()) {
    if (format.name == name) return format;
    known += ", " + format.name;
  }
  parameters.fail("format", "it must be one of: " + known);
}

std::vector<std::string> ignored_names(const Parameters& parameters) {
  std::string_view rest = parameters.text("ignore");
  if (rest.starts_with('[') && rest.ends_with(']')) rest = rest.substr(1, rest.size() - 2);
  std::vector<std::string> names;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    names.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return names;
}

// The short form, which can be read back even if the path has a comma.
std::string short_form(const Parameters& parameters, const std::string& file) {
  std::map<std::string, std::string> given(parameters.values().begin(), parameters.values().end());
  if (file.find(',') != std::string::npos) given["file"] = "[" + file + "]";
  for (const char* list : {"hosts", "ignore"}) {
    const auto found = given.find(list);
    if (found == given.end() || found->second.starts_with('[')) continue;
    if (found->second.find_first_of(",[") != std::string::npos) found->second = "[" + found->second + "]";
  }
  return to_short_form(info().name, Parameters(info(), given));
}

Topology build(const Parameters& parameters) {
  const std::string file = parameters.file("file");
  if (file.empty()) parameters.fail("file", "it must be the path of a file, like network.graphml");
  const std::string text = read_whole_file(file);
  return build_network(read_format(parameters, text, file).read(text, file, ignored_names(parameters)),
                       parameters, short_form(parameters, file));
}

}  // namespace

Family graph_file_family() { return {.info = info(), .build = build, .is_from_file = true}; }

}  // namespace weft::topologies
