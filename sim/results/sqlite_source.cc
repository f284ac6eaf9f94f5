#include "sim/results/sqlite_source.h"

#include <fmt/core.h>
#include <sqlite3.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <new>
#include <system_error>
#include <utility>

namespace weft::results {
namespace {

constexpr const char* kName = "weft_rows";

struct SourceTable {
  sqlite3_vtab base;  // SQLite knows this alone
  SqliteSource* source;
};
struct Cursor {
  sqlite3_vtab_cursor base;
  SqliteSource* source;
};
SqliteSource& source_of(sqlite3_vtab_cursor* cursor) { return *reinterpret_cast<Cursor*>(cursor)->source; }

std::string column(std::size_t place) { return fmt::format("c{}", place); }

std::string columns(std::size_t count) {
  std::string names;
  for (std::size_t i = 0; i < count; ++i) names += (i == 0 ? "" : ", ") + column(i);
  return names;
}

std::optional<std::string> in_sql(const Field& field) {
  const std::uint64_t number =
      field.natural;  // the bits of `integer`, which is less than 2^63 if it has a sign
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  switch (field.kind) {
    case Field::Kind::kNotKnown:
      return "NULL";
    case Field::Kind::kInteger:
    case Field::Kind::kNatural:
      return number <= kMost ? std::optional(fmt::to_string(number)) : std::nullopt;
    case Field::Kind::kTime:
      return number <= kMost && number % 1000 == 0 ? std::optional(fmt::to_string(number / 1000))
                                                   : std::nullopt;
    default:
      return std::nullopt;
  }
}

int connect(sqlite3* database, void* source, int, const char* const*, sqlite3_vtab** table, char**) try {
  const std::string declaration = fmt::format("CREATE TABLE x({})", columns(Row::kMostFields));
  const int code = sqlite3_declare_vtab(database, declaration.c_str());
  if (code == SQLITE_OK) *table = &(new SourceTable{{}, static_cast<SqliteSource*>(source)})->base;
  return code;
} catch (const std::bad_alloc&) {
  return SQLITE_NOMEM;
}
int disconnect(sqlite3_vtab* table) {
  delete reinterpret_cast<SourceTable*>(table);
  return SQLITE_OK;
}
int best_index(sqlite3_vtab*, sqlite3_index_info*) { return SQLITE_OK; }  // there is one way to read it

int open_cursor(sqlite3_vtab* table, sqlite3_vtab_cursor** cursor) {
  auto* const made = new (std::nothrow) Cursor{{}, reinterpret_cast<SourceTable*>(table)->source};
  if (made == nullptr) return SQLITE_NOMEM;
  *cursor = &made->base;
  return SQLITE_OK;
}
int close_cursor(sqlite3_vtab_cursor* cursor) {
  delete reinterpret_cast<Cursor*>(cursor);
  return SQLITE_OK;
}

int next_row(sqlite3_vtab_cursor* cursor) {
  SqliteSource& source = source_of(cursor);
  try {
    source.at_end = !source.advance();
    return SQLITE_OK;
  } catch (...) {
    source.error = std::current_exception();
    return SQLITE_ERROR;
  }
}
int first_row(sqlite3_vtab_cursor* cursor, int, const char*, int, sqlite3_value**) {
  return next_row(cursor);
}
int at_end(sqlite3_vtab_cursor* cursor) { return source_of(cursor).at_end ? 1 : 0; }
int row_number(sqlite3_vtab_cursor*, sqlite3_int64* number) {
  *number = 0;  // nobody asks
  return SQLITE_OK;
}

void give_natural(sqlite3_context* to, std::uint64_t value) {
  if (value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return sqlite3_result_int64(to, static_cast<std::int64_t>(value));
  }
  sqlite3_result_double(to, static_cast<double>(value));
}

// The number that the field's digits say, which are what CSV has of it.
void give_as_written(sqlite3_context* to, const Field& field) {
  std::int64_t whole = 0;
  double number = 0;
  std::string digits;  // short ones need no memory
  append_csv(digits, field);
  const char* const end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, whole);
  if (read.ec == std::errc() && read.ptr == end) return sqlite3_result_int64(to, whole);
  std::from_chars(digits.data(), end, number);
  sqlite3_result_double(to, number);
}

// As give_as_written(), on a shorter way where there is one: the quotient of two exact numbers is the nearest
// to what the digits say.
void give_fixed(sqlite3_context* to, const Field& field) {
  if (field.real == 0) return sqlite3_result_double(to, 0);
  const std::optional<std::uint64_t> units = units_of(field.real, field.digits);
  if (!units) return give_as_written(to, field);
  if (field.digits == 0) return sqlite3_result_int64(to, static_cast<std::int64_t>(*units));
  sqlite3_result_double(to, static_cast<double>(*units) / kPowersOfTen[field.digits]);
}

void give_time(sqlite3_context* to, const Field& field) {
  constexpr std::int64_t kExact = std::int64_t{1} << 53;  // whole numbers up to it have a double each
  const std::int64_t ps = field.integer;
  if (ps % 1000 == 0) return sqlite3_result_int64(to, ps / 1000);
  if (ps >= kExact || ps < 0) return give_as_written(to, field);
  sqlite3_result_double(to, static_cast<double>(ps) / 1000);  // the nearest one, as of the digits
}

int give_field(sqlite3_vtab_cursor* cursor, sqlite3_context* to, int column) {
  const Field& field = source_of(cursor).row.fields()[static_cast<std::size_t>(column)];
  switch (field.kind) {
    case Field::Kind::kNotKnown:  // as it is when nobody says more
      break;
    case Field::Kind::kInteger:
      sqlite3_result_int64(to, field.integer);
      break;
    case Field::Kind::kNatural:
      give_natural(to, field.natural);
      break;
    case Field::Kind::kFixed:
      give_fixed(to, field);
      break;
    case Field::Kind::kTime:
      give_time(to, field);
      break;
    case Field::Kind::kText:  // it stands there until the row has been written
      sqlite3_result_text64(to, field.text.data(), field.text.size(), SQLITE_STATIC, SQLITE_UTF8);
      break;
  }
  return SQLITE_OK;
}

constexpr sqlite3_module make_module() {
  sqlite3_module module{};
  module.xConnect = connect;
  module.xBestIndex = best_index;
  module.xDisconnect = disconnect;
  module.xOpen = open_cursor;
  module.xClose = close_cursor;
  module.xFilter = first_row;
  module.xNext = next_row;
  module.xEof = at_end;
  module.xColumn = give_field;
  module.xRowid = row_number;
  return module;
}
constexpr sqlite3_module kModule = make_module();

bool is_same(const Field& field, const Field& other) {
  return field.kind == other.kind && (field.kind == Field::Kind::kNotKnown || field.natural == other.natural);
}

}  // namespace

