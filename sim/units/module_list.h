// The explicit list of one kind of module, which plug-ins add to.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/units/input_error.h"
#include "sim/units/module.h"

namespace weft {

// `Module` has an `info`, a ModuleInfo. Not thread-safe.
template <typename Module>
class ModuleList {
 public:
  // `kind` is for messages: "routing policy". The first one is the default.
  ModuleList(std::string kind, std::vector<Module> built_in)
      : kind_(std::move(kind)), modules_(std::move(built_in)) {}

  // Good until add(): modules are added where a program starts, before anything is built of them.
  std::span<const Module> all() const { return modules_; }
  // Behind the others. Throws InputError if its name is taken, or is none that users could write.
  void add(Module module) {
    const std::string& name = module.info.name;
    if (name.empty() ||
        name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") != std::string::npos) {
      throw InputError("'" + name + "' can't be the name of a " + kind_ +
                       ": expected lower case letters, digits and underscores");
    }
    for (const Module& known : modules_) {
      if (known.info.name == name) {
        throw InputError("the " + kind_ + " '" + name + "' is there already: choose another name");
      }
    }
    modules_.push_back(std::move(module));
  }

 private:
  const std::string kind_;
  std::vector<Module> modules_;
};

}  // namespace weft
