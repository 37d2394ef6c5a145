package io.radixflow.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.radixflow.protocol.PublicApi;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;

/**
 * The baseline of the public API, with which japicmp compares the jar of the job: a jar of the
 * classes that jobs may use. After an intended change run this test with {@code -Dapi.update=true}
 * and commit the file.
 */
class PublicApiTest {
  private static final Path BASELINE = Path.of("src/api/baseline.jar");
  private static final long EPOCH = 315_532_800_000L; // the first time that a ZIP entry can hold

  private static Set<String> published() {
    return new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages(
                "io.radixflow.protocol", "io.radixflow.engine", "io.radixflow.operators")
            .stream()
            .filter(PublicApiTest::isPublished)
            .map(type -> type.getName().replace('.', '/') + ".class")
            .collect(Collectors.toCollection(TreeSet::new));
  }

  private static boolean isPublished(JavaClass type) {
    if ((type.getPackageName() + ".").startsWith("io.radixflow.protocol.record.")) {
      return !type.getSimpleName().equals("package-info");
    }
    JavaClass top = type;
    while (top.getEnclosingClass().isPresent()) {
      top = top.getEnclosingClass().get();
    }
    return top.isAnnotatedWith(PublicApi.class) || top.isEquivalentTo(PublicApi.class);
  }

  @Test
  void theBaselineHasEveryTypeThatJobsMayUse() throws IOException {
    Set<String> published = published();
    if (Boolean.getBoolean("api.update")) {
      write(published);
    }
    try (ZipFile baseline = new ZipFile(BASELINE.toFile())) {
      assertThat(baseline.stream().map(ZipEntry::getName))
          .containsExactlyInAnyOrderElementsOf(published);
    }
  }

  private static void write(Set<String> names) throws IOException {
    try (OutputStream file = Files.newOutputStream(BASELINE);
        ZipOutputStream jar = new ZipOutputStream(file)) {
      for (String name : names) {
        ZipEntry entry = new ZipEntry(name);
        entry.setTime(EPOCH);
        jar.putNextEntry(entry);
        jar.write(PublicApi.class.getResourceAsStream("/" + name).readAllBytes());
        jar.closeEntry();
      }
    }
  }
}
