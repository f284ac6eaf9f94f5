// Which modules came with plug-ins: errors in them are told as theirs.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "sim/units/input_error.h"

namespace weft {

// To be called where plug-ins are loaded. `kind` as in messages: "routing policy".
void note_plugin_module(std::string_view kind, std::string_view module, const std::string& file);
// The plug-in's file; "": it is built in.
std::string plugin_of(std::string_view kind, std::string_view module);
// "routing policy sticky (plug-in /home/me/sticky.so)"; without the last of those built in.
std::string name_of_module(std::string_view kind, std::string_view module);
// All files, with commas between; "": no plug-in was loaded.
std::string plugins_loaded();

[[noreturn]] void fail_module(std::string_view kind, std::string_view module, const std::string& what);

// Gives what make() gives, a function of this module. An exception of a plug-in's own becomes an InputError
// that names it, and so does a null pointer.
template <typename Make>
auto made_by(std::string_view kind, std::string_view module, std::string_view function, Make make) {
  const auto what = [&](std::string_view happened) {
    return std::string(function) + "() " + std::string(happened);
  };
  try {
    auto made = make();
    if constexpr (requires { made == nullptr; }) {
      if (made == nullptr) fail_module(kind, module, what("gave nothing"));
    }
    return made;
  } catch (const InputError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    if (plugin_of(kind, module).empty()) throw;
    fail_module(kind, module, what("threw: ") + error.what());
  } catch (...) {
    if (plugin_of(kind, module).empty()) throw;
    fail_module(kind, module, what("threw what is no std::exception"));
  }
}

}  // namespace weft
