// The cube's inner kernel against the machine: GFLOP/s of products as matmul() runs them, next to a loop that only
// issues fused multiply-adds. Prints ratios; nothing here is a test.
#include "engine/execute/numerics/cast.hpp"
#include "engine/execute/numerics/lanes.hpp"
#include "engine/execute/numerics/matmul.hpp"
#include "engine/execute/numerics/reduce.hpp"
#include "engine/execute/numerics/tile_copy.hpp"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

using namespace pto;
using numerics::TileMap;

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

template <class F>
double best_rate(double flops, F&& f) {
    double best = 0;
    for (int round = 0; round < 5; ++round) {
        int calls = 0;
        const double start = seconds();
        double now = start;
        do {
            f();
            ++calls;
            now = seconds();
        } while (now - start < 0.05);
        best = std::max(best, flops * calls / (now - start));
    }
    return best * 1e-9;
}

isa::TileType tile(int rows, int cols, isa::DType t, isa::MemorySpace memory, isa::Layout layout) {
    isa::TileType out;
    out.shape = {rows, cols}, out.dtype = t, out.memory = memory, out.layout = layout;
    out.fractal = memory == isa::MemorySpace::acc ? 1024 : 512;
    return out;
}

double product_rate(int m, int n, int k, isa::DType t, bool kernel_only) {
    const auto left = tile(m, k, t, isa::MemorySpace::left, isa::Layout::nz),
               right = tile(k, n, t, isa::MemorySpace::right, isa::Layout::zn),
               acc = tile(m, n, isa::DType::fp32, isa::MemorySpace::acc, isa::Layout::nz);
    std::vector<std::byte> a(std::size_t(left.byte_size())), b(std::size_t(right.byte_size())),
        c(std::size_t(acc.byte_size()));
    numerics::MatmulScratch scratch;
    const double flops = 2.0 * m * n * k;
    if (!kernel_only)
        return best_rate(flops, [&] {
            numerics::matmul(scratch, c.data(), numerics::tile_map(acc), {a.data(), t, numerics::tile_map(left)},
                             {b.data(), t, numerics::tile_map(right)}, m, n, k);
        });
    const std::int64_t width = numerics::product_panel_width(), panels = (n + width - 1) / width;
    std::vector<float> x(std::size_t(m * k)), y(std::size_t(panels * width * k)), z(std::size_t(m * panels * width));
    return best_rate(flops, [&] {
        numerics::product_fp32(x.data(), k, y.data(), k * width, m, panels, k, z.data(), panels * width);
    });
}

} // namespace

int main() {
    // The machine's peak as this library can reach it: one block of rows and one panel that never leave the first-level
    // cache.
    const double peak = product_rate(12, int(numerics::product_panel_width()), 128, isa::DType::fp32, true);
    std::printf("panel width %lld, issue-bound block 12 x width x 128: %.1f GFLOP/s\n",
                (long long)numerics::product_panel_width(), peak);
    std::printf("%16s %6s %12s %8s %12s %8s\n", "m x n x k", "type", "kernel", "of peak", "matmul", "of peak");
    for (const auto& [m, n, k] : {std::array{64, 64, 64},
                                  {64, 64, 128},
                                  {128, 128, 64},
                                  {128, 128, 128},
                                  {128, 128, 512},
                                  {128, 256, 64},
                                  {33, 65, 100}})
        for (isa::DType t : {isa::DType::fp32, isa::DType::fp16}) {
            char shape[32];
            std::snprintf(shape, sizeof shape, "%dx%dx%d", m, n, k);
            const double kernel = product_rate(m, n, k, t, true),
                         whole = product_rate((m + 15) / 16 * 16, (n + 15) / 16 * 16, (k + 15) / 16 * 16, t, false);
            std::printf("%16s %6s %12.1f %7.0f%% %12.1f %7.0f%%\n", shape, std::string(isa::name(t)).c_str(), kernel,
                        100 * kernel / peak, whole, 100 * whole / peak);
        }

    // Lanes: elements per nanosecond on 64 x 64 tiles, as an executor calls them.
    constexpr std::size_t n = 64 * 64;
    std::vector<float> x(n, 1.25f), y(n, -0.5f), z(n);
    std::printf("%24s %12s\n", "4096 lanes", "lanes/ns");
    auto show = [](const char* name, double rate) { std::printf("%24s %12.2f\n", name, rate); };
    for (isa::DType t : {isa::DType::fp32, isa::DType::fp16}) {
        for (auto [fn, name] :
             {std::pair{isa::LaneFn::add, "add"}, {isa::LaneFn::max, "max"}, {isa::LaneFn::div, "div"}}) {
            const auto kernel = numerics::binary_kernel(fn, t);
            show((std::string(name) + " " + std::string(isa::name(t))).c_str(),
                 best_rate(double(n), [&] { kernel(z.data(), x.data(), y.data(), n); }));
        }
        for (auto [fn, name] :
             {std::pair{isa::LaneFn::exp, "exp"}, {isa::LaneFn::log, "log"}, {isa::LaneFn::relu, "relu"}}) {
            const auto kernel = numerics::unary_kernel(fn, t);
            show((std::string(name) + " " + std::string(isa::name(t))).c_str(),
                 best_rate(double(n), [&] { kernel(z.data(), x.data(), n); }));
        }
        show(("row sum " + std::string(isa::name(t))).c_str(), best_rate(double(n), [&] {
                 for (int r = 0; r < 64; ++r)
                     numerics::reduce_row(isa::LaneFn::sum, t, x.data() + r * 32, 64, z.data() + r);
             }));
        show(("row max " + std::string(isa::name(t))).c_str(), best_rate(double(n), [&] {
                 for (int r = 0; r < 64; ++r)
                     numerics::reduce_row(isa::LaneFn::max, t, x.data() + r * 32, 64, z.data() + r);
             }));
    }
    for (auto [from, to] : {std::pair{isa::DType::fp32, isa::DType::fp16},
                            {isa::DType::fp16, isa::DType::fp32},
                            {isa::DType::fp32, isa::DType::int32},
                            {isa::DType::fp32, isa::DType::fp8e4m3}}) {
        const auto rule = numerics::tile_cast_rule(from, to, isa::RoundMode::round);
        show((std::string(isa::name(from)) + " to " + std::string(isa::name(to))).c_str(),
             best_rate(double(n), [&] { numerics::cast_lanes(from, x.data(), to, z.data(), n, rule); }));
    }
    const auto nd = numerics::window_map(64, 1, 32),
               nz = numerics::tile_map(tile(64, 64, isa::DType::fp32, isa::MemorySpace::mat, isa::Layout::nz)),
               zn = numerics::tile_map(tile(64, 64, isa::DType::fp32, isa::MemorySpace::mat, isa::Layout::zn));
    auto* to = reinterpret_cast<std::byte*>(z.data());
    const auto* from = reinterpret_cast<const std::byte*>(x.data());
    show("copy ND to NZ fp32", best_rate(double(n), [&] { numerics::copy_window(to, {nz}, from, {nd}, 64, 64); }));
    show("copy NZ to ND fp32", best_rate(double(n), [&] { numerics::copy_window(to, {nd}, from, {nz}, 64, 64); }));
    show("copy ND to ZN fp32", best_rate(double(n), [&] { numerics::copy_window(to, {zn}, from, {nd}, 64, 64); }));
}
