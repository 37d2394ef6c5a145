package io.radixflow.models.file.format;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.models.ModelFormatException;
import io.radixflow.models.io.RegularFiles;
import io.radixflow.models.tensor.FileBytes;
import io.radixflow.models.tensor.OpenFile;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * All tensors in a directory's safetensors files: {@code model.safetensors}, or the files that
 * {@code model.safetensors.index.json} lists. It stays open as long as the model.
 */
public final class Checkpoint implements Closeable {
  private static final String SINGLE = "model.safetensors";
  private static final String INDEX = "model.safetensors.index.json";
  private static final int MAX_INDEX_BYTES = 1 << 24;
  private static final int MAX_FILES = 1024;

  /**
   * @param name name of the tensor in its file
   */
  private record Stored(OpenFile file, String name, SafetensorsFile.Entry entry) {}

  private final Path directory;
  private final UnaryOperator<String> names;
  private final Map<Path, OpenFile> files = new LinkedHashMap<>();
  private final Map<String, Stored> tensors = new LinkedHashMap<>();
  private final Set<String> unused = new LinkedHashSet<>();

  /** Bytes returned so far, by offset, size and tensor. Several parts of a graph share them. */
  private final Map<String, FileBytes> shared = new HashMap<>();

  private Checkpoint(Path directory, UnaryOperator<String> names) {
    this.directory = directory;
    this.names = names;
  }

  /**
   * Reads the heads of all files.
   *
   * @param names returns the name by which callers ask for a tensor of the files; null to ignore
   *     the tensor
   */
  public static Checkpoint open(Path directory, UnaryOperator<String> names) throws IOException {
    Checkpoint checkpoint = new Checkpoint(directory, names);
    try {
      checkpoint.read();
    } catch (IOException | RuntimeException | Error e) {
      checkpoint.close();
      throw e;
    }
    return checkpoint;
  }

  private void read() throws IOException {
    Path index = directory.resolve(INDEX);
    if (RegularFiles.isThere(directory.resolve(SINGLE))) {
      // an index next to this file remains from an earlier state of the directory
      readFile(SINGLE);
    } else if (RegularFiles.isThere(index)) {
      readShards(index);
    } else {
      throw new ModelFormatException(directory + " has neither " + SINGLE + " nor " + INDEX);
    }
    unused.addAll(tensors.keySet());
  }

  private void readShards(Path index) throws IOException {
    JsonNode map = BoundedJson.object(index, MAX_INDEX_BYTES).path("weight_map");
    Map<String, List<String>> files = new TreeMap<>();
    for (Map.Entry<String, JsonNode> tensor : map.properties()) {
      String name = tensor.getValue().asText();
      if (!name.matches("[A-Za-z0-9_][A-Za-z0-9._-]{0,200}\\.safetensors")) {
        throw new ModelFormatException(
            String.format(
                "%s: weight_map: '%s' is not the name of a safetensors file",
                index, ModelFormatException.printable(name)));
      }
      files.computeIfAbsent(name, key -> new ArrayList<>()).add(tensor.getKey());
    }
    if (files.isEmpty() || files.size() > MAX_FILES) {
      throw new ModelFormatException(
          String.format(
              "%s: weight_map names %s files; 1 to %s are possible",
              index, files.size(), MAX_FILES));
    }
    refuseMissing(index, files.keySet());
    for (Map.Entry<String, List<String>> file : files.entrySet()) {
      Set<String> found = readFile(file.getKey());
      for (String tensor : file.getValue()) {
        if (!found.contains(tensor)) {
          throw new ModelFormatException(
              String.format(
                  "%s: weight_map has tensor %s in %s, which does not have it; fetch both files "
                      + "again",
                  index, ModelFormatException.printable(tensor), file.getKey()));
        }
      }
    }
  }

  private void refuseMissing(Path index, Set<String> files) {
    List<String> missing =
        files.stream().filter(file -> !Files.exists(directory.resolve(file))).toList();
    if (!missing.isEmpty()) {
      throw new ModelFormatException(
          String.format(
              "%s: %s of its %s files are missing: %s%s; fetch the model again",
              index,
              missing.size(),
              files.size(),
              String.join(", ", missing.subList(0, Math.min(3, missing.size()))),
              missing.size() > 3 ? ", …" : ""));
    }
  }

  private Set<String> readFile(String name) throws IOException {
    Path path = directory.resolve(name);
    OpenFile file = OpenFile.open(path);
    files.put(path, file);
    Map<String, SafetensorsFile.Entry> found = SafetensorsFile.read(path, file.channel()).tensors();
    for (Map.Entry<String, SafetensorsFile.Entry> tensor : found.entrySet()) {
      add(new Stored(file, tensor.getKey(), tensor.getValue()));
    }
    return found.keySet();
  }

  private void add(Stored tensor) {
    String name = names.apply(tensor.name);
    Stored other = name == null ? null : tensors.put(name, tensor);
    if (other != null) {
      throw new ModelFormatException(
          String.format(
              "%s: tensor %s is in two files: %s and %s",
              directory,
              tensor.name,
              other.file.path().getFileName(),
              tensor.file.path().getFileName()));
    }
  }

  /** The files, in an order that depends only on their names. */
  public Set<Path> files() {
    return files.keySet();
  }

  public boolean has(String tensor) {
    return tensors.containsKey(tensor);
  }

  /** Names of tensors that were never requested. */
  public Set<String> unused() {
    return unused;
  }

  /** Returns a tensor, which must exist. */
  public SafetensorsFile.Entry entry(String tensor) {
    return stored(tensor).entry;
  }

  public OpenFile file(String tensor) {
    return stored(tensor).file;
  }

  public ModelFormatException error(String tensor, String what) {
    return new ModelFormatException(where(tensor) + what);
  }

  /** The name of a tensor in errors. */
  public String where(String tensor) {
    Stored stored = stored(tensor);
    return stored.file.path() + ": tensor " + stored.name;
  }

  /** The name of a tensor in errors, with its name in the graph. */
  public String where(String tensor, String inGraph) {
    return where(tensor) + " (" + inGraph + ")";
  }

  private Stored stored(String tensor) {
    Stored stored = tensors.get(tensor);
    if (stored == null) {
      throw new ModelFormatException(directory + ": tensor " + tensor + " is missing");
    }
    unused.remove(tensor);
    return stored;
  }

  /** All bytes of a tensor, at most 1 GiB. */
  public FileBytes bytes(String tensor) {
    return bytes(tensor, 0, entry(tensor).bytes());
  }

  /** At most 1 GiB of bytes of a tensor. The range must be inside the tensor. */
  public FileBytes bytes(String tensor, long offset, long count) {
    Stored stored = stored(tensor);
    if (count > OpenFile.MOST_BYTES) {
      throw error(tensor, ": " + count + " bytes in one piece; at most 1 GiB are read");
    }
    long position = stored.entry.position() + offset;
    return shared.computeIfAbsent(
        offset + " " + count + " " + tensor,
        key -> new FileBytes(stored.file, tensor, position, (int) count));
  }

  @Override
  public void close() throws IOException {
    for (OpenFile file : files.values()) {
      file.close();
    }
  }
}
