package io.radixflow.models.file;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ContentFingerprintTest {
  private static final int SIZE = 20 << 20;

  @TempDir Path directory;
  @TempDir Path home;
  private Path file;
  private final byte[] content = new byte[SIZE];

  @BeforeEach
  void writeFile() throws IOException {
    file = Files.write(directory.resolve("model"), content);
  }

  @Test
  void everyByteChangesTheFingerprint() throws IOException {
    String plain = fingerprint(later());
    for (int position : new int[] {0, 8 << 20, SIZE - 1}) {
      content[position] = 1;
      Files.write(file, content);
      assertThat(fingerprint(later())).isNotEqualTo(plain);
      content[position] = 0;
    }
    Files.write(file, content);
    assertThat(fingerprint(later())).isEqualTo(plain);
    Files.write(file, new byte[SIZE - 1]);
    assertThat(fingerprint(later())).isNotEqualTo(plain);
  }

  @Test
  void theSameBytesInAnotherPlaceAreTheSameModel() throws IOException {
    Path copy = Files.copy(file, directory.resolve("copy"));
    assertThat(new ContentFingerprint(List.of(copy), home, later()).get())
        .isEqualTo(fingerprint(later()));
  }

  @Test
  void aSettledFileIsRememberedAndFoundAgain() throws IOException {
    String first = fingerprint(later());
    Path entry = entries().get(0);
    assertThat(Files.readAllLines(entry)).hasSize(2).last().isEqualTo(first);
    Files.write(entry, List.of(Files.readAllLines(entry).get(0), "0123456789abcdef"));
    assertThat(fingerprint(later())).isEqualTo("0123456789abcdef");
  }

  @Test
  void aFileThatJustChangedIsNotRemembered() throws IOException {
    fingerprint(Clock.systemUTC());
    assertThat(entries()).isEmpty();
  }

  @Test
  void aChangedOrDamagedEntryIsNotBelieved() throws IOException {
    String first = fingerprint(later());
    Path entry = entries().get(0);
    Files.write(entry, List.of("1 2 3", "0123456789abcdef"));
    assertThat(fingerprint(later())).isEqualTo(first);
    Files.writeString(entry, "");
    assertThat(fingerprint(later())).isEqualTo(first);
  }

  @Test
  void aHomeThatCannotBeWrittenDoesNotMatter() throws IOException {
    Path blocked = Files.createFile(directory.resolve("blocked"));
    assertThat(new ContentFingerprint(List.of(file), blocked, later()).get())
        .isEqualTo(fingerprint(later()));
  }

  private String fingerprint(Clock clock) {
    return new ContentFingerprint(List.of(file), home, clock).get();
  }

  private static Clock later() {
    return Clock.fixed(Instant.now().plus(Duration.ofHours(1)), ZoneOffset.UTC);
  }

  private List<Path> entries() throws IOException {
    Path store = home.resolve("fingerprints");
    if (!Files.exists(store)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(store)) {
      return files.toList();
    }
  }
}
