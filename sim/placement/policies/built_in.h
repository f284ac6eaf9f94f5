// The placement policies of this folder, each in the file of its name.
#pragma once

#include "sim/placement/placement.h"

namespace weft::placement {

// Hosts next to each other in number.
Policy packed();
// Any free hosts, all choices equally likely.
Policy random();

// A host of each switch in turn; of each group.
Policy round_robin();
Policy group_round_robin();
// Group after group; within each by number, or at random.
Policy by_group();
Policy hybrid();
// A box of a grid; rows and columns of boards.
Policy submesh();
// By who talks to whom.
Policy matrix();
// As files say: of a user, of real runs.
Policy rank_file();
Policy allocation();

}  // namespace weft::placement
