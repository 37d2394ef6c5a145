package io.radixflow.kernels.model.hub;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.kernels.model.ModelFormatException;
import io.radixflow.kernels.model.ModelProgress;
import io.radixflow.kernels.model.file.format.BoundedJson;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Models of the hub in the cache, at {@code models/hub/OWNER/NAME} or {@code NAME@REVISION}. A GGUF
 * file is whole once it has its name; a directory is whole once {@code .radixflow.json} lists its
 * files with their sizes.
 */
final class HubStore {
  private static final String MANIFEST = ".radixflow.json";
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

  /** The model's path if it is whole, else null. */
  Path find(HubName name) throws IOException {
    Path directory = directory(name);
    if (name.file() != null) {
      Path file = directory.resolve(name.file());
      return Files.isRegularFile(file) ? file : null;
    }
    Path manifest = directory.resolve(MANIFEST);
    if (!Files.isRegularFile(manifest)) {
      return null;
    }
    try {
      return whole(directory, BoundedJson.object(manifest, MAX_MANIFEST_BYTES));
    } catch (ModelFormatException damaged) {
      return null;
    }
  }

  private static Path whole(Path directory, JsonNode manifest) throws IOException {
    Path only = directory;
    Map<String, JsonNode> sizes = new HashMap<>();
    manifest.path("files").properties().forEach(e -> sizes.put(e.getKey(), e.getValue()));
    for (Map.Entry<String, JsonNode> entry : sizes.entrySet()) {
      Path file = directory.resolve(entry.getKey());
      boolean whole = HubFile.isPlain(entry.getKey()) && Files.isRegularFile(file);
      if (!whole || Files.size(file) != entry.getValue().asLong(-1)) {
        return null;
      }
      if (entry.getKey().endsWith(".gguf")) {
        only = file;
      }
    }
    return sizes.isEmpty() ? null : only;
  }

  /** Fetches what the model needs of its repository. */
  Path fetch(HubName name, HubClient hub, ModelProgress progress)
      throws IOException, InterruptedException {
    HubClient.Listing listing = hub.list(name);
    List<HubFile> files = choose(name, listing.files());
    Path directory = directory(name);
    Files.createDirectories(directory);
    Download download = new Download(hub, progress);
    for (HubFile file : files) {
      download.fetch(name, listing.commit(), file, directory);
    }
    if (name.file() == null) {
      writeManifest(directory, listing.commit(), files);
    }
    return find(name);
  }

  private static List<HubFile> choose(HubName name, List<HubFile> files) throws HubException {
    List<HubFile> gguf = files.stream().filter(f -> f.name().endsWith(".gguf")).toList();
    if (name.file() != null) {
      return gguf.stream()
          .filter(f -> f.name().equals(name.file()))
          .findFirst()
          .map(List::of)
          .orElseThrow(() -> new HubException("there is no file " + name));
    }
    List<HubFile> weights = weights(files);
    boolean configured = files.stream().anyMatch(f -> f.name().equals("config.json"));
    if (configured && !weights.isEmpty()) {
      List<HubFile> chosen = new ArrayList<>(weights);
      files.stream().filter(f -> TEXT_FILES.contains(f.name())).forEach(chosen::add);
      return chosen;
    }
    if (gguf.size() == 1) {
      return gguf;
    }
    if (gguf.isEmpty()) {
      throw new HubException(name + " holds neither safetensors with a config.json nor GGUF files");
    }
    String names = String.join(", ", gguf.stream().map(HubFile::name).limit(30).toList());
    throw new HubException(
        name + " holds several models; ask for " + name + "/ and one of: " + names);
  }

  private static List<HubFile> weights(List<HubFile> files) {
    List<HubFile> sharded =
        files.stream().filter(f -> f.name().equals(INDEX) || f.name().matches(SHARD)).toList();
    if (sharded.stream().anyMatch(f -> f.name().equals(INDEX))) {
      return sharded;
    }
    return files.stream().filter(f -> f.name().equals("model.safetensors")).toList();
  }

  private static void writeManifest(Path directory, String commit, List<HubFile> files)
      throws IOException {
    ObjectMapper mapper = new ObjectMapper();
    ObjectNode manifest = mapper.createObjectNode().put("commit", commit);
    ObjectNode sizes = manifest.putObject("files");
    files.forEach(file -> sizes.put(file.name(), file.size()));
    Path temporary = Files.createTempFile(directory, ".manifest", ".part");
    Files.write(temporary, mapper.writeValueAsBytes(manifest));
    Files.move(
        temporary,
        directory.resolve(MANIFEST),
        StandardCopyOption.ATOMIC_MOVE,
        StandardCopyOption.REPLACE_EXISTING);
  }
}
