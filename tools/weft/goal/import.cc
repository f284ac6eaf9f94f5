#include "tools/weft/goal/import.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "goal/check/check.h"
#include "goal/import/importers.h"
#include "goal/pack/pack.h"
#include "goal/write_graph.h"
#include "sim/units/input_error.h"
#include "sim/units/module.h"
#include "sim/units/printable.h"
#include "tools/weft/cli/log.h"
#include "tools/weft/cli/standard_output.h"
#include "tools/weft/goal/traffic.h"

namespace weft::cli {
namespace {

// Where the time of the traced run went, a line for each sentence.
std::string where_text(const goal::PackInfo& info) {
  const auto found = info.metadata.find("where_the_time_went");
  if (found == info.metadata.end() || found->second.empty()) return {};
  std::string text = "  time         " + found->second;
  for (std::size_t at = 0; (at = text.find(". ", at)) != std::string::npos;) {
    text.replace(at, 2, ".\n               ");
  }
  return text + "\n";
}

void print_summary(const goal::Graph& graph, const goal::PackInfo& info, const goal::Importer& importer,
                   const std::string& path) {
  const Traffic traffic = traffic_of(graph);
  std::string text = fmt::format(
      "{}: {} ranks, {} operations, {} dependencies\n"
      "  messages     {} ({:.3f} MB)\n"
      "  collectives  {} ({:.1f} a rank)\n",
      path, graph.ranks(), graph.ops(), graph.edges(), traffic.messages, traffic.bytes * 1e-6,
      traffic.collectives, static_cast<double>(traffic.collectives) / graph.ranks());
  const auto found = info.metadata.find("traced_elapsed_ns");
  if (found != info.metadata.end()) {
    const auto part = info.metadata.find("traced_part");
    text += fmt::format("  traced       {:.3f} s {}\n", std::stod(found->second) * 1e-9,
                        part == info.metadata.end() ? importer.span : printable(part->second));
  }
  text += where_text(info);
  for (const goal::Anomaly& anomaly : info.anomalies) {
    text += fmt::format("  {:<12} {}: {}. {}\n", goal::name(anomaly.severity), anomaly.name, anomaly.count,
                        anomaly.sentence);
  }
  print_text(text);
  if (info.not_replayed.any()) log::warn(goal::sentence(info.not_replayed));
}

// An option that comes from a parameter of importers; several may have one of that name.
struct ImportOption {
  std::string parameter, flag;           // "poll_gap", "--poll-gap"
  bool is_flag = false, is_set = false;  // is_set: of flags
  std::optional<std::string> value;      // of the others
  bool given() const { return is_set || value; }
};

struct ImportOptions {
  std::vector<std::string> words;  // the paths, or a format and the paths
  std::string output;
  bool list = false;
  std::deque<ImportOption> of_importers;  // never moves, as the command line points into it
};

std::string flag_of(const std::string& parameter) {
  std::string flag = "--" + parameter;
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

void add_importer_options(Command& command, ImportOptions& options) {
  for (const goal::Importer& importer : goal::importers()) {
    for (const ParameterSpec& spec : importer.info.parameters) {
      const auto same = [&](const ImportOption& option) { return option.parameter == spec.name; };
      if (std::any_of(options.of_importers.begin(), options.of_importers.end(), same)) continue;
      ImportOption& option = options.of_importers.emplace_back();
      option.parameter = spec.name;
      option.flag = flag_of(spec.name);
      option.is_flag = spec.type == ParameterType::kBoolean;
      const std::string help = fmt::format("{}: {}", importer.info.name, describe(spec));
      if (option.is_flag) {
        command.add_flag(option.flag, option.is_set, help);
      } else {
        command.add_option(
            option.flag, option.value,
            spec.default_value.empty() ? help : fmt::format("{} ({})", help, spec.default_value));
      }
    }
  }
}

std::string list_text() {
  std::size_t width = 0;
  for (const goal::Importer& importer : goal::importers()) {
    width = std::max(width, importer.info.name.size());
  }
  std::string text;
  for (const goal::Importer& importer : goal::importers()) {
    text += fmt::format("{:<{}}  {} Reads {}.\n", importer.info.name, width, importer.info.summary,
                        importer.looks_like);
  }
  return text;
}

bool names_format(const std::string& word) {
  const std::string name = word.substr(0, word.find(':'));
  return std::any_of(goal::importers().begin(), goal::importers().end(),
                     [&](const goal::Importer& importer) { return importer.info.name == name; });
}

// "mpi" or "mpi:partial=true", before the paths; takes it off them. Two words of which the second is a path
// are a format, if an unknown one, and that.
ModuleChoice choice_of(std::vector<std::string>& words) {
  const bool exists = std::filesystem::exists(words[0]);
  if (!exists && words.size() > 1) {
    const ModuleChoice choice = parse_module_choice(words[0]);
    words.erase(words.begin());
    return choice;
  }
  if (!exists && names_format(words[0])) {
    throw InputError(fmt::format(
        "'{0}' is a format; give the path of the trace too: weft import {0} PATH -o …", words[0]));
  }
  if (words.size() > 1 && names_format(words[0])) {
    throw InputError(fmt::format("'{0}' is a format and a file here; write ./{0} for the file", words[0]));
  }
  ModuleChoice choice;
  choice.name = goal::sniff_importer(goal::importers(), words[0]).info.name;
  return choice;
}

void add_given(const ImportOptions& options, const ModuleInfo& importer, ModuleChoice& choice) {
  for (const ImportOption& option : options.of_importers) {
    if (!option.given()) continue;
    const auto known = [&](const ParameterSpec& spec) { return spec.name == option.parameter; };
    if (std::none_of(importer.parameters.begin(), importer.parameters.end(), known)) {
      throw InputError(fmt::format("{} is no option of importer {}; see weft describe {}", option.flag,
                                   importer.name, importer.name));
    }
    choice.given[option.parameter] = option.is_flag ? "true" : *option.value;
    choice.locations[option.parameter] = {.file = option.flag};
  }
}

goal::Graph import(const goal::Importer& importer, const std::vector<std::string>& paths,
                   const Parameters& parameters, goal::PackInfo& info) {
  if (paths.size() == 1) return importer.import(paths[0], parameters, info);
  if (importer.import_several == nullptr) {
    throw InputError(fmt::format("{} traces are read from one file or folder, and {} were given, '{}' first",
                                 importer.info.name, paths.size(), paths[0]));
  }
  return importer.import_several(
      goal::TracePaths(std::vector<std::filesystem::path>(paths.begin(), paths.end())), parameters, info);
}

void run(const ImportOptions& options) {
  if (options.list) {
    std::fputs(list_text().c_str(), stdout);
    return;
  }
  if (options.words.empty()) {
    throw InputError(
        "give the path of a trace, with its format before it or not: weft import mpi DIR -o NAME.weft");
  }
  if (options.output.empty()) {
    throw InputError("-o is missing: the graph to write, NAME.weft (packed), NAME.goal (text) or NAME.bin");
  }
  const goal::Format format = goal::format_of_path(options.output);  // before the work, not after
  std::vector<std::string> paths = options.words;
  ModuleChoice choice = choice_of(paths);
  const goal::Importer& importer = find_module(goal::importers(), choice, "trace format");
  add_given(options, importer.info, choice);
  goal::PackInfo info;
  const goal::Graph graph = import(importer, paths, Parameters(importer.info, choice), info);
  for (goal::Anomaly& anomaly : goal::collective_anomalies(graph))
    info.anomalies.push_back(std::move(anomaly));
  for (goal::Anomaly& anomaly : goal::message_anomalies(graph)) info.anomalies.push_back(std::move(anomaly));
  goal::write_graph(graph, info, options.output, format);
  print_summary(graph, info, importer, options.output);
}

}  // namespace

void add_import(Command& command, int&) {
  const auto options = std::make_shared<ImportOptions>();
  command.add_option(
      "PATH", options->words,
      "the trace, or its files; its format may stand before it (mpi DIR), else it is found out");
  command.add_option("-o,--output", options->output,
                     "the graph: NAME.weft (packed), NAME.goal (text) or NAME.bin");
  command.add_flag("--list", options->list, "name the formats that can be imported");
  add_importer_options(command, *options);
  command.footer(
      "Examples:\n"
      "  weft import lj_trace -o lj.weft\n"
      "  weft import mpi lj_trace -o lj.weft --poll-gap 10us\n"
      "  weft import kineto rank0.json rank1.json -o step.weft\n"
      "Options and what they mean: weft describe mpi.");
  command.callback([options] { run(*options); });
}

}  // namespace weft::cli
