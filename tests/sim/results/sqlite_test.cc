// results.sqlite, read back with SQLite's own VFS.
#include <sqlite3.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "sim/results/row.h"
#include "sim/results/sha256.h"
#include "sim/results/sqlite_file.h"
#include "sim/results/sqlite_results.h"
#include "sim/results/sqlite_source.h"
#include "sim/units/input_error.h"

namespace weft::results {
namespace {

namespace fs = std::filesystem;

std::string temporary(const std::string& name) {
  const std::string path = (fs::path(std::getenv("TEST_TMPDIR")) / name).string();
  fs::remove(path);
  return path;
}

// Fields with '|' between, rows with ';' behind; NULL is "-".
std::string ask(const std::string& path, const std::string& query) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK);
  sqlite3_stmt* rows = nullptr;
  REQUIRE(sqlite3_prepare_v2(database, query.c_str(), -1, &rows, nullptr) == SQLITE_OK);
  std::string text;
  while (sqlite3_step(rows) == SQLITE_ROW) {
    for (int i = 0; i < sqlite3_column_count(rows); ++i) {
      const auto* field = reinterpret_cast<const char*>(sqlite3_column_text(rows, i));
      text += (i > 0 ? "|" : "") + std::string(field == nullptr ? "-" : field);
    }
    text += ";";
  }
  sqlite3_finalize(rows);
  sqlite3_close(database);
  return text;
}

Report report_of(std::uint32_t flows) {
  Report report;
  report.scenario = "a: \"1,2\"\n";
  report.warnings = {"it says \"no\", twice\nat least"};
  report.network_totals.signals = {{"drop", 3}, {"ecn_mark", 0}};
  for (std::uint32_t i = 0; i < flows; ++i) {
    report.flows.push_back({.source = i,
                            .destination = i + 1,
                            .bytes = 1000,
                            .start = Time::ns(i),
                            .finish = Time::ps(1000 * i + 1500),
                            .ideal = i % 2 == 0 ? Time::ns(1) : Time()});
    report.flow_statistics.add(report.flows.back());
  }
  Job job;
  job.name = "123, \"quoted\"";
  job.hosts = {0, 1, 2, 7};
  report.jobs = {job};
  return report;
}

// The digest of a text that is given piece by piece.
std::string digest(const std::string& text, std::size_t piece) {
  Sha256 sum;
  for (std::size_t i = 0; i < text.size(); i += piece) sum.add(std::string_view(text).substr(i, piece));
  return sum.finish();
}

}  // namespace

