#include "tools/weft/cli/command.h"

#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <sstream>
#include <utility>

#include "sim/units/did_you_mean.h"
#include "sim/units/module.h"
#include "sim/units/printable.h"
#include "sim/units/wrap.h"
#include "tools/weft/cli/help.h"

namespace weft::cli {
namespace {

// The innermost subcommand that was named on the command line, and its full name ("weft goal info").
const CLI::App* innermost(const CLI::App& app, std::string& name) {
  const CLI::App* at = &app;
  name = at->get_name();
  for (auto parsed = at->get_subcommands(); !parsed.empty(); parsed = at->get_subcommands()) {
    at = parsed.back();
    name += " " + at->get_name();
  }
  return at;
}

// The names a user could have meant where `app` was given something unknown.
std::vector<std::string> known_names(const CLI::App& app, bool options) {
  std::vector<std::string> names;
  if (options) {
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  } else {
    for (const CLI::App* sub : app.get_subcommands(nullptr)) names.push_back(sub->get_name());
  }
  return names;
}

// One line and a hint for a command line that can't be read.
void complain(const CLI::App& app, const CLI::ParseError& error) {
  std::string name;
  const CLI::App* at = innermost(app, name);
  std::string message = error.what();
  std::string hint;
  std::vector<std::string> left = at->remaining();
  std::erase(left, "--");  // ends the options; no one's mistake
  const bool has_subcommands = !at->get_subcommands(nullptr).empty();
  if (!left.empty()) {
    const bool is_option = left[0].starts_with("-");
    const std::string word = is_option ? left[0].substr(0, left[0].find('=')) : left[0];
    message = is_option         ? "unknown option '" + word + "'"
              : has_subcommands ? "unknown subcommand '" + word + "'"
                                : "'" + word + "' is one argument too many";
    const std::vector<std::string> known = known_names(*at, is_option);
    if (is_option || has_subcommands) hint = did_you_mean(word, known);
  }
  std::replace(message.begin(), message.end(), '\n', ' ');
  std::fprintf(stderr, "%s: %s%s (see '%s --help')\n", name.c_str(), printable(message).c_str(), hint.c_str(),
               name.c_str());
}

// Does a word stand where a subcommand is expected? Help for one that isn't there would be that of another.
bool names_no_subcommand(const CLI::App& app) {
  std::string name;
  const CLI::App* at = innermost(app, name);
  const std::vector<std::string> left = at->remaining();
  return !at->get_subcommands(nullptr).empty() && !left.empty() && !left[0].starts_with("-");
}

OptionEntry entry_of(const CLI::Option& option) {
  OptionEntry entry;
  entry.positional = option.get_positional();
  if (entry.positional) {
    entry.names = {option.get_single_name()};
  } else {
    for (const std::string& name : option.get_snames()) entry.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) entry.names.push_back("--" + name);
  }
  if (option.get_type_size() != 0) {
    const std::string type = option.get_type_name();  // "UINT:POSITIVE" with a check
    const std::string kind = type.substr(0, type.find(':'));
    entry.value = kind == "UINT" || kind == "INT" ? "N" : kind == "FLOAT" ? "X" : kind;
  }
  entry.default_value = option.get_default_str();
  entry.help = option.get_description();
  entry.required = option.get_required();
  entry.many = option.get_expected_max() == CLI::detail::expected_max_vector_size;
  for (const CLI::Option* other : option.get_excludes()) entry.excludes.push_back(other->get_name());
  std::sort(entry.excludes.begin(), entry.excludes.end());  // the set goes by addresses
  return entry;
}

CommandEntry entry_of(const CLI::App& app) {
  CommandEntry entry{
      .name = app.get_name(), .description = app.get_description(), .footer = app.get_footer()};
  for (const CLI::Option* option : app.get_options()) entry.options.push_back(entry_of(*option));
  for (const CLI::App* sub : app.get_subcommands(nullptr)) {
    if (!sub->get_group().empty()) entry.subcommands.push_back(entry_of(*sub));
  }
  entry.needs_subcommand = app.get_require_subcommand_min() > 0;
  return entry;
}

class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
    std::string full_name = app->get_name();
    for (const CLI::App* at = app->get_parent(); at != nullptr; at = at->get_parent()) {
      full_name = at->get_name() + " " + full_name;
    }
    const std::size_t terminal = terminal_columns(STDOUT_FILENO);
    return help_text(entry_of(*app), full_name,
                     terminal == 0 ? kHelpWidth : std::min(terminal, kMostHelpWidth));
  }

 private:
  static constexpr std::size_t kHelpWidth = 80, kMostHelpWidth = 110;
};

// Marks a positional option that is a command to run. Help has no groups of options, so the name isn't seen.
constexpr const char* kCommandGroup = "command";

// Puts "--" before the first word of a command that is to be run, as its options aren't ours.
void end_options_at_command(const CLI::App& root, std::vector<std::string>& words) {
  const CLI::App* app = &root;
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    const std::string& word = words[i];
    const std::vector<const CLI::App*> named =
        app->get_subcommands([&word](const CLI::App* sub) { return sub->get_name() == word; });
    if (!named.empty()) {
      app = named.front();
    } else if (word.starts_with("-")) {
      const CLI::Option* option = app->get_option_no_throw(word);
      if (option != nullptr && option->get_items_expected_max() != 0) ++i;  // its value
    } else {
      const std::vector<const CLI::Option*> options =
          app->get_options([](const CLI::Option* option) { return option->get_group() == kCommandGroup; });
      if (!options.empty()) words.insert(words.begin() + static_cast<std::ptrdiff_t>(i), "--");
      return;
    }
  }
}

