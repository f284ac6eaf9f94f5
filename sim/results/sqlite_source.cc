#include "sim/results/sqlite_source.h"

#include <fmt/core.h>
#include <sqlite3.h>

#include <charconv>
#include <limits>
#include <new>
#include <system_error>

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

std::string columns(std::size_t count) {
  std::string names;
  for (std::size_t i = 0; i < count; ++i) names += fmt::format("{}c{}", i == 0 ? "" : ", ", i);
  return names;
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
  source.row.clear();
  try {
    source.at_end = !(*source.next)(source.row);
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
  if (!units || field.digits == 0) return give_as_written(to, field);
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
    case Field::Kind::kNotKnown:
      sqlite3_result_null(to);
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

}  // namespace

int add_source(sqlite3* database, SqliteSource& source) {
  return sqlite3_create_module(database, kName, &kModule, &source);
}

std::string select_source(std::size_t fields) {
  return fmt::format("SELECT {} FROM {}", columns(fields), kName);
}

}  // namespace weft::results
