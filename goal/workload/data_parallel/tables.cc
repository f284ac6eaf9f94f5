#include "goal/workload/data_parallel/tables.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "goal/workload/grid.h"
#include "goal/workload/message_graph.h"

namespace weft::goal {
namespace {

constexpr double kGigabytes = 1e-9;

struct KnownTables {
  const char* name;
  std::vector<std::uint32_t> rows, lookups;
};

// MLPerf's: of Criteo's click logs of a terabyte, with values above 40 million folded.
const std::vector<KnownTables>& known_tables() {
  static const std::vector<KnownTables> kAll = {
      {"criteo_1tb",
       {39884406, 39043, 17289, 7420, 20263, 3,  7120,     1543,     63,       38532951, 2953546, 403346, 10,
        2208,     11938, 155,   4,    976,   14, 39979771, 25641295, 39664984, 585935,   12972,   108,    36},
       {1}},
      {"criteo_1tb_multihot",
       {40000000, 39060, 17295, 7424, 20265, 3,  7122,     1543,     63,       40000000, 3067956, 405282, 10,
        2209,     11938, 155,   4,    976,   14, 40000000, 40000000, 40000000, 590152,   12973,   108,    36},
       {3, 2, 1, 2, 6, 1, 1, 1, 1, 7, 3, 8, 1, 6, 9, 5, 1, 1, 1, 12, 100, 27, 10, 3, 1, 1}},
  };
  return kAll;
}

// Rows and lookups by name, or the list that the user gives, one lookup each.
KnownTables given_tables(const Parameters& parameters) {
  const std::string& text = parameters.text("tables");
  std::vector<std::string> names;
  for (const KnownTables& known : known_tables()) {
    if (text == known.name) return known;
    names.emplace_back(known.name);
  }
  if (text.find_first_not_of("[]0123456789,") != std::string::npos || text.empty()) {
    fail_unknown_name("set of tables, nor a list of rows like [1000000,2000]", text, names);
  }
  return {"", numbers_of(parameters, "tables"), {1}};
}

std::vector<std::uint32_t> lookups_of(const Parameters& parameters, const KnownTables& known) {
  std::vector<std::uint32_t> lookups =
      parameters.text("lookups") == "auto" ? known.lookups : numbers_of(parameters, "lookups");
  if (lookups.size() == 1) lookups.resize(known.rows.size(), lookups.front());
  if (lookups.size() == known.rows.size()) return lookups;
  parameters.fail("lookups", fmt::format("it must be one number, or one for each of {} tables: {} are given",
                                         known.rows.size(), lookups.size()));
}

// The least number of parts that leaves no rank without, if there is one.
std::uint32_t parts_for(std::uint32_t dim, std::size_t tables, std::uint32_t ranks) {
  for (std::uint32_t parts = 1; parts < dim; ++parts) {
    if (dim % parts == 0 && tables * parts >= ranks) return parts;
  }
  return dim;
}

std::uint32_t parts_of(const Parameters& parameters, std::uint32_t dim, std::size_t tables,
                       std::uint32_t ranks) {
  const std::uint32_t given = integer_in(parameters, "columns", 0, dim);
  if (given == 0) return parts_for(dim, tables, ranks);
  if (dim % given != 0) parameters.fail("columns", fmt::format("it must divide dim, {}", dim));
  return given;
}

// Every table's parts, the largest first.
std::vector<TablePart> parts_by_size(const EmbeddingTables& all) {
  std::vector<TablePart> parts;
  for (std::uint32_t t = 0; t < all.tables.size(); ++t) {
    const TablePart part{t, all.tables[t].rows, all.dim / all.parts, all.tables[t].lookups};
    parts.insert(parts.end(), all.parts, part);
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const TablePart& a, const TablePart& b) { return a.bytes() > b.bytes(); });
  return parts;
}

using Load = std::pair<std::uint64_t, std::uint64_t>;
Load by_bytes(const TableRank& rank) { return {rank.bytes, rank.columns}; }
Load by_work(const TableRank& rank) { return {rank.columns + rank.looked_up, rank.bytes}; }

// Each part to the rank with the least load, the lowest among equals.
void place_greedily(const EmbeddingTables& all, Load (*load)(const TableRank&),
                    std::vector<TableRank>& ranks) {
  for (const TablePart& part : parts_by_size(all)) {
    std::min_element(ranks.begin(), ranks.end(), [load](const TableRank& a, const TableRank& b) {
      return load(a) < load(b);
    })->add(part);
  }
}

void place_in_turn(const EmbeddingTables& all, std::vector<TableRank>& ranks) {
  std::size_t next = 0;
  for (std::uint32_t t = 0; t < all.tables.size(); ++t) {
    for (std::uint32_t i = 0; i < all.parts; ++i) {
      ranks[next++ % ranks.size()].add({t, all.tables[t].rows, all.dim / all.parts, all.tables[t].lookups});
    }
  }
}

void place(const Parameters& parameters, const EmbeddingTables& all, std::vector<TableRank>& ranks) {
  const std::string& word = parameters.text("placement");
  if (word == "balanced") return place_greedily(all, by_work, ranks);
  if (word == "bytes") return place_greedily(all, by_bytes, ranks);
  return place_in_turn(all, ranks);
}

}  // namespace

