package values;

import static values.Values.same;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Shrinkable;

/** What the tests stand on: one call with its outcome, and messages that say which promise broke. */
final class Harness {
    private static final String UNDONE = "not implemented";
    private static final int LANES = 8;

    private Harness() {}

    /** How a call ended: with a result, or with an exception. */
    record Outcome<T>(T result, RuntimeException error) {
        boolean raises(Class<? extends RuntimeException> kind) {
            return kind.isInstance(error);
        }

        @Override
        public String toString() {
            return error == null ? "the result was " + result : "the error was " + error;
        }
    }

    /** Calls it; a body that is still to do is no outcome. */
    static <T> Outcome<T> call(Supplier<T> function) {
        try {
            return new Outcome<>(function.get(), null);
        } catch (RuntimeException error) {
            return new Outcome<>(null, done(error));
        } catch (StackOverflowError error) {
            return new Outcome<>(null, new IllegalStateException("it calls itself without end"));
        }
    }

    private static RuntimeException done(RuntimeException error) {
        if (UNDONE.equals(error.getMessage())) {
            throw error;
        }
        return error;
    }


    private static String text(Object value) {
        String text = String.valueOf(value);
        return text.length() > 300 ? text.substring(0, 300) + "..." : text;
    }

    /** Names a value in a message. */
    static String given(String name, Object value) {
        return name + "=" + text(value);
    }

    /** Fails with the promise and the values for which it does not hold. */
    static void holds(String promise, BooleanSupplier condition, Outcome<?> outcome, String... given) {
        String tail = String.join(", ", given) + (outcome == null ? "" : "; " + text(outcome));
        boolean kept;
        try {
            kept = condition.getAsBoolean();
        } catch (RuntimeException error) {
            throw new AssertionError(promise + " cannot be evaluated (" + done(error) + ") for " + tail);
        }
        if (!kept) {
            throw new AssertionError(promise + " does not hold for " + tail);
        }
    }

    /** A value that a claim speaks of; where it cannot be had, the claim does not hold. */
    static <T> T step(String promise, Supplier<T> function, String... given) {
        Outcome<T> outcome = call(function);
        if (outcome.error() != null) {
            throw new AssertionError(
                    promise + " does not hold for " + String.join(", ", given) + "; " + text(outcome));
        }
        return outcome.result();
    }

    /** Demands that a value cannot be had, for this reason. */
    static void fails(String promise, Class<? extends RuntimeException> kind, Supplier<?> function, String... given) {
        Outcome<?> outcome = call(function);
        if (!outcome.raises(kind)) {
            throw new AssertionError(promise + " does not hold for " + String.join(", ", given) + "; "
                    + kind.getSimpleName() + " was wanted, and " + text(outcome));
        }
    }

    /** Stands still until it is moved. */
    static final class FakeClock {
        private long seconds = 1_000_000_000L;

        long now() {
            return seconds;
        }

        long advance(long by) {
            seconds += by;
            return seconds;
        }
    }

    /** What a lane came to: whether its checks held, and its values. */
    record Lane(boolean kept, List<Object> values) {}

    static Lane lane(boolean kept, Object... values) {
        return new Lane(kept, Arrays.asList(values));
    }

    /** Takes the same steps several times at once; all must hold, and all must come to the same. */
    static void lanes(String promise, Callable<Lane> steps, String... given) {
        String tail = " does not hold for " + String.join(", ", given) + ": ";
        ExecutorService threads = Executors.newFixedThreadPool(LANES);
        try {
            List<Lane> ended = new ArrayList<>();
            for (Future<Lane> future : threads.invokeAll(java.util.Collections.nCopies(3 * LANES, steps))) {
                ended.add(future.get());
            }
            if (!ended.stream().allMatch(Lane::kept)) {
                throw new AssertionError(promise + tail + "a lane's check failed");
            }
            if (!ended.stream().allMatch(lane -> same(lane.values(), ended.get(0).values()))) {
                throw new AssertionError(promise + tail + "two lanes come to different ends");
            }
        } catch (ExecutionException fault) {
            if (fault.getCause() instanceof RuntimeException error) {
                throw new AssertionError(promise + tail + done(error));
            }
            throw new AssertionError(promise + tail + fault.getCause());
        } catch (InterruptedException fault) {
            Thread.currentThread().interrupt();
        } finally {
            threads.shutdownNow();
        }
    }

    /** Compares how time grows with size, on a logarithmic scale, with what is promised. */
    static void grows(String promise, double slope, LongFunction<BooleanSupplier> prepare) {
        long[] sizes = {500, 1000, 2000, 4000, 8000};
        double[] xs = new double[sizes.length];
        double[] ys = new double[sizes.length];
        List<BooleanSupplier> runs = new ArrayList<>();
        for (long size : sizes) {
            BooleanSupplier run = prepare.apply(size);
            holds(promise, run, null, given("size", size));
            runs.add(run);
        }
        // The first rounds are those in which the compiler is still at work.
        runs.forEach(Harness::quickest);
        for (int place = 0; place < sizes.length; place++) {
            xs[place] = Math.log(sizes[place]);
            ys[place] = Math.log(quickest(runs.get(place)));
        }
        double found = slopeOf(xs, ys);
        if (found > slope + 0.5) {
            throw new AssertionError(
                    promise + " does not hold: time grows with the power " + String.format("%.2f", found) + " of the size");
        }
    }

    /** The least time of a run, in nanoseconds, of several that last long enough to be measured. */
    private static double quickest(BooleanSupplier run) {
        double best = Double.MAX_VALUE;
        for (int round = 0; round < 7; round++) {
            long begun = System.nanoTime();
            long count = 0;
            while (System.nanoTime() - begun < 2_000_000) {
                run.getAsBoolean();
                count++;
            }
            best = Math.min(best, (double) (System.nanoTime() - begun) / count);
        }
        return best;
    }

    private static double slopeOf(double[] xs, double[] ys) {
        double x = Arrays.stream(xs).average().orElseThrow();
        double y = Arrays.stream(ys).average().orElseThrow();
        double above = 0;
        double below = 0;
        for (int place = 0; place < xs.length; place++) {
            above += (xs[place] - x) * (ys[place] - y);
            below += (xs[place] - x) * (xs[place] - x);
        }
        return above / below;
    }

    /** That many items, no two of which have the same key; the same ones every time. */
    static <T> List<T> many(Arbitrary<T> items, long size, Function<T, Object> key) {
        List<T> made = new ArrayList<>();
        Set<Object> seen = new HashSet<>();
        var drawn = items.generator(1000).stream(new Random(1)).limit(20 * size).map(Shrinkable::value).iterator();
        while (made.size() < size && drawn.hasNext()) {
            T item = drawn.next();
            if (seen.add(key.apply(item))) {
                made.add(item);
            }
        }
        return made;
    }

    /** One value, the same every time. */
    static <T> T one(Arbitrary<T> items) {
        return many(items, 1, item -> item).get(0);
    }
}
