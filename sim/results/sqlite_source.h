// Rows that SQLite takes one after the other by itself: a virtual table, https://sqlite.org/vtab.html.
#pragma once

#include <exception>
#include <functional>
#include <string>

#include "sim/results/row.h"

struct sqlite3;

namespace weft::results {

// Fills the row that comes next, which is empty; false if there is none.
using NextRow = std::function<bool(Row& row)>;

// What the table gives while a statement reads it.
struct SqliteSource {
  const NextRow* next = nullptr;
  Row row;
  bool at_end = false;
  std::exception_ptr error;  // of next(), which SQLite can't pass on
};

// Makes `source` known to this database as a table, which exists in no file. What SQLite returns.
int add_source(sqlite3* database, SqliteSource& source);

// "SELECT …" of that table's rows, of as many fields. REQUIRES: fields <= Row::kMostFields.
std::string select_source(std::size_t fields);

}  // namespace weft::results
