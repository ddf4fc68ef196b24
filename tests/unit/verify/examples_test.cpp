/// The examples people start from, from text to verdict.

#include "engine/resolve/resolve.hpp"
#include "engine/verify/verify.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/pipeline_run.hpp"
#include "tests/support/python_environment.hpp"

#include <fstream>
#include <sstream>

using namespace pto;

namespace {

std::string read(const std::string& path) {
    std::ifstream in(path);
    REQUIRE(in.good());
    std::stringstream s;
    s << in.rdbuf();
    return s.str();
}

machine::Chip chip() {
    machine::Chip c;
    c.arch = "a5";
    return c;
}

verify::Verdict judge(const std::string& text) {
    SourceMap sources;
    test::PythonEnvironment names(sources, "example.py", text);
    const auto resolved = resolve::resolve(names.kernel(), names, sources);
    for (const Diagnostic& d : resolved.diagnostics) INFO(d.message);
    REQUIRE(resolved);
    return verify::verify(program::assemble(resolved->kernel, chip()), chip());
}

} // namespace

TEST_CASE("plain examples are proven") {
    for (const char* name : {"vector_add", "matmul"}) {
        const auto v = judge(read(std::string("share/xpto/examples/") + name + ".py"));
        INFO(name << "\n" << verify::print(v));
        CHECK(v.status == verify::Status::proven);
        CHECK(v.hazards.empty());
    }
}

TEST_CASE("the pipelined example's generated text is proven at each depth") {
    for (std::int64_t preload : {0, 1, 2}) {
        test::RunOptions options;
        options.preload = std::vector<std::int64_t>{preload};
        const auto run = test::run_pipeline(read("share/xpto/examples/relu_matmul.py"), options);
        INFO(test::print_diagnostics(*run));
        REQUIRE(run->generated);
        const auto v = judge(run->generated->text);
        INFO("preload " << preload << "\n" << verify::print(v));
        CHECK(v.status == verify::Status::proven);
        CHECK(v.hazards.empty());
        CHECK(v.ids.size() == 12);
    }
}
