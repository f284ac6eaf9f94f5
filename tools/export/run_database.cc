#include "tools/export/run_database.h"

#include <fmt/core.h>
#include <sqlite3.h>

#include <cmath>
#include <filesystem>
#include <new>
#include <system_error>

#include "sim/units/input_error.h"

namespace weft::tools {

RunDatabase::RunDatabase(const std::string& run) : path_(run) {
  std::error_code error;
  if (std::filesystem::is_directory(run, error)) path_ = run + "/results.sqlite";
  if (!std::filesystem::exists(path_, error)) {
    throw InputError(
        fmt::format("{}: there is no such file; weft sim … -o RUN leaves results.sqlite in RUN, unless "
                    "output.sqlite is false or the run failed",
                    path_));
  }
  try {
    check(sqlite3_open_v2(path_.c_str(), &database_, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nullptr));
    check(sqlite3_exec(database_, "PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF", nullptr, nullptr,
                       nullptr));
  } catch (...) {
    sqlite3_close(database_);
    throw;
  }
}

RunDatabase::~RunDatabase() { sqlite3_close(database_); }

void RunDatabase::check(int code) const {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return;
  if (code == SQLITE_NOMEM) throw std::bad_alloc();
  throw InputError(fmt::format("{}: can't read this as the results of a run: {}", path_,
                               database_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(database_)));
}

// Tables proper, which have a page in the file: what a view would do is not ours to find out.
bool RunDatabase::has_table(const std::string& name) const {
  Query query(
      *this,
      fmt::format("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '{}' AND rootpage > 0", name));
  return query.next();
}

std::uint64_t RunDatabase::rows(const std::string& table) const {
  if (!has_table(table)) return 0;
  Query query(*this, fmt::format("SELECT count(*) FROM {}", table));
  query.next();
  return static_cast<std::uint64_t>(query.integer(0));
}

RunDatabase::Query::Query(const RunDatabase& database, const std::string& sql) : database_(database) {
  database.check(sqlite3_prepare_v2(database.database_, sql.c_str(), -1, &rows_, nullptr));
}

RunDatabase::Query::~Query() { sqlite3_finalize(rows_); }

bool RunDatabase::Query::next() {
  const int code = sqlite3_step(rows_);
  database_.check(code);
  return code == SQLITE_ROW;
}

bool RunDatabase::Query::is_null(int field) const { return sqlite3_column_type(rows_, field) == SQLITE_NULL; }

std::int64_t RunDatabase::Query::integer(int field) const { return sqlite3_column_int64(rows_, field); }

double RunDatabase::Query::real(int field) const { return sqlite3_column_double(rows_, field); }

Time RunDatabase::Query::time(int field) const {
  const double ps = std::round(real(field) * 1000);
  if (!(ps > 0)) return {};
  if (ps >= static_cast<double>(kEndOfTime.ps())) return kEndOfTime;
  return Time::ps(static_cast<std::int64_t>(ps));
}

std::string_view RunDatabase::Query::text(int field) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(rows_, field));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(rows_, field))};
}

}  // namespace weft::tools
