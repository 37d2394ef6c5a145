package io.radixflow.tools.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Test;

/** Tests the content of the jar that a user puts on a Flink cluster. */
class JobJarIT {

  private static List<String> classes(String jar) throws IOException {
    try (ZipFile file = new ZipFile(Path.of(jar).toFile())) {
      return file.stream()
          .map(ZipEntry::getName)
          .filter(name -> name.startsWith("io/radixflow/") && name.endsWith(".class"))
          .toList();
    }
  }

  @Test
  void theJobJarHasTheJobAndNoClassOfToolsOrLab() throws IOException {
    assertThat(classes("../jobs/target/radixflow-job.jar"))
        .contains("io/radixflow/jobs/RadixflowJob.class")
        .allSatisfy(
            name ->
                assertThat(name)
                    .startsWith("io/radixflow/")
                    .doesNotStartWith("io/radixflow/tools/")
                    .doesNotStartWith("io/radixflow/lab/")
                    .doesNotStartWith("io/radixflow/kernels/"));
  }

  @Test
  void theLibraryForFlinksLibHasTheKernelsAlone() throws IOException {
    assertThat(classes("../kernels/target/radixflow-kernels-lib.jar"))
        .isNotEmpty()
        .allSatisfy(name -> assertThat(name).startsWith("io/radixflow/kernels/"));
  }
}
