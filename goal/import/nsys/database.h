// SQLite files, for reading only.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace weft::goal {

// Throws InputError with the file's name and SQLite's words for whatever goes wrong.
class Database {
 public:
  explicit Database(const std::string& path);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  const std::string& path() const { return path_; }
  // Columns of a table; none if there is no such table (a view is none).
  std::set<std::string> columns(const std::string& table) const;

 private:
  friend class Rows;
  [[noreturn]] void fail() const;

  std::string path_;
  sqlite3* database_ = nullptr;
};

// What a query gives, row by row.
class Rows {
 public:
  Rows(const Database& database, const std::string& query);
  ~Rows();
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  bool next();
  // Column `i` of the row: 0 and "" for NULL. Text is good until next().
  std::int64_t integer(int i) const { return sqlite3_column_int64(statement_, i); }
  std::string_view text(int i) const;
  bool is_null(int i) const { return sqlite3_column_type(statement_, i) == SQLITE_NULL; }

 private:
  const Database& database_;
  sqlite3_stmt* statement_ = nullptr;
};

}  // namespace weft::goal
