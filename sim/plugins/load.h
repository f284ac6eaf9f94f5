// Loads plug-ins into the lists of modules.
#pragma once

#include <string>

namespace weft::sim {

// Adds a plug-in's modules to the lists, for as long as the program runs. The same file is loaded once. To be
// called before anything is made of modules. Throws InputError, and says what to do: there is no such file,
// it is no plug-in, was compiled with the headers of another version, needs what this program doesn't have,
// throws, or has a module whose name is taken, that lacks a function, or whose parameters make no sense.
void load_plugin(const std::string& path);

}  // namespace weft::sim
