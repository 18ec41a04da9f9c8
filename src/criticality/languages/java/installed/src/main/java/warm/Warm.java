package warm;

public final class Warm {}
