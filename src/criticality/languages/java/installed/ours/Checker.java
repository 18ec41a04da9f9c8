import com.sun.source.util.JavacTask;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** A warm javac: {@code java Checker PROJECT}; a line asks, a line of JSON answers. Nothing is generated. */
public final class Checker {
    private Checker() {}

    public static void main(String[] arguments) throws IOException {
        Path project = Path.of(arguments[0]);
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StandardJavaFileManager files = compiler.getStandardFileManager(null, Locale.ROOT, StandardCharsets.UTF_8);
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        while (input.readLine() != null) {
            System.out.println("{\"errors\": [" + check(project, compiler, files) + "]}");
            System.out.flush();
        }
    }

    private static String check(Path project, JavaCompiler compiler, StandardJavaFileManager files)
            throws IOException {
        DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
        List<Path> sources = Sources.below(project.resolve("src/main/java"));
        if (sources.isEmpty()) {
            return "";
        }
        List<String> options = List.of("-proc:none", "--release", "17", "-Xlint:all");
        Iterable<? extends JavaFileObject> units = files.getJavaFileObjectsFromPaths(sources);
        JavacTask task = (JavacTask) compiler.getTask(null, files, found, options, null, units);
        task.analyze();
        return found.getDiagnostics().stream()
                .filter(one -> one.getKind() == Diagnostic.Kind.ERROR)
                .map(one -> told(project, one))
                .collect(Collectors.joining(", "));
    }

    private static String told(Path project, Diagnostic<? extends JavaFileObject> one) {
        String place = one.getSource() == null
                ? "pom.xml"
                : project.relativize(Path.of(one.getSource().toUri())) + ":" + one.getLineNumber() + ":"
                        + one.getColumnNumber();
        return "{\"place\": " + Sources.quoted(place) + ", \"message\": "
                + Sources.quoted(one.getMessage(Locale.ROOT).replaceAll("\\s+", " ").strip()) + "}";
    }
}

/** Source files, and strings in JSON. */
final class Sources {
    private Sources() {}

    static List<Path> below(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(path -> path.toString().endsWith(".java")).sorted().toList();
        }
    }

    static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        text.chars().forEach(c -> quoted.append(
                c == '"' || c == '\\' ? "\\" + (char) c : c < 32 || c > 126 ? String.format("\\u%04x", c) : "" + (char) c));
        return quoted.append('"').toString();
    }
}
