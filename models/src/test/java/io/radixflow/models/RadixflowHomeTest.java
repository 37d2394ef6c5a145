package io.radixflow.models;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RadixflowHomeTest {

  private static final Path DATABASE = Path.of(System.getProperty("user.home"));

  @Test
  void oneVariableNamesEverything() {
    Map<String, String> variables =
        Map.of("RADIXFLOW_HOME", "/r", "XDG_CACHE_HOME", "/c", "XDG_DATA_HOME", "/d", "HOME", "/h");
    assertThat(new RadixflowHome(variables).cache()).isEqualTo(Path.of("/r"));
    assertThat(new RadixflowHome(variables).conversations()).isEqualTo(Path.of("/r"));
  }

  @Test
  void theSpecificationsVariablesComeBeforeTheHome() {
    Map<String, String> variables =
        Map.of("XDG_CACHE_HOME", "/c", "XDG_DATA_HOME", "/d", "HOME", "/h");
    assertThat(new RadixflowHome(variables).cache()).isEqualTo(Path.of("/c/radixflow"));
    assertThat(new RadixflowHome(variables).conversations()).isEqualTo(Path.of("/d/radixflow"));
  }

  @Test
  void theHomeOfTheEnvironmentComesBeforeThatOfTheUserDatabase() {
    RadixflowHome asked = new RadixflowHome(Map.of("HOME", "/h", "RADIXFLOW_HOME", " "));
    assertThat(asked.cache()).isEqualTo(Path.of("/h/.cache/radixflow"));
    assertThat(asked.conversations()).isEqualTo(Path.of("/h/.local/share/radixflow"));
    RadixflowHome none = new RadixflowHome(Map.of());
    assertThat(none.cache()).isEqualTo(DATABASE.resolve(".cache/radixflow"));
    assertThat(none.conversations()).isEqualTo(DATABASE.resolve(".local/share/radixflow"));
  }

  @Test
  void aRelativePathIsIgnored() {
    RadixflowHome home =
        new RadixflowHome(Map.of("HOME", "h", "XDG_CACHE_HOME", "c", "XDG_DATA_HOME", ""));
    assertThat(home.cache()).isEqualTo(DATABASE.resolve(".cache/radixflow"));
    assertThat(home.conversations()).isEqualTo(DATABASE.resolve(".local/share/radixflow"));
  }
}
