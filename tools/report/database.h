// A results.sqlite being read.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

struct sqlite3;

namespace weft::report {

// Every member throws InputError, with the path and the reason, where the file can't be read or is no
// database of ours.
class Database {
 public:
  explicit Database(std::string path);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  bool has_table(const std::string& name) const;
  bool has_column(const std::string& table, const std::string& name) const;
  // The rows of a query, column by column: {"rank": [0, 1], "finish_ns": [8.5, null]}. The query is to say
  // how many there are at most.
  nlohmann::ordered_json columns(const std::string& sql) const;
  // The first field of the first row; null where there is none.
  nlohmann::ordered_json value(const std::string& sql) const;
  // The same of a count; 0 where there is none.
  std::uint64_t count(const std::string& sql) const;

 private:
  [[noreturn]] void fail() const;

  const std::string path_;
  sqlite3* database_ = nullptr;
};

}  // namespace weft::report
