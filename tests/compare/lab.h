// Results made by hand, changed on purpose, written and compared.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "profiler/compare/compare.h"
#include "profiler/report/result_writer.h"

namespace gpuexp::test {

// A directory that is removed with everything in it.
class Lab {
 public:
  Lab();
  ~Lab();
  Lab(const Lab&) = delete;
  Lab& operator=(const Lab&) = delete;

  // Writes text to a file of this directory, and returns its path.
  std::filesystem::path write(const std::string& name, const std::string& text) const;
  std::filesystem::path json(const std::string& name, const ResultFile& results) const;
  std::filesystem::path csv(const std::string& name, const ResultFile& results) const;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  // Compares two results by their JSON files, or by their CSV files.
  [[nodiscard]] Diff by_json(const ResultFile& base, const ResultFile& next, const DiffOptions& options = {}) const;
  [[nodiscard]] Diff by_csv(const ResultFile& base, const ResultFile& next, const DiffOptions& options = {}) const;

 private:
  std::filesystem::path path_;
};

// Transposes, emulated: "transpose/naive", "transpose/smem", "transpose/smem_padded" with rows = 64 and 256.
ResultFile emulated_results();
// `points` measured matrix products of n = 64, 128, ..., with samples of about 100 us, 200 us, ... and `noise`.
ResultFile measured_results(int points, double noise, std::uint64_t seed);

PointRecord& point(ResultFile& results, const std::string& key_part);
// Medians and spreads follow samples that were changed.
void update_time(PointRecord& record);

// The one point of the comparison whose key holds `key_part`; fails the test when there is none.
const PointDiff& diff_of(const Diff& diff, const std::string& key_part);
std::size_t count(const Diff& diff, Verdict verdict);

}  // namespace gpuexp::test
