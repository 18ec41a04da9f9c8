package serving;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Takes one MessagePack value after another off the bytes of a frame; it throws where there is another. */
final class Reader {
    private final ByteBuffer bytes;

    Reader(byte[] frame) {
        this.bytes = ByteBuffer.wrap(frame);
    }

    int octet() {
        return bytes.get() & 0xff;
    }

    private byte[] take(int count) {
        byte[] taken = new byte[count];
        bytes.get(taken);
        return taken;
    }

    private long number(int size) {
        long whole = 0;
        for (int left = size; left > 0; left--) {
            whole = whole << 8 | octet();
        }
        return whole;
    }

    /** A length: in the marker itself, or in the bytes that a marker from {@code first} on says. */
    private int sized(int fixed, int mask, int first, int... sizes) {
        int marker = octet();
        if (mask > 0 && (marker & ~mask) == fixed) {
            return marker & mask;
        }
        Wire.require(marker >= first && marker < first + sizes.length, "another value was expected");
        return (int) number(sizes[marker - first]);
    }

    int list() {
        return sized(0x90, 0x0f, 0xdc, 2, 4);
    }

    void items(int count) {
        Wire.require(list() == count, count + " values were expected");
    }

    String text() {
        return new String(take(sized(0xa0, 0x1f, 0xd9, 1, 2, 4)), StandardCharsets.UTF_8);
    }

    byte[] bytes() {
        return take(sized(0, 0, 0xc4, 1, 2, 4));
    }

    /** What stands in an extension. */
    Reader extension(int kind) {
        int marker = octet();
        int size = marker >= 0xd4 ? 1 << (marker - 0xd4) : (int) number(1 << (marker - 0xc7));
        Wire.require(octet() == kind, "an extension of type " + kind + " was expected");
        return new Reader(take(size));
    }

    String rest() {
        return new String(take(bytes.remaining()), StandardCharsets.US_ASCII);
    }

    boolean nothing() {
        boolean none = bytes.get(bytes.position()) == (byte) 0xc0;
        if (none) {
            octet();
        }
        return none;
    }

    double fraction() {
        if (bytes.get(bytes.position()) != (byte) 0xcb) {
            return whole();
        }
        octet();
        return bytes.getDouble();
    }

    long whole() {
        int marker = octet();
        if (marker < 0x80 || marker >= 0xe0) {
            return (byte) marker;
        }
        Wire.require(marker >= 0xcc && marker <= 0xd3, "a whole number of 64 bits was expected");
        int size = 1 << (marker & 3);
        int shift = marker >= 0xd0 ? 64 - 8 * size : 0;
        long whole = number(size) << shift >> shift;
        Wire.require(marker != 0xcf || whole >= 0, "a whole number of 64 bits was expected");
        return whole;
    }
}
