#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "tools/report/sections.h"

namespace weft::report {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

// A quoted text without quotes, and with the characters that the text format escapes.
std::string unquoted(std::string_view text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return std::string(text);
  std::string out;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    if (text[i] == '\\' && i + 2 < text.size() && (text[i + 1] == '"' || text[i + 1] == '\\')) ++i;
    out += text[i];
  }
  return out;
}

struct Path {
  std::vector<std::string> words;
  std::string with(std::string_view last) const {
    std::string all;
    for (const std::string& word : words) all += word + ".";
    return all + std::string(last);
  }
};

}  // namespace

Json parameters(std::string_view scenario, const Budget& budget) {
  const bool cut = scenario.size() > budget.text;
  Path path;
  std::map<std::string, unsigned> seen;  // how often a message or value of this path began
  const auto numbered = [&](const std::string& name) {
    const unsigned before = seen[path.with(name)]++;
    return before == 0 ? name : fmt::format("{}[{}]", name, before);
  };
  Json names = Json::array(), values = Json::array();
  const auto add = [&](std::string name, std::string value) {
    names.push_back(std::move(name));
    values.push_back(std::move(value));
  };
  bool is_empty = false;  // the message that was opened last, so far
  std::string_view rest = scenario.substr(0, budget.text);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = trimmed(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line == "}") {
      if (path.words.empty()) continue;
      const std::string name = path.words.back();
      path.words.pop_back();
      if (is_empty) add(path.with(name), "");  // a module without parameters
      is_empty = false;
    } else if (line.ends_with('{')) {
      std::string_view name = trimmed(line.substr(0, line.size() - 1));
      if (name.ends_with(':')) name.remove_suffix(1);
      path.words.push_back(numbered(std::string(name)));
      is_empty = true;
    } else if (const std::size_t colon = line.find(':'); colon != std::string_view::npos) {
      add(path.with(numbered(std::string(line.substr(0, colon)))), unquoted(trimmed(line.substr(colon + 1))));
      is_empty = false;
    }
  }
  return {{"name", std::move(names)}, {"value", std::move(values)}, {"cut", cut}};
}

ModuleChoice chosen_topology(const Json& parameters) {
  constexpr std::string_view kPrefix = "topology.";
  ModuleChoice choice;
  const Json &names = parameters["name"], &values = parameters["value"];
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::string name = names[i];
    if (!name.starts_with(kPrefix)) continue;
    name.erase(0, kPrefix.size());
    const std::size_t dot = name.find('.');
    choice.name = name.substr(0, dot);
    if (dot == std::string::npos) continue;
    // A list, written value by value.
    const std::string parameter = name.substr(dot + 1);
    choice.given[parameter.substr(0, parameter.find('['))] = values[i];
  }
  return choice;
}

}  // namespace weft::report