void TableRank::add(const TablePart& part) {
  parts.push_back(part);
  bytes += part.bytes();
  columns += part.columns;
  looked_up += std::uint64_t{part.columns} * part.lookups;
}

std::uint64_t TableRank::touched(std::uint64_t batch) const {
  std::uint64_t values = 0;
  for (const TablePart& part : parts) values += std::min(batch * part.lookups, part.rows) * part.columns;
  return values;
}

std::vector<ParameterSpec> EmbeddingTables::parameters() {
  return {{"tables", ParameterType::kText, "criteo_1tb",
           "Rows of the tables of embeddings: criteo_1tb or criteo_1tb_multihot (MLPerf's), or a list like "
           "[1000000,2000]."},
          {"dim", ParameterType::kInteger, "128", "Values of an embedding, in fp32.", from_to("1", "65536")},
          {"lookups", ParameterType::kText, "auto",
           "Rows that are summed for a sample, one number or one for each table; auto: as the tables by name "
           "have, else 1."},
          {"columns", ParameterType::kInteger, "0",
           "Parts that each table is divided in, by columns; 0: so many that no rank is left without.",
           at_least("0")},
          {"placement", ParameterType::kText, "balanced",
           "Which rank gets which part, the largest first: balanced (least looked up and sent), bytes (least "
           "memory) or round_robin (in the order of the tables).",
           one_of({"balanced", "bytes", "round_robin"})}};
}

EmbeddingTables::EmbeddingTables(const Parameters& parameters, std::uint32_t number_of_ranks) {
  const KnownTables known = given_tables(parameters);
  const std::vector<std::uint32_t> lookups = lookups_of(parameters, known);
  for (std::size_t i = 0; i < known.rows.size(); ++i) tables.push_back({known.rows[i], lookups[i]});
  dim = parameters.whole("dim");
  parts = parts_of(parameters, dim, tables.size(), number_of_ranks);
  ranks.resize(number_of_ranks);
  place(parameters, *this, ranks);
}

void EmbeddingTables::check_memory(const Parameters& parameters, double device_bytes) const {
  const auto most = std::max_element(
      ranks.begin(), ranks.end(), [](const TableRank& a, const TableRank& b) { return a.bytes < b.bytes; });
  if (static_cast<double>(most->bytes) <= device_bytes) return;
  const TablePart& first =
      *std::max_element(most->parts.begin(), most->parts.end(),
                        [](const TablePart& a, const TablePart& b) { return a.bytes() < b.bytes(); });
  parameters.fail(
      "tables", fmt::format("rank {} would hold {:.1f} GB of them (table {} alone {:.1f}), and a device has "
                            "{:.0f}: all are {:.1f} GB, so take {} ranks at least{}",
                            most - ranks.begin(), static_cast<double>(most->bytes) * kGigabytes, first.table,
                            static_cast<double>(first.bytes()) * kGigabytes, device_bytes * kGigabytes,
                            static_cast<double>(weights() * sizeof(float)) * kGigabytes,
                            std::ceil(static_cast<double>(weights() * sizeof(float)) / device_bytes),
                            ranks.size() > 1 ? ", or more columns" : ""));
}

std::uint64_t EmbeddingTables::rows() const {
  return std::accumulate(tables.begin(), tables.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const EmbeddingTable& table) { return sum + table.rows; });
}

std::uint64_t EmbeddingTables::most_bytes() const {
  std::uint64_t most = 0;
  for (const TableRank& rank : ranks) most = std::max(most, rank.bytes);
  return most;
}

}  // namespace weft::goal
