package io.radixflow.cli.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A broker's directory whose format is damaged: no topic may be lost for it. */
class LocalBrokerFormatTest {

  @TempDir Path directory;
  private Path format;

  @BeforeEach
  void aDirectoryWithTopics() throws IOException {
    Files.createDirectories(directory.resolve("kafka/__cluster_metadata-0"));
    format = directory.resolve("kafka/meta.properties");
  }

  private void assertRefused(String how) {
    assertThatThrownBy(() -> LocalBroker.start(directory))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith(format + " " + how)
        .hasMessageContaining("another directory");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "\u0000garbage", "version=1\nnode.id=7\ncluster.id=x", "node.id=1"})
  void anotherTextIsNotReplaced(String text) throws IOException {
    Files.writeString(format, text);
    assertRefused("does not belong to a broker of this command");
    assertThat(format).hasContent(text);
  }

  @Test
  void aBrokenEscapeIsNotReplaced() throws IOException {
    Files.writeString(format, "node.id=\\u12");
    assertRefused("cannot be read");
  }

  @Test
  void aFolderIsNotReplaced() throws IOException {
    Files.createDirectory(format);
    assertRefused("cannot be read");
  }

  @Test
  void aDirectoryOfTopicsIsNotFormattedAgain() {
    assertRefused("is missing");
    assertThat(format).doesNotExist();
  }
}
