// Rows that SQLite takes one after the other by itself: a virtual table, https://sqlite.org/vtab.html.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/results/row.h"

struct sqlite3;

namespace weft::results {

// Fills the row that comes next, which is empty; false if there is none.
using NextRow = std::function<bool(Row& row)>;

// The fields that have been the same in all rows so far, of those that SQL can say in a few characters: no
// value, natural numbers.
class SameFields {
 public:
  // Takes the fields of the first row.
  void begin(const Row& row);
  // Leaves those that this row has, too. False: it lacks some.
  bool narrow(const Row& row);
  bool empty() const { return fields_.empty(); }
  // One of them, in SQL's words; nothing where the rows differ.
  std::optional<std::string> sql(std::size_t place) const;

 private:
  struct Place {
    std::size_t at;
    Field field;
  };
  std::vector<Place> fields_;
};

// What the table gives while a statement reads it. What was the same in many rows is a constant of the
// statement for those to come, for SQLite takes six times as long to ask for a field: a statement ends where
// it could say more of them, and before a row that has other ones.
struct SqliteSource {
  // After so many rows constants pay for a statement more.
  static constexpr std::uint64_t kManyRows = 512;

  // Begins with the rows of `rows`, which must outlive the statements.
  void begin(const NextRow& rows);
  // Fills the next row for the statement at hand; false if that has no more.
  bool advance();

  const NextRow* next = nullptr;
  Row row;
  std::uint64_t rows = 0;  // that next() filled
  SameFields same;
  bool has_constants = false;  // the statement at hand
  bool has_row = false;        // that the next statement begins with
  bool at_end = false;         // the statement at hand
  std::exception_ptr error;    // of next(), which SQLite can't pass on
};

// Makes `source` known to this database as a table, which exists in no file. What SQLite returns.
int add_source(sqlite3* database, SqliteSource& source);

// "SELECT …" of that table's rows, of as many fields; some are constants. REQUIRES: fields <=
// Row::kMostFields.
std::string select_source(std::size_t fields, const SameFields& constants);

}  // namespace weft::results
