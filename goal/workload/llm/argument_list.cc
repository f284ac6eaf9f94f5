#include "goal/workload/llm/argument_list.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <sstream>

#include "sim/units/input_error.h"
#include "sim/units/input_file.h"

namespace weft::goal::llm {
namespace {

constexpr std::uint64_t kMostOfFile = 1u << 20, kMost = 1'000'000'000;

std::string plain_name(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r\"'"), last = text.find_last_not_of(" \t\r\"',");
  return first == std::string::npos || last < first ? "" : text.substr(first, last - first + 1);
}

std::string without_comment(const std::string& line) {
  const std::size_t at = line.find('#');
  const bool comment = at == 0 || (at != std::string::npos && (line[at - 1] == ' ' || line[at - 1] == '\t'));
  return comment ? line.substr(0, at) : line;
}

bool is_name(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

// The value of $NAME, ${NAME} or ${NAME:-value}; else the word.
std::string resolved(const std::map<std::string, std::string>& variables, const std::string& word) {
  if (word.size() < 2 || word[0] != '$') return word;
  std::string name = word.substr(1), otherwise = word;
  if (name.front() == '{' && name.back() == '}') name = name.substr(1, name.size() - 2);
  if (const std::size_t at = name.find(":-"); at != std::string::npos) {
    otherwise = name.substr(at + 2);
    name.resize(at);
  }
  const auto found = variables.find(name);
  return found == variables.end() ? otherwise : found->second;
}

// NAME=value at the beginning of a line.
bool take_variable(std::map<std::string, std::string>& variables, const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos || !is_name(word.substr(0, equals))) return false;
  const std::string value = trimmed(word.substr(equals + 1));
  if (value.starts_with("(")) return false;  // a list of arguments begins
  variables[word.substr(0, equals)] = resolved(variables, value);
  return true;
}

}  // namespace

ArgumentList::ArgumentList(const std::string& path) : path_(path) {
  const std::string text = read_input(path, kMostOfFile);
  if (path.ends_with(".toml")) {
    read_settings(text, '=');
  } else if (path.ends_with(".yaml") || path.ends_with(".yml")) {
    read_settings(text, ':');
  } else {
    read_script(text);
  }
  if (!arguments_.empty()) return;
  throw InputError(
      path + ": no arguments; expected --name value, or name = value in a .toml, name: value in a .yaml");
}

void ArgumentList::add(const std::string& name, const std::string& value, std::int64_t line) {
  const auto [at, added] = arguments_.try_emplace(plain_name(name), Argument{value, line});
  if (added || at->second.value == value) return;
  throw InputError({path_, line}, fmt::format("{} is '{}', and '{}' on line {}", name, value,
                                              at->second.value, at->second.line));
}

// TOML's sections stand in brackets. YAML's are lines without a value; there they are named only where a name
// is there twice.
void ArgumentList::read_settings(const std::string& text, char separator) {
  std::istringstream lines(text);
  std::string line, section;
  for (std::int64_t number = 1; std::getline(lines, line); ++number) {
    line = without_comment(line);
    const std::string whole = trimmed(line);
    if (whole.empty() || whole == "---") continue;
    if (whole.front() == '[' && separator == '=') {
      section = whole.substr(1, whole.find(']') - 1) + ".";
      continue;
    }
    const std::size_t at = line.find(separator);
    if (at == std::string::npos) continue;  // an element of a list
    const std::string name = trimmed(line.substr(0, at)), value = trimmed(line.substr(at + 1));
    if (separator == ':' && line.front() != ' ') section.clear();
    if (separator == ':' && value.empty()) {
      section = name + ".";
    } else {
      const bool plain = separator == ':' && !arguments_.contains(plain_name(name));
      add(plain ? name : section + name, value, number);
    }
  }
}

void ArgumentList::read_script(const std::string& text) {
  std::map<std::string, std::string> variables;
  std::istringstream lines(text);
  std::string line;
  for (std::int64_t number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(without_comment(line));
    std::string word, name, value;  // of the argument that is being read: its values are on its line
    const auto end = [&] {
      if (!name.empty()) add(name, value, number);
      name.clear(), value.clear();
    };
    for (bool first = true; words >> word; first = false) {
      if (first && take_variable(variables, word)) continue;
      while (!word.empty() && (word.back() == ')' || word.back() == '\\')) word.pop_back();
      word = trimmed(word);
      if (word.starts_with("--") && word.size() > 2) {
        end();
        const std::size_t equals = word.find('=');
        name = word.substr(2, equals == std::string::npos ? equals : equals - 2);
        if (equals != std::string::npos) value = resolved(variables, word.substr(equals + 1));
      } else if (word.ends_with(".py") && !value.empty()) {
        end();  // the program behind its launcher's arguments
      } else if (!name.empty() && !word.empty()) {
        value += (value.empty() ? "" : " ") + resolved(variables, word);
      }
    }
    end();
  }
}

std::optional<std::string> ArgumentList::find(const std::string& name) {
  const auto at = arguments_.find(name);
  if (at == arguments_.end()) return std::nullopt;
  at->second.read = true;
  return at->second.value;
}

bool ArgumentList::flag(const std::string& name) {
  const std::optional<std::string> value = find(name);
  return value && *value != "false" && *value != "False" && *value != "0";
}

std::optional<std::uint64_t> ArgumentList::number(const std::string& name) {
  const std::optional<std::string> text = find(name);
  if (!text) return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size() || value > kMost) {
    fail(name, fmt::format("a whole number from 0 to {}", kMost));
  }
  return value;
}

void ArgumentList::fail(const std::string& name, const std::string& expected) const {
  const Argument& argument = arguments_.at(name);
  throw InputError({path_, argument.line},
                   fmt::format("{} is '{}'; expected {}", name, argument.value, expected));
}

std::vector<std::string> ArgumentList::unread() const {
  std::vector<std::string> names;
  for (const auto& [name, argument] : arguments_) {
    if (!argument.read) names.push_back(name);
  }
  return names;
}

}  // namespace weft::goal::llm
