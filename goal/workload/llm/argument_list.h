// Arguments of a training program as others write them down: in a shell script or a text, --name value; in
// YAML and TOML, name: value or name = value, with the section's name before it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace weft::goal::llm {

class ArgumentList {
 public:
  // Names with '-' for '_'. In a script $NAME and ${NAME:-value} are what NAME=value above says, if it does.
  // Throws InputError if the file has no argument, or one twice with two values.
  explicit ArgumentList(const std::string& path);

  bool has(const std::string& name) const { return arguments_.contains(name); }
  // The value, "" if there is none, without counting as read.
  std::string peek(const std::string& name) const { return has(name) ? arguments_.at(name).value : ""; }
  bool is(const std::string& name, const char* value) const { return has(name) && peek(name) == value; }
  // They count as read from then on. A flag without a value is "".
  std::optional<std::string> find(const std::string& name);
  bool flag(const std::string& name);
  // Throws InputError, with file and line, for what isn't a whole number from 0 on.
  std::optional<std::uint64_t> number(const std::string& name);
  std::uint64_t number(const std::string& name, std::uint64_t otherwise) {
    return number(name).value_or(otherwise);
  }
  [[noreturn]] void fail(const std::string& name, const std::string& expected) const;
  std::vector<std::string> unread() const;
  const std::string& path() const { return path_; }

 private:
  struct Argument {
    std::string value;
    std::int64_t line = 0;
    bool read = false;
  };
  void add(const std::string& name, const std::string& value, std::int64_t line);
  void read_settings(const std::string& text, char separator);
  void read_script(const std::string& text);

  std::string path_;
  std::map<std::string, Argument> arguments_;
};

}  // namespace weft::goal::llm
