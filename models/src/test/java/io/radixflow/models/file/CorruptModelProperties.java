package io.radixflow.models.file;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.radixflow.models.GraphTensors;
import io.radixflow.models.ModelFormatException;
import io.radixflow.models.Tensor;
import io.radixflow.models.TinyModels;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** Whatever bytes a model consists of, it opens or is refused, and neither costs much memory. */
class CorruptModelProperties {
  private static final long MAX_ALLOCATION = 64 << 20;
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private static final List<GgufBuilder> CONVERTED = new ArrayList<>();

  /** Bytes put over others at a place. */
  record Patch(int position, byte[] bytes) {}

  @Provide
  Arbitrary<Patch> patches() {
    Arbitrary<byte[]> bytes =
        Arbitraries.oneOf(
            Arbitraries.bytes().array(byte[].class).ofMinSize(1).ofMaxSize(4),
            Arbitraries.of(
                GgufBuilder.longs(-1),
                GgufBuilder.longs(Long.MAX_VALUE),
                GgufBuilder.longs(1L << 31),
                GgufBuilder.longs(1L << 22),
                GgufBuilder.longs(0),
                GgufBuilder.ints(9),
                GgufBuilder.ints(8)));
    return Combinators.combine(Arbitraries.integers().between(0, 3000), bytes).as(Patch::new);
  }

  @Property(tries = 150)
  void patchedGguf(@ForAll("patches") Patch patch) throws IOException {
    byte[] bytes = Files.readAllBytes(TinyModels.path("llama-q4_0"));
    apply(patch, bytes);
    tryGguf(bytes);
  }

  @Provide
  Arbitrary<Object> values() {
    return Arbitraries.of(
        -1,
        0,
        1,
        3,
        1 << 27,
        Integer.MIN_VALUE,
        0f,
        -2f,
        1e-40f,
        Float.NaN,
        Float.POSITIVE_INFINITY,
        Float.MAX_VALUE,
        true,
        "yarn",
        List.of(true, false, true, true),
        List.of(1, 2),
        List.of(0.5f),
        List.of());
  }

  /** Any two values of the metadata are others, of another type or size. */
  @Property(tries = 400)
  void changedMetadata(
      @ForAll @IntRange(max = 1000) int model,
      @ForAll @IntRange(max = 1000) int first,
      @ForAll("values") Object value,
      @ForAll @IntRange(max = 1000) int second,
      @ForAll("values") Object other)
      throws IOException {
    GgufBuilder gguf = converted().get(model % TinyDirectory.all().size());
    List<String> keys = new ArrayList<>(gguf.metadata.keySet());
    Map<String, Object> before = new LinkedHashMap<>(gguf.metadata);
    gguf.with(keys.get(first % keys.size()), value).with(keys.get(second % keys.size()), other);
    byte[] bytes = gguf.bytes();
    gguf.metadata.putAll(before);
    tryGguf(bytes);
  }

  private static synchronized List<GgufBuilder> converted() throws IOException {
    if (CONVERTED.isEmpty()) {
      for (String config : TinyDirectory.all()) {
        Path directory = TinyDirectory.write(Files.createTempDirectory("tiny"), config);
        CONVERTED.add(GgufConversion.convert(directory));
        delete(directory);
      }
    }
    return CONVERTED;
  }

  @Property(tries = 150)
  void truncatedAndLengthenedGguf(@ForAll @IntRange(max = 70_000) int length) throws IOException {
    tryGguf(Arrays.copyOf(Files.readAllBytes(TinyModels.path("llama-q4_1")), length));
  }

  @Property(tries = 150)
  void randomBytesBehindAGgufHeader(@ForAll @Size(max = 400) byte[] tail) throws IOException {
    byte[] head = GgufBuilder.join(GgufBuilder.ints(0x46554747, 3), GgufBuilder.longs(1, 2));
    tryGguf(GgufBuilder.join(head, tail));
  }

  @Property(tries = 150)
  void patchedSafetensors(@ForAll("patches") Patch patch) throws IOException {
    tryDirectory("model.safetensors", patch);
  }

  @Property(tries = 150)
  void patchedConfig(@ForAll("patches") Patch patch) throws IOException {
    tryDirectory("config.json", patch);
  }

  @Property(tries = 100)
  void patchedQuantisedSafetensors(
      @ForAll QuantisedCopy.Format format, @ForAll("patches") Patch patch) throws IOException {
    patchQuantised(format, "model.safetensors", patch);
  }

  @Property(tries = 50)
  void patchedConfigOfQuantisedSafetensors(
      @ForAll QuantisedCopy.Format format, @ForAll("patches") Patch patch) throws IOException {
    patchQuantised(format, "config.json", patch);
  }

  private static void patchQuantised(QuantisedCopy.Format format, String name, Patch patch)
      throws IOException {
    Path directory = Files.createTempDirectory("corrupt");
    Path dense = Files.createTempDirectory("dense");
    QuantisedCopy.write(TinyModels.path("llama"), format, directory, dense);
    delete(dense);
    patch(directory.resolve(name), patch);
    tryOpen(directory);
  }

  @Property(tries = 150)
  void truncatedSafetensors(@ForAll @IntRange(max = 100_000) int length) throws IOException {
    Path directory = copy("mistral");
    Path file = directory.resolve("model.safetensors");
    Files.write(file, Arrays.copyOf(Files.readAllBytes(file), length));
    tryOpen(directory);
  }

  private static void apply(Patch patch, byte[] bytes) {
    int position = patch.position() % bytes.length;
    int length = Math.min(patch.bytes().length, bytes.length - position);
    System.arraycopy(patch.bytes(), 0, bytes, position, length);
  }

  private static void tryGguf(byte[] bytes) throws IOException {
    tryOpen(Files.write(Files.createTempFile("corrupt", ".gguf"), bytes));
  }

  private static void tryDirectory(String name, Patch patch) throws IOException {
    Path directory = copy("mistral");
    patch(directory.resolve(name), patch);
    tryOpen(directory);
  }

  private static void patch(Path file, Patch patch) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    apply(patch, bytes);
    Files.write(file, bytes);
  }

  private static Path copy(String model) throws IOException {
    Path directory = Files.createTempDirectory("corrupt");
    try (Stream<Path> files = Files.list(TinyModels.path(model))) {
      for (Path file : files.toList()) {
        Files.copy(file, directory.resolve(file.getFileName()));
      }
    }
    return directory;
  }

  /** Opens and reads everything, then deletes. */
  private static void tryOpen(Path path) throws IOException {
    long before = THREADS.getCurrentThreadAllocatedBytes();
    try (ModelFile model = ModelFile.open(path, path)) {
      for (String name : GraphTensors.of(model.config()).keySet()) {
        Tensor tensor = model.tensor(name);
        float[] row = new float[tensor.columns()];
        for (int i = 0; i < tensor.rows(); i++) {
          tensor.dequantize(i, row, 0);
        }
      }
    } catch (ModelFormatException refused) {
      assertThat(refused.getMessage()).contains(path.toString());
    }
    assertThat(THREADS.getCurrentThreadAllocatedBytes() - before).isLessThan(MAX_ALLOCATION);
    delete(path);
  }

  private static void delete(Path path) throws IOException {
    if (Files.isDirectory(path)) {
      try (Stream<Path> files = Files.list(path)) {
        for (Path file : files.toList()) {
          Files.delete(file);
        }
      }
    }
    Files.delete(path);
  }
}
