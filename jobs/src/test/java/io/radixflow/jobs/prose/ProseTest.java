package io.radixflow.jobs.prose;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Checks comments, messages, help texts and documents against the section "Writing" of
 * CONTRIBUTING. Known exceptions are in {@code prose-exceptions.txt}.
 */
class ProseTest {
  private static final Path ROOT = Path.of("..");
  private static final Set<String> ENDINGS =
      Set.of("java", "md", "c", "h", "cu", "cuh", "cpp", "py", "js", "cjs", "sh", "yml", "json");
  private static final Set<String> FOLDERS = Set.of("docs", "bench", "deploy", ".ci");

  /** A row of the table of rules: number, rule, wrong example, right example. */
  private static final Pattern EXAMPLE =
      Pattern.compile("(?m)^\\| (\\d+)\\. [^|]+\\| `([^|]+)` \\| ([^|]+) \\|$");

  /** A block tag of javadoc within the text of another tag. */
  private static final Pattern JOINED_TAG =
      Pattern.compile("(?m)^\\s*/?\\*+ .*[\\w.;)}] @(?:param|return|throws)(?=\\s|$)");

  private record Finding(String file, int line, String sentence, ProseRule rule) {
    @Override
    public String toString() {
      return "%s:%d: %s\n    %s: %s".formatted(file, line, sentence, rule, rule.plain);
    }
  }

  @Test
  void proseIsPlainEnglish() throws IOException {
    Exceptions exceptions = Exceptions.read();
    List<Finding> findings = new ArrayList<>();
    for (String file : files()) {
      if (!exceptions.hasFile(file)) {
        findings.addAll(check(file, Files.readString(ROOT.resolve(file))));
      }
    }
    findings.removeIf(finding -> exceptions.hasSentence(finding.file(), finding.sentence()));
    assertThat(findings.stream().map(Finding::toString)).isEmpty();
    assertThat(exceptions.unused()).as("exceptions that excuse nothing").isEmpty();
  }

  @Test
  void everyTagBeginsALine() throws IOException {
    for (String file : files()) {
      if (file.endsWith(".java")) {
        assertThat(joinedTags(Files.readString(ROOT.resolve(file)))).as(file).isEmpty();
      }
    }
  }

  @Test
  void aTagAfterTheTextOfAnotherTagIsFound() {
    assertThat(joinedTags("/** @param row its index @param count its size */")).hasSize(1);
    assertThat(joinedTags("/**\n * @param row its index @param\n *     count\n */")).hasSize(1);
    assertThat(joinedTags("/**\n * @param row its index\n * @param count\n */")).isEmpty();
  }

  private static List<String> joinedTags(String text) {
    return JOINED_TAG.matcher(text).results().map(found -> found.group().strip()).toList();
  }

  @ParameterizedTest
  @EnumSource
  void aRuleFindsItsWrongExampleAndNotItsRightOne(ProseRule rule) throws IOException {
    Matcher example = EXAMPLE.matcher(Files.readString(ROOT.resolve("CONTRIBUTING.md")));
    List<String> wrong = new ArrayList<>();
    List<String> right = new ArrayList<>();
    while (example.find()) {
      if (Integer.parseInt(example.group(1)) == rule.ordinal() + 1) {
        wrong.add(example.group(2));
        right.add(example.group(3));
      }
    }
    assertThat(wrong).hasSize(1);
    assertThat(check("wrong.md", wrong.get(0))).extracting(Finding::rule).contains(rule);
    assertThat(check("right.md", right.get(0))).isEmpty();
  }

  @Test
  void aSentenceGoesAcrossLinesAndLiteralsButNotAcrossCode() {
    String source =
        """
        /** A text is no
         * message. */
        String one = "the file is " + "no message";
        String two = "the file is "; String three = "no message";
        // those
        // that
        """;
    assertThat(check("A.java", source))
        .extracting(Finding::line)
        .containsExactlyInAnyOrder(1, 3, 5);
  }

  @Test
  void aSentenceEndsWithALineOfATable() {
    String row = "\n * 0 the number of the row\n";
    assertThat(check("A.java", "/** <pre>" + row.repeat(12) + "</pre> */")).isEmpty();
    assertThat(check("A.java", "/** <p>" + row.repeat(12) + "</p> */"))
        .extracting(Finding::rule)
        .contains(ProseRule.ONE_FACT_PER_SENTENCE);
  }

  private static List<Finding> check(String file, String text) {
    List<Finding> findings = new ArrayList<>();
    String prose = ProseText.of(file, text);
    for (ProseRule rule : ProseRule.values()) {
      Matcher matcher = rule.pattern.matcher(prose);
      while (matcher.find()) {
        int start = ProseText.sentenceStart(prose, matcher.start());
        int end = ProseText.sentenceEnd(prose, matcher.end());
        int line =
            1 + (int) prose.substring(0, matcher.start()).chars().filter(c -> c == '\n').count();
        String sentence = text.substring(start, end).replaceAll("\\s+[*/#]*\\s*", " ").strip();
        findings.add(new Finding(file, line, sentence, rule));
      }
    }
    return findings;
  }

  /** All files with prose, as paths from the root with slashes. */
  private static List<String> files() throws IOException {
    List<String> files = new ArrayList<>();
    try (Stream<Path> top = Files.list(ROOT)) {
      for (Path each : top.sorted().toList()) {
        Path sources = each.resolve("src");
        if (Files.isRegularFile(each)) {
          add(each, files);
        } else if (FOLDERS.contains(each.getFileName().toString())) {
          walk(each, files);
        } else if (Files.isRegularFile(each.resolve("pom.xml")) && Files.isDirectory(sources)) {
          walk(sources, files);
        }
      }
    }
    return files;
  }

  private static void walk(Path folder, List<String> files) throws IOException {
    try (Stream<Path> found = Files.walk(folder)) {
      found.filter(Files::isRegularFile).sorted().forEach(file -> add(file, files));
    }
  }

  private static void add(Path file, List<String> files) {
    String path = ROOT.relativize(file).toString().replace('\\', '/');
    boolean data = path.endsWith(".json") && !path.contains("src/main/resources");
    if (ENDINGS.contains(path.substring(path.lastIndexOf('.') + 1)) && !data) {
      files.add(path);
    }
  }

  /** Paths that are not checked yet, and phrases that are right where they are. */
  private record Exceptions(List<String> paths, List<String[]> phrases, Set<String> used) {
    static Exceptions read() throws IOException {
      List<String> paths = new ArrayList<>();
      List<String[]> phrases = new ArrayList<>();
      try (InputStream list = ProseTest.class.getResourceAsStream("/prose-exceptions.txt")) {
        for (String line : new String(list.readAllBytes(), UTF_8).lines().toList()) {
          String[] parts = line.split(": ", 2);
          if (parts.length == 2 && !line.startsWith("#")) {
            phrases.add(parts);
          } else if (!line.isBlank() && !line.startsWith("#")) {
            paths.add(line.strip());
          }
        }
      }
      return new Exceptions(paths, phrases, new HashSet<>());
    }

    boolean hasFile(String file) {
      return paths.stream().anyMatch(file::startsWith);
    }

    boolean hasSentence(String file, String sentence) {
      for (String[] phrase : phrases) {
        if (file.startsWith(phrase[0]) && sentence.contains(phrase[1])) {
          used.add(String.join(": ", phrase));
          return true;
        }
      }
      return false;
    }

    List<String> unused() {
      return phrases.stream()
          .filter(phrase -> !hasFile(phrase[0]))
          .map(phrase -> String.join(": ", phrase))
          .filter(phrase -> !used.contains(phrase))
          .toList();
    }
  }
}
