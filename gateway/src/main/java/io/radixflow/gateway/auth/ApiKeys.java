package io.radixflow.gateway.auth;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.radixflow.gateway.auth.AuthDecision.Outcome;
import io.radixflow.models.io.RegularFiles;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file of API keys, as JSON lines. It is read again when it changes; if the changed file has an
 * error, the old keys stay valid. Thread-safe.
 */
public final class ApiKeys {

  private static final Logger LOG = LoggerFactory.getLogger(ApiKeys.class);
  private static final int MAX_FILE_BYTES = 16 << 20;
  private static final ObjectMapper MAPPER = new ObjectMapper();

  /**
   * The key to compare with if no line has the id, so that an unknown id takes as long as a wrong
   * key.
   */
  private static final ApiKey NONE = ApiKey.make("", List.of(), 0, 0).line();

  private final Path file;
  private final LongSupplier nanoTime;
  private volatile Map<String, KeyLimits> byId = Map.of();
  private volatile String version = "";

  private ApiKeys(Path file, LongSupplier nanoTime) {
    this.file = file;
    this.nanoTime = nanoTime;
  }

  /**
   * Reads a file.
   *
   * @throws IOException if it cannot be read, or a line is wrong; the message says which
   */
  public static ApiKeys read(Path file) throws IOException {
    return read(file, System::nanoTime);
  }

  static ApiKeys read(Path file, LongSupplier nanoTime) throws IOException {
    ApiKeys keys = new ApiKeys(file, nanoTime);
    keys.load();
    return keys;
  }

  /** Reads the file again if it has changed. Blocks: call it on a worker thread. */
  public void reload() {
    try {
      if (!version().equals(version)) {
        load();
        LOG.info("The API keys were read again: {} keys in {}", byId.size(), file);
      }
    } catch (IOException e) {
      LOG.warn("The API keys stay as they were: {}", e.getMessage());
    }
  }

  private String version() throws IOException {
    FileTime changed = Files.getLastModifiedTime(file);
    return changed.toMillis() + "/" + Files.size(file);
  }

  private synchronized void load() throws IOException {
    String found = version();
    if (Files.size(RegularFiles.require(file)) > MAX_FILE_BYTES) {
      throw new IOException(file + " is larger than " + MAX_FILE_BYTES + " bytes");
    }
    Map<String, KeyLimits> keys = new HashMap<>();
    int number = 0;
    for (String line : Files.readAllLines(file)) {
      number++;
      if (line.isBlank() || line.startsWith("#")) {
        continue;
      }
      ApiKey key = parse(line, number);
      KeyLimits before = byId.get(key.id());
      boolean same = before != null && before.key().toJson().equals(key.toJson());
      if (keys.put(key.id(), same ? before : new KeyLimits(key, nanoTime.getAsLong())) != null) {
        throw new IOException(file + ", line " + number + ": the id is there twice");
      }
    }
    byId = Map.copyOf(keys);
    version = found;
  }

  private ApiKey parse(String line, int number) throws IOException {
    try {
      return ApiKey.read(JsonObject.of(MAPPER.readTree(line), "the line"));
    } catch (JsonProcessingException e) {
      throw new IOException(
          file + ", line " + number + " is not valid JSON: " + e.getOriginalMessage(), e);
    } catch (InvalidInputException e) {
      throw new IOException(file + ", line " + number + ": " + e.getMessage(), e);
    }
  }

  /**
   * Decides whether to admit a request, by its key.
   *
   * @param text the key that was sent, or null
   */
  public AuthDecision admit(String text) {
    String id = "";
    String secret = "";
    if (text != null && text.startsWith(ApiKey.PREFIX)) {
      int end = text.indexOf('_', ApiKey.PREFIX.length());
      if (end > 0) {
        id = text.substring(ApiKey.PREFIX.length(), end);
        secret = text.substring(end + 1);
      }
    }
    KeyLimits found = byId.get(id);
    boolean matches = (found == null ? NONE : found.key()).matches(secret);
    return found == null || !matches
        ? AuthDecision.refused(Outcome.UNKNOWN_KEY, 0)
        : found.admit(nanoTime.getAsLong());
  }
}