template <typename Target>
Option add(CLI::App* app, const std::string& names, Target& target, const std::string& help) {
  return Option(app->add_option(names, target, help));
}

}  // namespace

const Option& Option::required() const {
  option_->required();
  return *this;
}

const Option& Option::repeated() const {
  option_->expected(1)->allow_extra_args(false)->take_all();
  return *this;
}

const Option& Option::list() const {
  option_->delimiter(',');
  return *this;
}

const Option& Option::with_default() const {
  option_->capture_default_str();
  return *this;
}

const Option& Option::range(std::uint32_t least, std::uint32_t most) const {
  option_->check(CLI::Range(least, most));
  return *this;
}

const Option& Option::positive() const {
  // CLI11's own names the largest number there is, in 309 digits.
  option_->check(CLI::Validator(
      [](const std::string& text) {
        const std::string error = CLI::PositiveNumber(text);
        return error.empty() ? error : fmt::format("{} is not a number above 0", text);
      },
      "POSITIVE"));
  return *this;
}

const Option& Option::excludes(const Option& other) const {
  option_->excludes(other.option_);
  return *this;
}

const Option& Option::command() const {
  option_->group(kCommandGroup);
  return *this;
}

Command Command::add_subcommand(const std::string& name, const std::string& summary) {
  return {app_->add_subcommand(name, summary), works_};
}

void Command::require_subcommand() { app_->require_subcommand(1); }

void Command::add_each(const std::string& names, std::function<void(const std::string&)> take,
                       const std::string& help) {
  auto values = std::make_shared<std::vector<std::string>>();
  CLI::Option* const option = app_->add_option(names, *values, help);
  Option(option).repeated();
  option->each([values, take = std::move(take), works = works_](const std::string& value) {
    if (*works) take(value);
  });
}

Option Command::add_option(const std::string& names, std::string& target, const std::string& help) {
  return add(app_, names, target, help);
}

Option Command::add_option(const std::string& names, double& target, const std::string& help) {
  return add(app_, names, target, help);
}

Option Command::add_option(const std::string& names, std::uint32_t& target, const std::string& help) {
  return add(app_, names, target, help);
}

Option Command::add_option(const std::string& names, std::uint64_t& target, const std::string& help) {
  return add(app_, names, target, help);
}

Option Command::add_option(const std::string& names, std::optional<std::string>& target,
                           const std::string& help) {
  return add(app_, names, target, help);
}

Option Command::add_option(const std::string& names, std::optional<std::uint16_t>& target,
                           const std::string& help) {
  return add(app_, names, target, help);
}

Option Command::add_option(const std::string& names, std::optional<std::uint32_t>& target,
                           const std::string& help) {
  return add(app_, names, target, help);
}

Option Command::add_option(const std::string& names, std::optional<std::uint64_t>& target,
                           const std::string& help) {
  return add(app_, names, target, help);
}

Option Command::add_option(const std::string& names, std::vector<std::string>& target,
                           const std::string& help) {
  return add(app_, names, target, help);
}

Option Command::add_option(const std::string& names, std::vector<std::uint32_t>& target,
                           const std::string& help) {
  return add(app_, names, target, help);
}

Option Command::add_flag(const std::string& names, bool& target, const std::string& help) {
  return Option(app_->add_flag(names, target, help));
}

void Command::hide() { app_->group(""); }

void Command::footer(const std::string& text) { app_->footer(text); }

void Command::callback(std::function<void()> work) {
  app_->callback([works = works_, app = app_, work = std::move(work)] {
    if (*works && app->get_subcommands().empty()) work();
  });
}

std::string Command::name() const { return app_->get_name(); }

std::vector<GivenOption> Command::given() const {
  std::vector<GivenOption> all;
  for (const CLI::Option* option : std::as_const(*app_).get_options()) {
    if (option->count() == 0 || option->get_name() == "--help") continue;
    all.push_back({.name = option->get_name(),
                   .positional = option->get_positional(),
                   .flag = option->get_expected_max() == 0,
                   .values = option->results()});
  }
  return all;
}

CommandLine::CommandLine(const std::string& name, const std::string& description, const std::string& version)
    : app_(new CLI::App(description, name)) {
  app_->formatter(std::make_shared<HelpFormatter>());
  app_->set_help_flag("-h,--help", "Print this help and exit");
  app_->set_version_flag("--version", version, "Print version and build, and exit");
  app_->require_subcommand(0, 1);
}

CommandLine::~CommandLine() { delete app_; }

Command CommandLine::root() { return {app_, works_}; }

CommandEntry CommandLine::tree() const { return entry_of(*app_); }

bool CommandLine::run(int argc, char** argv) {
  try {
    std::vector<std::string> words(argv + 1, argv + argc);
    end_options_at_command(*app_, words);
    std::reverse(words.begin(), words.end());  // CLI11 takes them from the end
    app_->parse(std::move(words));
    if (app_->get_subcommands().empty()) std::fputs(app_->help().c_str(), stdout);
  } catch (const CLI::Success& success) {  // --help and --version
    if (names_no_subcommand(*app_)) {
      complain(*app_, CLI::ExtrasError(std::vector<std::string>()));
      return false;
    }
    std::ostringstream text;
    app_->exit(success, text, text);
    std::fputs(text.str().c_str(), stdout);
  } catch (const CLI::ParseError& error) {
    complain(*app_, error);
    return false;
  }
  return true;
}

}  // namespace weft::cli
