package io.radixflow.models.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.models.ModelProgress;
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
        .hasMessageContaining("config.json had a wrong hash and was deleted");
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
        .hasMessageContaining("more bytes of a.gguf than it announced");
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
  void severalGgufModelsAreListedWithTheirSizesForTheUserToChoose() {
    hub.put("a.Q4_1.gguf", content(10));
    hub.put("Q8_0/a.Q8_0-00001-of-00002.gguf", content(100_000_000));
    hub.put("Q8_0/a.Q8_0-00002-of-00002.gguf", content(50_000_000));
    assertThatThrownBy(() -> resolver(false).resolve("owner/name"))
        .hasMessageContaining(
            "owner/name has several models; ask for one of: owner/name/Q8_0/"
                + "a.Q8_0-00001-of-00002.gguf (0.2 GB), owner/name/a.Q4_1.gguf (0.0 GB)");
    assertThatThrownBy(() -> resolver(false).resolve("owner/name:Q4_K_M"))
        .hasMessageContaining("no GGUF file of Q4_K_M; ask for one of: ");
  }

  @Test
  void aQuantisationIsChosenByItsName() throws IOException {
    hub.put("a-Q4_K.gguf", content(10));
    hub.put("a-Q4_K_M.gguf", content(20));
    hub.put("a-Q4_K_M.imatrix.gguf", content(5));
    hub.put("mmproj-a-Q4_K_M.gguf", content(5));
    Path file = resolver(false).resolve("owner/name:q4_k_m").path();
    assertThat(file).hasBinaryContent(content(20));
    assertThat(resolver(true).resolve("owner/name:q4_k_m"))
        .isEqualTo(new ResolvedModel(file, "owner/name:q4_k_m", ResolvedModel.Source.CACHE));
    assertThat(resolver(false).resolve("owner/name:Q4_K").path()).hasBinaryContent(content(10));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "owner/name",
        "owner/name:Q4_K_M",
        "owner/name/Q4_K_M/a-00001-of-00003.gguf",
        "owner/name/Q4_K_M/a-00003-of-00003.gguf"
      })
  void theFilesOfAModelAreFetchedTogetherAndTheFirstIsOpened(String name) throws IOException {
    putParts();
    hub.put("mmproj-F16.gguf", content(50));

    Path first = resolver(false).resolve(name).path();

    assertThat(first).hasFileName("a-00001-of-00003.gguf").hasBinaryContent(content(1000));
    assertThat(first.resolveSibling("a-00002-of-00003.gguf")).hasBinaryContent(content(2000));
    assertThat(first.resolveSibling("a-00003-of-00003.gguf")).hasBinaryContent(content(3000));
    assertThat(names(first.getParent())).hasSize(3);
    assertThat(resolver(true).resolve(name))
        .isEqualTo(new ResolvedModel(first, name, ResolvedModel.Source.CACHE));
  }

  @Test
  void filesOfAModelThatCameAreKeptWhereALaterOneFails() throws IOException {
    putParts();
    hub.serve("Q4_K_M/a-00003-of-00003.gguf", Arrays.copyOf(content(3000), 2999));
    String name = "owner/name/Q4_K_M/a-00001-of-00003.gguf";
    assertThatThrownBy(() -> resolver(false).resolve(name))
        .hasMessageContaining("Q4_K_M/a-00003-of-00003.gguf after 2999 bytes");
    assertThatThrownBy(() -> resolver(true).resolve(name)).hasMessageContaining("not in the cache");

    byte[] other = content(2000);
    other[7] ^= 1;
    hub.put("Q4_K_M/a-00002-of-00003.gguf", other);
    hub.serve("Q4_K_M/a-00003-of-00003.gguf", content(3000));
    Path first = resolver(false).resolve(name).path();

    assertThat(first.resolveSibling("a-00002-of-00003.gguf")).hasBinaryContent(other);
    assertThat(hub.requests().stream().filter("/cdn/Q4_K_M/a-00001-of-00003.gguf"::equals))
        .hasSize(1);
    Files.delete(first.resolveSibling("a-00002-of-00003.gguf"));
    assertThatThrownBy(() -> resolver(true).resolve(name)).hasMessageContaining("not in the cache");
    assertThat(resolver(false).resolve(name).path()).isEqualTo(first);
  }

  @Test
  void aModelOfWhichTheHubLacksAFileIsNotFetched() {
    putParts();
    hub.remove("Q4_K_M/a-00002-of-00003.gguf");
    assertThatThrownBy(() -> resolver(false).resolve("owner/name"))
        .hasMessageContaining("there is no file owner/name/Q4_K_M/a-00002-of-00003.gguf");
    assertThat(hub.requests()).hasSize(1);
  }

  private void putParts() {
    hub.put("Q4_K_M/a-00001-of-00003.gguf", content(1000));
    hub.put("Q4_K_M/a-00002-of-00003.gguf", content(2000));
    hub.put("Q4_K_M/a-00003-of-00003.gguf", content(3000));
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
        "o/n/m/k/a.gguf",
        "o/n/../a.gguf",
        "o/n:Q4_0/a.gguf",
        "o/n:",
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
            "127.0.0.1: it answered with status 404 for SmolLM2-135M-Instruct.Q4_1.gguf")
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
