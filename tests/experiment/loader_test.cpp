// The loader: every bad file gets one error that names the place, what is accepted and the nearest name.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "profiler/core/embedded.h"
#include "profiler/core/error.h"
#include "profiler/experiment/experiment.h"
#include "profiler/experiment/json_tree.h"

namespace gpuexp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// The message of the error, which must be a usage error of one line.
template <class Function>
std::string usage_error(Function function) {
  try {
    function();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    const std::string message = error.what();
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message;
  }
  return "(no error)";
}

std::string load_error(const std::string& text) {
  return usage_error([&] { make_plan(parse_experiment(text, "x.json")); });
}

// A file around one entry of "experiments".
std::string file_with(const std::string& entry) { return R"({"name": "x", "experiments": [)" + entry + "]}"; }

struct BadFile {
  const char* name;
  std::string text;
  std::string start;               // of the message: file and place
  std::vector<std::string> parts;  // what else it must say
};

void PrintTo(const BadFile& file, std::ostream* out) { *out << file.name; }

class BadFiles : public testing::TestWithParam<BadFile> {};

TEST_P(BadFiles, AreRefusedWithPlaceAndRemedy) {
  const std::string message = load_error(GetParam().text);
  EXPECT_THAT(message, StartsWith(GetParam().start));
  for (const std::string& part : GetParam().parts) EXPECT_THAT(message, HasSubstr(part));
}

