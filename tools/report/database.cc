#include "tools/report/database.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "sim/units/input_error.h"

namespace weft::report {
namespace {

using Json = nlohmann::ordered_json;
using Query = tools::RunDatabase::Query;

constexpr double kExact = 1e15;

// Texts need not be UTF-8, as names of files are not; JSON replaces what is none when it is written.
Json field_of(const Query& rows, int field) {
  switch (rows.type(field)) {
    case Query::Type::kNull:
      return nullptr;
    case Query::Type::kInteger:
      return rows.integer(field);
    case Query::Type::kReal: {
      const double value = rows.real(field);
      // Whole numbers are shorter so.
      if (std::abs(value) < kExact && value == std::floor(value)) return static_cast<std::int64_t>(value);
      return value;
    }
    default:
      return std::string(rows.bytes(field));
  }
}

}  // namespace

Database::Database(const std::string& path) : file_(path) {
  if (!has_table("run")) throw InputError(fmt::format("{}: found no table 'run'", path));
}

bool Database::has_table(const std::string& name) const { return file_.has_table(name); }

bool Database::has_column(const std::string& table, const std::string& name) const {
  return count(fmt::format("SELECT count(*) FROM pragma_table_info('{}') WHERE name = '{}'", table, name)) >
         0;
}

Json Database::columns(const std::string& sql) const {
  Query rows(file_, sql);
  std::vector<Json> values(static_cast<std::size_t>(rows.fields()), Json::array());
  while (rows.next()) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i].push_back(field_of(rows, static_cast<int>(i)));
  }
  Json all = Json::object();
  for (std::size_t i = 0; i < values.size(); ++i) all[rows.name(static_cast<int>(i))] = std::move(values[i]);
  return all;
}

Json Database::value(const std::string& sql) const {
  const Json all = columns(sql);
  return all.empty() || all.front().empty() ? Json() : all.front().front();
}

std::uint64_t Database::count(const std::string& sql) const { return whole(value(sql)); }

std::uint64_t Database::whole(const Json& field) const {
  if (field.is_null()) return 0;
  if (!field.is_number_integer() || field.get<std::int64_t>() < 0) fail(field, "a whole number from 0 on");
  return field.get<std::uint64_t>();
}

double Database::real(const Json& field) const {
  if (field.is_null()) return 0;
  if (!field.is_number()) fail(field, "a number");
  return field.get<double>();
}

void Database::fail(const Json& field, const char* expected) const {
  throw InputError(
      fmt::format("{}: found '{}' where {} is expected", file_.path(), text_of(field), expected));
}

std::string text_of(const Json& field) {
  if (field.is_string()) return field.get<std::string>();
  return field.is_null() ? "" : field.dump();
}

}  // namespace weft::report
