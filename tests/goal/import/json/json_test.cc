// The reader of JSON traces: what it hands on, its limits, and where it says that something is wrong.
#include <zlib.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "goal/import/json/json_reader.h"

namespace weft::goal {
namespace {

using Catch::Contains;

std::string file(const std::string& text, const std::string& name = "t.json") {
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/" + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

std::string packed(const std::string& text) {
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/t.json.gz";
  gzFile to = gzopen(path.c_str(), "wb");
  gzwrite(to, text.data(), static_cast<unsigned>(text.size()));
  gzclose(to);
  return path;
}

// All that is handed on: "member KEY=TEXT" and "KEY: TEXT" of each element's member "a".
std::vector<std::string> all(const std::string& path, const JsonLimits& limits = {}) {
  std::vector<std::string> found;
  JsonHandlers handlers;
  handlers.member = [&](JsonValue v, const SourceLocation&) {
    found.push_back(std::string(v.key()) + "=" + std::string(v.text()));
    return true;
  };
  handlers.element = [&](std::string_view array, JsonValue v, const SourceLocation& where) {
    found.push_back(std::string(array) + "@" + std::to_string(where.line) + ":" + std::string(v["a"].text()));
    return true;
  };
  read_json(path, {"list"}, handlers, limits);
  return found;
}

std::string message(const std::string& path, const JsonLimits& limits = {}) {
  try {
    all(path, limits);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("json: elements of long arrays and members beside them") {
  const std::string text =
      "{\"x\": 1,\n \"list\": [{\"a\": \"p\"},\n {\"b\": [1, {\"a\": 2}], \"a\": 3.5}], \"y\": "
      "\"\\u00e4\\n\"}";
  const std::vector<std::string> expected = {"x=1", "list@2:p", "list@3:3.5", "y=ä\n"};
  CHECK(all(file(text)) == expected);
  CHECK(all(packed(text)) == expected);
  CHECK(all(file("[{\"a\": 1}, {\"a\": 2}]")) == std::vector<std::string>{"@1:1", "@1:2"});
}

TEST_CASE("json: a byte order mark says nothing") {
  const std::string text = "{\"list\": [{\"a\": 1}]}";
  CHECK(all(file("\xEF\xBB\xBF" + text)) == std::vector<std::string>{"list@1:1"});
  CHECK(all(packed("\xEF\xBB\xBF" + text)) == std::vector<std::string>{"list@1:1"});
  CHECK_THAT(message(file("\xEF\xBB\xBF")), Contains("t.json"));
}

TEST_CASE("json: values within an element") {
  const std::string path = file(
      "{\"list\": [{\"n\": -12, \"h\": \"0x1F\", \"t\": true, \"s\": \"False\", \"o\": {\"p\": {\"q\": "
      "null}}, "
      "\"l\": [1, [2, 3], 4]}]}");
  JsonHandlers handlers;
  handlers.element = [&](std::string_view, JsonValue v, const SourceLocation&) {
    CHECK(v["n"].integer() == -12);
    CHECK(v["h"].integer() == 31);
    CHECK(v["t"].boolean() == true);
    CHECK(v["s"].boolean() == false);
    CHECK(v["o"]["p"]["q"].kind() == JsonKind::kNull);
    CHECK(v["no"]["such"].missing());
    int elements = 0;
    for (const JsonValue e : v["l"].items()) elements += e.is_array() ? 100 : 1;
    CHECK(elements == 102);
    CHECK_FALSE(v["n"].unsigned_integer());
    return true;
  };
  read_json(path, {"list"}, handlers);
}

TEST_CASE("json: whole numbers in any exact form; what is there and none is refused with its place") {
  const auto first = [](const std::string& value, const auto& read) {
    const std::string path = file("{\"list\": [\n{\"size\": " + value + "}]}");
    JsonHandlers handlers;
    handlers.element = [&](std::string_view, JsonValue v, const SourceLocation&) {
      return read(v["size"]), true;
    };
    read_json(path, {"list"}, handlers);
  };
  for (const char* text : {"1073741824", "1073741824.0", "1.073741824e9", "\"1073741824\"",
                           "\"1073741824.0\"", "\"0x40000000\"", "10737418240e-1"}) {
    INFO(text);
    first(text, [](JsonValue v) {
      CHECK(v.integer_or(7) == 1 << 30);
      CHECK(v.unsigned_or(7) == 1u << 30);
    });
  }
  first("null", [](JsonValue v) { CHECK(v.integer_or(7) == 7); });
  first("1", [](JsonValue v) { CHECK(v["absent"].unsigned_or(7) == 7); });
  first("\"True\"", [](JsonValue v) { CHECK(v.boolean_or(false)); });
  for (const char* text : {"1.5", "\"many\"", "[]", "{}", "1e300", "\"\"", "99999999999999999999"}) {
    INFO(text);
    CHECK_THROWS_WITH(
        first(text, [](JsonValue v) { return v.integer_or(0); }),
        Contains("t.json:2:") && Contains("'size' is '") && Contains("where a whole number is expected"));
  }
  CHECK_THROWS_WITH(first("-1", [](JsonValue v) { return v.unsigned_or(0); }),
                    Contains("'size' is '-1', where a whole number from 0 is expected"));
  CHECK_THROWS_WITH(first("2", [](JsonValue v) { return v.boolean_or(false); }),
                    Contains("'size' is '2', where true or false is expected"));
}

TEST_CASE("json: microseconds to nanoseconds without rounding") {
  CHECK(decimal_thousandths("1694128201554123.457") == 1694128201554123457);
  CHECK(decimal_thousandths("0.001") == 1);
  CHECK(decimal_thousandths("0.0019") == 1);
  CHECK(decimal_thousandths("-2.5") == -2500);
  CHECK(decimal_thousandths("7") == 7000);
  CHECK(decimal_thousandths("1e3") == 1000000);
  CHECK_FALSE(decimal_thousandths("9223372036854775.808"));
  CHECK_FALSE(decimal_thousandths("1e300"));
  CHECK_FALSE(decimal_thousandths(""));
  CHECK_FALSE(decimal_thousandths("5us"));
}

TEST_CASE("json: strings that lie across pieces of the file") {
  for (const std::size_t before : {262'100u, 262'140u, 262'143u}) {
    const std::string text =
        "{\"list\": [{\"pad\": \"" + std::string(before - 22, 'x') + "\", \"a\": \"half and half\"}]}";
    CHECK(all(file(text)) == std::vector<std::string>{"list@1:half and half"});
  }
}

TEST_CASE("json: what is wrong, and where") {
  CHECK_THAT(message(file("{\"list\": [\n{\"a\": 1},\n{\"a\" 2}]}")),
             Contains("t.json:3: byte 26: not JSON"));
  CHECK_THAT(message(file("{\"list\": [{\"a\": 1}")), Contains("The file ends here"));
  CHECK_THAT(message(file("{} x")), Contains("byte 3: not JSON: something stands behind the end"));
  CHECK_THAT(message(file("")), Contains("not JSON"));
  CHECK_THAT(message(file("12")), Contains("expected an object or an array"));
  CHECK_THAT(message("/no/such.json"), Contains("/no/such.json: can't read the file"));
  CHECK_THAT(message(std::getenv("TEST_TMPDIR")), Contains("is a folder"));
}

TEST_CASE("json: limits") {
  const std::string deep = std::string(200, '[') + std::string(200, ']');
  CHECK_THAT(message(file("{\"x\": " + deep + "}")), Contains("more than 100 brackets in brackets"));
  CHECK_THAT(message(file(std::string(1'000'000, '['))), Contains("more than 100 brackets in brackets"));
  const JsonLimits few{.value_bytes = 100, .value_nodes = 10};
  CHECK_THAT(message(file("{\"x\": \"" + std::string(101, 'y') + "\"}"), few),
             Contains("more than 100 bytes"));
  CHECK_THAT(message(file("{\"x\": [1,2,3,4,5,6,7,8,9,10]}"), few), Contains("more than 10 values"));
  CHECK(message(file("{\"x\": [1,2,3,4,5,6,7,8,9]}"), few).empty());
}

TEST_CASE("json: a shortened gzip file") {
  std::string text = "{\"list\": [";
  for (int i = 0; i < 2000; ++i) text += "{\"a\": " + std::to_string(i * 7919 % 1000) + "},";
  text += "{}]}";
  std::ifstream whole(packed(text), std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(whole), {}};
  CHECK_THAT(message(file(bytes.substr(0, bytes.size() / 2), "cut.json.gz")), Contains("gzip"));
}

}  // namespace weft::goal
