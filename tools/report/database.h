// A results.sqlite being read, for a page.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/export/run_database.h"

namespace weft::report {

// Every member throws InputError, with the path and the reason, where the file can't be read or is no
// database of ours.
class Database {
 public:
  explicit Database(const std::string& path);

  bool has_table(const std::string& name) const;
  bool has_column(const std::string& table, const std::string& name) const;
  // The rows of a query, column by column: {"rank": [0, 1], "finish_ns": [8.5, null]}. The query is to say
  // how many there are at most.
  nlohmann::ordered_json columns(const std::string& sql) const;
  // The first field of the first row; null where there is none.
  nlohmann::ordered_json value(const std::string& sql) const;
  // Returns the first field of the first row as a count, which is whole and not negative; 0 where there is
  // none.
  std::uint64_t count(const std::string& sql) const;
  // A field of columns(), of whatever type it is in the file. Throws where that is another type, or, of
  // counts, below 0. NULL counts as 0.
  std::uint64_t whole(const nlohmann::ordered_json& field) const;
  double real(const nlohmann::ordered_json& field) const;

 private:
  [[noreturn]] void fail(const nlohmann::ordered_json& field, const char* expected) const;

  const tools::RunDatabase file_;
};

// A field as text, whatever it is.
std::string text_of(const nlohmann::ordered_json& field);

}  // namespace weft::report