// Source: NIST, "Examples with Intermediate Values", SHA-256, and FIPS 180-2, appendix B (the million).
TEST_CASE("sha256: published values, whatever the pieces") {
  CHECK(digest("", 1) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  const std::string two_blocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
  const std::string million(1'000'000, 'a');
  for (const std::size_t piece : {1, 3, 63, 64, 65, 1000}) {
    CHECK(digest("abc", piece) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(digest(two_blocks, piece) == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK(digest(million, piece) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  }
}

TEST_CASE("sqlite: texts, numbers and what is not known") {
  const std::string path = temporary("texts.sqlite");
  write_sqlite(report_of(2), 3, path);
  CHECK(ask(path, "PRAGMA integrity_check") == "ok;");
  CHECK(ask(path, "SELECT text FROM scenario") == "a: \"1,2\"\n;");
  CHECK(ask(path, "SELECT kind, text FROM warnings") == "warning|it says \"no\", twice\nat least;");
  CHECK(ask(path, "SELECT name, typeof(name), hosts, start_ns FROM jobs") == "123, \"quoted\"|text|0-2 7|-;");
  CHECK(ask(path,
            "SELECT flow, typeof(flow), start_ns, finish_ns, typeof(start_ns), ideal_ns, slowdown FROM "
            "flows") == "0|integer|0.0|1.5|real|1.0|1.5;1|integer|1.0|2.5|real|-|-;");
  CHECK(ask(path, "SELECT value, typeof(value) FROM run WHERE key = 'threads'") == "3|integer;");
  // Digits alone, and yet a text.
  CHECK(ask(path, "SELECT value, typeof(value) FROM run WHERE key = 'digest'") == "0000000000000000|text;");
  CHECK(ask(path, "SELECT * FROM signals") == "drop|3;ecn_mark|0;");
  CHECK(ask(path, "SELECT count(*) FROM omitted") == "0;");
  CHECK(ask(path, "SELECT count(*) FROM samples") == "0;");
}

TEST_CASE("sqlite: of too many rows each k-th is there, and it is told") {
  const std::string path = temporary("many.sqlite");
  for (const auto& [flows, kept, flow_numbers] :
       {std::tuple{4, "", "0;1;2;3;"}, {5, "flows|5|3;", "0;2;4;"}, {9, "flows|9|3;", "0;3;6;"}}) {
    write_sqlite(report_of(static_cast<std::uint32_t>(flows)), 1, path, 4);
    CHECK(ask(path, "SELECT flow FROM flows") == flow_numbers);
    CHECK(ask(path, "SELECT table_name, rows, kept FROM omitted WHERE table_name = 'flows'") == kept);
    // The histograms know all.
    CHECK(ask(path, "SELECT quantity, first, last, count FROM histograms WHERE quantity = 'size_bytes'") ==
          "size_bytes|1000.0|1001.0|" + std::to_string(flows) + ";");
  }
  Report unrecorded = report_of(3);
  unrecorded.flows.clear();
  unrecorded.messages = 3;
  write_sqlite(unrecorded, 1, path);
  CHECK(ask(path, "SELECT table_name, rows, kept, rule FROM omitted") == "flows|3|0|no message has a row;");
}

TEST_CASE("sqlite: histograms hold every value in one range, exact to 1/256") {
  const std::string path = temporary("histograms.sqlite");
  Report report;
  std::uint64_t size = 1;
  for (int i = 0; i < 100; ++i, size += size / 5 + 1) {
    report.flow_statistics.add({.source = 0, .destination = 1, .bytes = size, .finish = Time::ns(7)});
    const std::string value = std::to_string(size);
    if (i % 20 != 19) continue;
    write_sqlite(report, 1, path);
    CHECK(ask(path, "SELECT sum(count) FROM histograms WHERE quantity = 'size_bytes'") ==
          std::to_string(i + 1) + ";");
    CHECK(ask(path, "SELECT count(*) FROM histograms WHERE quantity = 'size_bytes' AND " + value +
                        " BETWEEN first AND last AND last - first <= first / 256") == "1;");
  }
  CHECK(
      ask(path, "SELECT first <= 7 AND last >= 7, count FROM histograms WHERE quantity = 'completion_ns'") ==
      "1|100;");
}

TEST_CASE("sqlite: samples come before the rest, and thin out") {
  const std::string path = temporary("samples.sqlite");
  const auto run = [&](int intervals, std::uint64_t most_rows) {
    const auto samples = make_sqlite_samples(path, Time::ns(100), most_rows);
    for (int i = 1; i <= intervals; ++i) {
      const LinkSample links[] = {{.link = 4, .bytes = 10, .utilization = 0.5},
                                  {.link = 5, .queue_bytes = 7}};
      // The last one is cut short.
      const Time end = Time::ns(i == intervals ? 100 * i - 30 : 100 * i);
      samples->sample(Time::ns(100 * i - 100), end, {.packets_injected = 1}, links);
    }
    samples->close();
    CHECK_FALSE(fs::exists(path));
    write_sqlite(report_of(1), 1, path);
    CHECK(ask(path, "PRAGMA integrity_check") == "ok;");
  };
  run(3, 9);
  CHECK(
      ask(path, "SELECT * FROM samples") ==
      "100.0|4|10|0.5|0;100.0|5|0|0.0|7;200.0|4|10|0.5|0;200.0|5|0|0.0|7;270.0|4|10|0.5|0;270.0|5|0|0.0|7;");
  CHECK(ask(path, "SELECT time_ns, packets_injected FROM network_samples") == "100.0|1;200.0|1;270.0|1;");
  CHECK(ask(path, "SELECT count(*) FROM omitted") == "0;");
  fs::remove(path);
  run(9, 9);
  CHECK(ask(path, "SELECT time_ns FROM network_samples") == "400.0;800.0;");
  CHECK(ask(path, "SELECT time_ns, link FROM samples") == "400.0|4;400.0|5;800.0|4;800.0|5;");
  const std::string rule = "more than 9 rows: the intervals whose number is a multiple of 4;";
  CHECK(ask(path, "SELECT table_name, rows, kept, rule FROM omitted") ==
        "samples|18|4|" + rule + "network_samples|9|2|" + rule);
}

TEST_CASE("sqlite: input files with their digests, those that can't be read without") {
  const std::string path = temporary("inputs.sqlite"), file = temporary("abc");
  std::ofstream(file) << "abc";
  Report report = report_of(1);
  report.inputs = {file, file + ".missing"};
  write_sqlite(report, 1, path);
  CHECK(ask(path, "SELECT * FROM inputs") ==
        file + "|3|ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad;" + file +
            ".missing|-|-;");
}

TEST_CASE("sqlite: what keeps a spreadsheet from reckoning is not in the database") {
  const std::string path = temporary("guarded.sqlite");
  {
    SqliteFile file(path);
    {
      SqliteRows rows(file, "t", "name,count");
      for (const std::string name : {"=1+2", "+1", "-1", "@a", "'a", "'", "a=1", "=a,\"b\"", "''=c"}) {
        rows.append(csv_field(name) + ",-1");
        rows.append(csv_quoted(name) + ",-1");
      }
    }
    file.finish();
  }
  CHECK(csv_field("=1+2") == "'=1+2");
  CHECK(csv_field("-a,b") == "\"'-a,b\"");
  CHECK(csv_field("a-b") == "a-b");
  CHECK(ask(path, "SELECT DISTINCT * FROM t") ==
        "=1+2|-1;+1|-1;-1|-1;@a|-1;'a|-1;'|-1;a=1|-1;=a,\"b\"|-1;''=c|-1;");
}

// The reference: rows as text, each field taken apart again.
TEST_CASE("sqlite: rows of fields have the values and types that their CSV has") {
  const std::string path = temporary("fields.sqlite"), columns = "name,count,finish_ns,utilization";
  std::vector<Row> rows(1);
  rows.front().add(NotKnown(), NotKnown(), NotKnown(), NotKnown());
  const std::int64_t times[] = {0, 1, 999, 1000, 1500, 123456789012345, (1LL << 53) + 1, INT64_MAX};
  const std::uint64_t counts[] = {0, 7, INT64_MAX, UINT64_MAX, 1ULL << 63, 3, 4, 5};
  const double ratios[] = {0, -0.0, 1, 0.1, 1.0 / 3, 2.0000005, 1e300, 12345.6789012345};
  const std::string names[] = {"a", "=b", "1.5", "a,\"b\"", "'", "-", "", "\n"};
  for (std::size_t i = 0; i < 64; ++i) {
    rows.emplace_back().add(names[i % 8], counts[i / 8], Time::ps(times[(i + i / 8) % 8]),
                            Fixed{ratios[(i + i / 4) % 8], static_cast<int>(i % 7)});
  }
  {
    SqliteFile file(path);
    {
      SqliteRows by_text(file, "a", columns), by_fields(file, "b", columns);
      std::string text;
      for (const Row& row : rows) {
        text.clear();
        append_csv(text, row);
        by_text.append(text);
      }
      std::size_t i = 0;
      const auto next = [&](Row& row) {
        for (const Field& field : rows[i % rows.size()].fields()) row.add(field);
        return i++ < rows.size();
      };
      by_fields.append(next);
    }
    file.finish();
  }
  CHECK(ask(path, "SELECT count(*) FROM b") == "65;");
  std::string typed_columns = "rowid";
  for (const std::string column : {"name", "count", "finish_ns", "utilization"}) {
    typed_columns += ", quote(" + column + "), typeof(" + column + ")";
  }
  CHECK(ask(path, "SELECT " + typed_columns + " FROM a EXCEPT SELECT " + typed_columns + " FROM b") == "");
}

// The reference: rows as text again, of which each is put in for itself.
TEST_CASE("sqlite: what is the same in many rows, and then differs, is in each as its CSV has it") {
  const std::string path = temporary("same.sqlite"),
                    columns = "name,count,finish_ns,bytes,drops,rank,start_ns";
  const std::uint64_t large = 1ULL << 63;
  const auto fill = [&](std::size_t i, Row& row) {
    row.add(i % 1000 == 999 ? "b" : "", i, Time::ps(i < 700 ? 2000 : 2500));
    row.add(i < 1200 ? std::optional<std::uint64_t>() : std::optional(large));
    if (i < 1201) {
      row.add(7, large);
    } else {
      row.add(7U, large);  // of another type, and the same
    }
    row.add(Time::ns(i == 2999 ? -1 : 3));
  };
  for (const std::size_t count : {1, 511, 512, 513, 514, 3000}) {
    {
      SqliteFile file(path, count);
      {
        SqliteRows by_text(file, "a", columns), by_fields(file, "b", columns);
        std::size_t i = 0;
        by_fields.append([&](Row& row) {
          if (i == count) return false;
          fill(i++, row);
          return true;
        });
        for (i = 0; i < count; ++i) {
          Row row;
          fill(i, row);
          std::string text;
          append_csv(text, row);
          by_text.append(text);
        }
      }
      file.finish();
    }
    CHECK(ask(path, "SELECT count(*) FROM b") == std::to_string(count) + ";");
    std::string typed = "rowid";
    for (const std::string column : {"name", "count", "finish_ns", "bytes", "drops", "rank", "start_ns"}) {
      typed += ", quote(" + column + "), typeof(" + column + ")";
    }
    CHECK(ask(path, "SELECT " + typed + " FROM a EXCEPT SELECT " + typed + " FROM b") == "");
  }
}

TEST_CASE("sqlite: fields that are the same so far are told in SQL's words, until one differs") {
  SameFields same;
  Row row;
  row.add(NotKnown(), 5, UINT64_MAX, Time::ns(3), Time::ps(3), "name", Fixed{1, 2}, -1);
  same.begin(row);
  CHECK(select_source(8, same) == "SELECT NULL, 5, c2, 3, c4, c5, c6, c7 FROM weft_rows");
  CHECK(same.narrow(row));
  Row other;
  other.add(NotKnown(), 6, 1U, Time::ns(3), Time::ps(3), "name", Fixed{1, 2}, -1);
  CHECK_FALSE(same.narrow(other));
  CHECK(same.narrow(other));
  CHECK(select_source(8, same) == "SELECT NULL, c1, c2, 3, c4, c5, c6, c7 FROM weft_rows");
}

TEST_CASE("sqlite: a file of many rows has large pages, one of few small ones") {
  const std::string path = temporary("pages.sqlite");
  write_sqlite(report_of(100), 1, path);
  CHECK(ask(path, "PRAGMA page_size") == "4096;");
  write_sqlite(report_of(20'000), 1, path);
  CHECK(ask(path, "PRAGMA page_size") == "32768;");
  CHECK(ask(path, "PRAGMA integrity_check") == "ok;");
  CHECK(ask(path, "SELECT count(*), sum(flow) FROM flows") == "20000|199990000;");
}

TEST_CASE("sqlite: what fails while rows are filled comes through") {
  const std::string path = temporary("thrown.sqlite");
  SqliteFile file(path);
  SqliteRows rows(file, "t", "a");
  int count = 0;
  const auto fails = [&](Row& row) {
    row.add(1);
    return ++count < 3 ? true : throw std::bad_alloc();
  };
  CHECK_THROWS_AS(rows.append(fails), std::bad_alloc);
  CHECK(count == 3);
}

TEST_CASE("sqlite: a file that isn't finished is not there, and one that can't be is told") {
  const std::string path = temporary("unfinished.sqlite");
  {
    SqliteFile file(path);
    SqliteRows(file, "t", "a").append("1");
  }
  CHECK_FALSE(fs::exists(path));
  for (const auto& entry : fs::directory_iterator(fs::path(path).parent_path())) {
    CHECK(entry.path().filename().string().find("unfinished") == std::string::npos);
  }
  CHECK_THROWS_WITH(SqliteFile("/nowhere/at/all.sqlite"),
                    "/nowhere/at/all.sqlite: can't write the file: No such file or directory");
}

}  // namespace weft::results
