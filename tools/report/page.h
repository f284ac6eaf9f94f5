// The page: one HTML file with everything in it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tools/report/run.h"
#include "topologies/cost/price_list.h"

namespace weft::report {

// The most bytes that a page has.
inline constexpr std::size_t kMostBytes = 10'000'000;

// The page of these runs, side by side if they are several. What each may take is a share of `most_bytes`.
// Throws InputError as read_run() does, and if there is no room for so many runs. `names`: of the runs, in
// order; none: those of the folders.
std::string make_page(const std::vector<std::string>& folders, const topologies::PriceList& prices,
                      std::size_t most_bytes = kMostBytes, Files files = Files::kInFolder,
                      const std::vector<std::string>& names = {});

// The page around these data, which are JSON. `title` is for the window's bar.
std::string page_of(std::string_view title, std::string_view data);

// gzip (RFC 1952) in base64 (RFC 4648).
std::string packed(std::string_view data);

}  // namespace weft::report
