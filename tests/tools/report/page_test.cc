// The file: what is packed in it comes out again, and it asks for nothing from outside.
#include "tools/report/page.h"

#include <zlib.h>

#include <catch2/catch.hpp>
#include <random>
#include <string>

namespace weft::report {
namespace {

// Decoded by the tables of RFC 4648, and zlib.
std::string unpacked(const std::string& text) {
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0, held = 0;
  for (const char letter : text) {
    if (letter == '=') break;
    bits = bits << 6 | static_cast<unsigned>(letters.find(letter));
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes += static_cast<char>(bits >> held & 255);
  }
  z_stream stream{};
  REQUIRE(inflateInit2(&stream, 15 + 16) == Z_OK);
  std::string out(1 << 20, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(inflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

TEST_CASE("data come out as they went in") {
  std::mt19937 random(1);
  for (const std::size_t size : {0, 1, 2, 3, 4, 5, 1000, 50'001}) {
    std::string data(size, '\0');
    for (char& letter : data) letter = static_cast<char>(random());
    const std::string text = packed(data);
    CHECK(text.size() % 4 == 0);
    CHECK(unpacked(text) == data);
  }
}

TEST_CASE("the page has its data once, an escaped title, and no address that is asked for") {
  const std::string page = page_of("<b>{{DATA}}</b> & more", "{\"runs\": []}");
  CHECK(page.find("<title>&lt;b&gt;{{DATA}}&lt;/b&gt; &amp; more</title>") != std::string::npos);
  const std::string mark = "<script id=\"data\" type=\"application/octet-stream\">";
  const std::size_t begin = page.find(mark) + mark.size();
  CHECK(unpacked(page.substr(begin, page.find('<', begin) - begin)) == "{\"runs\": []}");
  for (const char* outside : {" src=", "<link", "@import", "url(", "fetch(", "XMLHttpRequest", "WebSocket"}) {
    INFO(outside);
    CHECK(page.find(outside) == std::string::npos);
  }
  CHECK(page.size() < 200'000);
}

}  // namespace
}  // namespace weft::report
