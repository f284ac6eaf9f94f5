#include "sim/units/quantity.h"

#include <catch2/catch.hpp>

#include "sim/units/input_error.h"

using namespace weft;

TEST_CASE("times are read with their unit, bare numbers in the unit of the context") {
  CHECK(parse_time("1.5us") == Time::ps(1'500'000));
  CHECK(parse_time("500 ns") == Time::ns(500));
  CHECK(parse_time("2ms") == Time::us(2000));
  CHECK(parse_time("1s") == Time::us(1'000'000));
  CHECK(parse_time("250ps") == Time::ps(250));
  CHECK(parse_time("2500") == Time::ns(2500));
  CHECK(parse_time("2500", Time::ps(1)) == Time::ps(2500));
  CHECK(parse_time("1e-3us") == Time::ns(1));
}

TEST_CASE("bandwidths: bits or bytes, by the letter") {
  CHECK(parse_bandwidth("400Gbps") == Bandwidth::gbps(400));
  CHECK(parse_bandwidth("25 Gb/s") == Bandwidth::gbps(25));
  CHECK(parse_bandwidth("50GB/s") == Bandwidth::gbps(400));
  CHECK(parse_bandwidth("1000") == Bandwidth::bps(1000));
}

TEST_CASE("sizes: decimal and binary prefixes") {
  CHECK(parse_bytes("2MB") == 2'000'000);
  CHECK(parse_bytes("2MiB") == 2'097'152);
  CHECK(parse_bytes("64 KiB") == 65'536);
  CHECK(parse_bytes("1e6") == 1'000'000);
  CHECK(parse_bytes("0") == 0);
  CHECK(parse_bytes("1.5KiB") == 1'536);
  CHECK(parse_bytes("0.001kB") == 1);
  CHECK(parse_bytes("1.1GB") == 1'100'000'000);
}

TEST_CASE("what is no quantity is refused with an example of one") {
  CHECK_THROWS_WITH(parse_time("fast"), "'fast' is not a time; write it like 1.5us");
  CHECK_THROWS_WITH(parse_time("5 parsec"), Catch::StartsWith("'5 parsec' has the unit 'parsec'"));
  CHECK_THROWS_WITH(parse_time("-5ns"), Catch::StartsWith("'-5ns' is negative"));
  CHECK_THROWS_AS(parse_time("1e30s"), InputError);
  CHECK_THROWS_AS(parse_bytes("nan"), InputError);
  CHECK_THROWS_WITH(parse_bytes("1.5"), "'1.5' is not a whole number of bytes");
  CHECK_THROWS_WITH(parse_bytes("1.1KiB"), "'1.1KiB' is not a whole number of bytes");
  CHECK_THROWS_AS(parse_bandwidth(""), InputError);
}

TEST_CASE("what is printed is read back as the same value") {
  for (const std::int64_t ps :
       {0L, 1L, 250L, 999L, 1000L, 1500L, 123456789L, 2'000'000'000'000L, 86'400'000'000'000'001L}) {
    CHECK(parse_time(to_string(Time::ps(ps))) == Time::ps(ps));
  }
  for (const std::int64_t bps : {1L, 999L, 1000L, 43'000'000'000L, 400'000'000'000L, 1'234'567'891L}) {
    CHECK(parse_bandwidth(to_string(Bandwidth::bps(bps))) == Bandwidth::bps(bps));
  }
  for (const std::uint64_t bytes : {0ul, 1ul, 4097ul, 65536ul, 2'000'000ul, 1ul << 40}) {
    CHECK(parse_bytes(bytes_to_string(bytes)) == bytes);
  }
  CHECK(to_string(Time::ns(1500)) == "1.5us");
  CHECK(to_ns_string(Time::ps(1500)) == "1.500");
  CHECK(to_ns_string(Time::ns(1500)) == "1500");
}

TEST_CASE("serialization rounds up, so that no link exceeds its rate") {
  CHECK(Bandwidth::gbps(400).serialization(4160) == Time::ps(83'200));  // 20 ps a byte
  CHECK(Bandwidth::gbps(3).serialization(1) == Time::ps(2667));         // 8/3 ns
  CHECK(Bandwidth::gbps(100).serialization(5'000'000'000) == Time::us(400'000));
}

TEST_CASE("a cost per byte is exact where ns are not") {
  CHECK(TimePerByte::ns(0.04).of(1000) == Time::ns(40));
  CHECK(TimePerByte::ns(0.04).after_first(1) == Time());
  CHECK(TimePerByte::ns(0.04).after_first(0) == Time());
  // The 64-bit and the 128-bit way agree where both apply.
  CHECK(TimePerByte::ns(6).of(0xFFFFFFFF) + TimePerByte::ns(6).of(1) == TimePerByte::ns(6).of(0x100000000));
}
