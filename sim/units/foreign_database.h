// An SQLite file, read: one's own, or one that somebody else has sent. Nothing in it is trusted: no schema
// runs anything, a query ends after a number of steps, and every value is of the type that is asked for, or
// an error.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "sim/units/quantity.h"

struct sqlite3;
struct sqlite3_stmt;

namespace weft {

// Every member throws InputError, with the path, for a file that can't be read or is damaged.
class ForeignDatabase {
 public:
  enum class Schema : std::uint8_t {
    kAny,
    kPlainTables
  };  // the latter: views, triggers and the like are refused

  // `what` the file should be, for messages: "the results of a run".
  ForeignDatabase(std::string path, std::string what, Schema schema);
  ~ForeignDatabase();
  ForeignDatabase(const ForeignDatabase&) = delete;
  ForeignDatabase& operator=(const ForeignDatabase&) = delete;

  const std::string& path() const { return path_; }
  bool has_table(const std::string& name) const;
  // None if there is no such table; a view is none.
  std::set<std::string> columns(const std::string& table) const;
  std::uint64_t rows(const std::string& table) const;

  // The rows that a query finds, one after the other. Fields go by their place, from 0; of NULL the value is
  // 0 or "". Of a field of another type, or out of range, the getters throw.
  class Query {
   public:
    Query(const ForeignDatabase& database, const std::string& sql);
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
    // Reads nanoseconds, and keeps the time from 0 to kEndOfTime.
    Time time(int field) const;
    std::string_view text(int field) const;   // a number as text, too; until next()
    std::string_view bytes(int field) const;  // of texts and blobs; until next()

   private:
    [[noreturn]] void fail(int field, const char* expected) const;

    const ForeignDatabase& database_;
    sqlite3_stmt* rows_ = nullptr;
    std::uint64_t row_ = 0;
  };

 private:
  void check(int code) const;
  void refuse_programs() const;
  static int on_steps(void* self);

  std::string path_;
  std::string what_;
  std::uint64_t most_steps_;  // of a query, in thousands
  sqlite3* database_ = nullptr;
  mutable std::uint64_t steps_ = 0;  // since the last query began, in thousands
};

}  // namespace weft
