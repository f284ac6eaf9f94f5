#include "goal/import/nsys/database.h"

#include "sim/units/input_error.h"
#include "sim/units/input_file.h"

namespace weft::goal {

Database::Database(const std::string& path) : path_(path) {
  check_input(path);
  if (sqlite3_open_v2(path.c_str(), &database_, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nullptr) !=
      SQLITE_OK) {
    const std::string what = database_ == nullptr ? "not enough memory" : sqlite3_errmsg(database_);
    sqlite3_close(database_);
    throw InputError({path_}, "SQLite can't open this file: " + what);
  }
  // Files come from anywhere: nothing in a schema may run.
  sqlite3_db_config(database_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(database_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
}

Database::~Database() { sqlite3_close(database_); }

void Database::fail() const {
  throw InputError({path_}, std::string("SQLite can't read this file: ") + sqlite3_errmsg(database_));
}

std::set<std::string> Database::columns(const std::string& table) const {
  std::set<std::string> names;
  Rows tables(*this, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '" + table + "'");
  if (!tables.next()) return names;
  Rows rows(*this, "PRAGMA table_info(" + table + ")");
  while (rows.next()) names.emplace(rows.text(1));
  return names;
}

Rows::Rows(const Database& database, const std::string& query) : database_(database) {
  if (sqlite3_prepare_v2(database.database_, query.c_str(), -1, &statement_, nullptr) != SQLITE_OK)
    database.fail();
}

Rows::~Rows() { sqlite3_finalize(statement_); }

bool Rows::next() {
  const int code = sqlite3_step(statement_);
  if (code != SQLITE_ROW && code != SQLITE_DONE) database_.fail();
  return code == SQLITE_ROW;
}

std::string_view Rows::text(int i) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, i));
  return bytes == nullptr
             ? std::string_view()
             : std::string_view(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, i)));
}

}  // namespace weft::goal
