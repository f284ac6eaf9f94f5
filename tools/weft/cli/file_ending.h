// Names of files whose end says another format than the one that is written.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace weft::cli {

// Throws InputError if the name ends as files of another well-known format do: no program would open what is
// written under it. `own` are the endings of the format, named in the message; other endings, and none, say
// nothing and are taken. `what`: "a bundle is a tar archive compressed by Zstandard".
void refuse_ending_of_another(const std::string& path, std::string_view what,
                              std::initializer_list<std::string_view> own);

// … for an output that is JSON with --json, else text for people.
void refuse_ending_of_another(const std::string& path, bool json);

}  // namespace weft::cli
