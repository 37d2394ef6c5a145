package io.radixflow.operators;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * SGLang's own tests of its cache, as cases with a letter for the subject and a number: K keys, N
 * nodes, T tree, E eviction, H hashes, U the suite over all page sizes, S sessions, A allocators, P
 * scheduling, F files of the tier below host memory. The javadoc of a test names the cases that it
 * shows, after that word, or its name ends with one; a case without a test is named here with the
 * reason.
 */
class ConformanceCasesTest {
  private static final Pattern NAMED =
      Pattern.compile("\\bCases? [A-Z]\\d+(?:(?:, | and )[A-Z]\\d+)*|void \\w+?(?:[A-Z]\\d+)+\\(");
  private static final Pattern ID = Pattern.compile("[A-Z]\\d+");

  private static final Map<String, Integer> LAST_OF_SUBJECT =
      Map.of("K", 8, "N", 6, "T", 16, "E", 10, "H", 1, "U", 22, "S", 13, "A", 4, "P", 10, "F", 15);

  private static final Map<String, String> WITHOUT_TEST = new LinkedHashMap<>();

  static {
    WITHOUT_TEST.put(
        "F1",
        "sizes are Flink's memory sizes, which refuse what is none instead of taking it for 0");
    WITHOUT_TEST.put("F2", "a disk tier has a limit always; without a directory there is no tier");
    WITHOUT_TEST.put("F10", "no ranks share a context: a store belongs to one engine");
    WITHOUT_TEST.put("F11", "no ranks share the pages of a model without heads of its own");
    WITHOUT_TEST.put(
        "F12",
        "pages are blobs of a database, which takes no files that another process puts there");
    WITHOUT_TEST.put(
        "F14", "writes of a store are made one after the other, so none needs a reservation");
    WITHOUT_TEST.put("N2", "nodes have no numbers; whoever needs a node keeps a reference to it");
    WITHOUT_TEST.put(
        "N3", "a node of the tree always has its pages on the device; tiers keep their own state");
    WITHOUT_TEST.put(
        "P9",
        "there are no sliding windows, whose pool would cut a chunk short of the step's rows");
    WITHOUT_TEST.put(
        "T4", "a cache takes pages that a request owns, so there is no insertion without them");
  }

  @Test
  void everyCaseHasATestOrAReason() {
    Set<String> accounted = new TreeSet<>(named());
    accounted.addAll(WITHOUT_TEST.keySet());

    assertThat(accounted).containsAll(cases());
  }

  @Test
  void noCaseHasBothATestAndAReasonForNone() {
    assertThat(named()).doesNotContainAnyElementsOf(WITHOUT_TEST.keySet());
  }

  @Test
  void reasonsAreGivenForCasesThatExist() {
    assertThat(cases()).containsAll(WITHOUT_TEST.keySet());
  }

  private static Set<String> cases() {
    return LAST_OF_SUBJECT.entrySet().stream()
        .flatMap(
            subject ->
                IntStream.rangeClosed(1, subject.getValue()).mapToObj(i -> subject.getKey() + i))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static Set<String> named() {
    try (Stream<Path> modules = Files.list(Path.of(".."))) {
      return modules
          .map(module -> module.resolve("src/test/java"))
          .filter(Files::isDirectory)
          .flatMap(ConformanceCasesTest::sources)
          .flatMap(source -> NAMED.matcher(read(source)).results())
          .flatMap(cases -> ID.matcher(cases.group()).results())
          .map(MatchResult::group)
          .collect(Collectors.toCollection(TreeSet::new));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Stream<Path> sources(Path directory) {
    return unchecked(directory, Files::walk).filter(file -> file.toString().endsWith(".java"));
  }

  private static String read(Path file) {
    return unchecked(file, Files::readString);
  }

  /** A function that may fail to read. */
  private interface Reading<T> {
    T of(Path path) throws IOException;
  }

  private static <T> T unchecked(Path path, Reading<T> reading) {
    try {
      return reading.of(path);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
