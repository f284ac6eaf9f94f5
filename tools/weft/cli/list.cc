#include "tools/weft/cli/list.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "goal/workload/compute/device.h"
#include "sim/units/module.h"
#include "sim/units/wrap.h"
#include "tools/weft/cli/plugins.h"

namespace weft::cli {
namespace {

// A paragraph in lines of at most 100 columns.
std::string wrapped(const std::string& paragraph) {
  constexpr std::size_t kWidth = 98;
  std::string text, line;
  std::istringstream words(paragraph);
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > kWidth) {
      text += "  " + std::exchange(line, "") + "\n";
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return line.empty() ? text : text + "  " + line + "\n";
}

std::string describe(const Listed& module) {
  const ModuleInfo& info = module.info;
  std::string text = fmt::format("{} ({}{})\n  {}\n", info.name, module.kind,
                                 module.collective.empty()       ? std::string()
                                 : module.collective == kProfile ? " profile"
                                                                 : " algorithm for " + module.collective,
                                 info.summary);
  if (!info.source.empty()) text += fmt::format("  Source: {}\n", info.source);
  if (!info.about.empty()) text += "\n" + wrapped(info.about);
  const std::string how = usage(module);
  if (!how.empty()) text += "\n" + how;
  text += module.details;
  if (info.parameters.empty()) return text;
  std::size_t name_width = 9, default_width = 8;
  for (const ParameterSpec& spec : info.parameters) {
    name_width = std::max(name_width, spec.name.size());
    default_width = std::max(default_width, spec.default_value.size());
  }
  text += fmt::format("\n  {:<{}}  {:<9}  {:<{}}  meaning\n", "parameter", name_width, "type", "default",
                      default_width);
  for (const ParameterSpec& spec : info.parameters) {
    text +=
        fmt::format("  {:<{}}  {:<9}  {:<{}}  {}\n", spec.name, name_width, type_name(spec.type),
                    is_required(spec) ? "required" : spec.default_value, default_width, weft::describe(spec));
  }
  return text;
}

// "topology" for "topology" and "topologies"; "" stays. Throws InputError for what is no kind.
std::string kind_of(const std::string& word) {
  const std::vector<std::string> kinds = module_kinds();
  for (const std::string& kind : kinds) {
    const std::string many = kind.back() == 'y' ? kind.substr(0, kind.size() - 1) + "ies" : kind + "s";
    if (word == kind || word == many) return kind;
  }
  if (word.empty()) return word;
  fail_unknown_name("kind of module", word, kinds);
}

// On a terminal lines are broken between words; for other programs each stays one.
void print_wrapped(const std::string& text) {
  std::fputs(wrap(text, terminal_columns(STDOUT_FILENO)).c_str(), stdout);
}

}  // namespace

std::string list_text(const Catalog& catalog, const std::string& word, bool names) {
  const std::vector<std::string> kinds = module_kinds();
  const std::string kind = kind_of(word);
  const std::vector<Listed> all = listed_modules(catalog);
  const auto title = [](const Listed& module) {
    return module.collective.empty() ? module.info.name : module.collective + ": " + module.info.name;
  };
  std::size_t width = 0;
  for (const Listed& module : all) {
    if (kind.empty() || module.kind == kind) width = std::max(width, title(module).size());
  }
  std::string text;
  std::vector<std::string> lines;
  for (const std::string& at : kinds) {
    if (!kind.empty() && at != kind) continue;
    if (!names) text += fmt::format("{}{}\n", text.empty() ? "" : "\n", at);
    for (const Listed& module : all) {
      if (module.kind != at) continue;
      if (!names) {
        text += fmt::format("  {:<{}}  {}{}\n", title(module), width, module.info.summary,
                            module.in_short.empty() ? "" : " (" + module.in_short + ")");
        continue;
      }
      // An algorithm's name may serve several operations.
      const std::string line = fmt::format("{} {}\n", at, module.info.name);
      if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
    }
  }
  for (const std::string& line : lines) text += line;
  return text;
}

std::string describe_text(const Catalog& catalog, const std::string& name, const std::string& only) {
  const std::string kind = kind_of(only);
  if (name.ends_with(".csv") && (kind.empty() || kind == kDevice))
    return describe(listed_device(goal::find_device(name)));
  std::vector<Listed> all = listed_modules(catalog);
  for (Listed& section : listed_sections(catalog)) all.push_back(std::move(section));
  std::string text;
  std::vector<std::string> known;
  for (const Listed& module : all) {
    if (!kind.empty() && module.kind != kind) continue;
    if (std::find(known.begin(), known.end(), module.info.name) == known.end()) {
      known.push_back(module.info.name);
    }
    if (module.info.name == name || module.collective == name)
      text += (text.empty() ? "" : "\n") + describe(module);
  }
  const auto is_kind = [&](const Listed& module) {
    return kind.empty() && module.kind == name && name != kSection;
  };
  // A word may name a kind and a module.
  if (std::any_of(all.begin(), all.end(), is_kind)) {
    text += (text.empty() ? "" : "\n") + list_text(catalog, name, false);
  }
  if (!text.empty()) return text;
  fail_unknown_name(kind.empty() ? "module" : kind, name, known);
}

void add_list(Command& command, int&) {
  struct Options {
    std::string kind;
    bool names = false;
  };
  auto options = std::make_shared<Options>();
  command.add_option("kind", options->kind,
                     "only these: network, topology, routing, congestion, recovery, queue, traffic, "
                     "fabric, placement, collective, protocol, scheduler, importer, "
                     "sink or device");
  command.add_flag("--names", options->names, "only a kind and a name on each line, for scripts");
  add_plugin_option(command);
  command.footer("Examples:\n  weft list\n  weft list topology");
  command.callback([options] { print_wrapped(list_text(builtin_catalog(), options->kind, options->names)); });
}

void add_describe(Command& command, int&) {
  auto words = std::make_shared<std::vector<std::string>>();
  command
      .add_option("name", *words,
                  "a module that `weft list` names, which its kind may stand before; or a kind of module, a "
                  "collective, hosts, "
                  "collectives, fault; or a file of measurements of a device (.csv)")
      .required();
  add_plugin_option(command);
  command.footer(
      "Examples:\n  weft describe fat_tree\n  weft describe device h100\n  weft describe hosts\n  weft "
      "describe allreduce");
  command.callback([words] {
    if (words->size() > 2)
      throw InputError("found " + words->at(2) +
                       "; expected the name of a module, and its kind before it at most");
    const std::string kind = words->size() == 2 ? words->front() : "";
    print_wrapped(describe_text(builtin_catalog(), words->back(), kind));
  });
}

}  // namespace weft::cli
