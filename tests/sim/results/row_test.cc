#include "sim/results/row.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

namespace weft::results {
namespace {

template <typename... Values>
std::string csv(const Values&... values) {
  Row row;
  row.add(values...);
  std::string text = "before\n";
  append_csv(text, row);
  return text;
}

}  // namespace

TEST_CASE("row: numbers, times and what is not known, as CSV has them") {
  CHECK(csv(std::uint64_t{18446744073709551615U}, -3, std::uint32_t{0}) ==
        "before\n18446744073709551615,-3,0\n");
  CHECK(csv(Time::ns(5), Time::ps(5001), Time::ps(20), Time::ps(999)) == "before\n5,5.001,0.020,0.999\n");
  CHECK(csv(Fixed{2.0 / 3}, Fixed{2.0 / 3, 2}, Fixed{0.5, 0}, Fixed{1.5, 0}, Fixed{1e22, 1}) ==
        "before\n0.666667,0.67,0,2,10000000000000000000000.0\n");
  CHECK(csv(NotKnown(), std::optional<int>(), std::optional(Time::ns(1)), "") == "before\n,,1,\n");
}

TEST_CASE("row: texts of every length and character, in a row and alone") {
  for (int c = 1; c < 256; ++c) {
    for (const std::size_t length : {1, 2, 23, 24, 25, 60}) {
      for (const std::size_t at : {std::size_t{0}, length - 1}) {
        std::string text(length, 'a');
        text[at] = static_cast<char>(c);
        CHECK(csv(text, 1, text) == "before\n" + csv_field(text) + ",1," + csv_field(text) + "\n");
      }
    }
  }
}

TEST_CASE("row: numbers with few digits are rounded as all others, ties and their neighbours too") {
  const auto expected = [](double value, int digits) {
    char text[400];
    std::snprintf(text, sizeof(text), "%.*f", digits, value);
    return "before\n" + std::string(text) + "\n";
  };
  const double zero = 0;
  for (int digits = 0; digits <= 10; ++digits) {
    for (const double value : {0.0,
                               -zero,
                               0.5,
                               1.5,
                               2.5,
                               0.125,
                               0.375,
                               0.0005,
                               1.0005,
                               2.675,
                               1.005,
                               0.1,
                               1.0 / 3,
                               2.0 / 3,
                               0.999999499999,
                               0.9999995,
                               0.99999950001,
                               1e-9,
                               123456.7890125,
                               1e11 + 0.5,
                               999999999999.5,
                               1e12,
                               4e15,
                               1e22,
                               -0.25,
                               -1e-9}) {
      for (const double near : {value, std::nextafter(value, -1e300), std::nextafter(value, 1e300)}) {
        CHECK(csv(Fixed{near, digits}) == expected(near, digits));
      }
    }
    for (int i = 0; i < 2000; ++i) {
      const double value = i * 0.0003125;
      if (csv(Fixed{value, digits}) != expected(value, digits))
        FAIL(value << " with " << digits << " digits");
    }
  }
}

TEST_CASE("row: texts are quoted and guarded, and one without a home is kept") {
  CHECK(csv(std::string("a b"), "a,b", "a\"b", "-a", "'", "=a,b") ==
        "before\na b,\"a,b\",\"a\"\"b\",'-a,'',\"'=a,b\"\n");
  Row row;
  for (int i = 0; i < 20; ++i) row.add_kept("text of more than fifteen letters, number " + std::to_string(i));
  CHECK(row.fields()[0].text == "text of more than fifteen letters, number 0");
  CHECK(row.fields()[19].text == "text of more than fifteen letters, number 19");
  row.clear();
  CHECK(row.fields().empty());
}

}  // namespace weft::results
