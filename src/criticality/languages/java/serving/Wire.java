package serving;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/** How the values of a specification stand in MessagePack, by their types. */
final class Wire {
    static final int DECIMAL = 2;
    static final int MOMENT = 3;
    static final int TABLE = 5;
    static Set<Class<?>> newtypes;

    private Wire() {}

    /** A value of a type; {@code bound} are the types that a generic record was made with. */
    static Object read(Reader in, Type written, Map<Type, Type> bound) {
        Type type = bound.getOrDefault(written, written);
        Class<?> kind = raw(type);
        if (kind == long.class || kind == Long.class) {
            return in.whole();
        } else if (kind == double.class || kind == Double.class) {
            return in.fraction();
        } else if (kind == boolean.class || kind == Boolean.class) {
            return in.octet() == 0xc3;
        } else if (kind == String.class) {
            return in.text();
        } else if (kind == BigDecimal.class) {
            return new BigDecimal(in.extension(DECIMAL).rest());
        } else if (kind == UUID.class) {
            return UUID.fromString(in.text());
        } else if (kind == LocalDate.class) {
            return LocalDate.parse(in.extension(MOMENT).rest());
        } else if (kind == Instant.class) {
            return LocalDateTime.parse(in.extension(MOMENT).rest()).toInstant(ZoneOffset.UTC);
        } else if (kind == List.class && argument(type, 0) == Byte.class) {
            return bytes(in.bytes());
        } else if (kind == List.class) {
            return items(in, argument(type, 0), bound);
        } else if (kind == Set.class) {
            return new LinkedHashSet<>(items(in, argument(type, 0), bound));
        } else if (kind == Optional.class) {
            return in.nothing() ? Optional.empty() : Optional.of(read(in, argument(type, 0), bound));
        } else if (kind == Map.class) {
            return table(in.extension(TABLE), type, bound);
        } else if (kind.isEnum()) {
            String text = in.text();
            return Arrays.stream(kind.getEnumConstants()).filter(one -> text(one).equals(text)).findFirst().orElseThrow();
        } else if (kind.isRecord()) {
            return record(in, type, kind);
        }
        in.octet();
        return null;
    }

    private static List<Object> items(Reader in, Type item, Map<Type, Type> bound) {
        int count = in.list();
        List<Object> items = new ArrayList<>(count);
        for (int place = 0; place < count; place++) {
            items.add(read(in, item, bound));
        }
        return items;
    }

    private static Map<Object, Object> table(Reader in, Type type, Map<Type, Type> bound) {
        Map<Object, Object> made = new LinkedHashMap<>();
        for (int left = in.list(); left > 0; left--) {
            in.items(2);
            made.put(read(in, argument(type, 0), bound), read(in, argument(type, 1), bound));
        }
        return made;
    }

    private static List<Byte> bytes(byte[] found) {
        List<Byte> made = new ArrayList<>(found.length);
        for (byte one : found) {
            made.add(one);
        }
        return made;
    }

    private static Object record(Reader in, Type type, Class<?> kind) {
        RecordComponent[] parts = kind.getRecordComponents();
        if (!newtypes.contains(kind)) {
            in.items(parts.length);
        }
        Object[] values = new Object[parts.length];
        for (int place = 0; place < parts.length; place++) {
            values[place] = read(in, parts[place].getGenericType(), bindings(type, kind));
        }
        try {
            Class<?>[] types = Arrays.stream(parts).map(RecordComponent::getType).toArray(Class<?>[]::new);
            Constructor<?> make = kind.getDeclaredConstructor(types);
            return make.newInstance(values);
        } catch (InvocationTargetException refused) {
            throw new IllegalArgumentException(refused.getCause().getMessage());
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalArgumentException(impossible);
        }
    }

    /** Write a value of a type; the elements of sets and maps stand in the order in which they come. */
    static void write(Writer out, Type written, Object value, Map<Type, Type> bound) {
        Type type = bound.getOrDefault(written, written);
        Class<?> kind = raw(type);
        if (value == null) {
            require(kind == void.class || kind == Void.class, "null is no value");
            out.nothing();
        } else if (value instanceof Long whole) {
            out.whole(whole);
        } else if (value instanceof Double number) {
            out.fraction(number);
        } else if (value instanceof Boolean truth) {
            out.octet(truth ? 0xc3 : 0xc2);
        } else if (value instanceof String text) {
            out.text(text);
        } else if (value instanceof UUID identity) {
            out.text(identity.toString());
        } else if (value instanceof BigDecimal number) {
            out.extension(DECIMAL, ascii(number.toPlainString()));
        } else if (value instanceof LocalDate || value instanceof Instant) {
            out.extension(MOMENT, ascii(value.toString()));
        } else if (value instanceof Optional<?> held) {
            held.ifPresentOrElse(inner -> write(out, argument(type, 0), inner, bound), out::nothing);
        } else if (value instanceof Map<?, ?> table) {
            Writer inner = new Writer().list(table.size());
            table.forEach((key, one) -> {
                write(inner.list(2), argument(type, 0), key, bound);
                write(inner, argument(type, 1), one, bound);
            });
            out.extension(TABLE, inner.bytes());
        } else if (value instanceof List<?> items && argument(type, 0) == Byte.class) {
            ByteBuffer bytes = ByteBuffer.allocate(items.size());
            items.forEach(one -> bytes.put((Byte) one));
            out.bytes(bytes.array());
        } else if (value instanceof java.util.Collection<?> items) {
            out.list(items.size());
            items.forEach(one -> write(out, argument(type, 0), one, bound));
        } else if (value instanceof Enum<?>) {
            out.text(text(value));
        } else {
            fields(out, type, kind, value);
        }
    }

    private static void fields(Writer out, Type type, Class<?> kind, Object value) {
        RecordComponent[] parts = kind.getRecordComponents();
        if (!newtypes.contains(kind)) {
            out.list(parts.length);
        }
        for (RecordComponent part : parts) {
            try {
                write(out, part.getGenericType(), part.getAccessor().invoke(value), bindings(type, kind));
            } catch (ReflectiveOperationException impossible) {
                throw new IllegalArgumentException(impossible);
            }
        }
    }

    private static Map<Type, Type> bindings(Type type, Class<?> kind) {
        Map<Type, Type> bound = new HashMap<>();
        TypeVariable<?>[] variables = kind.getTypeParameters();
        for (int place = 0; place < variables.length; place++) {
            bound.put(variables[place], argument(type, place));
        }
        return bound;
    }

    private static Class<?> raw(Type type) {
        return (Class<?>) (type instanceof ParameterizedType made ? made.getRawType() : type);
    }

    private static Type argument(Type type, int place) {
        return ((ParameterizedType) type).getActualTypeArguments()[place];
    }

    private static String text(Object member) {
        try {
            return (String) member.getClass().getMethod("text").invoke(member);
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalArgumentException(impossible);
        }
    }

    static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    static void require(boolean holds, String fault) {
        if (!holds) {
            throw new IllegalArgumentException(fault);
        }
    }
}
