#include "sim/scenario/short_form.h"

namespace weft::sim {

ModuleChoice read_short_form(const std::string& text, const SourceLocation& location) {
  ModuleChoice choice;
  try {
    choice = parse_module_choice(text);
  } catch (const InputError& error) {
    throw InputError(location, error.what());
  }
  choice.location = location;
  return choice;
}

void check_one_of(const std::vector<const ModuleInfo*>& all, const std::string& kind, const std::string& text,
                  const SourceLocation& location) {
  const ModuleChoice choice = read_short_form(text, location);
  std::vector<std::string> known;
  for (const ModuleInfo* info : all) {
    known.push_back(info->name);
    if (info->name == choice.name) return (void)Parameters(*info, choice);
  }
  fail_unknown_name(kind, choice.name, known, location);
}

}  // namespace weft::sim
