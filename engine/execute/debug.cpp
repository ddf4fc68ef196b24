/// Printing inside a kernel. Source: language 6.
#include "engine/execute/families.hpp"
#include "engine/execute/movement.hpp"

#include "engine/base/source_map.hpp"
#include "engine/execute/numerics/float_formats.hpp"

#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace pto::execute {
namespace {

std::string_view literal(const Call& c, int operand) {
    if (c.site.op && operand < int(c.site.op->operands.size()))
        if (auto* s = std::get_if<std::string>(&c.site.op->operands[std::size_t(operand)])) return *s;
    return {};
}

std::string one(const std::string& spec, char conversion, const Scalar& s) {
    char buffer[512];
    int n = 0;
    std::string flags = spec.substr(0, spec.size() - 1);
    const bool real = isa::is_float(s.dtype);
    switch (conversion) {
    case 'd':
    case 'i':
        flags += PRId64;
        n = std::snprintf(buffer, sizeof buffer, flags.c_str(), real ? std::int64_t(s.real) : s.integer);
        break;
    case 'u':
        flags += PRIu64;
        n = std::snprintf(buffer, sizeof buffer, flags.c_str(), std::uint64_t(s.integer));
        break;
    case 'x':
        flags += PRIx64;
        n = std::snprintf(buffer, sizeof buffer, flags.c_str(), std::uint64_t(s.integer));
        break;
    case 'f':
        flags += 'f';
        n = std::snprintf(buffer, sizeof buffer, flags.c_str(), real ? s.real : double(s.integer));
        break;
    case 'p':
        flags += 's';
        {
            char address[32];
            std::snprintf(address, sizeof address, "0x%" PRIx64, std::uint64_t(s.integer));
            n = std::snprintf(buffer, sizeof buffer, flags.c_str(), address);
            break;
        }
    default: return spec;
    }
    return std::string(buffer, std::size_t(std::min<int>(std::max(n, 0), int(sizeof buffer) - 1)));
}

/// %[flags][width][.precision]conversion, one argument each.
std::string formatted(const Call& c, std::string_view format, int first_argument) {
    std::string out;
    int argument = first_argument;
    for (std::size_t i = 0; i < format.size();) {
        if (format[i] != '%') {
            out += format[i++];
            continue;
        }
        std::size_t end = i + 1;
        while (end < format.size() && std::string_view("-+ #0123456789.").find(format[end]) != std::string_view::npos)
            ++end;
        if (end >= format.size()) break;
        const std::string spec(format.substr(i, end - i + 1));
        if (c.has(argument)) out += one(spec, format[end], c.operand(argument).scalar);
        ++argument;
        i = end + 1;
    }
    return out;
}

std::string place_prefix(const Call& c) {
    if (!c.number(Key::loc, 0) || !c.source) return {};
    std::string place = c.source->place(c.site.at);
    if (std::size_t slash = place.find_last_of('/'); slash != std::string::npos) place = place.substr(slash + 1);
    return "[" + place + "] ";
}

void run_print(Call& c) { *c.print += place_prefix(c) + formatted(c, literal(c, 0), 1); }

void run_assertion(Call& c) {
    if (c.integer(0)) return;
    std::string condition = "?";
    if (c.source && c.operand_span(0).valid()) condition = std::string(c.source->text(c.operand_span(0)));
    *c.print += place_prefix(c) + "Assertion failed: " + condition + "\n";
    if (c.op.operands.size() > 2) *c.print += formatted(c, literal(c, 1), 2);
}

// ---------------------------------------------------------------- dump_data

std::string_view dump_name(DType t) {
    switch (t) {
    case DType::fp32: return "float32";
    case DType::fp16: return "float16";
    case DType::bf16: return "bfloat16";
    default: return isa::name(t);
    }
}
void put_value(std::string& out, DType t, std::uint64_t pattern) {
    char buffer[64];
    if (isa::is_float(t)) {
        const double v = t == DType::fp32 ? double(std::bit_cast<float>(std::uint32_t(pattern)))
                                          : double(num::decode(t, std::uint32_t(pattern)));
        std::snprintf(buffer, sizeof buffer, "%f ", v);
    } else if (isa::is_signed_int(t)) {
        const int shift = 64 - isa::bits(t);
        std::snprintf(buffer, sizeof buffer, "%" PRId64 " ", std::int64_t(pattern << shift) >> shift);
    } else {
        std::snprintf(buffer, sizeof buffer, "%" PRIu64 " ", pattern);
    }
    out += buffer;
}
std::string label(const Call& c, const std::string& rest) {
    std::string_view flag;
    if (const ir::AttributeValue* v = c.constant(Key::flag))
        if (auto* s = std::get_if<std::string>(v)) flag = *s;
    return flag.empty() ? "=== " + rest + " ===\n" : "=== [" + std::string(flag) + "] " + rest + " ===\n";
}

struct Range {
    std::int64_t from[8] = {}, size[8] = {};
};
Range range_of(const Call& c, int rank, const std::int64_t* whole) {
    Range r;
    for (int i = 0; i < rank; ++i) {
        r.from[i] = c.has(1) && i < int(c.operand(1).list.size()) ? c.operand(1).list[std::size_t(i)].integer : 0;
        r.size[i] =
            c.has(2) && i < int(c.operand(2).list.size()) ? c.operand(2).list[std::size_t(i)].integer : whole[i];
    }
    return r;
}

num::TileMap tensor_map(const TensorValue& t) {
    const auto rows = std::size_t(std::max(t.rank - 2, 0)), cols = std::size_t(t.rank - 1);
    if (t.layout == isa::Layout::dn && t.rank >= 2) return num::window_map(1, t.shape[rows], isa::bits(t.dtype));
    if (t.layout == isa::Layout::nz && t.rank >= 2)
        return num::gm_nz_map((t.shape[rows] + 15) / 16 * 16, isa::bits(t.dtype));
    return num::window_map(t.rank >= 2 ? t.stride[rows] : 0, t.stride[cols], isa::bits(t.dtype));
}
/// Calls f(leading indices, address) for every matrix of the window.
template <class F>
void for_each_matrix(const TensorValue& t, const Range& r, F&& f) {
    std::int64_t index[3] = {0, 0, 0};
    const int lead = std::max(t.rank - 2, 0);
    std::int64_t total = 1;
    for (int i = 0; i < lead; ++i) total *= r.size[i];
    for (std::int64_t k = 0; k < total; ++k) {
        std::int64_t rest = k, at = 0, i3[8] = {};
        for (int i = lead - 1; i >= 0; --i) {
            i3[i] = r.from[i] + rest % r.size[i];
            rest /= r.size[i];
            at += i3[i] * t.stride[std::size_t(i)];
        }
        for (int i = 0; i < 3; ++i) index[i] = lead - 3 + i >= 0 ? i3[lead - 3 + i] : 0;
        f(index, t.address + at * isa::bits(t.dtype) / 8);
    }
}

void access_dump(const Call& c, AccessList& list) {
    if (c.is_tile(0)) {
        const TileView v = c.view(0);
        add_tile(list, v, 0, false, v.footprint(0, 0, v.value->type->shape[0], v.value->type->shape[1]));
        return;
    }
    const TensorValue& t = c.tensor(0);
    const Range r = range_of(c, t.rank, t.shape.data());
    const std::int64_t rows = t.rank >= 2 ? r.size[t.rank - 2] : 1, cols = r.size[t.rank - 1];
    for_each_matrix(t, r, [&](const std::int64_t*, std::int64_t address) {
        if (rows > 0 && cols > 0)
            list.add(MemorySpace::ddr, 0, false, 0,
                     num::footprint(tensor_map(t), address, t.rank >= 2 ? r.from[t.rank - 2] : 0, r.from[t.rank - 1],
                                    rows, cols));
    });
}

void run_dump(Call& c) {
    std::string& out = *c.print;
    out += place_prefix(c);
    if (c.is_tile(0)) {
        const TileView v = c.view(0);
        const isa::TileType& type = *v.value->type;
        const std::int64_t whole[2] = {type.shape[0], type.shape[1]};
        const Range r = range_of(c, 2, whole);
        out +=
            label(c, "[dump_tile] dtype: " + std::string(dump_name(v.dtype)) + ", shape=[" + std::to_string(whole[0]) +
                         ", " + std::to_string(whole[1]) + "], valid=[" + std::to_string(v.rows) + ", " +
                         std::to_string(v.cols) + "], Layout: " + std::string(isa::name(type.layout)));
        for (std::int64_t i = r.from[0]; i < r.from[0] + r.size[0]; ++i) {
            for (std::int64_t j = r.from[1]; j < r.from[1] + r.size[1]; ++j) {
                put_value(out, v.dtype, num::read_element(v.data, v.map.bits, v.map.offset(i, j)));
                if (j == v.cols - 1) out += "| ";
            }
            out += "\n";
            if (i == v.rows - 1) out += "--------\n";
        }
        return;
    }
    const TensorValue& t = c.tensor(0);
    const Range r = range_of(c, t.rank, t.shape.data());
    std::string shape;
    for (int i = t.rank; i < 5; ++i) shape += "1, ";
    for (int i = 0; i < t.rank; ++i) shape += std::to_string(r.size[i]) + (i + 1 < t.rank ? ", " : "");
    out += label(c, "[dump_tensor] dtype: " + std::string(dump_name(t.dtype)) +
                        ", Layout: " + std::string(isa::name(t.layout)) + ", shape=[" + shape + "]");
    const num::TileMap map = tensor_map(t);
    const std::int64_t rows = t.rank >= 2 ? r.size[t.rank - 2] : 1, row0 = t.rank >= 2 ? r.from[t.rank - 2] : 0,
                       col0 = r.from[t.rank - 1];
    for_each_matrix(t, r, [&](const std::int64_t* index, std::int64_t address) {
        out += "  Batch [" + std::to_string(index[0]) + ", " + std::to_string(index[1]) + ", " +
               std::to_string(index[2]) + "]:\n";
        for (std::int64_t i = row0; i < row0 + rows; ++i) {
            for (std::int64_t j = col0; j < col0 + r.size[t.rank - 1]; ++j)
                put_value(out, t.dtype, num::read_element(c.gm.at(address), map.bits, map.offset(i, j)));
            out += "\n";
        }
    });
}

} // namespace

const Meaning print_meaning{nullptr, run_print};
const Meaning assertion_meaning{nullptr, run_assertion};
const Meaning dump_meaning{access_dump, run_dump};

} // namespace pto::execute
