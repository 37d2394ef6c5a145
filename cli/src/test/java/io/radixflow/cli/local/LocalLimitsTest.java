package io.radixflow.cli.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LocalLimitsTest {

  private static final Path DATA = Path.of("/data");
  private static final long ENOUGH = 1L << 32;

  @TempDir Path directory;

  @Test
  void whatIsTooLittleIsNamedWithWhatToDo() {
    assertThat(new LocalLimits(ENOUGH, ENOUGH, ENOUGH).problems(DATA)).isEmpty();
    assertThat(new LocalLimits(200, ENOUGH, ENOUGH).problems(DATA))
        .singleElement()
        .asString()
        .contains("200 files", "ulimit -n 4096");
    assertThat(new LocalLimits(ENOUGH, 64 << 20, ENOUGH).problems(DATA))
        .singleElement()
        .asString()
        .contains("64 MB", "RADIXFLOW_JAVA_OPTS=-Xmx1g");
    assertThat(new LocalLimits(ENOUGH, ENOUGH, 3 << 20).problems(DATA))
        .singleElement()
        .asString()
        .contains("/data has 3 MB", "free some");
    assertThat(new LocalLimits(0, 0, 0).problems(DATA)).hasSize(3);
  }

  @Test
  void aDirectoryThatIsNotThereYetHasTheSpaceOfItsParent() throws IOException {
    LocalLimits limits = LocalLimits.of(directory.resolve("not").resolve("there"));
    assertThat(limits.diskBytes()).isPositive();
    assertThat(limits.files()).isPositive();
  }

  @Test
  void aBrokerThatGaveUpSaysWhatItSawAndWhatIsTooLittle() {
    BrokerFailure failure = new BrokerFailure(directory, message -> {});
    assertThat(failure.text("Fatal error"))
        .startsWith("the Kafka broker of this process gave up: Fatal error");
    assertThat(failure.text(null)).startsWith("the Kafka broker of this process gave up");
  }
}