void SameFields::begin(const Row& row) {
  fields_.clear();
  for (std::size_t i = 0; i < row.fields().size(); ++i) {
    if (in_sql(row.fields()[i])) fields_.push_back({i, row.fields()[i]});
  }
}

bool SameFields::narrow(const Row& row) {
  const auto differs = [fields = row.fields()](const Place& place) {
    return !is_same(fields[place.at], place.field);
  };
  if (std::ranges::none_of(fields_, differs)) return true;
  std::erase_if(fields_, differs);
  return false;
}

std::optional<std::string> SameFields::sql(std::size_t place) const {
  const auto found = std::ranges::find(fields_, place, &Place::at);
  return found == fields_.end() ? std::nullopt : in_sql(found->field);
}

void SqliteSource::begin(const NextRow& all) {
  next = &all;
  rows = 0;
  has_constants = has_row = false;
}

bool SqliteSource::advance() {
  if (std::exchange(has_row, false)) return true;
  row.clear();
  if (!(*next)(row)) return false;
  if (rows++ == 0) same.begin(row);
  const bool has_other_ones = !same.narrow(row) && has_constants;
  has_row = has_other_ones || (rows == kManyRows && !same.empty());
  return !has_row;
}

int add_source(sqlite3* database, SqliteSource& source) {
  return sqlite3_create_module(database, kName, &kModule, &source);
}

std::string select_source(std::size_t fields, const SameFields& constants) {
  std::string list;
  for (std::size_t i = 0; i < fields; ++i) {
    list += fmt::format("{}{}", i == 0 ? "" : ", ", constants.sql(i).value_or(column(i)));
  }
  return fmt::format("SELECT {} FROM {}", list, kName);
}

}  // namespace weft::results
