#include "sim/units/grouped.h"

#include <catch2/catch.hpp>

namespace weft {

TEST_CASE("large numbers have their thousands apart, small ones two digits behind the point") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(7) == "7");
  CHECK(grouped(7.126) == "7.13");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1000) == "1,000");
  CHECK(grouped(123456.7) == "123,457");
  CHECK(grouped(1234567) == "1,234,567");
}

TEST_CASE("quantities have three digits and the unit that keeps them below a thousand") {
  CHECK(short_bytes(0) == "0 B");
  CHECK(short_bytes(999) == "999 B");
  CHECK(short_bytes(999.5) == "1 kB");
  CHECK(short_bytes(12345678) == "12.3 MB");
  CHECK(short_time(0.25) == "0.25 ns");
  CHECK(short_time(8.32679e9) == "8.33 s");
  CHECK(short_time(1.5e15) == "1500000 s");
}

}  // namespace weft
