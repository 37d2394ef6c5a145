package io.radixflow.kernels.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.kernels.cpu.attention.CpuKvPool;
import io.radixflow.kernels.cpu.kernel.CompiledKernels;
import io.radixflow.kernels.cpu.kernel.Floats;
import io.radixflow.kernels.cpu.kernel.NativeIsas;
import io.radixflow.kernels.cpu.kernel.NativeKernels;
import io.radixflow.kernels.cpu.step.WorkerTeam;
import io.radixflow.kernels.cpu.weights.Panels;
import io.radixflow.kernels.cpu.weights.WeightFile;
import io.radixflow.kernels.cpu.weights.WeightFiles;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.models.Tensor;
import io.radixflow.models.TensorType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Weights that a file holds, and files that were damaged. */
class WeightFileTest {

  private static final long LIMIT = 1L << 40;
  private static final SyntheticWeights WEIGHTS =
      SyntheticWeights.of(Shapes.llama(), TensorType.Q4_1);
  private static final SyntheticWeights OTHERS =
      SyntheticWeights.of(Shapes.llama(), TensorType.Q8_0);

  @TempDir private Path directory;

  private NativeKernels fast;

  @BeforeEach
  void needsNativeKernels() {
    fast = NativeIsas.products(NativeIsas.required().iterator().next());
  }

  private WeightFiles files(long limit) {
    return new WeightFiles(directory, limit, 0);
  }

  private CpuBackend open(SyntheticWeights weights, WeightFiles files) {
    DeviceOptions options = new DeviceOptions("cpu", 2, KvSpec.Type.F16);
    CpuBackend backend = CpuBackend.open(weights, options, new CompiledKernels(fast), fast, files);
    backend.openPool(4, CpuKvPool.PAGE_TOKENS);
    return backend;
  }

  private static float[][] logits(CpuBackend backend) throws InterruptedException {
    int[] tokens = Sequences.randomTokens(9, backend.model().vocabSize(), 3);
    return Sequences.logits(backend, tokens, 4, Sequences.pages(9));
  }

  private float[][] logitsWithoutFiles() throws InterruptedException {
    try (CpuBackend backend = open(WEIGHTS, null)) {
      return logits(backend);
    }
  }

  /** Opens a model, and closes it after its file is written. Checks the logits. */
  private void openAndClose(WeightFiles files) throws InterruptedException {
    float[][] expected = logitsWithoutFiles();
    try (CpuBackend backend = open(WEIGHTS, files)) {
      assertThat(logits(backend)).isDeepEqualTo(expected);
    }
  }

  private List<Path> names() throws IOException {
    try (Stream<Path> all = Files.list(directory)) {
      return all.filter(path -> !path.endsWith(".lock")).toList();
    }
  }

  private Path onlyFile() throws IOException {
    assertThat(names()).hasSize(1);
    return names().get(0);
  }

  @Test
  void theSecondOpenMapsTheFileOfTheFirst() throws Exception {
    openAndClose(files(LIMIT));
    Path file = onlyFile();
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
    assertThat(files(LIMIT).list().get(0).inUse()).isFalse();
    Files.setLastModifiedTime(file, FileTime.fromMillis(1000));

    try (CpuBackend backend = open(WEIGHTS, files(LIMIT))) {
      assertThat(files(LIMIT).list().get(0).inUse()).isTrue();
      assertThat(files(LIMIT).prune()).isEmpty();
      assertThat(logits(backend)).isDeepEqualTo(logitsWithoutFiles());
    }

    assertThat(Files.getLastModifiedTime(file).toMillis()).isEqualTo(1000);
    assertThat(files(LIMIT).prune()).hasSize(1);
    assertThat(names()).isEmpty();
  }

