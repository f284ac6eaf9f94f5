// What a page shows of one run, from the folder that `weft sim -o` left.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/report/budget.h"
#include "topologies/cost/price_list.h"

namespace weft::report {

// Which files a run's scenario may name, like those of networks: those in its own folder, or any. The folder
// may be somebody else's, and the page is made to be shown.
enum class Files : unsigned char { kInFolder, kAnywhere };

// Throws InputError that names the folder or file if it is no folder of a run, its results are not complete,
// or they are damaged. What can't be had for other reasons (the drawing of a network whose file is gone) is
// left out, with the reason in `left_out`.
nlohmann::ordered_json read_run(const std::string& folder, const topologies::PriceList& prices,
                                const Budget& budget, Files files);

}  // namespace weft::report
