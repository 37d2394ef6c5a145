package io.radixflow.operators.tier;

import static io.radixflow.operators.tier.RocksDbDirectoryTest.entries;
import static io.radixflow.operators.tier.RocksDbDirectoryTest.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.apache.commons.io.FileUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DirectoryGenerationsTest {
  private static final String ENGINE = "engine";

  @TempDir Path root;

  @Test
  void theGenerationThatACheckpointNamesIsOpened() throws IOException {
    GenerationRef first;
    try (DirectoryGenerations made = open(List.of())) {
      made.live().put(entries(0, 10, 1));
      first = made.make(1);
      made.live().put(entries(10, 10, 1));
      made.make(2);
    }
    try (DirectoryGenerations restored = open(List.of(first))) {
      assertThat(restored.live().size()).isEqualTo(10);
      restored.live().put(entries(30, 5, 1));
    }
    try (DirectoryGenerations again = open(List.of(first))) {
      assertThat(again.live().size()).as("a generation never changes").isEqualTo(10);
    }
  }

  @Test
  void withoutACheckpointTheDirectoryIsAsTheProcessLeftIt() throws IOException {
    try (DirectoryGenerations made = open(List.of())) {
      made.live().put(entries(0, 10, 1));
      made.make(1);
      made.live().put(entries(10, 10, 1));
    }
    GenerationRef others = new GenerationRef("another", 1, "00");
    try (DirectoryGenerations restored = open(List.of(others))) {
      assertThat(restored.live().size()).isEqualTo(20);
    }
  }

  @Test
  void aGenerationThatWasChangedIsNotTrusted() throws IOException {
    GenerationRef ref;
    try (DirectoryGenerations made = open(List.of())) {
      made.live().put(entries(0, 10, 1));
      ref = made.make(1);
      made.live().put(entries(10, 1, 1));
    }
    Files.writeString(root.resolve("gen-1/CURRENT"), "MANIFEST-999999\n");
    try (DirectoryGenerations restored = open(List.of(ref))) {
      assertThat(restored.live().size()).isEqualTo(11);
    }
  }

  @Test
  void aDamagedDirectoryIsReplacedByAGenerationAndWithoutOneByAnEmptyOne() throws IOException {
    try (DirectoryGenerations made = open(List.of())) {
      made.live().put(entries(0, 10, 1));
      made.make(1);
    }
    damage(root.resolve("live"));
    try (DirectoryGenerations found = open(List.of())) {
      assertThat(found.live().size()).isEqualTo(10);
    }
    damage(root.resolve("live"));
    FileUtils.deleteDirectory(root.resolve("gen-1").toFile());
    try (DirectoryGenerations empty = open(List.of())) {
      assertThat(empty.live().size()).isZero();
      empty.live().put(entries(0, 1, 1));
      assertThat(empty.live().get(id(0))).isNotNull();
    }
  }

  @Test
  void theLastCompleteGenerationsAreKeptAndFailedOnesAreNot() throws IOException {
    try (DirectoryGenerations made = open(List.of())) {
      for (long checkpoint = 1; checkpoint <= 4; checkpoint++) {
        made.make(checkpoint);
        made.complete(checkpoint);
      }
      made.make(5);
      made.failed(5);
      made.make(6);
      assertThat(generations()).containsExactlyInAnyOrder("gen-3", "gen-4", "gen-6");
    }
  }

  @Test
  void generationsWhoseEndNobodyTellsAreBounded() throws IOException {
    try (DirectoryGenerations made = open(List.of())) {
      for (long checkpoint = 1; checkpoint <= 20; checkpoint++) {
        made.make(checkpoint);
      }
      assertThat(generations()).hasSize(DirectoryGenerations.MOST).contains("gen-20");
    }
  }

  @Test
  void subtasksThatShareAnEngineShareItsGenerations() throws IOException {
    try (DirectoryGenerations made = open(List.of())) {
      GenerationRef first = made.make(1);
      made.live().put(entries(0, 10, 1));
      assertThat(made.make(1)).isSameAs(first);
    }
  }

  @Test
  void aJobThatBeginsToCountAnewReplacesGenerations() throws IOException {
    try (DirectoryGenerations made = open(List.of())) {
      made.make(7);
      made.make(1);
    }
    GenerationRef again;
    try (DirectoryGenerations made = open(List.of())) {
      made.live().put(entries(0, 10, 1));
      again = made.make(1);
    }
    try (DirectoryGenerations restored = open(List.of(again))) {
      assertThat(restored.live().size()).isEqualTo(10);
    }
  }

  @Test
  void aClosedDirectoryMakesNoGeneration() throws IOException {
    DirectoryGenerations made = open(List.of());
    made.close();
    assertThatThrownBy(() -> made.make(1)).isInstanceOf(IOException.class);
  }

  @Test
  void aDirectoryThatAnotherHasOpenIsLeftAsItIs() throws IOException {
    try (DirectoryGenerations used = open(List.of())) {
      used.live().put(entries(0, 10, 1));
      GenerationRef ref = used.make(1);
      used.live().put(entries(10, 10, 1));

      assertThatThrownBy(() -> open(List.of())).isInstanceOf(DirectoryInUseException.class);
      assertThatThrownBy(() -> open(List.of(ref))).isInstanceOf(DirectoryInUseException.class);
      used.make(2);
    }
    try (DirectoryGenerations next = open(List.of())) {
      assertThat(next.live().size()).isEqualTo(20);
    }
  }

  private DirectoryGenerations open(List<GenerationRef> restored) throws IOException {
    return DirectoryGenerations.open(root, ENGINE, restored);
  }

  private List<String> generations() throws IOException {
    try (Stream<Path> files = Files.list(root)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> !name.equals("live"))
          .toList();
    }
  }

  private static void damage(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.filter(f -> f.toString().contains("MANIFEST")).toList()) {
        Files.write(file, new byte[] {1});
      }
    }
  }
}
