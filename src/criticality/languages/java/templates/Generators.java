/** Random values of every type. */
final class Generators {
    private static final List<Long> NEAR_NUMBERS = List.of({{ numbers }});
    private static final List<String> NEAR_TEXTS = List.of({{ texts }});

    private Generators() {}

    static Arbitrary<Long> number(long low, long high) {
        var far = Arbitraries.longs().between(low, high);
        var small = Math.max(low, -20L) <= Math.min(high, 20L)
                ? Arbitraries.longs().between(Math.max(low, -20L), Math.min(high, 20L))
                : far;
        var near = NEAR_NUMBERS.stream().filter(n -> low <= n && n <= high).toList();
        return near.isEmpty() ? Arbitraries.oneOf(far, small) : Arbitraries.oneOf(far, small, Arbitraries.of(near));
    }

    static Arbitrary<String> text(int shortest, int longest) {
        var few = Arbitraries.strings().withChars("abc01. -").ofMinLength(shortest)
                .ofMaxLength(Math.min(longest, Math.max(shortest, 4)));
        var wide = Arbitraries.strings().ofMinLength(shortest).ofMaxLength(longest);
        var near = NEAR_TEXTS.stream()
                .filter(t -> shortest <= t.length() && t.length() <= longest).toList();
        return near.isEmpty() ? Arbitraries.oneOf(few, wide) : Arbitraries.oneOf(few, wide, Arbitraries.of(near));
    }

    static <T> Optional<T> fitting(Supplier<T> make) {
        try {
            return Optional.of(make.get());
        } catch (IllegalArgumentException refused) {
            return Optional.empty();
        }
    }
