#include "sim/units/printable.h"

#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "sim/units/input_error.h"

namespace weft {
namespace {

std::string bytes(std::size_t count, char c = 'x') { return std::string(count, c); }

}  // namespace

TEST_CASE("a message that quotes a byte 0 goes on behind it") {
  const InputError error({.file = "a"}, std::string("found '\0\0', expected text", 25));
  CHECK(std::string(error.what()) == "a: found '\\x00\\x00', expected text");
}

TEST_CASE("printable: messages without anything odd stay as they are") {
  for (const std::string text :
       {"", "a.goal:3:1: 'snd' is not an operation; expected 'send'", "can't read 'it's mine' or 'x'",
        "Größe 4 µs … 日本 🙂", "'unclosed", "'' and ''", "back\\slash \\x1B"}) {
    CHECK(printable(text) == text);
  }
}

TEST_CASE("printable: what a terminal would obey, and what is no UTF-8, is told in bytes") {
  CHECK(printable("a\x1b[31mred\n\t\x7f") == "a\\x1B[31mred\\x0A\\x09\\x7F");
  CHECK(printable(std::string("nul\0!", 5)) == "nul\\x00!");
  CHECK(printable("\xff\x80 \xc3") == "\\xFF\\x80 \\xC3");
  CHECK(printable("\xc0\xaf \xe0\x80\xaf \xf0\x80\x80\xaf") ==
        "\\xC0\\xAF \\xE0\\x80\\xAF \\xF0\\x80\\x80\\xAF");
  CHECK(printable("\xed\xa0\x80 \xf4\x90\x80\x80") == "\\xED\\xA0\\x80 \\xF4\\x90\\x80\\x80");
  CHECK(printable("\xc2\x9b"
                  "31m") ==
        "\\xC2\\x9B"
        "31m");  // a control sequence in one character
  CHECK(printable("\xe2\x80\xae"
                  "x") ==
        "\\xE2\\x80\\xAE"
        "x");  // from right to left
}

TEST_CASE("printable: long quotes and long messages are cut") {
  CHECK(printable("'" + bytes(80) + "'") == "'" + bytes(80) + "'");
  CHECK(printable("f: '" + bytes(81) + "' is no number") ==
        "f: '" + bytes(60) + "…' (81 bytes) is no number");
  // What it is shown as counts, and is not cut within.
  CHECK(printable("'" + bytes(21, '\x01') + "'") ==
        "'\\x01\\x01\\x01\\x01\\x01\\x01\\x01\\x01\\x01\\x01\\x01\\x01\\x01\\x01\\x01…' (21 bytes)");
  CHECK(printable("'" + bytes(1000000) + "' and '" + bytes(90, 'y') + "'") ==
        "'" + bytes(60) + "…' (1000000 bytes) and '" + bytes(60, 'y') + "…' (90 bytes)");
  // No half characters: 59 bytes, then one of two.
  CHECK(printable("'" + bytes(59) + "ä" + bytes(30) + "'") == "'" + bytes(59) + "…' (91 bytes)");
  const std::string cut = printable("begin " + bytes(1000000) + " end");
  CHECK(cut.size() <= 500);
  CHECK(cut.starts_with("begin x"));
  CHECK(cut.ends_with("x end"));
  CHECK(cut.find("(999570 bytes are left out)") != std::string::npos);
}

TEST_CASE("printable text: lines stay lines, and nothing is cut") {
  CHECK(printable_text("a\tb\n\n\x1b[2J\r\n" + bytes(5000)) == "a\tb\n\n\\x1B[2J\\x0D\n" + bytes(5000));
  CHECK(printable_text("") == "");
  CHECK(printable_text(std::string("\0\xff\n", 3)) == "\\x00\\xFF\n");
}

TEST_CASE("printable: any bytes come out short, printable and final") {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string text(random() % 6000, ' ');
    for (char& c : text) c = random() % 4 == 0 ? '\'' : static_cast<char>(random());
    const std::string shown = printable(text);
    CHECK(shown.size() <= 4000);
    CHECK(printable(shown) == shown);
    for (const char c : shown) REQUIRE((static_cast<unsigned char>(c) >= 0x20 && c != 0x7F));
  }
}

}  // namespace weft
