package serving;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Grows as MessagePack values are written. */
final class Writer {
    private final ByteArrayOutputStream held = new ByteArrayOutputStream();

    byte[] bytes() {
        return held.toByteArray();
    }

    int size() {
        return held.size();
    }

    Writer put(byte[] bytes) {
        held.writeBytes(bytes);
        return this;
    }

    Writer octet(int value) {
        held.write(value);
        return this;
    }

    Writer nothing() {
        return octet(0xc0);
    }

    Writer whole(long value) {
        return octet(0xd3).put(ByteBuffer.allocate(8).putLong(value).array());
    }

    Writer fraction(double value) {
        return octet(0xcb).put(ByteBuffer.allocate(8).putDouble(value).array());
    }

    Writer text(String value) {
        byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
        return head(0xdb, bytes.length).put(bytes);
    }

    Writer bytes(byte[] value) {
        return head(0xc6, value.length).put(value);
    }

    Writer list(int count) {
        return head(0xdd, count);
    }

    Writer extension(int kind, byte[] value) {
        return head(0xc9, value.length).octet(kind).put(value);
    }

    private Writer head(int marker, int size) {
        return octet(marker).put(ByteBuffer.allocate(4).putInt(size).array());
    }
}
