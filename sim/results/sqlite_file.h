// An SQLite file being written: tables, and rows as CSV has them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/results/sqlite_source.h"
#include "sim/units/part_file.h"

struct sqlite3;
struct sqlite3_stmt;

namespace weft::results {

// One transaction, without journal: a file that isn't committed is worth nothing, and so it is a part
// (part_file.h) until all of it is there. Every member throws InputError, with the path
// and the system's reason, if the file can't be written, and std::bad_alloc.
class SqliteFile {
 public:
  // Creates the part, for about so many rows, or goes on with one that was committed.
  explicit SqliteFile(std::string path, std::uint64_t rows = 0);
  // Removes the part of a file that was not committed.
  ~SqliteFile();
  SqliteFile(const SqliteFile&) = delete;
  SqliteFile& operator=(const SqliteFile&) = delete;

  // How many rows the last INSERT, UPDATE or DELETE in it changed.
  std::uint64_t execute(const std::string& sql);
  // The end, after which nothing may be called. The part stays; finish() gives it its name, too. REQUIRES: no
  // SqliteRows is left.
  void commit();
  void finish();

 private:
  friend class SqliteRows;
  // From so many rows on the file has large pages, which take the system less time, and SQLite.
  static constexpr std::uint64_t kManyRows = 20'000;

  void close();
  // What SQLite returns; throws if that is an error.
  void check(int code);

  const std::string path_;
  PartFile file_;
  SqliteSource source_;
  sqlite3* database_ = nullptr;
};

// Creates a table, if it isn't there, and appends to it.
class SqliteRows {
 public:
  // `columns`: names with commas between. A column is TEXT where it is a name, a list or words, REAL for
  // times and ratios, of no type for values of any kind, else INTEGER.
  SqliteRows(SqliteFile& file, const std::string& table, const std::string& columns);
  ~SqliteRows();
  SqliteRows(const SqliteRows&) = delete;
  SqliteRows& operator=(const SqliteRows&) = delete;

  // A row of CSV, its newline included: an empty field becomes NULL, one in quotes a text, the others numbers
  // if they are and the column is not TEXT. REQUIRES: as many fields as columns.
  void append(std::string_view row);
  // All rows that next() fills, in few statements, which takes half as long: the same values as of their CSV.
  // Passes on what next() throws. REQUIRES: as many fields as columns.
  void append(const NextRow& next);

 private:
  void bind(int place, std::string_view field, bool is_text);
  void bind_text(int place, std::string_view field);
  sqlite3_stmt* prepare_insert_all(const SameFields& constants);
  void insert_all(sqlite3_stmt* statement);

  SqliteFile& file_;
  std::vector<bool> is_text_;  // of each column
  const std::string table_;
  sqlite3_stmt* insert_ = nullptr;
  sqlite3_stmt* insert_all_ = nullptr;  // of the file's source, no field of which is known before
  std::vector<std::string> unquoted_;   // of each column, the text of the row at hand
};

}  // namespace weft::results
