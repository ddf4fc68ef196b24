#include "engine/execute/families.hpp"

namespace pto::execute {

const Meaning& meaning_of(isa::Semantics s) {
    using S = isa::Semantics;
    static const Meaning nothing{};
    switch (s) {
    case S::load: return load_meaning;
    case S::store: return store_meaning;
    case S::move: return move_meaning;
    case S::insert: return insert_meaning;
    case S::ssbuf_store: return ssbuf_store_meaning;
    case S::ssbuf_load: return ssbuf_load_meaning;
    case S::matmul:
    case S::matmul_acc:
    case S::matmul_mx:
    case S::matmul_mx_acc: return matmul_meaning;
    case S::elementwise: return elementwise_meaning;
    case S::axpy_like: return axpy_meaning;
    case S::clobbering: return clobbering_meaning;
    case S::compare: return compare_meaning;
    case S::select: return select_meaning;
    case S::expand: return expand_meaning;
    case S::fill: return fill_meaning;
    case S::fill_index: return fill_index_meaning;
    case S::part: return part_meaning;
    case S::cast: return cast_meaning;
    case S::quant: return quant_meaning;
    case S::dequant: return dequant_meaning;
    case S::fillpad: return fillpad_meaning;
    case S::transpose: return transpose_meaning;
    case S::reduce: return reduce_meaning;
    case S::arg_reduce: return arg_reduce_meaning;
    case S::gather: return gather_meaning;
    case S::gather_compare: return gather_compare_meaning;
    case S::gather_blocks: return gather_blocks_meaning;
    case S::gather_mask: return gather_mask_meaning;
    case S::scatter: return scatter_meaning;
    case S::sort32: return sort32_meaning;
    case S::merge_sort: return merge_sort_meaning;
    case S::merge_sort_lists: return merge_lists_meaning;
    case S::histogram: return histogram_meaning;
    case S::getval: return getval_meaning;
    case S::setval: return setval_meaning;
    case S::vector_mask: return vector_mask_meaning;
    case S::print: return print_meaning;
    case S::assertion: return assertion_meaning;
    case S::dump: return dump_meaning;
    default: return nothing;
    }
}

} // namespace pto::execute
