#include "sim/results/sqlite_file.h"

#include <fmt/core.h>
#include <sqlite3.h>

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>

#include "sim/results/sqlite_vfs.h"
#include "sim/units/input_error.h"

namespace weft::results {
namespace {

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string_view type_of(std::string_view column) {
  if (is_one_of(column, {"name", "from", "to", "beside_name", "status", "hosts", "key", "text", "path",
                         "sha256", "kind", "quantity", "rule", "table_name", "collective"})) {
    return "TEXT";
  }
  if (column == "value") return "";  // of any type
  if (column.ends_with("_ns") || is_one_of(column, {"slowdown", "stretch", "bounded_slowdown", "utilization",
                                                    "first", "last", "share", "hops"})) {
    return "REAL";
  }
  return "INTEGER";
}

std::string_view without_guard(std::string_view field) {
  return has_csv_guard(field) ? field.substr(1) : field;
}

template <typename Number>
bool is_number(std::string_view field, Number& value) {
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  return error == std::errc() && end == field.data() + field.size();
}

}  // namespace

SqliteFile::SqliteFile(std::string path, std::uint64_t rows)
    : path_(std::move(path)), file_(PartFile::go_on(path_)) {
  (void)take_sqlite_error();
  const char* const vfs = sqlite_vfs();
  try {
    check(
        sqlite3_open_v2(file_.part().c_str(), &database_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, vfs));
    check(add_source(database_, source_));
    execute(
        fmt::format("PRAGMA page_size = {}; PRAGMA secure_delete = OFF; PRAGMA journal_mode = OFF; "
                    "PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = MEMORY; "
                    "PRAGMA cache_size = -8192; BEGIN",
                    rows < kManyRows ? 4096 : 32768));
  } catch (...) {
    sqlite3_close(std::exchange(database_, nullptr));
    throw;
  }
}

SqliteFile::~SqliteFile() { sqlite3_close(database_); }

std::uint64_t SqliteFile::execute(const std::string& sql) {
  check(sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr));
  return static_cast<std::uint64_t>(sqlite3_changes64(database_));
}

void SqliteFile::close() {
  execute("COMMIT");
  // SQLite keeps to itself that a file can't be closed.
  (void)take_sqlite_error();
  if (sqlite3_close(database_) != SQLITE_OK) throw std::logic_error("rows of a file that is to be closed");
  database_ = nullptr;
  if (const int error = take_sqlite_error(); error != 0) file_.fail(error);
}

void SqliteFile::commit() {
  close();
  file_.leave();
}

void SqliteFile::finish() {
  close();
  file_.commit();
}

void SqliteFile::check(int code) {
  if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW) return;
  switch (code & 0xff) {
    case SQLITE_NOMEM:
      throw std::bad_alloc();
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_FULL:
      if (const int error = take_sqlite_error(); error != 0) file_.fail(error);
      break;
    default:
      break;
  }
  throw InputError(fmt::format("{}: can't write the file: {}", path_,
                               database_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(database_)));
}

SqliteRows::SqliteRows(SqliteFile& file, const std::string& table, const std::string& columns)
    : file_(file), table_(table) {
  std::string definitions, places;
  for (std::size_t begin = 0; begin <= columns.size();) {
    const std::size_t end = std::min(columns.find(',', begin), columns.size());
    const std::string name = columns.substr(begin, end - begin);
    const std::string_view type = type_of(name);
    is_text_.push_back(type == "TEXT");
    definitions += fmt::format("{}\"{}\" {}", begin == 0 ? "" : ", ", name, type);
    places += begin == 0 ? "?" : ", ?";
    begin = end + 1;
  }
  file.execute(fmt::format("CREATE TABLE IF NOT EXISTS \"{}\" ({})", table, definitions));
  unquoted_.resize(is_text_.size());
  const std::string insert = fmt::format("INSERT INTO \"{}\" VALUES ({})", table, places);
  file.check(sqlite3_prepare_v2(file.database_, insert.c_str(), -1, &insert_, nullptr));
}

SqliteRows::~SqliteRows() {
  sqlite3_finalize(insert_);
  sqlite3_finalize(insert_all_);
}

void SqliteRows::append(std::string_view row) {
  if (row.ends_with('\n')) row.remove_suffix(1);
  for (std::size_t i = 0; i < is_text_.size(); ++i) {
    const int place = static_cast<int>(i) + 1;
    if (!row.starts_with('"')) {
      const std::size_t end = std::min(row.find(','), row.size());
      bind(place, row.substr(0, end), is_text_[i]);
      row.remove_prefix(std::min(end + 1, row.size()));
      continue;
    }
    std::string& text = unquoted_[i];
    text.clear();
    std::size_t at = 1;
    for (; at < row.size(); ++at) {
      if (row[at] == '"' && (++at == row.size() || row[at] != '"')) break;
      text += row[at];
    }
    bind_text(place, without_guard(text));
    row.remove_prefix(std::min(at + 1, row.size()));
  }
  file_.check(sqlite3_step(insert_));
  file_.check(sqlite3_reset(insert_));
}

void SqliteRows::append(const NextRow& next) {
  SqliteSource& source = file_.source_;
  source.begin(next);
  if (insert_all_ == nullptr) insert_all_ = prepare_insert_all({});
  insert_all(insert_all_);
  while (source.has_row) {
    source.has_constants = true;
    const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> insert(prepare_insert_all(source.same),
                                                                       sqlite3_finalize);
    insert_all(insert.get());
  }
}

sqlite3_stmt* SqliteRows::prepare_insert_all(const SameFields& constants) {
  const std::string insert =
      fmt::format("INSERT INTO \"{}\" {}", table_, select_source(is_text_.size(), constants));
  sqlite3_stmt* statement = nullptr;
  file_.check(sqlite3_prepare_v2(file_.database_, insert.c_str(), -1, &statement, nullptr));
  return statement;
}

void SqliteRows::insert_all(sqlite3_stmt* statement) {
  const int code = sqlite3_step(statement);
  if (file_.source_.error) std::rethrow_exception(std::exchange(file_.source_.error, nullptr));
  file_.check(code);
  file_.check(sqlite3_reset(statement));
}

void SqliteRows::bind_text(int place, std::string_view field) {
  // It stands in the row, or in a place of its own, until the row is there.
  file_.check(sqlite3_bind_text64(insert_, place, field.data(), field.size(), SQLITE_STATIC, SQLITE_UTF8));
}

void SqliteRows::bind(int place, std::string_view field, bool is_text) {
  std::int64_t whole = 0;
  double number = 0;
  if (field.empty()) {
    file_.check(sqlite3_bind_null(insert_, place));
  } else if (!is_text && is_number(field, whole)) {
    file_.check(sqlite3_bind_int64(insert_, place, whole));
  } else if (!is_text && is_number(field, number)) {
    file_.check(sqlite3_bind_double(insert_, place, number));
  } else {
    bind_text(place, without_guard(field));
  }
}

}  // namespace weft::results
