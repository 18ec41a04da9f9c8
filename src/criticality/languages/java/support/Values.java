package values;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.RecordComponent;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.IntPredicate;
import java.util.function.Predicate;

/** Operations on values that the language has no expression for. */
final class Values {
    private Values() {}

    /** By value, all the way down; decimals are equal whatever their scale. */
    static boolean same(Object a, Object b) {
        if (a instanceof BigDecimal first && b instanceof BigDecimal second) {
            return first.compareTo(second) == 0;
        }
        if (a instanceof List<?> first && b instanceof List<?> second) {
            return first.size() == second.size() && every(zip(first, second), both -> same(both.item1(), both.item2()));
        }
        if (a instanceof Map<?, ?> first && b instanceof Map<?, ?> second) {
            return first.keySet().equals(second.keySet())
                    && every(new ArrayList<>(first.keySet()), key -> same(first.get(key), second.get(key)));
        }
        if (a instanceof Optional<?> first && b instanceof Optional<?> second) {
            return first.isPresent() == second.isPresent() && (first.isEmpty() || same(first.get(), second.get()));
        }
        if (a instanceof Record && b instanceof Record && a.getClass() == b.getClass()) {
            return every(List.of(a.getClass().getRecordComponents()), part -> same(read(part, a), read(part, b)));
        }
        return a == null ? b == null : a.equals(b);
    }

    private static Object read(RecordComponent part, Object record) {
        try {
            part.getAccessor().setAccessible(true);
            return part.getAccessor().invoke(record);
        } catch (IllegalAccessException | InvocationTargetException fault) {
            throw new IllegalStateException(fault);
        }
    }

