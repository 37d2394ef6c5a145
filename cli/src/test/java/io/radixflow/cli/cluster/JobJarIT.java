package io.radixflow.cli.cluster;

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
                    .doesNotStartWith("io/radixflow/cli/")
                    .doesNotStartWith("io/radixflow/lab/")
                    .doesNotMatch("io/radixflow/(kernels|models|text|grammar)/.*"));
  }

  @Test
  void theLibraryForFlinksLibHasKernelsModelsTextAndGrammarsOnly() throws IOException {
    assertThat(classes("../engine/target/radixflow-kernels-lib.jar"))
        .isNotEmpty()
        .allSatisfy(
            name -> assertThat(name).matches("io/radixflow/(kernels|models|text|grammar)/.*"));
  }
}
