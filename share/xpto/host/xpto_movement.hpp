#pragma once
/// Movements whose meaning on the chip the CPU simulator does not have: into other cores' memories, split over both vector cores, whole
/// tiles into L0, atomic stores. Element by element; the engine's counterparts are engine/execute/move.cpp and fixpipe.cpp.

namespace xpto_host {

template <class Want, auto... O> constexpr Want option(Want otherwise) {
    Want found = otherwise;
    auto look = [&](auto value) {
        if constexpr (std::is_same_v<decltype(value), Want>) found = value;
    };
    (look(O), ...);
    return found;
}

template <class T> constexpr bool is_zn = T::isRowMajor && T::SFractal == pto::SLayout::ColMajor;
template <class T> constexpr bool is_nz = !T::isRowMajor && T::SFractal == pto::SLayout::RowMajor;
template <class T> constexpr bool in_acc = T::Loc == pto::TileType::Acc;
template <class T> constexpr bool in_vec = T::Loc == pto::TileType::Vec;
template <class T> constexpr bool in_mat = T::Loc == pto::TileType::Mat;
template <class T> constexpr bool in_l0 = T::Loc == pto::TileType::Left || T::Loc == pto::TileType::Right;

template <class T> size_t at(size_t row, size_t col) { return pto::GetTileElementOffset<T>(row, col); }

/// The tile's elements in the memory of another core of the block.
template <class T> typename T::DType* on(T& tile, XptoCore* other, char* XptoCore::*memory) {
    if (!other) throw std::logic_error("the block has no such core to receive the tile");
    return reinterpret_cast<typename T::DType*>(other->*memory + (reinterpret_cast<char*>(tile.data()) - core->*memory));
}

/// The way out of an accumulator: scale, relu, conversion to the destination's type.
template <class D, class S> D converted(S value, bool relu, const float* scale) {
    if (!relu && !scale) return static_cast<D>(value);
    float x = static_cast<float>(value);
    if (relu && !(x > 0)) x = x != x ? x : 0.0f;
    if (scale) x *= *scale;
    if constexpr (std::is_integral_v<D>) {
        constexpr float low = float(std::numeric_limits<D>::min()), high = float(std::numeric_limits<D>::max());
        x = __builtin_rintf(x);
        return x != x ? D(0) : x <= low ? std::numeric_limits<D>::min() : x >= high ? std::numeric_limits<D>::max() : D(x);
    } else {
        return static_cast<D>(x);
    }
}

template <class D, class S>
void copy(typename D::DType* to, size_t dr, size_t dc, S& from, size_t sr, size_t sc, size_t rows, size_t cols, bool relu = false, const float* scale = nullptr) {
    auto* elements = from.data();
    for (size_t r = 0; r < rows; ++r)
        for (size_t c = 0; c < cols; ++c)
            to[at<D>(dr + r, dc + c)] = converted<typename D::DType>(elements[at<S>(sr + r, sc + c)], relu, scale);
}

template <class D, class S> void copy_transposed(typename D::DType* to, size_t dr, size_t dc, S& from, size_t rows, size_t cols) {
    auto* elements = from.data();
    for (size_t r = 0; r < rows; ++r)
        for (size_t c = 0; c < cols; ++c) to[at<D>(dr + r, dc + c)] = static_cast<typename D::DType>(elements[at<S>(c, r)]);
}

template <pto::AccToVecMode mode, class D, class S> void acc_to_vec(D& d, S& s, size_t row, size_t col, size_t m, size_t n, bool relu, const float* scale) {
    XptoCore *first = core->peers[1], *second = core->peers[2];
    if constexpr (mode == pto::AccToVecMode::SingleModeVec0) {
        copy<D>(on(d, first, &XptoCore::ub), 0, 0, s, row, col, m, n, relu, scale);
    } else if constexpr (mode == pto::AccToVecMode::SingleModeVec1) {
        copy<D>(on(d, second, &XptoCore::ub), 0, 0, s, row, col, m, n, relu, scale);
    } else if constexpr (mode == pto::AccToVecMode::DualModeSplitM) {
        size_t half = (m + 1) / 2;
        copy<D>(on(d, first, &XptoCore::ub), 0, 0, s, row, col, half, n, relu, scale);
        copy<D>(on(d, second, &XptoCore::ub), 0, 0, s, row + half, col, m - half, n, relu, scale);
    } else {
        size_t half = n <= 16 ? n : (n + 31) / 32 * 32 / 2;
        copy<D>(on(d, first, &XptoCore::ub), 0, 0, s, row, col, m, half < n ? half : n, relu, scale);
        if (n > half) copy<D>(on(d, second, &XptoCore::ub), 0, 0, s, row, col + half, m, n - half, relu, scale);
    }
}

/// Where a vector core's tile for L1 really goes: the block's cube core, when there is one.
template <class D> typename D::DType* receiving(D& d) {
    if constexpr (in_mat<D>)
        if (!core->is_cube && core->peers[0]) return on(d, core->peers[0], &XptoCore::l1);
    return d.data();
}

template <class D, class S> void insert(D& d, S& s, int64_t row, int64_t col) {
    auto* to = receiving(d);
    size_t rows = size_t(s.GetValidRow()), cols = size_t(s.GetValidCol());
    if constexpr (is_nz<S> && is_zn<D>) copy_transposed<D>(to, size_t(col), size_t(row), s, cols, rows);
    else copy<D>(to, size_t(row), size_t(col), s, 0, 0, rows, cols);
}
template <class D, class S> void insert(D& d, S& s) { insert(d, s, 0, 0); }

template <class D, class S, auto... O> void move_as(D& d, S& s, bool has_offset, size_t row, size_t col, const float* scale) {
    constexpr bool relu = option<pto::ReluPreMode, O...>(pto::ReluPreMode::NoRelu) == pto::ReluPreMode::NormalRelu;
    if constexpr (in_acc<S> && in_vec<D>) {
        size_t m = size_t(has_offset ? d.GetValidRow() : s.GetValidRow()), n = size_t(has_offset ? d.GetValidCol() : s.GetValidCol());
        acc_to_vec<option<pto::AccToVecMode, O...>(pto::AccToVecMode::SingleModeVec0)>(d, s, row, col, m, n, relu, scale);
    } else if constexpr (in_vec<S> && in_mat<D>) {
        insert(d, s);
    } else {
        constexpr bool flipped = S::Rows == D::Cols && S::Cols == D::Rows && S::Rows != D::Rows;
        size_t rows = size_t(d.GetValidRow()), cols = size_t(d.GetValidCol());
        if (in_l0<D> && !has_offset) rows = D::Rows, cols = D::Cols; // the whole tile travels
        if constexpr (flipped) {
            if (!has_offset) return copy_transposed<D>(d.data(), 0, 0, s, rows, cols);
        }
        copy<D>(d.data(), 0, 0, s, row, col, rows, cols, relu, scale);
    }
}

inline float scale_of(uint64_t word) {
    float scale;
    uint32_t bits = uint32_t(word) & ~0x1FFFu; // the fixpipe keeps 19 bits of a factor
    std::memcpy(&scale, &bits, 4);
    return scale;
}

template <class D, class S, auto... O> void move(D& d, S& s) { move_as<D, S, O...>(d, s, false, 0, 0, nullptr); }
template <class D, class S, auto... O> void move(D& d, S& s, uint64_t quant) {
    float scale = scale_of(quant);
    move_as<D, S, O...>(d, s, false, 0, 0, &scale);
}
/// With a factor a column, out of a tile of 64-bit words.
template <class D, class S, class F, auto... O> void move(D& d, S& s, F& factors) {
    constexpr bool relu = option<pto::ReluPreMode, O...>(pto::ReluPreMode::NoRelu) == pto::ReluPreMode::NormalRelu;
    typename D::DType* to = d.data();
    if constexpr (in_vec<D>) to = on(d, core->peers[option<pto::AccToVecMode, O...>(pto::AccToVecMode::SingleModeVec0) == pto::AccToVecMode::SingleModeVec1 ? 2 : 1], &XptoCore::ub);
    for (size_t c = 0; c < size_t(s.GetValidCol()); ++c) {
        const float scale = scale_of(uint64_t(factors.data()[at<F>(0, c)]));
        for (size_t r = 0; r < size_t(s.GetValidRow()); ++r) to[at<D>(r, c)] = converted<typename D::DType>(s.data()[at<S>(r, c)], relu, &scale);
    }
}
template <class D, class S, auto... O> void extract(D& d, S& s, int64_t row, int64_t col) {
    move_as<D, S, O...>(d, s, true, size_t(row), size_t(col), nullptr);
}
template <class D, class S, auto... O> void extract(D& d, S& s, uint64_t quant, int64_t row, int64_t col) {
    float scale = scale_of(quant);
    move_as<D, S, O...>(d, s, true, size_t(row), size_t(col), &scale);
}

/// *at += value without an order between cores, as the memory controller adds.
template <class T> void add_to(T* at, T value) {
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, std::conditional_t<sizeof(T) == 2, uint16_t, uint8_t>>;
    auto* word = reinterpret_cast<Bits*>(at);
    Bits now = __atomic_load_n(word, __ATOMIC_RELAXED), next;
    do {
        T sum;
        std::memcpy(&sum, &now, sizeof sum);
        sum = T(sum + value);
        std::memcpy(&next, &sum, sizeof sum);
    } while (!__atomic_compare_exchange_n(word, &now, next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

template <class G, class S> void store_window(G& g, S& s, bool relu, const float* scale) {
    using T = typename G::DType;
    const std::vector<int64_t> shapes = {g.GetShape(0), g.GetShape(1), g.GetShape(2), g.GetShape(3), g.GetShape(4)};
    const std::vector<int64_t> strides = {g.GetStride(0), g.GetStride(1), g.GetStride(2), g.GetStride(3), g.GetStride(4)};
    auto* elements = s.data();
    for (size_t r = 0; r < size_t(s.GetValidRow()); ++r)
        for (size_t c = 0; c < size_t(s.GetValidCol()); ++c) {
            T value = converted<T>(elements[at<S>(r, c)], relu, scale);
            T* to = g.data() + pto::MapTileIndicesToGlobalOffset<G>(r, c, shapes, strides);
            if (atomic_add) add_to(to, value);
            else *to = value;
        }
}

template <class S, class G, auto... O> constexpr bool wants_relu() { return option<pto::ReluPreMode, O...>(pto::ReluPreMode::NoRelu) == pto::ReluPreMode::NormalRelu; }

template <class G, class S> void store(G& g, S& s) { store_window(g, s, false, nullptr); }
template <class G, class S> void store(G& g, S& s, uint64_t quant) {
    float scale = scale_of(quant);
    store_window(g, s, false, &scale);
}
// explicit forms: [phase,] tile, tensor [, atomic, relu]
template <class S, class G, pto::AtomicType A, pto::ReluPreMode R, class... Q> void store(G& g, S& s, Q... quant) {
    if constexpr (sizeof...(Q) == 0) {
        store_window(g, s, R == pto::ReluPreMode::NormalRelu, nullptr);
    } else {
        float scale = scale_of(uint64_t((quant, ...)));
        store_window(g, s, R == pto::ReluPreMode::NormalRelu, &scale);
    }
}
template <pto::STPhase P, class S, class G, class... Q> void store(G& g, S& s, Q... quant) { store<S, G, pto::AtomicType::AtomicNone, pto::ReluPreMode::NoRelu>(g, s, quant...); }
template <pto::STPhase P, class S, class G, pto::AtomicType A, pto::ReluPreMode R, class... Q> void store(G& g, S& s, Q... quant) { store<S, G, A, R>(g, s, quant...); }

} // namespace xpto_host
