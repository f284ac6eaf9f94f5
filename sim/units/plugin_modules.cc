#include "sim/units/plugin_modules.h"

#include <map>
#include <set>
#include <utility>

namespace weft {
namespace {

using Name = std::pair<std::string, std::string>;  // kind and module

std::map<Name, std::string>& files() {
  static std::map<Name, std::string> files;
  return files;
}

}  // namespace

void note_plugin_module(std::string_view kind, std::string_view module, const std::string& file) {
  files()[{std::string(kind), std::string(module)}] = file;
}

std::string plugin_of(std::string_view kind, std::string_view module) {
  const auto found = files().find({std::string(kind), std::string(module)});
  return found == files().end() ? "" : found->second;
}

std::string name_of_module(std::string_view kind, std::string_view module) {
  std::string name = std::string(kind) + " " + std::string(module);
  if (const std::string file = plugin_of(kind, module); !file.empty()) name += " (plug-in " + file + ")";
  return name;
}

std::string plugins_loaded() {
  std::set<std::string> all;
  for (const auto& [name, file] : files()) all.insert(file);
  std::string text;
  for (const std::string& file : all) text += (text.empty() ? "" : ", ") + file;
  return text;
}

void fail_module(std::string_view kind, std::string_view module, const std::string& what) {
  throw InputError(name_of_module(kind, module) + ": " + what);
}

}  // namespace weft
