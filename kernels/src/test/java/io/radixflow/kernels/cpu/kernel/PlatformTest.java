package io.radixflow.kernels.cpu.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PlatformTest {

  @ParameterizedTest
  @CsvSource({
    "Linux, amd64, /native/linux-x86_64/libradixflow-cpu.so",
    "Linux, aarch64, /native/linux-aarch64/libradixflow-cpu.so",
    "Mac OS X, aarch64, /native/macos-aarch64/libradixflow-cpu.dylib"
  })
  void eachPlatformHasALibraryOfItsOwn(String system, String architecture, String library) {
    assertThat(Platform.of(system, architecture).library()).isEqualTo(library);
  }

  @Test
  void aPlatformWithoutALibrarySaysWhy() throws IOException {
    assertThat(Platform.of("Plan 9", "mips").description()).matches("none for plan-9-mips: .+");
  }

  @Test
  void theDescriptionNamesTheCompilerOfALibraryThatIsThere() throws IOException {
    Platform here = Platform.current();
    boolean there = Platform.class.getResource(here.library()) != null;

    assertThat(here.description()).matches(there ? here.name() + ", \\w+ [0-9.]+" : "none .*");
  }
}
