package io.radixflow.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the launcher script in a project that has a stand-in for Java and for Maven. */
class LauncherTest {
  private static final Path SCRIPT = Path.of("..", "radixflow").toAbsolutePath().normalize();

  @TempDir Path directory;

  private Path project;
  private Path tools;

  /** The output and the exit code of a run. */
  private record Run(int code, String out, String err) {}

  @BeforeEach
  void makeProject() throws IOException {
    project = Files.createDirectories(directory.resolve("a project"));
    Files.copy(SCRIPT, project.resolve("radixflow"));
    for (String module : List.of("kernels", "operators", "jobs", "cli", "lab")) {
      Files.createDirectories(project.resolve(module).resolve("src/main"));
      write(project.resolve(module).resolve("pom.xml"), "<project/>");
      age(project.resolve(module).resolve("src/main"), 100);
      age(project.resolve(module).resolve("pom.xml"), 100);
    }
    write(project.resolve("pom.xml"), "<project/>");
    age(project.resolve("pom.xml"), 100);
    tools = Files.createDirectories(directory.resolve("tools/bin"));
    fakeJava("17.0.15");
    script("javac", "exit 0");
    script(
        "mvn",
        "echo \"$@\" >>mvn.calls; echo compiling; mkdir -p \""
            + jar().getParent()
            + "\"; touch \""
            + jar()
            + "\"");
  }

  private Path jar() {
    return project.resolve("lab/target/dist/lib/radixflow-lab-1.jar");
  }

  private void fakeJava(String version) throws IOException {
    script(
        "java",
        """
        test "$1" = -version && echo 'openjdk version "%s" 2025-04-15' >&2 && exit
        for a; do
          echo "$a"
          # An archive that fails stays half.
          case "$a" in -XX:ArchiveClassesAtExit=*)
            echo half >"${a#*=}"; test -z "$FAKE_ARCHIVE_FAILS" || exit 1; echo whole >"${a#*=}";;
          esac
        done
        echo 'from the program' >&2
        exit ${FAKE_EXIT:-0}
        """
            .formatted(version));
  }

  private void script(String name, String body) throws IOException {
    Path file = tools.resolve(name);
    write(file, "#!/bin/sh\n" + body + "\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  private static void write(Path file, String text) throws IOException {
    Files.writeString(file, text);
  }

  private static void age(Path file, int seconds) throws IOException {
    Files.setLastModifiedTime(file, FileTime.from(Instant.now().minusSeconds(seconds)));
  }

  private void buildEarlier() throws IOException {
    Files.createDirectories(jar().getParent());
    write(jar(), "");
    age(jar(), 50);
  }

  private int mavenCalls() throws IOException {
    Path calls = directory.resolve("mvn.calls");
    return Files.exists(calls) ? Files.readAllLines(calls).size() : 0;
  }

  private Run run(Map<String, String> variables, Path script, String... arguments)
      throws Exception {
    List<String> command = new ArrayList<>(List.of("sh", script.toString()));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile());
    builder.environment().keySet().removeAll(List.of("JAVA_HOME", "RADIXFLOW_JAVA_OPTS"));
    builder.environment().put("PATH", tools + ":/usr/bin:/bin");
    builder.environment().putAll(variables);
    Path out = directory.resolve("stdout");
    Path err = directory.resolve("stderr");
    Process process = builder.redirectOutput(out.toFile()).start();
    byte[] errBytes = process.getErrorStream().readAllBytes();
    Files.write(err, errBytes);
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    return new Run(
        process.exitValue(), Files.readString(out), new String(errBytes, StandardCharsets.UTF_8));
  }

  private Run run(String... arguments) throws Exception {
    return run(Map.of(), project.resolve("radixflow"), arguments);
  }

