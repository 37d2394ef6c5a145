package io.radixflow.kernels.model.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.kernels.model.ModelProgress;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ModelResolverTest {
  private static final List<String> NO_PIP = List.of("/nonexistent/python3", "-m", "pip");

  @TempDir Path home;
  private FakeHub hub;
  private final Steps steps = new Steps();

  /** Remembers steps and counts bytes. */
  private static final class Steps implements ModelProgress {
    final List<String> lines = new ArrayList<>();
    long resumed;
    long bytes;

    @Override
    public void step(String text) {
      lines.add(text);
    }

    @Override
    public void begin(String what, long totalBytes, long doneBytes) {
      resumed += doneBytes;
    }

    @Override
    public void advance(long count) {
      bytes += count;
    }

    @Override
    public void end() {}
  }

  @BeforeEach
  void startHub() throws IOException {
    hub = new FakeHub();
  }

  @AfterEach
  void stopHub() {
    hub.close();
  }

  @Test
  void aPathThatExistsIsTakenWithoutTheNetwork() throws IOException {
    Path file = Files.createFile(home.resolve("my.gguf"));
    ResolvedModel found = resolver(false).resolve(file.toString());
    assertThat(found).isEqualTo(new ResolvedModel(file, "my", ResolvedModel.Source.PATH));
    assertThat(hub.requests()).isEmpty();
  }

  @Test
  void aFileOfTheHubIsFetchedOnceThroughItsRedirect() throws IOException {
    byte[] content = content(300_000);
    hub.put("a.gguf", content);
    ResolvedModel found = resolver(false).resolve("owner/name/a.gguf");
    assertThat(found.path()).hasBinaryContent(content);
    assertThat(found.source()).isEqualTo(ResolvedModel.Source.HUB);
    int requests = hub.requests().size();
    assertThat(resolver(true).resolve("owner/name/a.gguf").source())
        .isEqualTo(ResolvedModel.Source.CACHE);
    assertThat(hub.requests()).hasSize(requests);
  }

  @Test
  void aDirectoryOfTheHubHasItsWeightsAndTextFilesOnly() throws IOException {
    hub.put("config.json", content(900));
    hub.put("tokenizer.json", content(5000));
    hub.put("README.md", content(100));
    hub.put("model-00001-of-00002.safetensors", content(20_000));
    hub.put("model-00002-of-00002.safetensors", content(10_000));
    hub.put("model.safetensors.index.json", content(700));
    Path directory = resolver(false).resolve("owner/name").path();
    assertThat(names(directory))
        .containsExactlyInAnyOrder(
            ".radixflow.json",
            "config.json",
            "tokenizer.json",
            "model.safetensors.index.json",
            "model-00001-of-00002.safetensors",
            "model-00002-of-00002.safetensors");
    assertThat(resolver(true).resolve("owner/name").source()).isEqualTo(ResolvedModel.Source.CACHE);
  }

  @Test
  void aRevisionIsFetchedAndKeptBesideTheMainBranch() throws IOException {
    byte[] newest = content(30_000);
    hub.put("a.gguf", newest);
    Path main = resolver(false).resolve("owner/name/a.gguf").path();
    hub.revision = "v1.0";
    byte[] older = content(20_000);
    hub.put("a.gguf", older);

    ResolvedModel found = resolver(false).resolve("owner/name/a.gguf@v1.0");

    assertThat(found.name()).isEqualTo("owner/name/a.gguf@v1.0");
    assertThat(found.path()).hasBinaryContent(older);
    assertThat(main).hasBinaryContent(newest);
    assertThat(resolver(true).resolve("owner/name/a.gguf@v1.0").source())
        .isEqualTo(ResolvedModel.Source.CACHE);
    assertThat(hub.requests()).contains("/api/models/owner/name/revision/v1.0");
  }

  @Test
  void aDirectoryOfARevisionIsChecked() throws IOException {
    hub.revision = "0123abc";
    hub.put("config.json", content(900));
    hub.put("model.safetensors", content(20_000));

    Path directory = resolver(false).resolve("owner/name@0123abc").path();

    assertThat(directory.getFileName()).hasToString("name@0123abc");
    hub.revision = "other";
    hub.serve("config.json", content(901));
    assertThatThrownBy(() -> resolver(false).resolve("owner/name@other"))
        .isInstanceOf(ModelUnavailableException.class);
    assertThatThrownBy(() -> resolver(false).resolve("owner/name@missing"))
        .hasMessageContaining("there is no model owner/name@missing");
  }

  @Test
  void aSmallFileWithAnotherGitHashIsRefused() {
    hub.put("config.json", content(900));
    hub.put("model.safetensors", content(20_000));
    byte[] other = content(900);
    other[5] ^= 1;
    hub.serve("config.json", other);

    assertThatThrownBy(() -> resolver(false).resolve("owner/name"))
        .hasMessageContaining("config.json came with a wrong hash and was removed");
  }

  @Test
  void aDirectoryThatLostAFileIsCompletedAgain() throws IOException {
    hub.put("config.json", content(900));
    hub.put("model.safetensors", content(20_000));
    Path directory = resolver(false).resolve("owner/name").path();
    Files.delete(directory.resolve("config.json"));
    assertThat(resolver(false).resolve("owner/name").source()).isEqualTo(ResolvedModel.Source.HUB);
    assertThat(directory.resolve("config.json")).hasBinaryContent(content(900));
  }

  @Test
  void aBrokenConnectionIsResumedWhereItBroke() throws IOException {
    byte[] content = content(200_000);
    hub.put("a.gguf", content);
    hub.breakAfter = 70_000;
    assertThat(resolver(false).resolve("owner/name/a.gguf").path()).hasBinaryContent(content);
    List<Long> starts =
        hub.requests().stream()
            .filter(r -> r.startsWith("/cdn/a.gguf"))
            .map(r -> r.replaceAll("\\D", ""))
            .map(digits -> digits.isEmpty() ? 0 : Long.parseLong(digits))
            .toList();
    // How much of a broken answer arrives is the network's choice, but never more than was sent.
    assertThat(starts).isSorted().startsWith(0L).hasSizeGreaterThanOrEqualTo(3);
    assertThat(starts.get(starts.size() - 1)).isGreaterThanOrEqualTo(200_000 - 70_000);
    assertThat(steps.bytes).isEqualTo(200_000);
  }

  @Test
  void aLaterAttemptResumesFromThePartThatWasDownloaded() throws IOException {
    byte[] content = content(200_000);
    hub.put("a.gguf", content);
    part(content, 150_000);
    assertThat(resolver(false).resolve("owner/name/a.gguf").path()).hasBinaryContent(content);
    assertThat(hub.requests()).contains("/cdn/a.gguf bytes=150000-").doesNotContain("/cdn/a.gguf");
    assertThat(steps.resumed).isEqualTo(150_000);
    assertThat(steps.bytes).isEqualTo(50_000);
  }

  @Test
  void aServerWithoutRangesSendsTheWholeFileAgain() throws IOException {
    byte[] content = content(200_000);
    hub.put("a.gguf", content);
    hub.ignoresRange = true;
    part(content, 150_000);
    assertThat(resolver(false).resolve("owner/name/a.gguf").path()).hasBinaryContent(content);
  }

  @Test
  void aFileWithTheWrongHashIsRefusedAndRemoved() throws IOException {
    hub.put("a.gguf", content(1000));
    byte[] other = content(1000);
    other[500] ^= 1;
    hub.serve("a.gguf", other);
    assertThatThrownBy(() -> resolver(false).resolve("owner/name/a.gguf"))
        .isInstanceOf(ModelUnavailableException.class)
        .hasMessageContaining("wrong hash");
    assertThat(names(home.resolve("models/hub/owner/name"))).isEmpty();
  }

  @Test
  void aServerThatSendsMoreThanAnnouncedIsCutOff() throws IOException {
    hub.put("a.gguf", content(1000));
    hub.serve("a.gguf", content(1_000_000));
    assertThatThrownBy(() -> resolver(false).resolve("owner/name/a.gguf"))
        .hasMessageContaining("more of a.gguf than it announced");
  }

  @Test
  void aServerThatSendsLessThanAnnouncedIsNotRetriedForEver() {
    hub.put("a.gguf", content(1000));
    hub.serve("a.gguf", new byte[0]);
    assertThatThrownBy(() -> resolver(false).resolve("owner/name/a.gguf"))
        .isInstanceOf(ModelUnavailableException.class);
    assertThat(hub.requests().size()).isLessThan(10);
  }

  @Test
  void anUnknownModelOrFileIsNamed() {
    assertThatThrownBy(() -> resolver(false).resolve("other/name"))
        .isInstanceOf(ModelUnavailableException.class)
        .hasMessageContaining("there is no model other/name");
    assertThatThrownBy(() -> resolver(false).resolve("owner/name/b.gguf"))
        .hasMessageContaining("there is no file owner/name/b.gguf");
  }

  @Test
  void severalGgufFilesAreListedForTheUserToChoose() {
    hub.put("a.Q4_1.gguf", content(10));
    hub.put("a.Q8_0.gguf", content(10));
    assertThatThrownBy(() -> resolver(false).resolve("owner/name"))
        .hasMessageContaining("a.Q4_1.gguf")
        .hasMessageContaining("a.Q8_0.gguf");
  }

  @Test
  void anUnreachableHubIsReportedInOneLine() {
    URI closed = hub.uri();
    hub.close();
    ModelResolver resolver =
        new ModelResolver(new ResolverOptions(home, closed, false, NO_PIP), steps);
    assertThatThrownBy(() -> resolver.resolve("owner/name"))
        .isInstanceOf(ModelUnavailableException.class)
        .hasMessage("model owner/name cannot be fetched: 127.0.0.1: it cannot be reached")
        .hasNoCause();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[]",
        "{}",
        "not json",
        "{\"sha\":\"../../etc\",\"siblings\":[]}",
        "{\"sha\":\"0123456789abcdef0123456789abcdef01234567\",\"siblings\":[{\"rfilename\":"
            + "\"../a.gguf\",\"lfs\":{\"sha256\":\"00\",\"size\":1}}]}",
        "{\"sha\":\"0123456789abcdef0123456789abcdef01234567\",\"siblings\":7}"
      })
  void aHubThatAnswersNonsenseIsRefused(String listing) {
    hub.listing = listing;
    assertThatThrownBy(() -> resolver(false).resolve("owner/name/a.gguf"))
        .isInstanceOf(ModelUnavailableException.class);
    assertThat(hub.requests()).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "../name",
        "owner/..",
        "owner/name/../../x.gguf",
        "/etc/none",
        "owner",
        "owner/name/x.bin",
        "owner//name",
        "o/n/m/a.gguf",
        ".hidden/name",
        "owner/na me",
        "owner/name\u0000"
      })
  void aTextThatIsNoHubNameIsRefusedWithoutTheNetwork(String name) {
    assertThatThrownBy(() -> resolver(false).resolve(name))
        .isInstanceOf(ModelUnavailableException.class)
        .hasMessageContaining("owner/name");
    assertThat(hub.requests()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"owner/name", "", "SmolLM2-135M-Instruct"})
  void offlineTheNetworkIsNeverTouched(String name) {
    assertThatThrownBy(() -> resolver(true).resolve(name))
        .isInstanceOf(ModelUnavailableException.class)
        .hasMessageContaining("not in the cache")
        .hasMessageContaining("--model PATH");
    assertThat(hub.requests()).isEmpty();
  }

  @Test
  void theDefaultModelThatNobodyHasIsOneLineEach() {
    assertThatThrownBy(() -> resolver(false).resolve(null))
        .isInstanceOf(ModelUnavailableException.class)
        .hasMessageContaining(
            "127.0.0.1: it answers SmolLM2-135M-Instruct.Q4_1.gguf with status 404")
        .hasMessageContaining("pip: ")
        .hasMessageContaining("--model PATH");
    assertThat(steps.lines).allSatisfy(line -> assertThat(line).doesNotContain("\n"));
  }

  @Test
  void twoResolversThatWantTheSameModelFetchItOnce() throws Exception {
    byte[] content = content(2_000_000);
    hub.put("a.gguf", content);
    CyclicBarrier start = new CyclicBarrier(2);
    Callable<Path> task =
        () -> {
          ModelResolver resolver =
              new ModelResolver(
                  new ResolverOptions(home, hub.uri(), false, NO_PIP), ModelProgress.NONE);
          start.await();
          return resolver.resolve("owner/name/a.gguf").path();
        };
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try {
      for (Future<Path> result : threads.invokeAll(List.of(task, task))) {
        assertThat(result.get()).hasBinaryContent(content);
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(hub.requests().stream().filter("/cdn/a.gguf"::equals)).hasSize(1);
  }

  private ModelResolver resolver(boolean offline) {
    return new ModelResolver(new ResolverOptions(home, hub.uri(), offline, NO_PIP), steps);
  }

  private void part(byte[] content, int bytes) throws IOException {
    Path directory = Files.createDirectories(home.resolve("models/hub/owner/name"));
    Path whole = Files.write(home.resolve("whole"), content);
    String hash = FileHashes.of(whole, false).substring(0, 12);
    Files.write(directory.resolve("a.gguf." + hash + ".part"), Arrays.copyOf(content, bytes));
  }

  private static List<String> names(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.map(file -> file.getFileName().toString()).toList();
    }
  }

  private static byte[] content(int size) {
    byte[] content = new byte[size];
    new Random(size).nextBytes(content);
    return content;
  }
}
