package io.radixflow.models.hub;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.models.ModelFormatException;
import io.radixflow.models.ModelProgress;
import io.radixflow.models.file.format.BoundedJson;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The hub's models in the cache, at {@code models/hub/OWNER/NAME} or {@code NAME@REVISION}. A model
 * that is one GGUF file requested by name is complete once the file has its final name. Any other
 * model is complete once a manifest such as {@code .radixflow.json} lists its files with their
 * sizes.
 */
final class HubStore {
  private static final int MAX_MANIFEST_BYTES = 1 << 22;
  private static final Set<String> TEXT_FILES =
      Set.of(
          "config.json",
          "generation_config.json",
          "tokenizer.json",
          "tokenizer_config.json",
          "special_tokens_map.json",
          "added_tokens.json",
          "vocab.json",
          "merges.txt",
          "tokenizer.model",
          "chat_template.jinja",
          "chat_template.json");
  private static final String INDEX = "model.safetensors.index.json";
  private static final String SHARD = "model-\\d{5}-of-\\d{5}\\.safetensors";

  private final Path root;

  HubStore(Path models) {
    root = models.resolve("hub");
  }

  Path directory(HubName name) {
    return root.resolve(name.owner()).resolve(name.name() + name.suffix());
  }

  /** Returns the model's path if it is complete, else null. */
  Path find(HubName name) throws IOException {
    Path directory = directory(name);
    Path manifest = manifest(name);
    if (manifest == null) {
      Path file = directory.resolve(name.file());
      return Files.isRegularFile(file) ? file : null;
    }
    if (!Files.isRegularFile(manifest)) {
      return null;
    }
    try {
      return whole(directory, BoundedJson.object(manifest, MAX_MANIFEST_BYTES));
    } catch (ModelFormatException damaged) {
      return null;
    }
  }

  /**
   * Returns the manifest, which lists a model's files; null for a model that is one file requested
   * by name, which needs none.
   */
  private Path manifest(HubName name) {
    String of = name.quantisation() == null ? "" : "-" + name.quantisation();
    if (name.file() != null) {
      List<String> parts = GgufChoice.parts(name.file());
      if (parts.size() == 1) {
        return null;
      }
      of = "-" + parts.get(0).replace("/", "--");
    }
    return directory(name).resolve(".radixflow" + of + ".json");
  }

  /**
   * Returns the directory, or the first GGUF file that the manifest lists; null if a file is
   * missing.
   */
  private static Path whole(Path directory, JsonNode manifest) throws IOException {
    Path opened = null;
    for (Map.Entry<String, JsonNode> entry : manifest.path("files").properties()) {
      Path file = directory.resolve(entry.getKey());
      boolean whole = HubFile.isPlain(entry.getKey()) && Files.isRegularFile(file);
      if (!whole || Files.size(file) != entry.getValue().asLong(-1)) {
        return null;
      }
      if (opened == null) {
        opened = entry.getKey().endsWith(".gguf") ? file : directory;
      }
    }
    return opened;
  }

  /** Fetches the files that the model needs from its repository. */
  Path fetch(HubName name, HubClient hub, ModelProgress progress)
      throws IOException, InterruptedException {
    HubClient.Listing listing = hub.list(name);
    List<HubFile> files = choose(name, listing.files());
    Path directory = directory(name);
    Path manifest = manifest(name);
    Files.createDirectories(directory);
    if (manifest != null) {
      Files.deleteIfExists(manifest);
    }
    Download download = new Download(hub, progress);
    Download.room(directory, files);
    for (HubFile file : files) {
      download.fetch(name, listing.commit(), file, directory);
    }
    if (manifest != null) {
      writeManifest(manifest, listing.commit(), files);
    }
    return find(name);
  }

  private static List<HubFile> choose(HubName name, List<HubFile> files) throws HubException {
    List<HubFile> weights = weights(files);
    boolean directory = name.file() == null && name.quantisation() == null;
    boolean configured = files.stream().anyMatch(f -> f.name().equals("config.json"));
    if (directory && configured && !weights.isEmpty()) {
      List<HubFile> chosen = new ArrayList<>(weights);
      files.stream().filter(f -> TEXT_FILES.contains(f.name())).forEach(chosen::add);
      return chosen;
    }
    return new GgufChoice(name, files).files();
  }

  private static List<HubFile> weights(List<HubFile> files) {
    List<HubFile> sharded =
        files.stream().filter(f -> f.name().equals(INDEX) || f.name().matches(SHARD)).toList();
    if (sharded.stream().anyMatch(f -> f.name().equals(INDEX))) {
      return sharded;
    }
    return files.stream().filter(f -> f.name().equals("model.safetensors")).toList();
  }

  private static void writeManifest(Path target, String commit, List<HubFile> files)
      throws IOException {
    ObjectMapper mapper = new ObjectMapper();
    ObjectNode manifest = mapper.createObjectNode().put("commit", commit);
    ObjectNode sizes = manifest.putObject("files");
    files.forEach(file -> sizes.put(file.name(), file.size()));
    Path temporary = Files.createTempFile(target.getParent(), ".manifest", ".part");
    Files.write(temporary, mapper.writeValueAsBytes(manifest));
    Files.move(
        temporary, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }
}
