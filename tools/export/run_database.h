// The results.sqlite of a run, read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/units/quantity.h"

struct sqlite3;
struct sqlite3_stmt;

namespace weft::tools {

// Every member throws InputError, with the path, for a file that can't be read or is damaged.
class RunDatabase {
 public:
  // `run`: the folder of a run, or the file in it.
  explicit RunDatabase(const std::string& run);
  ~RunDatabase();
  RunDatabase(const RunDatabase&) = delete;
  RunDatabase& operator=(const RunDatabase&) = delete;

  const std::string& path() const { return path_; }
  bool has_table(const std::string& name) const;
  std::uint64_t rows(const std::string& table) const;

  // The rows that a query finds, one after the other. Fields go by their place, from 0; of NULL, or of a
  // field of another type, the value is 0 or "".
  class Query {
   public:
    Query(const RunDatabase& database, const std::string& sql);
    ~Query();
    Query(const Query&) = delete;
    Query& operator=(const Query&) = delete;

    bool next();
    bool is_null(int field) const;
    std::int64_t integer(int field) const;
    std::uint32_t number(int field) const { return static_cast<std::uint32_t>(integer(field)); }
    double real(int field) const;
    // Of nanoseconds; from 0 to kEndOfTime.
    Time time(int field) const;
    std::string_view text(int field) const;  // until next()

   private:
    const RunDatabase& database_;
    sqlite3_stmt* rows_ = nullptr;
  };

 private:
  void check(int code) const;

  std::string path_;
  sqlite3* database_ = nullptr;
};

}  // namespace weft::tools
