// The tables and pictures of a sweep.
#pragma once

#include <string>
#include <vector>

#include "tools/sweep/folder.h"
#include "tools/sweep/groups.h"

namespace weft::sweep {

// Progress counts all points, those that are done, and those of them that came to their end.
struct Progress {
  std::size_t points = 0, done = 0, complete = 0;
  std::size_t outdated = 0;   // not done, as a file has changed (Folder::changed_input())
  std::string changed_input;  // of the last of them
};
Progress progress_of(const Folder& folder);

// Writes sweep.csv, summary.csv, plot.svg and, where prices are known, pareto.svg into the folder; README.md
// describes them. The same points give the same files, however they were run. Throws InputError. `groups`,
// here and below: groups_of() what the folder has.
void write_tables(const Folder& folder, const Outcomes& outcomes, const std::vector<Group>& groups);

// The summary for people.
std::string summary_text(const Folder& folder, const std::vector<Group>& groups);
// Where seeds were to be added until intervals are narrow (Folder::until_ci()): the sentence that says of how
// many combinations they are not, and of which. "": of none.
std::string wide_text(const Folder& folder, const std::vector<Group>& groups);

}  // namespace weft::sweep
