#include "tools/weft/cli/help.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

#include "sim/units/wrap.h"

namespace weft::cli {
namespace {

constexpr std::size_t kMostHeading = 26;  // columns; what is explained goes below longer ones

// "  heading   text", the text behind a common column.
std::string entry(const std::string& heading, const std::string& text, std::size_t column) {
  if (heading.size() > column - 4) return fmt::format("  {}\n{:{}}{}\n", heading, "", column, text);
  return fmt::format("  {:<{}}{}\n", heading, column - 2, text);
}

struct Row {
  std::string heading, text;
};

std::string section(std::string_view title, const std::vector<Row>& rows, std::size_t column) {
  if (rows.empty()) return "";
  std::string text = fmt::format("\n{}:\n", title);
  for (const Row& row : rows) text += entry(row.heading, row.text, column);
  return text;
}

}  // namespace

std::string usage_line(const CommandEntry& command, const std::string& full_name) {
  std::string line = full_name;
  bool options = false;
  for (const OptionEntry& option : command.options) options = options || !option.positional;
  if (options) line += " [OPTIONS]";
  for (const OptionEntry& option : command.options) {
    if (!option.positional) continue;
    const std::string name = option.names.front() + (option.many ? "..." : "");
    line += option.required ? " " + name : " [" + name + "]";
  }
  if (!command.subcommands.empty()) line += command.needs_subcommand ? " SUBCOMMAND" : " [SUBCOMMAND]";
  return line;
}

std::string option_heading(const OptionEntry& option) {
  std::string heading = fmt::format("{}", fmt::join(option.names, ", "));
  if (!option.value.empty() && !option.positional) heading += " " + option.value;
  return heading + (option.many ? "..." : "");
}

std::string option_text(const OptionEntry& option) {
  std::string text = option.help;
  if (option.required) text += " (required)";
  if (!option.default_value.empty()) text += fmt::format(" (default: {})", option.default_value);
  if (!option.excludes.empty()) text += fmt::format(" (not with {})", fmt::join(option.excludes, ", "));
  return text;
}

std::string help_text(const CommandEntry& command, const std::string& full_name, std::size_t width) {
  std::vector<Row> arguments, options, subcommands;
  for (const OptionEntry& option : command.options) {
    (option.positional ? arguments : options).push_back({option_heading(option), option_text(option)});
  }
  for (const CommandEntry& sub : command.subcommands) subcommands.push_back({sub.name, sub.description});
  std::size_t column = 0;
  for (const auto* rows : {&arguments, &options, &subcommands}) {
    for (const Row& row : *rows) {
      if (row.heading.size() <= kMostHeading) column = std::max(column, row.heading.size() + 4);
    }
  }
  std::string text = command.description + "\n\nUsage: " + usage_line(command, full_name) + "\n";
  text += section("Arguments", arguments, column);
  text += section("Options", options, column);
  text += section("Subcommands", subcommands, column);
  if (!command.footer.empty()) text += "\n" + command.footer + "\n";
  return wrap(text, width);
}

}  // namespace weft::cli
