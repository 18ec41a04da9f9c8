import java.io.IOException;
import java.io.PrintStream;
import java.io.StringWriter;
import java.io.Writer;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Compiles a project and runs some of its test classes: {@code java Runner PROJECT OUT EXAMPLES STOP FILE...}.
 * The results are {@code OUT/report.json}: a list of name, outcome and message.
 */
public final class Runner implements TestExecutionListener {
    private final List<String> results = new ArrayList<>();
    private final Path out;
    private final boolean stop;

    private Runner(Path out, boolean stop) {
        this.out = out;
        this.stop = stop;
    }

    public static void main(String[] arguments) throws Exception {
        Path project = Path.of(arguments[0]);
        Path out = Path.of(arguments[1]);
        Runner runner = new Runner(out, arguments[3].equals("stop"));
        Path classes = Files.createDirectories(out.resolve("classes"));
        System.setOut(new PrintStream(PrintStream.nullOutputStream()));
        String fault = compile(project, classes);
        if (fault.isEmpty()) {
            runner.run(classes, arguments[2], List.of(arguments).subList(4, arguments.length));
        } else {
            runner.add("collection", "failed", fault);
        }
        runner.finish();
    }

    private static String compile(Path project, Path classes) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
        List<Path> sources = new ArrayList<>(Sources.below(project.resolve("src/main/java")));
        sources.addAll(Sources.below(project.resolve("src/test/java")));
        Writer said = new StringWriter();
        try (StandardJavaFileManager files =
                compiler.getStandardFileManager(found, Locale.ROOT, StandardCharsets.UTF_8)) {
            List<String> options =
                    List.of("-proc:none", "-parameters", "-d", classes.toString(), "-cp", System.getProperty("java.class.path"));
            boolean done = compiler.getTask(said, files, found, options, null, files.getJavaFileObjectsFromPaths(sources))
                    .call();
            return done ? "" : told(project, found) + said;
        }
    }

    private static String told(Path project, DiagnosticCollector<JavaFileObject> found) {
        StringBuilder words = new StringBuilder();
        for (Diagnostic<? extends JavaFileObject> one : found.getDiagnostics()) {
            if (one.getKind() == Diagnostic.Kind.ERROR && one.getSource() != null) {
                words.append(project.relativize(Path.of(one.getSource().toUri())))
                        .append(":").append(one.getLineNumber()).append(": ")
                        .append(one.getMessage(Locale.ROOT).replaceAll("\\s+", " ")).append("; ");
            }
        }
        return words.toString();
    }

    private void run(Path classes, String examples, List<String> files) throws Exception {
        URL[] places = {classes.toUri().toURL()};
        try (URLClassLoader loader = new URLClassLoader(places, Runner.class.getClassLoader())) {
            Thread.currentThread().setContextClassLoader(loader);
            LauncherDiscoveryRequestBuilder request = LauncherDiscoveryRequestBuilder.request()
                    .configurationParameter("jqwik.database", out.resolve("jqwik").toString())
                    .configurationParameter("jqwik.tries.default", examples)
                    .configurationParameter("jqwik.reporting.onlyfailures", "true");
            for (String file : files) {
                String name = file.replaceFirst("^src/test/java/", "").replaceFirst("\\.java$", "").replace('/', '.');
                request.selectors(DiscoverySelectors.selectClass(loader.loadClass(name)));
            }
            LauncherFactory.create().execute(request.build(), this);
        } catch (ClassNotFoundException missing) {
            add("collection", "failed", "there is no class " + missing.getMessage());
        }
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        boolean failed = result.getStatus() != TestExecutionResult.Status.SUCCESSFUL;
        if (!test.isTest() && !failed) {
            return;
        }
        String name = test.getSource()
                .filter(MethodSource.class::isInstance)
                .map(source -> ((MethodSource) source).getMethodName())
                .orElse("collection");
        String message = result.getThrowable().map(Runner::words).orElse("");
        boolean assumed = result.getStatus() == TestExecutionResult.Status.ABORTED;
        add(name, assumed ? "skipped" : failed ? "failed" : "passed", message);
        if (failed && stop) {
            finish();
        }
    }

    @Override
    public void executionSkipped(TestIdentifier test, String reason) {
        add(test.getDisplayName(), "skipped", reason);
    }

    private static String words(Throwable thrown) {
        String message = thrown.getMessage();
        String kind = thrown instanceof AssertionError ? "" : thrown.getClass().getSimpleName() + ": ";
        return message == null ? thrown.getClass().getSimpleName() : kind + message;
    }

    private void add(String name, String outcome, String message) {
        String shown = message.length() > 1500 ? message.substring(0, 1500) : message;
        results.add("{\"name\": " + Sources.quoted(name) + ", \"outcome\": \"" + outcome + "\", \"message\": "
                + Sources.quoted(shown) + "}");
    }

    private void finish() {
        try {
            Files.writeString(out.resolve("report.json"), "[" + String.join(", ", results) + "]");
        } catch (IOException fault) {
            Runtime.getRuntime().halt(3);
        }
        Runtime.getRuntime().halt(0);
    }
}