  @Test
  void matricesOfEveryTypeAreTheSameInTheFile() throws IOException {
    List<List<Tensor>> matrices = new ArrayList<>();
    for (TensorType type : TensorType.values()) {
      matrices.add(List.of(new SyntheticTensor(type.name(), type, 70, 256, 0.7f, 0f, 5)));
    }
    List<Tensor> stacked = new ArrayList<>();
    for (TensorType type : List.of(TensorType.Q4_K, TensorType.F16)) {
      stacked.add(new SyntheticTensor("s" + type, type, 32, 256, 0.7f, 0f, 6));
    }
    matrices.add(stacked);
    AtomicLong bytes = new AtomicLong();
    try (WorkerTeam team = new WorkerTeam(2)) {
      PanelLoader first = new PanelLoader(team, fast, files(LIMIT));
      float[][] expected = rows(first.load(WEIGHTS, matrices, bytes::addAndGet));
      first.close();
      onlyFile();

      PanelLoader second = new PanelLoader(team, fast, files(LIMIT));
      List<Panels> mapped = second.load(WEIGHTS, matrices, more -> bytes.addAndGet(-more));

      assertThat(files(LIMIT).list().get(0).inUse()).isTrue();
      assertThat(rows(mapped)).isDeepEqualTo(expected);
      assertThat(bytes).hasValue(0);
      second.close();
    }
  }

  /** If this fails because panels changed on purpose, change the version too. */
  @Test
  void thePanelsOfAllTypesAreThoseOfTheLayoutVersion() throws IOException {
    List<List<Tensor>> matrices = new ArrayList<>();
    for (TensorType type : TensorType.values()) {
      matrices.add(List.of(new SyntheticTensor(type.name(), type, 70, 512, 0.7f, 0f, 5)));
    }
    try (WorkerTeam team = new WorkerTeam(1)) {
      PanelLoader loader = new PanelLoader(team, fast, files(LIMIT));
      loader.load(WEIGHTS, matrices, bytes -> {});
      loader.close();
    }
    ByteBuffer file = ByteBuffer.wrap(Files.readAllBytes(onlyFile()));
    CRC32C body = new CRC32C();
    body.update(file.position(2 << 20));
    assertThat(WeightFile.LAYOUT_VERSION + " " + Long.toHexString(body.getValue()))
        .isEqualTo("1 86608805");
  }

  private static float[][] rows(List<Panels> matrices) {
    List<float[]> rows = new ArrayList<>();
    for (Panels matrix : matrices) {
      for (int row = 0; row < matrix.rows(); row++) {
        Floats values = Floats.allocate(matrix.columns());
        matrix.row(row, values, 0);
        rows.add(values.toArray());
      }
    }
    return rows.toArray(float[][]::new);
  }

  @ParameterizedTest
  @ValueSource(strings = {"head", "sum", "body", "end", "shorter", "longer", "empty", "shared"})
  void aDamagedFileIsWrittenAgain(String damage) throws Exception {
    openAndClose(files(LIMIT));
    Path file = onlyFile();
    byte[] whole = Files.readAllBytes(file);
    byte[] bytes = whole.clone();
    switch (damage) {
      case "head" -> bytes[20] ^= 1;
      case "sum" -> bytes[81] ^= 1;
      case "body" -> bytes[bytes.length - 5000] ^= 16;
      case "end" -> bytes[bytes.length - 1] ^= 1;
      case "shorter" -> bytes = Arrays.copyOf(bytes, bytes.length - 64);
      case "longer" -> bytes = Arrays.copyOf(bytes, bytes.length + 1);
      case "empty" -> bytes = new byte[0];
      default -> Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw-rw-"));
    }
    Files.write(file, bytes);

    openAndClose(files(LIMIT));

    assertThat(Files.readAllBytes(onlyFile())).isEqualTo(whole);
    assertThat(Files.getPosixFilePermissions(file)).hasSize(2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"truncated", "changed"})
  void aFileThatIsDamagedWhileItIsMappedFailsTheStepAndAllLaterOnes(String damage)
      throws Exception {
    openAndClose(files(LIMIT));
    try (CpuBackend backend = open(WEIGHTS, files(LIMIT))) {
      logits(backend);
      try (FileChannel channel = FileChannel.open(onlyFile(), StandardOpenOption.WRITE)) {
        if (damage.equals("truncated")) {
          channel.truncate(100);
        } else {
          channel.write(ByteBuffer.allocate(64), channel.size() - 64);
        }
      }

      for (int step = 0; step < 2; step++) {
        assertThatThrownBy(() -> logits(backend))
            .cause()
            .hasMessageContaining("truncated or changed while it was used")
            .hasMessageContaining("restart");
      }
    }
    openAndClose(files(LIMIT));
  }

