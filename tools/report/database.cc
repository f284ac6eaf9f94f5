#include "tools/report/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <filesystem>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "sim/units/input_error.h"

namespace weft::report {
namespace {

using Json = nlohmann::ordered_json;

// Of one text or row: a damaged file must not make us take more.
constexpr int kLongestValue = 64 << 20;

// Texts need not be UTF-8, as names of files are not; JSON replaces what is none when it is written.
Json field(sqlite3_stmt* row, int column) {
  switch (sqlite3_column_type(row, column)) {
    case SQLITE_INTEGER:
      return sqlite3_column_int64(row, column);
    case SQLITE_FLOAT: {
      const double value = sqlite3_column_double(row, column);
      // Whole numbers are shorter so.
      constexpr double kExact = 1e15;
      if (value ==
          static_cast<double>(static_cast<std::int64_t>(value < kExact && value > -kExact ? value : 0)))
        return static_cast<std::int64_t>(value);
      return value;
    }
    case SQLITE_NULL:
      return nullptr;
    default: {
      const void* const bytes = sqlite3_column_blob(row, column);
      const auto size = static_cast<std::size_t>(sqlite3_column_bytes(row, column));
      return std::string(static_cast<const char*>(bytes), size);
    }
  }
}

using Statement = std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)>;

// Its last error was that memory was refused: no fault of the file.
bool is_about_memory(sqlite3* database) {
  const int error = sqlite3_extended_errcode(database);
  return (error & 0xFF) == SQLITE_NOMEM || error == SQLITE_IOERR_NOMEM;
}

}  // namespace

Database::Database(std::string path) : path_(std::move(path)) {
  if (!std::filesystem::is_regular_file(path_))
    throw InputError(fmt::format("{}: there is no such file", path_));
  if (sqlite3_open_v2(path_.c_str(), &database_, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nullptr) !=
      SQLITE_OK) {
    const bool no_memory = database_ == nullptr || is_about_memory(database_);
    const std::string reason = no_memory ? "" : sqlite3_errmsg(database_);
    sqlite3_close(database_);
    if (no_memory) throw std::bad_alloc();
    throw InputError(fmt::format("{}: can't read this file: {}", path_, reason));
  }
  sqlite3_limit(database_, SQLITE_LIMIT_LENGTH, kLongestValue);
  try {
    if (!has_table("run")) throw InputError(fmt::format("{}: found no table 'run'", path_));
  } catch (...) {
    sqlite3_close(database_);
    throw;
  }
}

Database::~Database() { sqlite3_close(database_); }

void Database::fail() const {
  if (is_about_memory(database_)) throw std::bad_alloc();
  throw InputError(fmt::format("{}: can't read this file: {}", path_, sqlite3_errmsg(database_)));
}

bool Database::has_table(const std::string& name) const {
  return count(fmt::format("SELECT count(*) FROM sqlite_schema WHERE name = '{}'", name)) > 0;
}

bool Database::has_column(const std::string& table, const std::string& name) const {
  return count(fmt::format("SELECT count(*) FROM pragma_table_info('{}') WHERE name = '{}'", table, name)) >
         0;
}

Json Database::columns(const std::string& sql) const {
  sqlite3_stmt* prepared = nullptr;
  if (sqlite3_prepare_v2(database_, sql.c_str(), -1, &prepared, nullptr) != SQLITE_OK) fail();
  const Statement statement(prepared, sqlite3_finalize);
  std::vector<Json> values(static_cast<std::size_t>(sqlite3_column_count(prepared)), Json::array());
  int code = SQLITE_DONE;
  while ((code = sqlite3_step(prepared)) == SQLITE_ROW) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i].push_back(field(prepared, static_cast<int>(i)));
  }
  if (code != SQLITE_DONE) fail();
  Json all = Json::object();
  for (std::size_t i = 0; i < values.size(); ++i) {
    all[sqlite3_column_name(prepared, static_cast<int>(i))] = std::move(values[i]);
  }
  return all;
}

Json Database::value(const std::string& sql) const {
  const Json all = columns(sql);
  return all.empty() || all.front().empty() ? Json() : all.front().front();
}

std::uint64_t Database::count(const std::string& sql) const {
  const Json found = value(sql);
  return found.is_number() ? found.get<std::uint64_t>() : 0;
}

}  // namespace weft::report
