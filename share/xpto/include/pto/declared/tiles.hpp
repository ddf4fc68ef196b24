#pragma once
/// Tiles on chip and views of global memory, with the rules their types must keep. Source: codegen 1.5, 1.6.

#include "types.hpp"

namespace pto {

template <TileType Space, class T, int R, int C, BLayout B, int VR, int VC, SLayout S = SLayout::NoneBox, int Fractal = 512, PadValue Pad = PadValue::Null,
          CompactMode Compact = CompactMode::Null>
struct Tile {
    static constexpr TileType space = Space;
    static constexpr int Rows = R, Cols = C;
    static constexpr BLayout blocks = B;
    static constexpr SLayout boxes = S;
    static constexpr bool dynamic = VR < 0 && VC < 0;
    using DType = T;

    static constexpr int box_rows = Fractal == 32 ? (S == SLayout::RowMajor ? 16 : 2) : Fractal == 1024 ? 16 : S == SLayout::RowMajor ? 16 : 32 / int(sizeof(T));
    static constexpr int box_cols = Fractal == 32 ? (S == SLayout::RowMajor ? 2 : 16) : Fractal == 1024 ? 16 : S == SLayout::RowMajor ? 32 / int(sizeof(T)) : 16;
    static_assert(R > 0 && C > 0 && VR <= R && VC <= C && (VR < 0) == (VC < 0));
    static_assert(Fractal == 512 || Fractal == 1024 || Fractal == 32);
    static_assert(S != SLayout::NoneBox || B != BLayout::RowMajor || C * sizeof(T) % 32 == 0, "rows of a row-major tile are whole blocks of 32 bytes");
    static_assert(S != SLayout::NoneBox || B != BLayout::ColMajor || R * sizeof(T) % 32 == 0, "columns of a column-major tile are whole blocks of 32 bytes");
    static_assert(S == SLayout::NoneBox || C % box_cols == 0, "columns are whole boxes");
    static_assert(S == SLayout::NoneBox || Space == TileType::Vec || Fractal == 32 || R == 1 || R % box_rows == 0, "rows are whole boxes");

    Tile() requires(!dynamic);
    Tile(unsigned rows, unsigned cols) requires(dynamic);
    unsigned GetValidRow() const;
    unsigned GetValidCol() const;
    void SetValidShape(unsigned rows, unsigned cols) requires(dynamic);
    T* data();
    T GetValue(std::uint32_t offset) requires(Space == TileType::Vec);
    void SetValue(std::uint32_t offset, T value) requires(Space == TileType::Vec);
};

template <class> inline constexpr bool is_tile = false;
template <TileType M, class T, int R, int C, BLayout B, int VR, int VC, SLayout S, int F, PadValue P, CompactMode K>
inline constexpr bool is_tile<Tile<M, T, R, C, B, VR, VC, S, F, P, K>> = true;
template <class X> concept AnyTile = is_tile<X>;
template <class X, TileType M> concept TileIn = AnyTile<X> && X::space == M;
template <class X> concept Vec = TileIn<X, TileType::Vec>;
template <class X> concept Mat = TileIn<X, TileType::Mat>;
template <class X> concept Acc = TileIn<X, TileType::Acc>;
template <class X> concept Left = TileIn<X, TileType::Left>;
template <class X> concept Right = TileIn<X, TileType::Right>;
template <class A, class B> concept SameType = std::same_as<typename A::DType, typename B::DType>;
template <class A, class B> concept SameWidth = sizeof(typename A::DType) == sizeof(typename B::DType);

template <int... N> struct Sizes {
    static_assert(sizeof...(N) == 5);
    static constexpr int list[5] = {N...};
    static constexpr int open = ((N < 0) + ...);
    Sizes() = default;
    /// As many as are open, or all five.
    template <std::integral... V> explicit Sizes(V...) requires(sizeof...(V) == 5 || int(sizeof...(V)) == open);
};
template <int... N> struct Shape : Sizes<N...> { using Sizes<N...>::Sizes; };
template <int... N> struct Stride : Sizes<N...> { using Sizes<N...>::Sizes; };

template <class T, class Sh, class St, Layout L = Layout::ND> struct GlobalTensor {
    using DType = T;
    static constexpr Layout layout = L;
    static_assert(L != Layout::NZ || (Sh::list[3] == 16 && Sh::list[4] == 32 / int(sizeof(T))), "an NZ window is a row of fractals");
    static_assert(L == Layout::ND || L == Layout::DN || L == Layout::NZ || Sh::list[4] == 2, "scales come in pairs");
    explicit GlobalTensor(T* data, const Sh& = Sh(), const St& = St());
    template <GlobalTensorDim A, GlobalTensorDim B> void SetShape(std::int64_t, std::int64_t) requires(Sh::list[int(A)] < 0 && Sh::list[int(B)] < 0);
    template <GlobalTensorDim A, GlobalTensorDim B> void SetStride(std::int64_t, std::int64_t) requires(St::list[int(A)] < 0 && St::list[int(B)] < 0);
    std::int64_t GetStride(GlobalTensorDim) const;
    T* data();
};
template <class> inline constexpr bool is_global = false;
template <class T, class Sh, class St, Layout L> inline constexpr bool is_global<GlobalTensor<T, Sh, St, L>> = true;
template <class X> concept Global = is_global<X>;

template <AnyTile X> void TASSIGN(X&, std::integral auto address);
template <Global G> void TASSIGN(G&, typename G::DType* address);

} // namespace pto
