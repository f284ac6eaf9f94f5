#include "goal/workload/compute/measurements.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "goal/workload/compute/csv.h"
#include "sim/units/module.h"

namespace weft::goal {
namespace {

const std::vector<std::string>& operators() {
  static const std::vector<std::string> all = {"gemm", "attention_forward", "attention_backward", "copy",
                                               "launch"};
  return all;
}

// Throws the CSV's error, with the words there are.
std::size_t index_of(const CsvReader& csv, std::string_view column, std::span<const std::string> known) {
  const std::string word(csv.text(column));
  const auto at = std::find(known.begin(), known.end(), word);
  if (at == known.end()) {
    std::string all;
    for (const std::string& each : known) all += (all.empty() ? "" : ", ") + each;
    csv.fail("found '" + word + "' as " + std::string(column) + "; expected one of " + all);
  }
  return static_cast<std::size_t>(at - known.begin());
}

double squared_log(double a, double b) {
  const double log = std::log(a / b);
  return log * log;
}

}  // namespace

Measurements::Measurements(std::string_view text, std::string file_name) : file_name_(std::move(file_name)) {
  CsvReader csv(text, file_name_, {"op", "m", "n", "k", "precision", "us"});
  for (const std::string& comment : csv.comments()) {
    if (comment.starts_with("like ")) like_ = comment.substr(5);
  }
  const std::vector<std::string> precisions(kPrecisionNames.begin(), kPrecisionNames.end());
  while (csv.next()) {
    const std::string& op = operators()[index_of(csv, "op", operators())];
    const auto precision = static_cast<Precision>(index_of(csv, "precision", precisions));
    rows_.push_back({op, {csv.number("m"), csv.number("n"), csv.number("k"), precision, csv.number("us")}});
  }
}

std::vector<Measured> Measurements::rows(std::string_view op) const {
  std::vector<Measured> found;
  for (const Row& row : rows_) {
    if (row.op == op) found.push_back(row.measured);
  }
  return found;
}

const Measured& Measurements::nearest(std::string_view op, const Measured& asked) const {
  const Measured* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const Row& row : rows_) {
    const Measured& at = row.measured;
    if (row.op != op || at.precision != asked.precision) continue;
    const double distance =
        squared_log(at.m, asked.m) + squared_log(at.n, asked.n) + squared_log(at.k, asked.k);
    if (distance < least) least = distance, best = &at;
  }
  if (best != nullptr) return *best;
  throw InputError({file_name_}, "found no measurement of " + std::string(op) + " in " +
                                     std::string(kPrecisionNames[static_cast<std::size_t>(asked.precision)]) +
                                     "; expected one at least");
}

}  // namespace weft::goal
