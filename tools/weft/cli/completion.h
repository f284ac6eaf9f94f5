// weft completion: the rest of a word on the command line, for bash, zsh and fish.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/weft/cli/command_tree.h"
#include "tools/weft/cli/list.h"
#include "tools/weft/cli/subcommand.h"

namespace weft::cli {

struct Candidate {
  std::string word, meaning;
  auto operator<=>(const Candidate&) const = default;
};

// What the last of `words` may become; those before it were typed behind "weft". Options begin with '-';
// values are completed where they are names (of `weft list`). None: a file, or anything.
std::vector<Candidate> candidates(const CommandEntry& tree, const Catalog& catalog,
                                  const std::vector<std::string>& words);

// `weft completion SHELL` prints what a shell is to be told; `weft complete -- WORD…`, hidden, is what that
// asks: a candidate a line, a tab before its meaning.
void add_completion(Command& root, std::function<CommandEntry()> tree);

}  // namespace weft::cli
