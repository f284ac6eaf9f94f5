// Slurm's hostlist expressions: "tux[0-3,12,18-20]", "r[0-1]n[00-15],login1".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace weft::topologies {

// The names an expression stands for, in its order; the numbers of a later bracket change fastest. Commas and
// blanks stand between items, an item may have up to 16 brackets, and the digits of a range's first
// number are the least that each of its numbers has ("n[08-10]" is n08, n09, n10), as slurm_hostlist_create()
// of Slurm's src/common/hostlist.c has it. Nothing, "(null)" and "None" stand for no names. Throws InputError
// without a place that says what was found and expected, also if there are more than `most` names.
std::vector<std::string> expand_hostlist(std::string_view text, std::size_t most);

}  // namespace weft::topologies
