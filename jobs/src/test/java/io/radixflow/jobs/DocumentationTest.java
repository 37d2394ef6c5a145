package io.radixflow.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.jobs.config.OptionsTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Checks that names and links in the documents are right, and that the documents stay readable. */
class DocumentationTest {
  private static final Path ROOT = Path.of("..");
  private static final int README_LINES = 150;
  private static final int LINE_LENGTH = 120;
  private static final int WORDS = 40_000;

  private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
  private static final Pattern HEADING = Pattern.compile("^#+ (.*)$", Pattern.MULTILINE);
  private static final Pattern TYPE =
      Pattern.compile("`([A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+)(?:\\.[a-z]\\w*)?`");
  private static final Pattern OPTION =
      Pattern.compile(
          "`((?:model|gpu|engine|kv-events|session|operator|generation|events|replies"
              + "|dead-letters|kafka|job|cache|tiers|scheduler)\\.[a-z-]+(?:\\.[a-z-]+)*)`");

  private static final Pattern TABLE_KEY = Pattern.compile("^\\| `([^`]+)`", Pattern.MULTILINE);

  /** Names in the documents that are not types of this project. */
  private static final Set<String> FOREIGN = Set.of("ConfigOption", "MiniCluster");

  private static List<Path> pages() throws IOException {
    try (Stream<Path> docs = Files.list(ROOT.resolve("docs"))) {
      return Stream.concat(
              Stream.of(ROOT.resolve("README.md"), ROOT.resolve("CONTRIBUTING.md")),
              docs.filter(Files::isRegularFile).sorted())
          .toList();
    }
  }

  @Test
  void theReadmeIsShort() throws IOException {
    assertThat(Files.readAllLines(ROOT.resolve("README.md")))
        .hasSizeLessThanOrEqualTo(README_LINES);
  }

  @Test
  void theReadmeAndThePagesHaveFewWords() throws IOException {
    int words = 0;
    for (Path page : pages()) {
      boolean counts = !page.endsWith("CONTRIBUTING.md");
      words += counts ? Files.readString(page).strip().split("\\s+").length : 0;
    }
    assertThat(words).isLessThan(WORDS);
  }

  @Test
  void linesButThoseOfTablesFitAScreen() throws IOException {
    for (Path page : pages()) {
      assertThat(Files.readAllLines(page))
          .as(page.toString())
          .allMatch(line -> line.startsWith("|") || line.length() <= LINE_LENGTH);
    }
  }

  @Test
  void everyLinkLeadsSomewhere() throws IOException {
    for (Path page : pages()) {
      for (String link : all(LINK, Files.readString(page))) {
        if (link.contains("://")) {
          continue;
        }
        String[] parts = link.split("#", 2);
        Path target = parts[0].isEmpty() ? page : page.resolveSibling(parts[0]);
        assertThat(target).as("%s of %s", link, page).exists();
        if (parts.length == 2) {
          assertThat(anchors(target)).as("%s of %s", link, page).contains(parts[1]);
        }
      }
    }
  }

  private static Set<String> anchors(Path page) throws IOException {
    Set<String> anchors = new HashSet<>();
    for (String heading : all(HEADING, Files.readString(page))) {
      String lower = heading.toLowerCase(Locale.ROOT).strip();
      anchors.add(lower.replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-'));
    }
    return anchors;
  }

  @Test
  void everyTypeThatIsNamedIsThere() throws IOException {
    Set<String> types = types();
    for (Path page : pages()) {
      for (String type : all(TYPE, Files.readString(page))) {
        assertThat(types.contains(type) || FOREIGN.contains(type))
            .as("%s of %s", type, page)
            .isTrue();
      }
    }
  }

  private static Set<String> types() throws IOException {
    Set<String> types = new HashSet<>();
    for (Path sources : sources("src")) {
      try (Stream<Path> files = Files.walk(sources)) {
        files
            .map(file -> file.getFileName().toString())
            .filter(name -> name.endsWith(".java"))
            .forEach(name -> types.add(name.substring(0, name.length() - 5)));
      }
    }
    return types;
  }

  @Test
  void everyOptionThatIsNamedIsThere() throws IOException {
    List<String> options = all(TABLE_KEY, OptionsTable.markdown());
    Set<String> packages = packages();
    for (Path page : pages()) {
      for (String option : all(OPTION, Files.readString(page))) {
        boolean known =
            options.contains(option)
                || packages.contains(option)
                || option.startsWith("kafka.client.");
        assertThat(known).as("%s of %s", option, page).isTrue();
      }
    }
  }

  @Test
  void theArchitectureNamesEveryPackage() throws IOException {
    String page = Files.readString(ROOT.resolve("docs").resolve("architecture.md"));
    for (String name : packages()) {
      assertThat(page).contains("`" + name + "`");
    }
  }

  /** Names of all packages of main code, below the project's own. */
  private static Set<String> packages() throws IOException {
    Set<String> names = new TreeSet<>();
    for (Path sources : sources("src/main/java/io/radixflow")) {
      try (Stream<Path> files = Files.walk(sources)) {
        files
            .filter(file -> file.toString().endsWith(".java"))
            .map(file -> sources.relativize(file.getParent()).toString().replace('/', '.'))
            .forEach(names::add);
      }
    }
    return names;
  }

  /** This folder of each module that has it. */
  private static List<Path> sources(String folder) throws IOException {
    try (Stream<Path> modules = Files.list(ROOT)) {
      return modules.map(module -> module.resolve(folder)).filter(Files::isDirectory).toList();
    }
  }

  private static List<String> all(Pattern pattern, String text) {
    List<String> found = new ArrayList<>();
    Matcher matcher = pattern.matcher(text);
    while (matcher.find()) {
      found.add(matcher.group(1));
    }
    return found;
  }
}