  /** Without the kernels' handler this is how the JVM reports it. */
  @Test
  void otherMappedFilesThatAreTruncatedStayTheMatterOfTheJvm() throws Exception {
    openAndClose(files(LIMIT));
    Path file = Files.write(directory.resolve("other"), new byte[20_000]);
    try (FileChannel channel =
            FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
        CpuBackend backend = open(WEIGHTS, files(LIMIT))) {
      MappedByteBuffer buffer = channel.map(FileChannel.MapMode.READ_ONLY, 0, 20_000);
      channel.truncate(0);

      assertThatThrownBy(() -> sum(buffer)).isInstanceOf(InternalError.class);
      assertThat(logits(backend)).isDeepEqualTo(logitsWithoutFiles());
    }
  }

  private static int sum(MappedByteBuffer buffer) {
    int sum = 0;
    for (int i = 0; i < buffer.limit(); i++) {
      sum += buffer.get(i);
    }
    return sum;
  }

  @Test
  void twoBackendsThatWriteTheSameFileAtOnceLeaveOne() throws Exception {
    float[][] expected = logitsWithoutFiles();
    try (CpuBackend one = open(WEIGHTS, files(LIMIT));
        CpuBackend two = open(WEIGHTS, files(LIMIT))) {
      assertThat(logits(two)).isDeepEqualTo(expected);
      assertThat(logits(one)).isDeepEqualTo(expected);
    }
    onlyFile();
    openAndClose(files(LIMIT));
  }

  @Test
  void aDiskThatIsFullLeavesWeightsInMemory() throws Exception {
    WeightFiles full =
        new WeightFiles(directory, LIMIT, 0) {
          @Override
          protected FileChannel openTemporary(Path temporary) throws IOException {
            return FileChannel.open(Path.of("/dev/full"), StandardOpenOption.WRITE);
          }
        };
    openAndClose(full);
    assertThat(names()).isEmpty();
    WeightFiles small =
        new WeightFiles(directory, LIMIT, 0) {
          @Override
          protected long usableBytes() {
            return 1L << 30;
          }
        };
    openAndClose(small);
    assertThat(names()).isEmpty();
    openAndClose(files(1000));
    assertThat(names()).isEmpty();
    Path file = Files.createFile(directory.resolve("file"));
    openAndClose(new WeightFiles(file, LIMIT, 0));
    assertThat(onlyFile()).isEqualTo(file);
  }

  @Test
  void beyondTheLimitTheFileThatWasUnusedForTheLongestTimeIsDeletedUnlessItIsMapped()
      throws Exception {
    openAndClose(files(LIMIT));
    Path first = onlyFile();
    open(OTHERS, files(LIMIT)).close();
    long limit = Files.size(names().get(0)) + Files.size(names().get(1)) - 1;
    names().stream().filter(path -> !path.equals(first)).forEach(path -> path.toFile().delete());
    Files.write(directory.resolve("stale.tmp"), new byte[10]);

    try (CpuBackend mapped = open(WEIGHTS, files(limit))) {
      open(OTHERS, files(limit)).close();
      assertThat(names()).containsExactly(first);
      assertThat(logits(mapped)).isDeepEqualTo(logitsWithoutFiles());
    }
    open(OTHERS, files(limit)).close();
    assertThat(onlyFile()).isNotEqualTo(first);
  }
}