const BadFile bad_files[] = {
    // Syntax: file:line:column.
    {"empty", "", "x.json:1:1: ", {"empty"}},
    {"blank", " \r\n ", "x.json:2:", {"not valid JSON"}},
    {"truncated", "{\n  \"name\": \"x\",\n", "x.json:3:", {"not valid JSON"}},
    {"comma", "{\n  \"name\": \"x\",\n  }", "x.json:3:3: ", {"not valid JSON"}},
    {"comma_crlf", "{\r\n  \"name\": \"x\",\r\n  }", "x.json:3:3: ", {"not valid JSON"}},
    {"two_documents", "{} {}", "x.json:1:4: ", {"not valid JSON"}},
    {"two_boms", "\xEF\xBB\xBF\xEF\xBB\xBF{}", "x.json:1:", {"not valid JSON"}},
    {"zero_byte", std::string("{}\n\0 {}", 7), "x.json:2: ", {"not valid JSON", "zero byte at byte 4"}},
    {"comment", "// hello\n{}", "x.json:1:", {"not valid JSON"}},
    {"nan", R"({"seed": NaN})", "x.json:1:10: ", {"not valid JSON"}},
    {"huge_number", R"({"seed": 1e999})", "x.json:1:", {"not valid JSON"}},
    {"bad_utf8", "{\"name\": \"\xff\"}", "x.json:1:11: ", {"not valid JSON"}},
    // Types and keys of the file.
    {"list", "[]", "x.json: /: ", {"an object", "an empty list"}},
    {"nothing", "{}", "x.json: /: ", {"an object with the keys"}},
    {"no_name", R"({"experiments": [{"variant": "lab/plain"}]})", "x.json: /: \"name\" is missing", {"letters"}},
    {"no_experiments", R"({"name": "x"})", "x.json: /: \"experiments\" is missing", {}},
    {"unknown_key",
     R"({"name": "x", "experimets": []})",
     "x.json: /experimets: unknown key",
     {"accepted: $schema, name", "did you mean 'experiments'?"}},
    {"slashed_key", R"({"a/b~c": 1})", "x.json: /a~1b~0c: unknown key", {}},
    {"name_type", R"({"name": 3})", "x.json: /name: expected", {"not the number 3"}},
    {"name_path", R"({"name": "../x"})", "x.json: /name: expected", {"letters, digits"}},
    {"name_empty", R"({"name": ""})", "x.json: /name: expected", {}},
    {"name_control", "{\"name\": \"a\\u0001\"}", "x.json: /name: ", {"control characters"}},
    {"device_type", R"({"device": null})", "x.json: /device: expected", {"not null"}},
    {"backend", R"({"backend": "cud"})", "x.json: /backend: unknown backend 'cud'", {"auto, cuda, simt", "'cuda'?"}},
    {"seed_negative", R"({"seed": -1})", "x.json: /seed: expected an integer from 0", {"not the number -1"}},
    {"seed_real", R"({"seed": 1.0})", "x.json: /seed: expected an integer", {"not the number 1.0"}},
    {"output_type", R"({"output": ["a"]})", "x.json: /output: expected", {"not a list"}},
    {"duplicate", R"({"name": "x", "name": "y"})", "x.json: /name: duplicate key", {}},
    {"duplicate_deep",
     file_with(R"({"variant": "lab/plain"}, {"variant": "lab/plain", "axes": {"n": [1], "n": [2]}})"),
     "x.json: /experiments/1/axes/n: duplicate key",
     {}},
    {"duplicate_after_list",
     R"({"experiments": [{"axes": {"a": [1, {"b": [], "b": 1}]}}]})",
     "x.json: /experiments/0/axes/a/1/b: duplicate key",
     {}},
    // "measure" and "counters".
    {"measure_key", R"({"measure": {"max_nose": 1}})", "x.json: /measure/max_nose: unknown key", {"'max_noise'?"}},
    {"measure_empty", R"({"measure": {}})", "x.json: /measure: expected", {"an empty object"}},
    {"cold_l2", R"({"measure": {"cold_l2": "yes"}})", "x.json: /measure/cold_l2: expected true or false", {}},
    {"noise_zero", R"({"measure": {"max_noise": 0}})", "x.json: /measure/max_noise: expected", {"above 0"}},
    {"noise_large", R"({"measure": {"max_noise": 1.5}})", "x.json: /measure/max_noise: expected", {"at most 1"}},
    {"time", R"({"measure": {"max_time_s": 1e9}})", "x.json: /measure/max_time_s: expected", {"3600"}},
    {"samples", R"({"measure": {"min_samples": 0}})", "x.json: /measure/min_samples: expected", {"from 1"}},
    {"samples_real",
     R"({"measure": {"min_samples": 1.5}})",
     "x.json: /measure/min_samples: expected",
     {"not the number"}},
    {"counters_type", R"({"counters": "dram"})", "x.json: /counters: expected", {}},
    {"counter", R"({"counters": ["zzzz"]})", "x.json: /counters/0: unknown counter 'zzzz'", {"list counters"}},
    // Entries.
    {"entries_empty", R"({"name": "x", "experiments": []})", "x.json: /experiments: expected", {"an empty list"}},
    {"entry_type", file_with("3"), "x.json: /experiments/0: expected", {"variant"}},
    {"entry_key",
     file_with(R"({"variant": "lab/plain", "axis": {"n": [1]}})"),
     "x.json: /experiments/0/axis: unknown key",
     {"accepted: variant, axes, zip, exclude", "'axes'?"}},
    {"no_variant", file_with(R"({"axes": {"n": [1]}})"), "x.json: /experiments/0: \"variant\" is missing", {}},
    {"variant_type", file_with(R"({"variant": 1})"), "x.json: /experiments/0/variant: expected", {}},
    {"variant_item", file_with(R"({"variant": ["lab/plain", 1]})"), "x.json: /experiments/0/variant/1: expected", {}},
    {"variant_unknown",
     file_with(R"({"variant": "lab/tield"})"),
     "x.json: /experiments/0/variant: ",
     {"'lab/tield'", "did you mean 'lab/tiled'?"}},
    {"variant_unknown_item",
     file_with(R"({"variant": ["lab/plain", "lab/plane"]})"),
     "x.json: /experiments/0/variant/1: ",
     {"did you mean 'lab/plain'?"}},
    {"glob_nothing", file_with(R"({"variant": "labb/*"})"), "x.json: /experiments/0/variant: ", {"labb/*"}},
    {"glob_broken", file_with(R"({"variant": "lab/brok*"})"), "x.json: /experiments/0/variant: ", {"lab/broken"}},
    // Axes.
    {"axes_type", file_with(R"({"variant": "lab/plain", "axes": [1]})"), "x.json: /experiments/0/axes: expected", {}},
    {"axes_empty", file_with(R"({"variant": "lab/plain", "axes": {}})"), "x.json: /experiments/0/axes: expected", {}},
    {"axis_scalar",
     file_with(R"({"variant": "lab/plain", "axes": {"n": 3}})"),
     "x.json: /experiments/0/axes/n: expected a list",
     {"not the number 3"}},
    {"axis_empty",
     file_with(R"({"variant": "lab/plain", "axes": {"n": []}})"),
     "x.json: /experiments/0/axes/n: expected a list",
     {"an empty list"}},
    {"axis_bool",
     file_with(R"({"variant": "lab/plain", "axes": {"n": [1, true]}})"),
     "x.json: /experiments/0/axes/n/1: expected",
     {"not true"}},
    {"axis_huge_integer",
     file_with(R"({"variant": "lab/plain", "axes": {"n": [9223372036854775808]}})"),
     "x.json: /experiments/0/axes/n/0: expected",
     {"2^63 - 1", "9223372036854775808"}},
    {"axis_unknown",
     file_with(R"({"variant": "lab/tiled", "axes": {"TIEL": [8]}})"),
     "x.json: /experiments/0/axes/TIEL: lab/tiled has no parameter 'TIEL'",
     {"n, m, dtype, share, TILE", "did you mean 'TILE'?"}},
    {"axis_unknown_under_glob",
     file_with(R"({"variant": "lab/*", "axes": {"TIEL": [8]}})"),
     "x.json: /experiments/0/axes/TIEL: ",
     {"have no parameter 'TIEL'", "did you mean 'TILE'?"}},
    {"axis_not_taken_by_one",
     file_with(R"({"variant": ["lab/plain", "lab/tiled"], "axes": {"TILE": [8]}})"),
     "x.json: /experiments/0/axes/TILE: lab/plain has no parameter 'TILE'",
     {"entry of its own"}},
    {"value_compiled",
     file_with(R"({"variant": "lab/tiled", "axes": {"TILE": [8, 16, 15]}})"),
     "x.json: /experiments/0/axes/TILE/2: lab/tiled does not accept TILE=15",
     {"accepted: 1, 2, 4, 8, 16", "nearest: 16"}},
    {"value_real_for_integer",
     file_with(R"({"variant": "lab/tiled", "axes": {"TILE": [8.0]}})"),
     "x.json: /experiments/0/axes/TILE/0: lab/tiled does not accept TILE=8.0;",
     {"accepted: 1, 2, 4, 8, 16"}},
    {"value_quoted_number",
     file_with(R"({"variant": "lab/tiled", "axes": {"TILE": ["8"]}})"),
     "x.json: /experiments/0/axes/TILE/0: lab/tiled does not accept TILE=\"8\";",
     {"accepted: 1, 2, 4, 8, 16"}},
    {"value_range",
     file_with(R"({"variant": "lab/plain", "axes": {"n": [4097]}})"),
     "x.json: /experiments/0/axes/n/0: lab/plain does not accept n=4097",
     {"from 0 to 4096", "nearest: 4096"}},
    {"value_negative",
     file_with(R"({"variant": "lab/plain", "axes": {"m": [-1]}})"),
     "x.json: /experiments/0/axes/m/0: ",
     {"from 0 to 4096", "nearest: 0"}},
    {"value_word_for_integer",
     file_with(R"({"variant": "lab/plain", "axes": {"m": ["big"]}})"),
     "x.json: /experiments/0/axes/m/0: ",
     {"integers from 0 to 4096"}},
    {"value_word",
     file_with(R"({"variant": "lab/plain", "axes": {"dtype": ["flaot16"]}})"),
     "x.json: /experiments/0/axes/dtype/0: ",
     {"float16, float32", "did you mean 'float16'?"}},
    {"value_number_for_word",
     file_with(R"({"variant": "lab/plain", "axes": {"dtype": [16]}})"),
     "x.json: /experiments/0/axes/dtype/0: ",
     {"float16, float32"}},
    {"value_word_for_real",
     file_with(R"({"variant": "lab/plain", "axes": {"share": ["half"]}})"),
     "x.json: /experiments/0/axes/share/0: ",
     {"accepted: a number"}},
    {"value_no_variant_accepts",
     file_with(R"({"variant": "lab/*", "axes": {"TILE": [8, 3]}})"),
     "x.json: /experiments/0/axes/TILE/1: ",
     {"does not accept TILE=3"}},
    {"combination",
     file_with(R"({"variant": "lab/coarse", "axes": {"TILE": [8, 16], "COARSE": [1, 2]}})"),
     "x.json: /experiments/0: lab/coarse",
     {"COARSE=2", "TILE=16"}},
    // Zip.
    {"zip_lengths",
     file_with(R"({"variant": "lab/plain", "zip": {"n": [1, 2, 3], "m": [1, 2]}})"),
     "x.json: /experiments/0/zip/m: 2 values, but n has 3",
     {"equally long"}},
    {"zip_empty", file_with(R"({"variant": "lab/plain", "zip": {"n": []}})"), "x.json: /experiments/0/zip/n: ", {}},
    {"zip_and_axes",
     file_with(R"({"variant": "lab/plain", "axes": {"n": [1]}, "zip": {"n": [1], "m": [1]}})"),
     "x.json: /experiments/0/zip/n: n is an axis already, at /experiments/0/axes/n",
     {}},
    {"axes_and_zip",
     file_with(R"({"variant": "lab/plain", "zip": {"n": [1], "m": [1]}, "axes": {"n": [1]}})"),
     "x.json: /experiments/0/axes/n: n is an axis already, at /experiments/0/zip/n",
     {}},
    // Exclusions.
    {"exclude_type", file_with(R"({"variant": "lab/plain", "exclude": {}})"), "x.json: /experiments/0/exclude: ", {}},
    {"exclude_empty",
     file_with(R"({"variant": "lab/plain", "exclude": [{}]})"),
     "x.json: /experiments/0/exclude/0: expected",
     {}},
    {"exclude_unknown",
     file_with(R"({"variant": "lab/plain", "axes": {"n": [1, 2]}, "exclude": [{"n": 1}, {"N2": 1}]})"),
     "x.json: /experiments/0/exclude/1/N2: ",
     {"'N2'", "accepted:"}},
    {"exclude_nothing",
     file_with(R"({"variant": "lab/plain", "axes": {"n": [1, 2]}, "exclude": [{"n": 1}, {"n": 3}]})"),
     "x.json: /experiments/0/exclude/1: excludes nothing",
     {}},
    {"exclude_all",
     file_with(R"({"variant": "lab/plain", "axes": {"n": [1, 2]}, "exclude": [{"n": [1, 2]}]})"),
     "x.json: /experiments/0: no point is left",
     {}},
};

INSTANTIATE_TEST_SUITE_P(Table, BadFiles, testing::ValuesIn(bad_files),
                         [](const auto& file) { return file.param.name; });

TEST(Loader, ReadsEveryKey) {
  const Experiment experiment = parse_experiment(R"({
    "$schema": "schema/experiment.schema.json", "name": "all.of-it_1", "description": "d", "device": "h100",
    "backend": "simt", "seed": 18446744073709551615, "output": "there", "counters": ["sm__cycles_active.avg"],
    "measure": {"cold_l2": false, "max_noise": 0.25, "max_time_s": 3, "min_samples": 7},
    "experiments": [{"variant": "lab/plain"}]})",
                                                 "x.json");
  EXPECT_EQ(experiment.name, "all.of-it_1");
  EXPECT_EQ(experiment.description, "d");
  EXPECT_EQ(experiment.device, "h100");
  EXPECT_EQ(experiment.backend, "simt");
  EXPECT_EQ(experiment.seed, UINT64_MAX);
  EXPECT_EQ(experiment.output, "there");
  EXPECT_THAT(experiment.counters, ElementsAre("sm__cycles_active.avg"));
  EXPECT_EQ(experiment.measure.cold_l2, false);
  EXPECT_EQ(experiment.measure.max_noise, 0.25);
  EXPECT_EQ(experiment.measure.max_time_s, 3.0);
  EXPECT_EQ(experiment.measure.min_samples, 7);
  EXPECT_EQ(make_plan(experiment).points.at(0).seed, UINT64_MAX);
}

TEST(Loader, AcceptsByteOrderMarkAndCrlf) {
  const std::string text =
      "\xEF\xBB\xBF{\r\n\"name\": \"x\",\r\n\"experiments\": [{\"variant\": \"lab/plain\"}]\r\n}\r\n";
  const Experiment experiment = parse_experiment(text, "x.json");
  EXPECT_EQ(experiment.name, "x");
  EXPECT_EQ(experiment.text, text.substr(3));
  // Columns count from after the mark.
  EXPECT_THAT(load_error("\xEF\xBB\xBF{]"), StartsWith("x.json:1:2: "));
}

TEST(Loader, RefusesDeepNestingAndLargeFiles) {
  EXPECT_THAT(load_error(std::string(1'000'000, '[')), HasSubstr("nested deeper than 32 levels"));
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  EXPECT_THAT(load_error(objects), HasSubstr("nested deeper than 32 levels"));
  EXPECT_THAT(load_error(std::string(max_json_bytes + 1, ' ')), HasSubstr("at most 4194304 bytes"));
}

class Files : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "gpuexp_loader_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::filesystem::path write(const std::string& name, const std::string& text) {
    std::ofstream(directory_ / name, std::ios::binary) << text;
    return directory_ / name;
  }

  std::filesystem::path directory_;
};

TEST_F(Files, APathIsReadAndNamedInErrors) {
  const auto path = write("mine.json", R"({"name": "mine", "experiments": [{"variant": "lab/plain"}]})");
  EXPECT_EQ(load_experiment(path.string()).name, "mine");
  EXPECT_EQ(load_experiment(path.string()).source, path.string());
  const auto bad = write("bad.json", "{\n]");
  EXPECT_THAT(usage_error([&] { load_experiment(bad.string()); }), StartsWith(bad.string() + ":2:1: "));
}

TEST_F(Files, WhatCannotBeReadIsRefused) {
  EXPECT_THAT(usage_error([&] { load_experiment((directory_ / "none.json").string()); }),
              HasSubstr("No such file or directory"));
  EXPECT_THAT(usage_error([&] { load_experiment(directory_.string()); }), HasSubstr("is a directory"));
  EXPECT_THAT(usage_error([&] { load_experiment((write("large.json", std::string(5 << 20, ' '))).string()); }),
              HasSubstr("more than the 4 MiB that are read"));
}

TEST(Shipped, UnknownNamesListWhatIsShipped) {
  const std::string message = usage_error([] { load_experiment("tile_sweeep"); });
  EXPECT_THAT(message, HasSubstr("'tile_sweeep' is neither a file nor a shipped experiment"));
  EXPECT_THAT(message, HasSubstr("did you mean 'tile_sweep'?"));
  EXPECT_THAT(usage_error([] { load_experiment("tile_sweep.json"); }),
              HasSubstr("'tile_sweep' without .json is shipped"));
}

TEST(Shipped, EveryExperimentLoadsAndPlans) {
  ASSERT_FALSE(embedded_experiments().empty());
  for (const EmbeddedFile& file : embedded_experiments()) {
    SCOPED_TRACE(std::string(file.name));
    const Plan plan = make_plan(load_experiment(file.name));
    EXPECT_EQ(plan.name, file.name);
    EXPECT_FALSE(plan.points.empty());
    EXPECT_FALSE(plan.experiment.description.empty());
    // So that it runs on a machine without a GPU, unless it is about one.
    const bool needs_gpu = plan.experiment.backend == "cuda";
    EXPECT_TRUE(needs_gpu || plan.experiment.device != "auto");
    EXPECT_THAT(std::string(file.text), HasSubstr("\"$schema\""));
  }
}

// ---- the published schema ----

nlohmann::json schema() {
  std::ifstream file(std::string(GPUEXP_SOURCE_DIR) + "/configs/schema/experiment.schema.json");
  return nlohmann::json::parse(file);
}

TEST(Schema, HasTheKeysOfTheLoader) {
  const nlohmann::json root = schema();
  const std::map<std::string, nlohmann::json> objects = {
      {"experiment", root}, {"sweep", root["$defs"]["sweep"]}, {"measure", root["$defs"]["measure"]}};
  std::map<std::string, std::set<std::string>> of_schema, of_loader;
  for (const auto& [name, object] : objects) {
    EXPECT_EQ(object["additionalProperties"], false) << name;
    for (const auto& [key, value] : object["properties"].items()) of_schema[name].insert(key);
  }
  for (const ExperimentKey& key : experiment_keys()) of_loader[std::string(key.object)].insert(std::string(key.key));
  EXPECT_EQ(of_schema, of_loader);
}

// Files that only the registry, the counter table or a second look can refuse: the schema accepts these.
bool is_about_form(const BadFile& file) {
  static const std::set<std::string> beyond_schema = {"duplicate",
                                                      "duplicate_deep",
                                                      "variant_unknown",
                                                      "variant_unknown_item",
                                                      "glob_nothing",
                                                      "glob_broken",
                                                      "counter",
                                                      "axis_unknown",
                                                      "axis_unknown_under_glob",
                                                      "axis_not_taken_by_one",
                                                      "value_compiled",
                                                      "value_real_for_integer",
                                                      "value_range",
                                                      "value_negative",
                                                      "value_quoted_number",
                                                      "value_word_for_integer",
                                                      "value_word",
                                                      "value_number_for_word",
                                                      "value_word_for_real",
                                                      "value_no_variant_accepts",
                                                      "combination",
                                                      "zip_lengths",
                                                      "zip_and_axes",
                                                      "axes_and_zip",
                                                      "exclude_unknown",
                                                      "exclude_nothing",
                                                      "exclude_all",
                                                      "axis_huge_integer",
                                                      "seed_real"};
  const std::string place = file.start.substr(6);  // after "x.json"
  return place.starts_with(": ") && !beyond_schema.contains(file.name);
}

class SchemaByPython : public Files {
 protected:
  // One verdict ("ok" or "bad") per file, in order.
  std::vector<std::string> verdicts(const std::vector<std::filesystem::path>& files) {
    const auto script = write("check.py",
                              "import json, sys, jsonschema\n"
                              "schema = json.load(open(sys.argv[1]))\n"
                              "jsonschema.Draft202012Validator.check_schema(schema)\n"
                              "validator = jsonschema.Draft202012Validator(schema)\n"
                              "for name in open(sys.argv[2]).read().split('\\n'):\n"
                              "    if name: print('ok' if validator.is_valid(json.load(open(name))) else 'bad')\n");
    std::string names;
    for (const auto& file : files) names += file.string() + "\n";
    const auto list = write("list.txt", names);
    const std::string command =
        fmt::format("python3 '{}' '{}/configs/schema/experiment.schema.json' '{}' > '{}'", script.string(),
                    GPUEXP_SOURCE_DIR, list.string(), (directory_ / "out.txt").string());
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    std::vector<std::string> lines;
    std::ifstream out(directory_ / "out.txt");
    for (std::string line; std::getline(out, line);) lines.push_back(line);
    return lines;
  }
};

TEST_F(SchemaByPython, AgreesWithTheLoader) {
  if (std::system("python3 -c 'import jsonschema; jsonschema.Draft202012Validator' 2>/dev/null") != 0) {
    GTEST_SKIP() << "python3 has no jsonschema with draft 2020-12 (package python3-jsonschema)";
  }
  std::vector<std::filesystem::path> files;
  std::vector<std::string> expected, names;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(GPUEXP_SOURCE_DIR) + "/configs")) {
    if (entry.path().extension() != ".json") continue;
    files.push_back(entry.path());
    names.push_back(entry.path().string());
    expected.emplace_back("ok");
  }
  EXPECT_FALSE(files.empty());
  for (const BadFile& bad : bad_files) {
    if (!is_about_form(bad)) continue;
    files.push_back(write(std::string(bad.name) + ".json", bad.text));
    names.emplace_back(bad.name);
    expected.emplace_back("bad");
  }
  EXPECT_GT(files.size(), 30U);
  const std::vector<std::string> verdict = verdicts(files);
  ASSERT_EQ(verdict.size(), expected.size());
  for (std::size_t i = 0; i < verdict.size(); ++i) EXPECT_EQ(verdict[i], expected[i]) << names[i];
}

}  // namespace
}  // namespace gpuexp
