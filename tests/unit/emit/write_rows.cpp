/// Writes every row kernel's files below a folder, one folder a kernel, and prints one line a kernel: name, side, row, complete or not.
#include "row_kernels.hpp"

#include "engine/emit/emit.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>

int main(int argc, char** argv) {
    if (argc != 2) return std::fprintf(stderr, "usage: write_rows FOLDER\n"), 2;
    for (const auto& k : pto::testing::row_kernels()) {
        const pto::emit::Emitted e = pto::emit::emit(k.program, pto::testing::ascend950());
        const std::filesystem::path folder = std::filesystem::path(argv[1]) / k.name;
        std::filesystem::create_directories(folder);
        for (const auto& f : e.files) std::ofstream(folder / f.name) << f.text;
        std::printf("%s %s %s %s\n", k.name.c_str(), k.program.kernel->cube ? "cube" : "vector", k.row.c_str(), e.complete ? "complete" : "incomplete");
    }
}
