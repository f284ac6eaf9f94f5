#include "sim/units/brackets.h"

#include <catch2/catch.hpp>

namespace weft {

TEST_CASE("separators within brackets separate nothing") {
  using Pieces = std::vector<std::string_view>;
  CHECK(split_outside_brackets("", ',') == Pieces{""});
  CHECK(split_outside_brackets("a,b", ',') == Pieces{"a", "b"});
  CHECK(split_outside_brackets(",a,", ',') == Pieces{"", "a", ""});
  CHECK(split_outside_brackets("x=[a,[b,c]],y;z", ',') == Pieces{"x=[a,[b,c]]", "y;z"});
  CHECK(split_outside_brackets("a],b", ',') == Pieces{"a]", "b"});
}

TEST_CASE("brackets around a text come off once, and only as a pair") {
  CHECK(without_brackets("[a]") == "a");
  CHECK(without_brackets("[[a]]") == "[a]");
  CHECK(without_brackets("[]") == "");
  for (const char* text : {"", "[", "a", "[a", "a]"}) CHECK(without_brackets(text) == text);
}

}  // namespace weft
