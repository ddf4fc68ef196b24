/// What the scalar pipe does to data: single elements, the shared scalar buffer, the legacy vector mask. Source:
/// language 3.1, 3.10.
#include "engine/execute/families.hpp"
#include "engine/execute/rows.hpp"

#include "engine/execute/numerics/float_formats.hpp"

#include <cstring>

namespace pto::execute {
namespace {

/// One element: linear over the declared shape, from the container's address.
struct Element {
    bool gm = false;
    DType dtype = DType::fp32;
    std::int64_t address = 0;
    MemorySpace space = MemorySpace::ddr;
    int core = 0;
};
Element element_of(const Call& c) {
    Element e;
    const std::int64_t at = c.integer(1);
    if (c.is_tensor(0)) {
        e.gm = true;
        e.dtype = c.tensor(0).dtype;
        e.address = c.tensor(0).address + at * isa::bytes(e.dtype);
    } else {
        const TileValue& t = c.tile(0);
        e.dtype = t.type->dtype;
        e.space = t.type->memory;
        e.core = c.home(t);
        e.address = t.address + at * isa::bytes(e.dtype);
    }
    return e;
}
num::Footprint bytes_of(std::int64_t address, std::int64_t n) {
    num::Footprint f;
    f.count = 1;
    f.pieces[0].base = address;
    f.pieces[0].run_bytes = n;
    return f;
}
void access_element(const Call& c, AccessList& list, bool write) {
    const Element e = element_of(c);
    const num::Footprint bytes = bytes_of(e.address, isa::bytes(e.dtype));
    list.add(e.space, e.core, write, 0, bytes);
    warn_beyond_tile(c, 0, bytes, write, c.site.at, true);
}

void run_getval(Call& c) {
    const Element e = element_of(c);
    const int bytes = isa::bytes(e.dtype);
    std::uint64_t word = 0;
    if (e.gm) {
        std::memcpy(&word, c.gm.at(e.address), std::size_t(bytes));
    } else {
        Memory& m = (*c.machine.memory[std::size_t(e.core)])[e.space];
        std::memcpy(&word, m.data.get() + e.address, std::size_t(bytes));
        TileView v = c.view(c.tile(0), e.core);
        c.require_known(v, bytes_of(e.address, bytes), 0, "the scalar read");
    }
    c.result.dtype = e.dtype;
    if (isa::is_float(e.dtype)) {
        c.result.real = e.dtype == DType::fp32 ? double(std::bit_cast<float>(std::uint32_t(word)))
                                               : double(num::decode(e.dtype, std::uint32_t(word)));
    } else {
        const int bits = isa::bits(e.dtype);
        std::int64_t value = std::int64_t(word);
        if (isa::is_signed_int(e.dtype) && bits < 64) value = std::int64_t(word << (64 - bits)) >> (64 - bits);
        c.result.integer = value;
    }
}
void run_setval(Call& c) {
    const Element e = element_of(c);
    const int bytes = isa::bytes(e.dtype);
    const std::uint64_t word = pattern_of(c.operand(2).scalar, e.dtype);
    if (e.gm) {
        std::memcpy(c.gm.at(e.address), &word, std::size_t(bytes));
    } else {
        Memory& m = (*c.machine.memory[std::size_t(e.core)])[e.space];
        std::memcpy(m.data.get() + e.address, &word, std::size_t(bytes));
        std::memset(m.known.get() + e.address, 1, std::size_t(bytes));
    }
}

// The shared buffer of a block: words, ordered by cross-core flags like any other memory. Its accesses carry core -1.
void access_shared(const Call& c, AccessList& list, bool write) {
    const std::int64_t at = c.integer(1), words = std::int64_t(c.operand(0).list.size());
    if (at < 0 || at % 4 || at / 4 + words > std::int64_t(c.machine.shared_words.size()))
        throw Stop{Status::out_of_range,
                   c.site.name + ": bytes " + std::to_string(at) + " to " + std::to_string(at + words * 4) +
                       " of a shared buffer of " + std::to_string(c.machine.shared_words.size() * 4),
                   c.site.at};
    list.add(MemorySpace::ddr, -1, write, 0, bytes_of(at, words * 4));
}
void run_ssbuf_store(Call& c) {
    std::size_t at = std::size_t(c.integer(1) / 4);
    for (const Scalar& word : c.operand(0).list) {
        c.machine.shared_words[at] = std::uint32_t(word.integer);
        c.machine.shared_known[at++] = true;
    }
}
void run_ssbuf_load(Call& c) {
    const std::size_t at = std::size_t(c.integer(1) / 4), n = c.operand(0).list.size();
    for (std::size_t i = 0; i < n; ++i) {
        if (!c.machine.shared_known[at + i] && c.findings)
            c.findings->say(HazardKind::uninitialised, false, Findings::place_of(c.self),
                            "word " + std::to_string(at + i) +
                                " of the shared scalar buffer is read and nobody has written it",
                            "store the struct on the other core first and signal it");
        c.words.push_back(c.machine.shared_words[at + i]);
    }
}

/// set_vec_mask(hi, lo) has operands; the other forms are told apart by what they leave: norm, count or all ones.
void run_vector_mask(Call& c) {
    if (c.op.operands.size() >= 2) {
        c.registers.mask = {std::uint64_t(c.integer(1)), std::uint64_t(c.integer(0))};
        return;
    }
    const std::string_view emit = c.site.row->emit;
    if (emit.find("count") != std::string_view::npos)
        c.registers.count_mode = true;
    else if (emit.find("norm") != std::string_view::npos)
        c.registers.count_mode = false;
    else
        c.registers.mask = {~0ull, ~0ull};
}

} // namespace

const Meaning getval_meaning{[](const Call& c, AccessList& l) { access_element(c, l, false); }, run_getval};
const Meaning setval_meaning{[](const Call& c, AccessList& l) { access_element(c, l, true); }, run_setval};
const Meaning ssbuf_store_meaning{[](const Call& c, AccessList& l) { access_shared(c, l, true); }, run_ssbuf_store};
const Meaning ssbuf_load_meaning{[](const Call& c, AccessList& l) { access_shared(c, l, false); }, run_ssbuf_load};
const Meaning vector_mask_meaning{nullptr, run_vector_mask};

} // namespace pto::execute
