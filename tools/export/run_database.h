// The results.sqlite of a run, read: one's own, or one that somebody else has sent. Nothing in it is trusted:
// it may hold tables only (no views, triggers or virtual tables), a query ends after a number of steps, and
// every value is of the type that is asked for, or an error.
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

  // The rows that a query finds, one after the other. Fields go by their place, from 0; of NULL the value is
  // 0 or "". Of a field of another type, or out of range, the getters throw.
  class Query {
   public:
    Query(const RunDatabase& database, const std::string& sql);
    ~Query();
    Query(const Query&) = delete;
    Query& operator=(const Query&) = delete;

    bool next();
    int fields() const;
    std::string name(int field) const;
    enum class Type : std::uint8_t { kNull, kInteger, kReal, kText, kBytes };
    Type type(int field) const;
    bool is_null(int field) const { return type(field) == Type::kNull; }
    std::int64_t integer(int field) const;
    std::uint32_t number(int field) const;  // of something: from 0 to 2^32 - 1
    double real(int field) const;           // finite
    // Of nanoseconds; from 0 to kEndOfTime.
    Time time(int field) const;
    std::string_view text(int field) const;   // a number as text, too; until next()
    std::string_view bytes(int field) const;  // of texts and blobs; until next()

   private:
    [[noreturn]] void fail(int field, const char* expected) const;

    const RunDatabase& database_;
    sqlite3_stmt* rows_ = nullptr;
    std::uint64_t row_ = 0;
  };

 private:
  void check(int code) const;
  void refuse_programs() const;
  static int on_steps(void* self);

  std::string path_;
  sqlite3* database_ = nullptr;
  mutable std::uint64_t steps_ = 0;  // since the last query began, in thousands
};

}  // namespace weft::tools
