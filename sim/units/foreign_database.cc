#include "sim/units/foreign_database.h"

#include <fmt/core.h>
#include <sqlite3.h>

#include <cmath>
#include <filesystem>
#include <new>
#include <system_error>
#include <utility>

#include "sim/units/input_error.h"
#include "sim/units/input_file.h"

namespace weft {
namespace {

// No text or row may be longer: a damaged file must not make us take more.
constexpr int kLongestValue = 64 << 20;
// Steps of SQLite's machine. A query on tables of a million rows takes some hundred millions, one that sorts
// a large file less than a hundred for each of its bytes.
constexpr int kStepsAtOnce = 1000;
constexpr std::uint64_t kMostThousandSteps = 5'000'000;
constexpr std::uint64_t kStepsOfByte = 100;
constexpr double kMostExact = 9007199254740992.0;  // 2^53

}  // namespace

ForeignDatabase::ForeignDatabase(std::string path, std::string what, Schema schema)
    : path_(std::move(path)), what_(std::move(what)), most_steps_(kMostThousandSteps) {
  check_input(path_);
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path_, error);
  if (!error) most_steps_ += bytes / kStepsAtOnce * kStepsOfByte;
  try {
    check(sqlite3_open_v2(path_.c_str(), &database_, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nullptr));
    sqlite3_db_config(database_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(database_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_limit(database_, SQLITE_LIMIT_LENGTH, kLongestValue);
    sqlite3_progress_handler(database_, kStepsAtOnce, on_steps, this);
    check(sqlite3_exec(database_, "PRAGMA temp_store = MEMORY", nullptr, nullptr, nullptr));
    if (schema == Schema::kPlainTables) refuse_programs();
  } catch (...) {
    sqlite3_close(database_);
    throw;
  }
}

ForeignDatabase::~ForeignDatabase() { sqlite3_close(database_); }

void ForeignDatabase::check(int code) const {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return;
  if ((code & 0xFF) == SQLITE_NOMEM || code == SQLITE_IOERR_NOMEM) throw std::bad_alloc();
  if (code == SQLITE_INTERRUPT) {
    throw InputError(fmt::format("{}: a query took more than {} million steps, so this can't be {}", path_,
                                 most_steps_ / 1000, what_));
  }
  throw InputError(fmt::format("{}: can't read this as {}: {}", path_, what_,
                               database_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(database_)));
}

int ForeignDatabase::on_steps(void* self) {
  auto& of = *static_cast<ForeignDatabase*>(self);
  return ++of.steps_ > of.most_steps_ ? 1 : 0;
}

// Tables proper have a page in the file. What a view would do is not ours to find out.
void ForeignDatabase::refuse_programs() const {
  Query query(
      *this,
      "SELECT type, name FROM sqlite_schema WHERE type NOT IN ('table', 'index') OR rootpage IS NULL OR "
      "rootpage <= 0 LIMIT 1");
  if (!query.next()) return;
  throw InputError(fmt::format("{}: it holds '{}' ({}), and {} hold plain tables only", path_, query.text(1),
                               query.text(0) == "table" ? "a virtual table" : query.text(0), what_));
}

bool ForeignDatabase::has_table(const std::string& name) const {
  Query query(*this, fmt::format("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '{}'", name));
  return query.next();
}

std::set<std::string> ForeignDatabase::columns(const std::string& table) const {
  std::set<std::string> names;
  if (!has_table(table)) return names;
  Query query(*this, fmt::format("PRAGMA table_info({})", table));
  while (query.next()) names.emplace(query.text(1));
  return names;
}

std::uint64_t ForeignDatabase::rows(const std::string& table) const {
  if (!has_table(table)) return 0;
  Query query(*this, fmt::format("SELECT count(*) FROM {}", table));
  query.next();
  return static_cast<std::uint64_t>(query.integer(0));
}

ForeignDatabase::Query::Query(const ForeignDatabase& database, const std::string& sql) : database_(database) {
  database.steps_ = 0;
  database.check(sqlite3_prepare_v2(database.database_, sql.c_str(), -1, &rows_, nullptr));
}

ForeignDatabase::Query::~Query() { sqlite3_finalize(rows_); }

bool ForeignDatabase::Query::next() {
  const int code = sqlite3_step(rows_);
  database_.check(code);
  ++row_;
  return code == SQLITE_ROW;
}

int ForeignDatabase::Query::fields() const { return sqlite3_column_count(rows_); }

std::string ForeignDatabase::Query::name(int field) const {
  const char* const name = sqlite3_column_name(rows_, field);
  if (name == nullptr) throw std::bad_alloc();
  return name;
}

ForeignDatabase::Query::Type ForeignDatabase::Query::type(int field) const {
  switch (sqlite3_column_type(rows_, field)) {
    case SQLITE_INTEGER:
      return Type::kInteger;
    case SQLITE_FLOAT:
      return Type::kReal;
    case SQLITE_TEXT:
      return Type::kText;
    case SQLITE_BLOB:
      return Type::kBytes;
    default:
      return Type::kNull;
  }
}

void ForeignDatabase::Query::fail(int field, const char* expected) const {
  throw InputError(fmt::format("{}: '{}' of row {} is '{}', where {} is expected", database_.path_,
                               name(field), row_, bytes(field), expected));
}

std::int64_t ForeignDatabase::Query::integer(int field) const {
  const Type kind = type(field);
  if (kind == Type::kNull || kind == Type::kInteger) return sqlite3_column_int64(rows_, field);
  const double value = kind == Type::kReal ? sqlite3_column_double(rows_, field) : 0.5;
  if (!(std::abs(value) <= kMostExact) || value != std::floor(value)) fail(field, "a whole number");
  return static_cast<std::int64_t>(value);
}

std::uint32_t ForeignDatabase::Query::number(int field) const {
  const std::int64_t value = integer(field);
  if (!std::in_range<std::uint32_t>(value)) fail(field, "a number from 0 to 4294967295");
  return static_cast<std::uint32_t>(value);
}

double ForeignDatabase::Query::real(int field) const {
  const Type kind = type(field);
  const double value = sqlite3_column_double(rows_, field);
  if (kind == Type::kText || kind == Type::kBytes || !std::isfinite(value)) fail(field, "a number");
  return value;
}

Time ForeignDatabase::Query::time(int field) const {
  const double ps = std::round(real(field) * 1000);
  if (!(ps > 0)) return {};
  if (ps >= static_cast<double>(kEndOfTime.ps())) return kEndOfTime;
  return Time::ps(static_cast<std::int64_t>(ps));
}

std::string_view ForeignDatabase::Query::text(int field) const {
  if (type(field) == Type::kBytes) fail(field, "a text");
  return bytes(field);
}

std::string_view ForeignDatabase::Query::bytes(int field) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(rows_, field));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(rows_, field))};
}

}  // namespace weft
