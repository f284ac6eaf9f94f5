// The content of results.sqlite, which SQLITE.md describes: the tables of a report, and samples over time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sim/results/report.h"
#include "sim/results/series.h"

namespace weft::results {

// A table has so many rows at most; of one that has more, every k-th row is kept, with the least k that
// suits. The table `omitted` says so.
inline constexpr std::uint64_t kMostRows = 1'000'000;
// Digests are of files up to this size: a second or two at most.
inline constexpr std::uint64_t kMostDigestedBytes = 256 << 20;

// Appends all of a report to the file of this path, and gives it its name. Throws InputError if it can't be
// written.
void write_sqlite(const Report& report, unsigned threads, const std::string& path,
                  std::uint64_t most_rows = kMostRows);

// Puts samples in the file while a run goes on, for write_sqlite() to go on with. The file begins with the
// first of them. Of more rows than `most_rows`, intervals stay whose number, in units of `interval`, is even,
// then a multiple of 4, and so on.
std::unique_ptr<SeriesSink> make_sqlite_samples(const std::string& path, Time interval,
                                                std::uint64_t most_rows = kMostRows);

}  // namespace weft::results
