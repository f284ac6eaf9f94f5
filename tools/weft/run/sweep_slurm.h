// weft sweep --engine slurm: what is said of it, and what its tasks do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/sweep/folder.h"
#include "tools/sweep/slurm.h"
#include "tools/weft/cli/command.h"

namespace weft::cli {

// Throws InputError if Slurm's tasks are at work in the folder and would be in the way: of another engine, or
// of points that have other settings than theirs.
void refuse_beside_slurm(const sweep::Folder& folder, const std::vector<sweep::Point>& next, bool by_slurm);
// Hands over what is not done. False: that is nothing, as all is done.
bool submit_told(const sweep::Folder& folder, const sweep::SlurmRequest& request, bool quiet);
// Where the points are that are not done, in lines; "" where Slurm was never asked.
std::string slurm_status(const sweep::Folder& folder);
// The hidden `weft sweep run`: a task.
void add_sweep_task(Command& parent, int& exit_code);

}  // namespace weft::cli
