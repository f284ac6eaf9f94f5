// What every pluggable part (topology family, routing policy, congestion control, queue discipline, network
// model, collective algorithm …) says of itself, and the values a user gave for its parameters.
//
// From these come `weft list`, `weft describe`, the short form NAME:key=value,…, the long form in the
// scenario file, and the "did you mean" of error messages.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/units/input_error.h"
#include "sim/units/quantity.h"

namespace weft {

enum class ParameterType : std::uint8_t {
  kInteger,    // a signed whole number
  kReal,       // a decimal number
  kBoolean,    // true or false
  kText,       // a word; may be empty
  kTime,       // parse_time
  kBandwidth,  // parse_bandwidth
  kBytes,      // parse_bytes
  // Text as well, with a meaning that is known outside of the module, so that a scenario can be repeated from
  // another working directory. Relative paths start at the working directory; one with a comma stands in
  // brackets: see Parameters::file().
  kFile,        // the path of a file; may be empty
  kNameOrFile,  // a word that the module knows, or a path: what has a '.' or '/' in it
  kTopologies,  // topologies in short form, in brackets: "[slim_fly:q=5]", "[slim_fly:q=5; torus]"
};
// A word of any kind, which may be empty?
bool is_text(ParameterType type);

// What a value may be, each in the text form a user writes; "" and an empty list: no such limit. A limit that
// depends on another parameter is the module's own to check, with Parameters::fail().
struct Limits {
  std::string least = {};  // and anything more
  std::string above = {};  // as least, but this value itself is refused
  std::string most = {};
  std::string below = {};                // as most, but this value itself is refused
  std::vector<std::string> one_of = {};  // words, of a text

  Limits up_to(std::string greatest) && {
    most = std::move(greatest);
    return std::move(*this);
  }
  Limits under(std::string bound) && {
    below = std::move(bound);
    return std::move(*this);
  }
};
// How modules write them: at_least("1"), from_to("1", "64"), above("0").up_to("1"), above("0").under("1").
inline Limits at_least(std::string least) { return {.least = std::move(least)}; }
inline Limits above(std::string bound) { return {.above = std::move(bound)}; }
inline Limits at_most(std::string most) { return {.most = std::move(most)}; }
inline Limits from_to(std::string least, std::string most) {
  return {.least = std::move(least), .most = std::move(most)};
}
inline Limits one_of(std::initializer_list<std::string> words) { return {.one_of = words}; }
// "from 1 to 64", "above 0 and at most 1", "paper or patched"; "" where there are no limits.
std::string to_string(const Limits& limits);

// One parameter. `default_value` is in the same text form a user writes; "" means "must be given",
// except for text of any kind, where "" is a value. "auto", for a number, time, bandwidth or size,
// means that the module works the value out; users may write it too. Nothing else tells a default from the
// same value given by a user, so that a run can be repeated from all its values.
struct ParameterSpec {
  std::string name;
  ParameterType type = ParameterType::kInteger;
  std::string default_value;
  std::string help;  // one sentence, with the unit; describe() adds the limits
  // Checked wherever values are read, but for a default of "auto" or "".
  Limits limits = {};
};
// The help and, where there are limits, a sentence on them: "Ports of a switch. It must be from 1 to 64."
std::string describe(const ParameterSpec& spec);

// One module of a kind. Names are lower case with underscores, as users write them.
struct ModuleInfo {
  std::string name;
  std::string summary;  // one sentence
  std::string source;   // the paper, RFC or specification it follows
  std::vector<ParameterSpec> parameters;
  // A paragraph for those who choose among its kind: what it goes by, what it does about it, what it is good
  // and bad at. May be empty.
  std::string about = {};
};

// A module as chosen by a user: its name and the parameters given for it, not yet checked.
struct ModuleChoice {
  std::string name;
  std::map<std::string, std::string> given;
  SourceLocation location;
  std::map<std::string, SourceLocation> locations;  // of given parameters, where known

  bool empty() const { return name.empty(); }
};

// The values for one module's parameters: what was given, and defaults for the rest. Every getter throws
// std::logic_error for a name that is not in the module's specification (a bug, not bad input).
class Parameters {
 public:
  Parameters() = default;
  // Checks every value against its type and limits. Throws InputError at `location` for an unknown name (with
  // the nearest known one), an ill-typed value, one beyond its limits, or a missing one that has no default.
  Parameters(const ModuleInfo& module, const std::map<std::string, std::string>& given,
             const SourceLocation& location = {});
  // Reads a user's choice, with errors at the place where the value at fault was given. (A template so that a
  // list in braces means the constructor above.)
  template <std::same_as<ModuleChoice> Choice>
  Parameters(const ModuleInfo& module, const Choice& choice)
      : module_name_(module.name), location_(choice.location), locations_(choice.locations) {
    read(module, choice.given);
  }

  std::int64_t integer(std::string_view name) const;
  // Gives an integer whose limits are within 32 bits. Throws std::logic_error if they aren't.
  std::uint32_t whole(std::string_view name) const;
  double real(std::string_view name) const;
  bool boolean(std::string_view name) const;
  const std::string& text(std::string_view name) const;
  // A path, without the brackets that a comma in it needs.
  std::string file(std::string_view name) const;
  Time time(std::string_view name) const;
  Bandwidth bandwidth(std::string_view name) const;
  std::uint64_t bytes(std::string_view name) const;

  // Is the value "auto"? See ParameterSpec.
  bool automatic(std::string_view name) const;
  // Every parameter with its value in text form, in the module's order.
  const std::vector<std::pair<std::string, std::string>>& values() const { return values_; }
  // For errors about a value that only the module can judge, or that is beyond its limits. `requirement` is a
  // clause that ends the message "fat_tree: k is '5', but …": "it must be even".
  [[noreturn]] void fail(std::string_view name, const std::string& requirement) const;

 private:
  void read(const ModuleInfo& module, const std::map<std::string, std::string>& given);
  void check_limits(const ParameterSpec& spec, const std::string& value) const;
  const std::string& find(std::string_view name) const;
  const SourceLocation& location_of(std::string_view name) const;

  std::string module_name_;
  std::vector<std::pair<std::string, std::string>> values_;
  SourceLocation location_;
  std::map<std::string, SourceLocation> locations_;  // of parameters given at a place of their own
};

// Reads the short form: "fat_tree:k=8,link=400Gbps". A value may not hold a comma, unless it stands in
// brackets: "dims=[4,4,4]". Throws InputError that shows the form expected.
ModuleChoice parse_module_choice(std::string_view text);
// The short form of a choice with resolved values.
std::string to_short_form(std::string_view name, const Parameters& parameters);

// The nearest of `known` to `word` by edit distance, or "" if none is near enough to be a slip.
std::string nearest_name(std::string_view word, std::span<const std::string> known);
// "'fat_tre' is not a topology; did you mean 'fat_tree'? (known: a, b, c)" as an InputError.
[[noreturn]] void fail_unknown_name(std::string_view kind, std::string_view word,
                                    std::span<const std::string> known, const SourceLocation& location = {});

// Finds `choice` in a list of entries that each have `.info` (a ModuleInfo). Throws InputError with the
// nearest name if it isn't there. `kind` is the word for messages: "topology".
template <typename Entry>
const Entry& find_module(std::span<const Entry> entries, const ModuleChoice& choice, std::string_view kind) {
  std::vector<std::string> known;
  for (const Entry& entry : entries) {
    if (entry.info.name == choice.name) return entry;
    known.push_back(entry.info.name);
  }
  fail_unknown_name(kind, choice.name, known, choice.location);
}

}  // namespace weft