  @Test
  void buildsWhenTheJarIsMissingAndThenRunsTheCommand() throws Exception {
    Run run = run("render", "--in", "a file");

    assertThat(run.code()).isZero();
    assertThat(mavenCalls()).isEqualTo(1);
    assertThat(run.err()).contains("building").contains("done").contains("from the program");
    assertThat(run.err().lines()).hasSize(2);
    assertThat(project.resolve("target/build.log")).hasContent("compiling");
    assertThat(run.out()).endsWith("io.radixflow.cli.Radixflow\nrender\n--in\na file\n");
  }

  @Test
  void runsTheOtherCommandsInACheckoutWithoutTheLab() throws Exception {
    Files.delete(project.resolve("lab/pom.xml"));
    Path jar = project.resolve("cli/target/dist/lib/radixflow-cli-1.jar");
    script("mvn", "mkdir -p \"" + jar.getParent() + "\"; touch \"" + jar + "\"");

    Run run = run("render");

    assertThat(run.code()).as(run.err()).isZero();
    assertThat(run.out())
        .contains(project.toRealPath() + "/cli/target/dist/lib/*")
        .doesNotContain("/lab/target");
  }

  @Test
  void doesNotBuildAgainUntilASourceChanges() throws Exception {
    buildEarlier();
    run("render");
    assertThat(mavenCalls()).isZero();

    write(project.resolve("kernels/src/main/Changed.java"), "");
    run("render");
    run("render");
    assertThat(mavenCalls()).isEqualTo(1);
  }

  @Test
  void printsWhyABuildFailedAndRunsNothing() throws Exception {
    script("mvn", "echo '[ERROR] Foo.java: no such symbol'; exit 1");

    Run run = run("render");

    assertThat(run.code()).isEqualTo(1);
    assertThat(run.out()).isEmpty();
    assertThat(run.err()).contains("Foo.java: no such symbol").contains("target/build.log");
    assertThat(project.resolve("target/build.lock")).doesNotExist();
  }

  @Test
  void takesOverTheLockOfABuildThatDied() throws Exception {
    Files.createDirectories(project.resolve("target/build.lock"));
    write(project.resolve("target/build.lock/pid"), "99999999");

    assertThat(run("render").code()).isZero();
    assertThat(mavenCalls()).isEqualTo(1);
  }

  @Test
  void takesOverTheLockOfABuildThatDiedBeforeItWroteItsProcessId() throws Exception {
    Files.createDirectories(project.resolve("target/build.lock"));

    Run run = run("render");

    assertThat(run.code()).isZero();
    assertThat(run.err()).contains("waiting for the build of process (starting)");
    assertThat(mavenCalls()).isEqualTo(1);
    assertThat(project.resolve("target/build.lock")).doesNotExist();
  }

  @Test
  void worksThroughASymlinkFromAnotherDirectory() throws Exception {
    buildEarlier();
    Path relative = directory.resolve("relative-link");
    Files.createSymbolicLink(relative, Path.of("a project", "radixflow"));
    Path link = Files.createSymbolicLink(directory.resolve("link"), relative);

    Run run = run(Map.of(), link, "render");

    assertThat(run.code()).isZero();
    assertThat(run.out()).contains(project.toRealPath() + "/lab/target/dist/lib/*");
  }

  @Test
  void refusesAJavaThatIsTooOld() throws Exception {
    buildEarlier();
    for (String version : List.of("1.8.0_412", "11.0.2")) {
      fakeJava(version);
      Run run = run("render");
      assertThat(run.code()).isEqualTo(1);
      assertThat(run.err()).contains("older than Java 17");
    }
  }

  @Test
  void refusesAJavaHomeThatHasNoJava() throws Exception {
    Run run = run(Map.of("JAVA_HOME", "/nowhere"), project.resolve("radixflow"), "render");

    assertThat(run.code()).isEqualTo(1);
    assertThat(run.err())
        .isEqualToIgnoringNewLines(
            "radixflow: JAVA_HOME is /nowhere, which has no bin/java; point it to a JDK 17 or"
                + " newer");
  }

