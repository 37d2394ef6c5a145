package io.radixflow.kernels.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.cpu.attention.CpuKvPool;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.models.ResourceFolder;
import io.radixflow.models.file.GgufConversion;
import io.radixflow.models.file.ModelFile;
import io.radixflow.models.file.TinyDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A model computes the same from a GGUF file as from the directory that it was made of. */
class GgufArchitecturesTest {

  /** Lengths that leave windows of 16 and original contexts of 32 behind. */
  private static final int TOKENS = 70;

  /**
   * Models whose logits may differ in the last bits: the converter reorders the rows of queries and
   * keys, so that sums run in another order, or a factor is a double in JSON and a float in GGUF.
   */
  private static final Pattern INEXACT =
      Pattern.compile(
          "\"(llama|mistral|mixtral|ministral|ministral3|granite|smollm3)\"|long_factor|attention_factor");

  @TempDir Path directory;

  static Stream<Arguments> models() {
    return TinyDirectory.all().stream().map(Arguments::of);
  }

  static Stream<Arguments> latent() {
    return TinyDirectory.LATENT.stream().map(Arguments::of);
  }

  @ParameterizedTest
  @MethodSource("models")
  void logitsEqualThoseFromTheDirectory(String config) throws IOException, InterruptedException {
    check(TinyDirectory.write(directory.resolve("model"), config));
  }

  @ParameterizedTest
  @CsvSource({"cohere2", "olmo3", "phi3-longrope", "deepseek_v3", "gpt_oss-mxfp4"})
  void logitsOfModelsOfTransformersEqualThoseFromTheDirectory(String name)
      throws IOException, InterruptedException {
    check(ResourceFolder.of("/architectures/" + name));
  }

  @ParameterizedTest
  @MethodSource("latent")
  void headsInOneMatrixAreReadAsFilesHadThemBefore(String config)
      throws IOException, InterruptedException {
    Path model = TinyDirectory.write(directory.resolve("model"), config);
    check(model, GgufConversion.convertAsBefore(model, directory.resolve("older.gguf")));
  }

  static Stream<Arguments> mixtures() {
    return TinyDirectory.MIXTURES.stream()
        .filter(config -> !config.contains("gpt_oss"))
        .map(Arguments::of);
  }

  @ParameterizedTest
  @MethodSource("mixtures")
  void gatesOfExpertsMayBeInOneTensorWithTheirUpProjections(String config)
      throws IOException, InterruptedException {
    Path model = TinyDirectory.write(directory.resolve("model"), config);
    check(model, GgufConversion.convertJoined(model, directory.resolve("joined.gguf")));
  }

  private void check(Path model) throws IOException, InterruptedException {
    check(model, GgufConversion.convert(model, directory.resolve("model.gguf")));
  }

  private static void check(Path model, Path gguf) throws IOException, InterruptedException {
    float[][] expected = logits(model);
    float[][] logits = logits(gguf);
    boolean exact = !INEXACT.matcher(Files.readString(model.resolve("config.json"))).find();
    assertThat(logits).hasDimensions(TOKENS, expected[0].length);
    float largest = 0;
    for (int position = 0; position < TOKENS; position++) {
      for (int id = 0; id < logits[position].length; id++) {
        largest = Math.max(largest, Math.abs(logits[position][id] - expected[position][id]));
      }
    }
    assertThat(largest).as("largest difference").isLessThanOrEqualTo(exact ? 0 : 2e-5f);
  }

  private static float[][] logits(Path model) throws IOException, InterruptedException {
    DeviceOptions options = new DeviceOptions("cpu", 2, KvSpec.Type.F32);
    try (ModelFile file = ModelFile.open(model);
        CpuBackend backend = CpuBackend.open(file, options)) {
      backend.openPool(16, CpuKvPool.PAGE_TOKENS);
      int[] ids = Sequences.randomTokens(TOKENS, file.config().vocabSize(), 7);
      return Sequences.logits(backend, ids, 32, Sequences.pages(TOKENS));
    }
  }
}
