// Tables with a row for each congestion control: none may be left out when one is added.
#pragma once

#include <algorithm>
#include <string>

#include "congestion/controls/controls.h"
#include "sim/units/module.h"

namespace weft::congestion {

// The controls without a row, and the rows without a control, by name: "" if there are none. `control` of a
// row is a name, or a module with parameters ("timely:variant=patched").
template <typename Rows>
std::string unmatched(const Rows& rows) {
  std::string names;
  const auto add = [&names](const std::string& name) { names += names.empty() ? name : " " + name; };
  const auto name_of = [](const auto& row) { return parse_module_choice(row.control).name; };
  for (const Control& control : controls()) {
    const auto is_its = [&](const auto& row) { return name_of(row) == control.info.name; };
    if (std::none_of(std::begin(rows), std::end(rows), is_its)) add(control.info.name);
  }
  for (const auto& row : rows) {
    const auto is_rows = [&](const Control& control) { return control.info.name == name_of(row); };
    if (std::none_of(controls().begin(), controls().end(), is_rows)) add(row.control);
  }
  return names;
}

// Jain's index of fairness, (Σ x)² / (n Σ x²): 1 where all have the same, 1/n where one has everything.
template <typename Shares>
double jain(const Shares& shares) {
  double sum = 0, squares = 0;
  for (const double share : shares) {
    sum += share;
    squares += share * share;
  }
  return sum * sum / (static_cast<double>(shares.size()) * squares);
}

}  // namespace weft::congestion