  @Test
  void prefersJavaHomeToThePath() throws Exception {
    buildEarlier();
    Path home = directory.resolve("home");
    Files.createDirectories(home.resolve("bin"));
    Files.copy(tools.resolve("java"), home.resolve("bin/java"));
    fakeJava("11.0.2");

    assertThat(run(Map.of("JAVA_HOME", home.toString()), project.resolve("radixflow")).code())
        .isZero();
  }

  @Test
  void passesOnWhatTheProgramSaysAndItsExitCode() throws Exception {
    buildEarlier();

    Run run = run(Map.of("FAKE_EXIT", "7"), project.resolve("radixflow"), "chat");

    assertThat(run.code()).isEqualTo(7);
    assertThat(run.err()).isEqualTo("from the program\n");
  }

  @Test
  void passesTheFlagsThatNewerJavaNeeds() throws Exception {
    buildEarlier();
    assertThat(run("render").out()).doesNotContain("--sun-misc-unsafe-memory-access");

    fakeJava("25.0.1");
    assertThat(run("render").out())
        .contains("--enable-native-access=ALL-UNNAMED\n--sun-misc-unsafe-memory-access=allow\n");
  }

  @Test
  void refusesToStartAServerThatMayOpenTooFewFiles() throws Exception {
    buildEarlier();
    Path limited = directory.resolve("limited");
    write(limited, "ulimit -n 200; exec \"$0\" \"$@\"".replace("$0", project + "/radixflow"));

    Run run = run(Map.of(), limited, "up", "--model", "sim");

    assertThat(run.code()).isEqualTo(1);
    assertThat(run.err())
        .isEqualTo(
            "radixflow: this process may have 200 files open, and it needs 600: raise the limit,"
                + " as with ulimit -n 4096\n");
    assertThat(run(Map.of(), limited, "render").code()).isZero();
  }

  @Test
  void passesTheUsersFlagsAfterItsOwn() throws Exception {
    buildEarlier();

    Run run =
        run(
            Map.of("RADIXFLOW_JAVA_OPTS", "-Xmx8g -Da=b"),
            project.resolve("radixflow"),
            "generate");

    assertThat(run.out())
        .contains(
            "-XX:MaxNewSize=256m\n",
            "-XX:GCTimeRatio=1\n",
            "-XX:MaxHeapFreeRatio=30\n-Xmx8g\n-Da=b\n-cp\n");
  }

  @Test
  void startsWithTheClassesThatTheBuildArchivedForThisJava() throws Exception {
    run("render");
    Path archive = project.toRealPath().resolve("target/classes-17.0.15.jsa");
    assertThat(archive).hasContent("whole");
    assertThat(run("render").out())
        .contains("-XX:SharedArchiveFile=" + archive + "\n-Xlog:cds=off\n");

    fakeJava("25.0.1");
    assertThat(run("render").out()).doesNotContain("SharedArchiveFile");
  }

  @Test
  void startsWithoutAnArchiveThatCouldNotBeMade() throws Exception {
    Map<String, String> failing = Map.of("FAKE_ARCHIVE_FAILS", "true");

    Run run = run(failing, project.resolve("radixflow"), "render");

    assertThat(run.code()).isZero();
    assertThat(run.out()).doesNotContain("SharedArchiveFile");
    assertThat(project.resolve("target/classes-17.0.15.jsa")).doesNotExist();
    assertThat(project.resolve("target/classes-17.0.15.jsa.new")).doesNotExist();
  }

  @Test
  void startsCommandsWithoutTensorsFast() throws Exception {
    buildEarlier();
    assertThat(run("--verbose", "tokenize").out())
        .contains("-XX:TieredStopAtLevel=1")
        .doesNotContain("MaxNewSize");
    assertThat(run("--verbose", "chat").out()).contains("MaxNewSize");
    assertThat(run("--help").out()).doesNotContain("MaxNewSize");
  }
}