    /** The order of numbers, texts, times, and lists and tuples of them. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    static int compare(Object a, Object b) {
        if (a instanceof String first && b instanceof String second) {
            return compare(first.codePoints().boxed().toList(), second.codePoints().boxed().toList());
        }
        if (a instanceof List<?> first && b instanceof List<?> second) {
            for (int place = 0; place < Math.min(first.size(), second.size()); place++) {
                int found = compare(first.get(place), second.get(place));
                if (found != 0) {
                    return found;
                }
            }
            return Integer.compare(first.size(), second.size());
        }
        if (a instanceof Record) {
            for (RecordComponent part : a.getClass().getRecordComponents()) {
                int found = compare(read(part, a), read(part, b));
                if (found != 0) {
                    return found;
                }
            }
            return 0;
        }
        return ((Comparable) a).compareTo(b);
    }

    static <T, R> R with(T value, Function<T, R> change) {
        return change.apply(value);
    }

    static <T> boolean every(List<T> items, Predicate<T> test) {
        return items.stream().allMatch(test);
    }

    static <T> boolean some(List<T> items, Predicate<T> test) {
        return items.stream().anyMatch(test);
    }

    static <T> List<T> where(List<T> items, Predicate<T> test) {
        return items.stream().filter(test).toList();
    }

    static <T, R> List<R> each(List<T> items, Function<T, R> change) {
        return items.stream().map(change).toList();
    }

    static <T, R> List<R> flat(List<T> items, Function<T, List<R>> change) {
        return items.stream().flatMap(item -> change.apply(item).stream()).toList();
    }

    static <T, S> S folded(List<T> items, S start, BiFunction<S, T, S> step) {
        S state = start;
        for (T item : items) {
            state = step.apply(state, item);
        }
        return state;
    }

    static <T> List<T> sortedBy(List<T> items, Function<T, Object> key) {
        List<T> made = new ArrayList<>(items);
        made.sort((a, b) -> compare(key.apply(a), key.apply(b)));
        return made;
    }

    static <T> T least(List<T> items, Function<T, Object> key) {
        return sortedBy(items, key).get(0);
    }

    static <T> T greatest(List<T> items, Function<T, Object> key) {
        return sortedBy(reversed(items), key).get(items.size() - 1);
    }

    static long sum(List<Long> items) {
        return items.stream().mapToLong(Long::longValue).sum();
    }

    static double sumOfFloats(List<Double> items) {
        return items.stream().mapToDouble(Double::doubleValue).sum();
    }

    static BigDecimal sumOfDecimals(List<BigDecimal> items) {
        return items.stream().reduce(BigDecimal.ZERO, BigDecimal::add);
    }

    static long power(long base, long exponent) {
        long made = 1;
        for (long count = 0; count < exponent; count++) {
            made *= base;
        }
        return made;
    }

    private static int place(int length, long position) {
        return (int) (position < 0 ? length + position : position);
    }

    static <T> T at(List<T> items, long position) {
        return items.get(place(items.size(), position));
    }

    static <T> List<T> part(List<T> items, long start, long stop) {
        int from = Math.min(Math.max(place(items.size(), start), 0), items.size());
        int to = Math.min(Math.max(place(items.size(), stop), from), items.size());
        return items.subList(from, to);
    }

    static <T> boolean within(List<T> items, T wanted) {
        return some(items, item -> same(item, wanted));
    }

    static <T> long occurrences(List<T> items, T wanted) {
        return where(items, item -> same(item, wanted)).size();
    }

    static <T> long position(List<T> items, T wanted) {
        for (int place = 0; place < items.size(); place++) {
            if (same(items.get(place), wanted)) {
                return place;
            }
        }
        throw new IllegalArgumentException("the list has no such item");
    }

    static <T> List<T> joined(List<T> first, List<T> second) {
        List<T> made = new ArrayList<>(first);
        made.addAll(second);
        return made;
    }

    static <T> List<T> reversed(List<T> items) {
        List<T> made = new ArrayList<>(items);
        Collections.reverse(made);
        return made;
    }

    static <T> List<T> distinct(List<T> items) {
        List<T> made = new ArrayList<>();
        for (T item : items) {
            if (!within(made, item)) {
                made.add(item);
            }
        }
        return made;
    }

    static <A, B> List<Tuple2<A, B>> zip(List<A> first, List<B> second) {
        List<Tuple2<A, B>> made = new ArrayList<>();
        for (int place = 0; place < Math.min(first.size(), second.size()); place++) {
            made.add(new Tuple2<>(first.get(place), second.get(place)));
        }
        return made;
    }

    static <T> List<Tuple2<Long, T>> enumerate(List<T> items, long first) {
        return zip(numbers(first, first + items.size()), items);
    }

    static List<Long> numbers(long from, long to) {
        List<Long> made = new ArrayList<>();
        for (long number = from; number < to; number++) {
            made.add(number);
        }
        return made;
    }

    static <T> Set<T> setOf(List<T> items) {
        return new LinkedHashSet<>(items);
    }

    static <K, V> Map<K, V> mapOf(List<Tuple2<K, V>> pairs) {
        Map<K, V> made = new LinkedHashMap<>();
        pairs.forEach(pair -> made.put(pair.item1(), pair.item2()));
        return made;
    }

    static <K, V> V found(Map<K, V> items, K key) {
        if (!items.containsKey(key)) {
            throw new IllegalArgumentException("the map has no such key");
        }
        return items.get(key);
    }

    static <T> List<T> ordered(Collection<T> items) {
        return sortedBy(new ArrayList<>(items), Object::toString);
    }

    static <K, V> List<V> valuesOf(Map<K, V> items) {
        return each(ordered(items.keySet()), items::get);
    }

    static <K, V> List<Tuple2<K, V>> entriesOf(Map<K, V> items) {
        return zip(ordered(items.keySet()), valuesOf(items));
    }

    static <T> Set<T> union(Set<T> first, Set<T> second) {
        Set<T> made = new LinkedHashSet<>(first);
        made.addAll(second);
        return made;
    }

    static <T> Set<T> difference(Set<T> first, Set<T> second) {
        Set<T> made = new LinkedHashSet<>(first);
        made.removeAll(second);
        return made;
    }

    static <T> Set<T> intersection(Set<T> first, Set<T> second) {
        Set<T> made = new LinkedHashSet<>(first);
        made.retainAll(second);
        return made;
    }

    static long lengthOf(String text) {
        return text.codePointCount(0, text.length());
    }

    static List<String> characters(String text) {
        return text.codePoints().mapToObj(Character::toString).toList();
    }

    static List<String> split(String text, String separator) {
        return List.of(text.split(java.util.regex.Pattern.quote(separator), -1));
    }

    static boolean allOf(String text, IntPredicate test) {
        return !text.isEmpty() && text.codePoints().allMatch(test);
    }

    static boolean isAscii(String text) {
        return text.chars().allMatch(char_ -> char_ < 128);
    }
}
