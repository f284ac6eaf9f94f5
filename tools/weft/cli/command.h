// A command of weft and its options, on top of CLI11. Only command.cc includes that library: its templates
// take longer to compile than all else in a subcommand.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/weft/cli/command_tree.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace weft::cli {

// What add_option() and add_flag() give back, to say more of the option: add_option(…).required().repeated().
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  const Option& required() const;
  // May be given several times, with one value each time.
  const Option& repeated() const;
  // Several values stand in one word, with commas between.
  const Option& list() const;
  // The help tells the value that the target has now.
  const Option& with_default() const;
  const Option& range(std::uint32_t least, std::uint32_t most) const;
  const Option& positive() const;
  // The two can't be given together.
  const Option& excludes(const Option& other) const;
  // A positional one that is a command to run: what follows its first word is that command's, options too.
  const Option& command() const;

 private:
  CLI::Option* option_;
};

// What a command line gave for one option.
struct GivenOption {
  std::string name;  // "--ranks", or "FILE" of a positional one
  bool positional = false, flag = false;
  std::vector<std::string> values;
};

// One command: a handle, cheap to copy, that lives no longer than the CommandLine.
class Command {
 public:
  // Callbacks do their work only while *works is true.
  Command(CLI::App* app, std::shared_ptr<const bool> works) : app_(app), works_(std::move(works)) {}
  Command add_subcommand(const std::string& name, const std::string& summary);
  // Without one of its subcommands the command is bad input.
  void require_subcommand();

  // Options, "-o,--output", and positional arguments, "FILE". The value goes to `target`, which must live
  // until the callback has run; it keeps what it holds where the option is not given.
  Option add_option(const std::string& names, std::string& target, const std::string& help);
  Option add_option(const std::string& names, double& target, const std::string& help);
  Option add_option(const std::string& names, std::uint32_t& target, const std::string& help);
  Option add_option(const std::string& names, std::uint64_t& target, const std::string& help);
  Option add_option(const std::string& names, std::optional<std::string>& target, const std::string& help);
  Option add_option(const std::string& names, std::optional<std::uint16_t>& target, const std::string& help);
  Option add_option(const std::string& names, std::optional<std::uint32_t>& target, const std::string& help);
  Option add_option(const std::string& names, std::optional<std::uint64_t>& target, const std::string& help);
  Option add_option(const std::string& names, std::vector<std::string>& target, const std::string& help);
  Option add_option(const std::string& names, std::vector<std::uint32_t>& target, const std::string& help);
  Option add_flag(const std::string& names, bool& target, const std::string& help);
  // May be given several times. `take` gets each value as the command line is read, before any callback; not
  // while nothing is to be done.
  void add_each(const std::string& names, std::function<void(const std::string&)> take,
                const std::string& help);

  // Left out where commands are listed: for other programs, not for people.
  void hide();
  // Printed below the options by --help.
  void footer(const std::string& text);
  // The work; it runs after all of the command line was read, unless a subcommand was named.
  void callback(std::function<void()> work);

  std::string name() const;
  // In the order they were added; those not given are left out, --help too.
  std::vector<GivenOption> given() const;

 private:
  CLI::App* app_;
  std::shared_ptr<const bool> works_;
};

// The program's command line.
class CommandLine {
 public:
  CommandLine(const std::string& name, const std::string& description, const std::string& version);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  Command root();
  // All that was added so far, and what each command takes.
  CommandEntry tree() const;
  // Reads the command line and runs the callbacks of the command named there, or prints the help where none
  // is. True if that could be done; false after one line on standard error that says what is wrong with the
  // command line, with the nearest name where one is unknown. What a callback throws comes through.
  bool run(int argc, char** argv);
  // From now on run() only reads the command line, and does none of the work.
  void read_only() { *works_ = false; }

 private:
  CLI::App* app_;
  std::shared_ptr<bool> works_ = std::make_shared<bool>(true);
};

}  // namespace weft::cli
