// The Matrix Market reader: what it accepts, what it makes of it, and every refusal with its line.
#include "profiler/matrix/matrix_market.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>
#include <tuple>

#include "profiler/core/embedded.h"
#include "profiler/core/error.h"

namespace gpuexp {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

Coo parse(std::string_view text) { return parse_matrix_market(text, "m.mtx"); }

std::string refusal(std::string_view text) {
  try {
    parse(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "no error";
}

using Place = std::tuple<int, int, double>;
std::vector<Place> places(const Coo& coo) {
  std::vector<Place> result;
  for (std::int64_t i = 0; i < coo.nnz(); ++i) result.emplace_back(coo.row[i], coo.col[i], coo.value[i]);
  return result;
}

const std::string general = "%%MatrixMarket matrix coordinate real general\n";

TEST(MatrixMarket, ReadsCoordinatesAsTheLectureStoresThem) {
  const Csr csr = to_csr(parse(general + "4 4 7\n1 1 3\n1 3 1\n3 2 2\n3 3 4\n3 4 1\n4 1 1\n4 4 1\n"));
  EXPECT_THAT(csr.value, ElementsAre(3, 1, 2, 4, 1, 1, 1));
  EXPECT_THAT(csr.col, ElementsAre(0, 2, 1, 2, 3, 0, 3));
  EXPECT_THAT(csr.row_ptr, ElementsAre(0, 2, 2, 5, 7));
}

TEST(MatrixMarket, ReadsExercise10) {
  const Csr csr =
      to_csr(parse("%%MatrixMarket matrix coordinate integer general\n4 3 5\n1 2 5\n2 1 7\n4 1 1\n4 2 2\n4 3 3\n"));
  EXPECT_THAT(csr.value, ElementsAre(5, 7, 1, 2, 3));
  EXPECT_THAT(csr.col, ElementsAre(1, 0, 0, 1, 2));
  EXPECT_THAT(csr.row_ptr, ElementsAre(0, 1, 2, 2, 5));
}

TEST(MatrixMarket, AcceptsAnyCaseBlanksCommentsAndLineEnds) {
  const Coo coo = parse(
      "\xEF\xBB\xBF  %%matrixMARKET\tMatrix  COORDINATE Real GENERAL  \r\n"
      "%\r\n"
      "  % a comment after spaces\r\n"
      "%%another\n"
      "\n \t \r\n"
      "   5\t5  8 \r\n"
      "\n"
      "1 1 1.0\r\n"
      "  2 2   10.5e0\n"
      "% a comment between entries\n"
      "3 3 +.015\n"
      "1 4 6.\n"
      "4 2 250.5E+00\n"
      "\n"
      "4 4 -2.8D2\n"
      "4 5 0.3332E+02\n"
      "5 5 12");  // no line end
  EXPECT_EQ(coo.rows, 5);
  EXPECT_EQ(coo.cols, 5);
  EXPECT_THAT(places(coo), ElementsAre(Place{0, 0, 1.0}, Place{1, 1, 10.5}, Place{2, 2, 0.015}, Place{0, 3, 6.0},
                                       Place{3, 1, 250.5}, Place{3, 3, -280.0}, Place{3, 4, 33.32}, Place{4, 4, 12.0}));
}

TEST(MatrixMarket, AcceptsTrailingBlanksAndComments) {
  EXPECT_EQ(parse(general + "1 1 1\n1 1 2\n\n   \n% the end\n").nnz(), 1);
}

TEST(MatrixMarket, MirrorsSymmetricEntriesAndTakesTheDiagonalOnce) {
  const Coo coo = parse("%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 2\n2 1 -1\n3 2 5\n3 3 7\n");
  EXPECT_THAT(places(coo), ElementsAre(Place{0, 0, 2}, Place{1, 0, -1}, Place{0, 1, -1}, Place{2, 1, 5}, Place{1, 2, 5},
                                       Place{2, 2, 7}));
  // Only a diagonal: as many nonzeros as entries.
  EXPECT_EQ(parse("%%MatrixMarket matrix coordinate real symmetric\n4 4 4\n1 1 1\n2 2 1\n3 3 1\n4 4 1\n").nnz(), 4);
  // The upper triangle means the same matrix.
  EXPECT_THAT(places(parse("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n1 2\n")),
              ElementsAre(Place{0, 1, 1}, Place{1, 0, 1}));
}

TEST(MatrixMarket, NegatesSkewSymmetricEntries) {
  EXPECT_THAT(places(parse("%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 2\n2 1 4\n3 2 -5\n")),
              ElementsAre(Place{1, 0, 4}, Place{0, 1, -4}, Place{2, 1, -5}, Place{1, 2, 5}));
  EXPECT_THAT(places(parse("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 2\n1 1 0\n2 1 4\n")),
              ElementsAre(Place{0, 0, 0}, Place{1, 0, 4}, Place{0, 1, -4}));
}

TEST(MatrixMarket, ReadsArraysColumnByColumn) {
  EXPECT_THAT(to_csr(parse("%%MatrixMarket matrix array real general\n3 2\n1\n3\n5\n2\n4\n6\n")).value,
              ElementsAre(1, 2, 3, 4, 5, 6));
  // The lower triangle, column by column: (0,0) (1,0) (2,0) (1,1) (2,1) (2,2).
  EXPECT_THAT(to_csr(parse("%%MatrixMarket matrix array integer symmetric\n3 3\n1\n2\n3\n4\n5\n6\n")).value,
              ElementsAre(1, 2, 3, 2, 4, 5, 3, 5, 6));
  // Without a diagonal: (1,0) (2,0) (2,1).
  const Csr skew = to_csr(parse("%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n"));
  EXPECT_THAT(skew.value, ElementsAre(-1, -2, 1, -3, 2, 3));
  EXPECT_THAT(skew.col, ElementsAre(1, 2, 0, 2, 0, 1));
}

TEST(MatrixMarket, PatternValuesAreOne) {
  EXPECT_THAT(places(parse("%%MatrixMarket matrix coordinate pattern general\n2 3 2\n1 3\n2 1\n")),
              ElementsAre(Place{0, 2, 1}, Place{1, 0, 1}));
}

TEST(MatrixMarket, SizesMayBeZero) {
  for (const char* sizes : {"0 0 0\n", "3 0 0\n", "0 3 0\n", "3 3 0\n"}) {
    EXPECT_THAT(parse(general + sizes).value, IsEmpty()) << sizes;
  }
  EXPECT_THAT(to_csr(parse(general + "3 0 0")).row_ptr, ElementsAre(0, 0, 0, 0));
  EXPECT_EQ(parse("%%MatrixMarket matrix array real general\n0 5\n").nnz(), 0);
  EXPECT_EQ(parse("%%MatrixMarket matrix array real skew-symmetric\n1 1\n").nnz(), 0);
}

TEST(MatrixMarket, SumsDuplicatesAndKeepsExplicitZeros) {
  const Csr csr = to_csr(parse(general + "2 2 5\n2 2 0\n1 2 1\n1 1 4\n1 2 2.5\n1 2 -1\n"));
  EXPECT_THAT(csr.value, ElementsAre(4, 2.5, 0));
  EXPECT_THAT(csr.row_ptr, ElementsAre(0, 2, 3));
}

TEST(MatrixMarket, KeepsEmptyLeadingRows) {
  const Csr csr = to_csr(parse(general + "3 999 2\n2 999 1\n3 998 4\n"));
  EXPECT_THAT(csr.row_ptr, ElementsAre(0, 0, 1, 2));
}

TEST(MatrixMarket, NumbersAreReadExactly) {
  const std::pair<const char*, double> numbers[] = {
      {"0.1", 0.1},
      {"-0", -0.0},
      {"1e22", 1e22},
      {"1e23", 1e23},
      {"9007199254740993", 9007199254740992.0},
      {"0.30000000000000004", 0.30000000000000004},
      {"123456789012345678901234567890", 123456789012345678901234567890.0},
      {"4.9e-324", 4.9e-324},
      {"1e-400", 0.0},
      {"-1e-99999999999999999999", -0.0},
      {"0e99999", 0.0},
      {"0.00000000000000000000000000000000001e30", 1e-5},
      {"1.7976931348623157e308", 1.7976931348623157e308},
      {"+3.5", 3.5},
      {"1.25d-1", 0.125},
      {"00012.50", 12.5},
      {".5", 0.5},
  };
  for (const auto& [text, value] : numbers) {
    const Coo coo = parse(general + "1 1 1\n1 1 " + text + "\n");
    EXPECT_EQ(coo.value.at(0), value) << text;
    EXPECT_EQ(std::signbit(coo.value.at(0)), std::signbit(value)) << text;
  }
  EXPECT_EQ(parse("%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 -9223372036854775808\n").value.at(0),
            -0x1p63);
}

struct Refused {
  std::string text;
  const char* place;
  const char* what;
};

TEST(MatrixMarket, RefusesEveryKindOfBadInputWithItsLine) {
  const std::string header = "%%MatrixMarket matrix ";
  const Refused cases[] = {
      {"", "m.mtx:1: ", "not a Matrix Market file"},
      {"\n" + general + "1 1 0\n", "m.mtx:1: ", "not a Matrix Market file"},
      {"1 1 1\n1 1 1\n", "m.mtx:1: ", "not a Matrix Market file"},
      {"SHERMAN1 UNSYMMETRIC OIL RESERVOIR SIMULATION           SHERMAN1\n", "m.mtx:1: ", "not a Matrix Market file"},
      {"%MatrixMarket matrix coordinate real general\n1 1 0\n", "m.mtx:1: ", "not a Matrix Market file"},
      {"%%MatrixMarket\n", "m.mtx:1: ", "the header ends before its object"},
      {header + "coordinate\n1 1 0\n", "m.mtx:1: ", "the header ends before its field"},
      {header + "coordinate real\n1 1 0\n", "m.mtx:1: ", "the header ends before its symmetry"},
      {"%%MatrixMarket vector coordinate real general\n", "m.mtx:1: ", "object 'vector' is not supported"},
      {header + "coordinat real general\n1 1 0\n", "m.mtx:1: ", "did you mean 'coordinate'"},
      {header + "coordinate reel general\n1 1 0\n", "m.mtx:1: ", "accepted: real, integer, pattern"},
      {header + "coordinate complex general\n1 1 0\n", "m.mtx:1: ", "complex matrices are not supported"},
      {header + "coordinate complex hermitian\n1 1 0\n", "m.mtx:1: ", "complex matrices are not supported"},
      {header + "array integer hermitian\n2 2\n1\n2\n3\n", "m.mtx:1: ", "hermitian means complex values"},
      {header + "coordinate real skew\n1 1 0\n", "m.mtx:1: ", "did you mean 'skew-symmetric'"},
      {header + "array pattern general\n1 1\n", "m.mtx:1: ", "a pattern needs coordinates"},
      {header + "coordinate pattern skew-symmetric\n1 1 0\n", "m.mtx:1: ", "cannot be skew-symmetric"},
      {header + "coordinate real general extra\n1 1 0\n", "m.mtx:1: ", "unexpected 'extra'"},
      {general, "m.mtx:2: ", "ends before its size line"},
      {general + "% only a comment", "m.mtx:2: ", "ends before its size line"},
      {general + "3\n", "m.mtx:2: ", "ends before the number of columns"},
      {general + "3 3\n1 1 1\n", "m.mtx:2: ", "ends before the number of entries"},
      {general + "3 3 1 9\n1 1 1\n", "m.mtx:2: ", "unexpected '9' after the sizes"},
      {header + "array real general\n1 1 1\n1\n", "m.mtx:2: ", "unexpected '1' after the sizes"},
      {general + "-3 3 1\n", "m.mtx:2: ", "number of rows '-3' is not a whole number"},
      {general + "3 3.0 1\n", "m.mtx:2: ", "number of columns '3.0'"},
      {general + "3 x 1\n", "m.mtx:2: ", "number of columns 'x'"},
      {general + "3 3 99999999999999999999\n", "m.mtx:2: ", "does not fit 64 bits"},
      {general + "3000000000 3 0\n", "m.mtx:2: ", "more than the 2147483647 supported"},
      {general + "3 3 9000000000000000000\n1 1 1\n", "m.mtx:4: ", "expected 8999999999999999999 more"},
      {header + "array real general\n2000000000 2000000000\n1\n", "m.mtx:4: ", "expected 3999999999999999999 more"},
      {header + "array real symmetric\n2000000000 2000000000\n1\n", "m.mtx:4: ", "expected 2000000000999999999 more"},
      {header + "coordinate real symmetric\n2 3 1\n1 1 1\n", "m.mtx:2: ", "must be square, not 2 x 3"},
      {general + "3 3 2\n1 1 1.0000000000000000\n", "m.mtx:4: ", "truncated: 2 entries are declared, expected 1 more"},
      {general + "3 3 1\n1 1 1\n2 2 2\n", "m.mtx:4: ", "more entries than the 1 declared: '2'"},
      {general + "3 3 0\n\n% c\n1 1 1\n", "m.mtx:5: ", "more entries than the 0 declared"},
      {general + "3 3 2\n1 1 1\n0 1 1\n", "m.mtx:4: ", "row index 0 is outside 1..3"},
      {general + "3 3 1\n1 4 1\n", "m.mtx:3: ", "column index 4 is outside 1..3"},
      {general + "3 3 1\n-1 1 1\n", "m.mtx:3: ", "row index -1 is outside 1..3"},
      {general + "3 3 1\n99999999999999999999999 1 1\n", "m.mtx:3: ", "outside 1..3"},
      {general + "3 3 1\n1.5 1 1\n", "m.mtx:3: ", "row index '1.5' is not a whole number"},
      {general + "3 3 1\n-  1 1\n", "m.mtx:3: ", "row index '-' is not a whole number"},
      {general + "0 3 1\n1 1 111\n", "m.mtx:3: ", "row index 1 is outside 1..0"},
      {general + "3 3 1\n1       \n", "m.mtx:3: ", "ends before its column index"},
      {general + "3 3 1\n1 1     \n", "m.mtx:3: ", "ends before its value"},
      {general + "3 3 1\n1 1 1 1\n", "m.mtx:3: ", "unexpected '1' after the entry"},
      {header + "coordinate pattern general\n3 3 1\n1 1 1\n", "m.mtx:3: ", "unexpected '1' after the entry"},
      {header + "coordinate integer general\n3 3 1\n1 1   \n", "m.mtx:3: ", "ends before its value"},
      {general + "3 3 1\n1 1 nan\n", "m.mtx:3: ", "value 'nan' is not finite"},
      {general + "3 3 1\n1 1 -Infinity\n", "m.mtx:3: ", "value '-Infinity' is not finite"},
      {general + "3 3 1\n1 1 1e999\n", "m.mtx:3: ", "value '1e999' is beyond float64"},
      {general + "3 3 1\n1 1 1e99999999999999999999\n", "m.mtx:3: ", "beyond float64"},
      {general + "3 3 1\n1 1 abc\n", "m.mtx:3: ", "value 'abc' is not a number"},
      {general + "3 3 1\n1 1 0x10\n", "m.mtx:3: ", "value '0x10' is not a number"},
      {general + "3 3 1\n1 1 1,5\n", "m.mtx:3: ", "value '1,5' is not a number"},
      {general + "3 3 1\n1 1 +-5\n", "m.mtx:3: ", "value '+-5' is not a number"},
      {general + "3 3 1\n1 1 --5\n", "m.mtx:3: ", "value '--5' is not a number"},
      {general + "3 3 1\n1 1 -\n", "m.mtx:3: ", "value '-' is not a number"},
      {general + "3 3 1\n1 1 +\n", "m.mtx:3: ", "value '+' is not a number"},
      {general + "3 3 1\n1 1 .\n", "m.mtx:3: ", "value '.' is not a number"},
      {general + "3 3 1\n1 1 1e\n", "m.mtx:3: ", "value '1e' is not a number"},
      {header + "coordinate integer general\n3 3 1\n1 1 1.5\n", "m.mtx:3: ", "value '1.5' is not a whole number"},
      {header + "coordinate integer general\n3 3 1\n1 1 +-5\n", "m.mtx:3: ", "value '+-5' is not a whole number"},
      {header + "coordinate integer general\n3 3 1\n1 1 9223372036854775808\n", "m.mtx:3: ", "does not fit 64 bits"},
      {header + "array real general\n2 1\n1\n", "m.mtx:4: ", "truncated: 2 entries are declared, expected 1 more"},
      {header + "array real general\n1 1\n1 2\n", "m.mtx:3: ", "unexpected '2' after the value"},
      {header + "coordinate real symmetric\n3 3 2\n2 1 1\n1 3 1\n", "m.mtx:4: ", "the other triangle"},
      {general + std::string("1 1 1\n1 1 \0\x01\xff\n", 14), "m.mtx:3: ", "' is not a number"},
  };
  for (const Refused& refused : cases) {
    EXPECT_THAT(refusal(refused.text), AllOf(StartsWith(refused.place), HasSubstr(refused.what))) << refused.text;
  }
}

TEST(MatrixMarket, NothingIsAllocatedForEntriesThatTheFileCannotHold) {
  EXPECT_THAT(refusal(general + "10 10 50000\n1 1 1\n"),
              AllOf(StartsWith("m.mtx:4: "), HasSubstr("expected 49999 more")));
  // 9e18 entries would take more than any machine has: an allocation would throw std::bad_alloc or length_error.
  EXPECT_THAT(refusal("%%MatrixMarket matrix coordinate pattern general\n2147483647 2147483647 9000000000000000000\n"),
              AllOf(StartsWith("m.mtx:3: "), HasSubstr("expected 9000000000000000000 more")));
  EXPECT_EQ(parse("%%MatrixMarket matrix array real general\n0 2147483647\n").cols, 2147483647);
}

TEST(MatrixMarket, LongTokensAreCutInMessages) {
  EXPECT_LT(refusal(general + "3 3 1\n1 1 " + std::string(100000, 'x') + "\n").size(), 200U);
  EXPECT_LT(refusal("%%MatrixMarket matrix " + std::string(100000, 'x') + "\n").size(), 300U);
}

TEST(MatrixMarket, ReadsFilesAndNamesThoseItCannotRead) {
  const std::string path = testing::TempDir() + "gpuexp_reader.mtx";
  std::ofstream(path) << general << "2 2 1\n2 1 0.5\n";
  EXPECT_THAT(places(read_matrix_market(path)), ElementsAre(Place{1, 0, 0.5}));
  std::filesystem::remove(path);
  for (const std::string& missing : {path, std::string("/"), std::string()}) {
    try {
      read_matrix_market(missing);
      ADD_FAILURE() << "read " << missing;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_THAT(error.what(), HasSubstr("cannot read"));
    }
  }
}

TEST(MatrixMarket, WhatIsNoMatrixIsRefusedByItsBeginning) {
  const std::string pipe = testing::TempDir() + "gpuexp_reader_pipe";
  std::filesystem::remove(pipe);
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int writer = ::open(pipe.c_str(), O_RDWR);  // never ends: whoever reads on would wait
  ASSERT_GE(writer, 0);
  for (const std::string& text :
       {std::string(4096, '\0'), std::string(" %PDF"), std::string("\xEF\xBB\xBF%%Matrices")}) {
    ASSERT_EQ(::write(writer, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    try {
      read_matrix_market(pipe);
      ADD_FAILURE() << "read " << text;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), StartsWith(pipe + ":1: not a Matrix Market file"));
    }
    std::string rest(8192, ' ');
    ASSERT_EQ(::fcntl(writer, F_SETFL, O_NONBLOCK), 0);
    while (::read(writer, rest.data(), rest.size()) > 0) continue;
    ASSERT_EQ(::fcntl(writer, F_SETFL, 0), 0);
  }
  ::close(writer);
  std::thread slow([&] {
    std::ofstream out(pipe);
    out << "\xEF\xBB" << std::flush << "\xBF  %%Matrix" << std::flush << general.substr(8) << "2 2 1\n2 1 0.5\n";
  });
  EXPECT_THAT(places(read_matrix_market(pipe)), ElementsAre(Place{1, 0, 0.5}));
  slow.join();
  std::filesystem::remove(pipe);
}

TEST(MatrixMarket, ShippedMatricesAreGood) {
  ASSERT_GE(embedded_matrices().size(), 8U);
  for (const EmbeddedFile& file : embedded_matrices()) {
    EXPECT_NO_THROW(parse_matrix_market(file.text, std::string(file.name))) << file.name;
  }
}

}  // namespace
}  // namespace gpuexp
