#include "sim/units/wrap.h"

#include <catch2/catch.hpp>
#include <sstream>
#include <vector>

#include "sim/units/random.h"

namespace weft {
namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) {
    if (word != "\\") words.push_back(word);
  }
  return words;
}

}  // namespace

TEST_CASE("lines that fit stay as they are") {
  CHECK(wrap("", 20).empty());
  CHECK(wrap("short\n\n  lines\n", 20) == "short\n\n  lines\n");
  CHECK(wrap("exactly twenty wide.", 20) == "exactly twenty wide.");
  CHECK(wrap("a line that is long enough to be broken", 0) == "a line that is long enough to be broken");
}

TEST_CASE("a long line goes on below its text") {
  CHECK(wrap("  one two three four five six", 16) == "  one two three\n  four five six");
  CHECK(wrap("  name   what it does in words", 20) == "  name   what it\n         does in\n         words");
  CHECK(wrap("a_very_long_word_indeed and more", 10) == "a_very_long_word_indeed\nand more");
  // A label that leaves less than half for the text.
  CHECK(wrap("a quite long label  text text", 20) == "a quite long label\ntext text");
  CHECK(wrap("  net   packet:mtu=4096,header=64,ack=64", 24) ==
        "  net   packet:mtu=4096,\n        header=64,ack=64");
  CHECK(columns("… and – so on") == 13);
}

TEST_CASE("a command can be copied") {
  CHECK(wrap("  weft sim --goal a.weft --topology fat_tree:k=4 -o RUN", 30) ==
        "  weft sim --goal a.weft \\\n      --topology fat_tree:k=4 \\\n      -o RUN");
  CHECK(wrap("  weft sim --job 'one two three four five' -o R", 24) ==
        "  weft sim \\\n      --job 'one two three four five' \\\n      -o R");
  CHECK(wrap("  weft list           what there is", 24) == "  weft list\n  what there is");
}

TEST_CASE("no word is lost, broken or moved, and lines are as wide as asked") {
  RandomStream random(7, 0, 0);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (std::uint64_t lines = random.below(4) + 1; lines-- > 0;) {
      text.append(random.below(8), ' ');
      if (random.below(4) == 0) text += " weft ";
      for (std::uint64_t words = random.below(20); words-- > 0;) {
        text.append(random.below(9) + 1, static_cast<char>('a' + random.below(26)));
        text.append(text.find("weft") == std::string::npos && random.below(6) == 0 ? 3 : 1, ' ');
      }
      text += "x\n";
    }
    const std::size_t width = 24 + random.below(60);
    const std::string wrapped = wrap(text, width);
    INFO(text << "\nat " << width << "\n" << wrapped);
    REQUIRE(words_of(wrapped) == words_of(text));
    REQUIRE(wrap(wrapped, 1000) == wrapped);
    std::istringstream lines(wrapped);
    for (std::string line; std::getline(lines, line);) REQUIRE(columns(line) <= width);
  }
}

}  // namespace weft
