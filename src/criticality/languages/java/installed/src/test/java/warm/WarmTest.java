package warm;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

final class WarmTest {
    @Test
    void warm() {}

    @Property
    void property(@ForAll int number) {}
}
