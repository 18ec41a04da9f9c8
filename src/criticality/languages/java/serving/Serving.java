package serving;

import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Answers calls of a project's functions over pipes; what launched the process took processes and sockets from it.
 *
 * <p>A frame is a length (32 bits, big-endian) and a MessagePack value: {@code [id, name, arguments]} comes in, and
 * {@code [id, status, value, trace]} goes out. A name before {@code #work} asks for nanoseconds: the least of five runs.
 */
public final class Serving {
    private static final int RETURNED = 0;
    private static final int RAISED = 1; // the value is the error's name and its words
    private static final int CHANGED = 2; // an argument; the value says which
    private static final int UNFIT = 3; // an argument cannot be made in this language; the value says why
    private static final int MAX_FRAME = 8 << 20;
    private static final int MAX_TRACE = 1 << 20;
    private static final int STACK = 128 << 20;
    private static final int RUNS = 5;

    /** The number of the bodies that are served. */
    public static int variant;

    private static Map<String, Method> functions;
    private static Writer calls; // that the body made itself, of other functions of the project
    private static int count;
    private static int depth;

    private Serving() {}

    /** Answer until there are no more calls: the arguments are what seals the process, in words, and the variant. */
    public static void serve(String[] arguments, Map<String, Method> table, Set<Class<?>> newtypes) throws Exception {
        variant = Integer.parseInt(arguments[1]);
        functions = table;
        Wire.newtypes = newtypes;
        System.setOut(new PrintStream(PrintStream.nullOutputStream()));
        Thread serving = new Thread(null, () -> answerAll(arguments[0]), "serving", STACK);
        serving.start();
        serving.join();
    }

    public static Method method(Class<?> owner, String name) {
        return Arrays.stream(owner.getMethods()).filter(one -> one.getName().equals(name)).findFirst().orElseThrow();
    }

    private static void answerAll(String seal) {
        try (DataInputStream in = new DataInputStream(new FileInputStream(FileDescriptor.in));
                DataOutputStream out =
                        new DataOutputStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.out)))) {
            send(out, new Writer().list(4).whole(0).whole(0).text(seal).nothing());
            while (true) {
                byte[] frame = new byte[in.readInt()];
                in.readFully(frame);
                send(out, answered(new Reader(frame)));
            }
        } catch (EOFException over) {
            Runtime.getRuntime().halt(0);
        } catch (IOException broken) {
            Runtime.getRuntime().halt(3);
        }
    }

    private static void send(DataOutputStream out, Writer frame) throws IOException {
        byte[] bytes = frame.bytes();
        if (bytes.length > MAX_FRAME) {
            Runtime.getRuntime().halt(3);
        }
        out.writeInt(bytes.length);
        out.write(bytes);
        out.flush();
    }

    private static Writer answered(Reader in) {
        in.items(3);
        Writer head = new Writer().list(4).whole(in.whole());
        String asked = in.text();
        boolean timed = asked.endsWith("#work");
        Method function = functions.get(asked.replace("#work", ""));
        Type[] types = function.getGenericParameterTypes();
        Object[] values = new Object[types.length];
        try {
            in.items(types.length);
            for (int place = 0; place < types.length; place++) {
                values[place] = Wire.read(in, types[place], Map.of());
            }
        } catch (RuntimeException unfit) {
            return head.whole(UNFIT).text(String.valueOf(unfit.getMessage())).list(0);
        }
        byte[] before = listed(types, values).bytes();
        calls = new Writer();
        count = 0;
        long begun = System.nanoTime();
        Writer outcome = called(function, values);
        long spent = System.nanoTime() - begun;
        if (!Arrays.equals(before, listed(types, values).bytes())) {
            return head.whole(CHANGED).text("an argument").list(0);
        }
        if (timed) {
            for (int run = 1; run < RUNS; run++) {
                begun = System.nanoTime();
                called(function, values);
                spent = Math.min(spent, System.nanoTime() - begun);
            }
            return head.whole(RETURNED).whole(spent).nothing();
        }
        head.put(outcome.bytes());
        return calls.size() > MAX_TRACE ? head.nothing() : head.list(count).put(calls.bytes());
    }

    private static Writer listed(Type[] types, Object[] values) {
        Writer out = new Writer().list(values.length);
        for (int place = 0; place < values.length; place++) {
            Wire.write(out, types[place], values[place], Map.of());
        }
        return out;
    }

    private static Writer called(Method function, Object[] values) {
        depth = -1; // the call itself is none that a body made
        try {
            Object value = function.invoke(null, values);
            return returned(function, value);
        } catch (InvocationTargetException thrown) {
            return raised(thrown.getCause());
        } catch (ReflectiveOperationException | RuntimeException wrong) {
            return raised(wrong);
        }
    }

    private static Writer returned(Method function, Object value) {
        Writer out = new Writer().whole(RETURNED);
        Wire.write(out, function.getGenericReturnType(), value, Map.of());
        return out;
    }

    private static Writer raised(Throwable thrown) {
        String words = String.valueOf(thrown.getMessage());
        return new Writer().whole(RAISED).list(2).text(thrown.getClass().getSimpleName()).text(words);
    }

    /** Call another function of the project, and note with what, and what came of it. */
    public static <T> T traced(String name, Supplier<T> call, Object... values) {
        depth++;
        try {
            if (depth != 1 || calls.size() > MAX_TRACE) {
                return call.get();
            }
            Method function = functions.get(name);
            Writer entry = new Writer().list(4).text(name).put(listed(function.getGenericParameterTypes(), values).bytes());
            try {
                T value = call.get();
                entry.put(returned(function, value).bytes());
                return value;
            } catch (Throwable thrown) {
                entry.put(raised(thrown).bytes());
                throw thrown;
            } finally {
                calls.put(entry.bytes());
                count++;
            }
        } finally {
            depth--;
        }
    }
}
