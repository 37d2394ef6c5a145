package io.radixflow.kernels.model.file.format;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.kernels.model.ModelFormatException;
import io.radixflow.kernels.model.tensor.MappedTensor;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
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

/**
 * All tensors of a directory's safetensors files: of {@code model.safetensors}, or of the several
 * that {@code model.safetensors.index.json} names. It is open while a model is opened; what was
 * mapped stays mapped when it is closed.
 */
public final class Checkpoint implements Closeable {
  private static final String SINGLE = "model.safetensors";
  private static final String INDEX = "model.safetensors.index.json";
  private static final int MAX_INDEX_BYTES = 1 << 24;
  private static final int MAX_FILES = 1024;

  private record Stored(Path file, SafetensorsFile.Entry entry) {}

  private final Path directory;
  private final Map<Path, FileChannel> channels = new LinkedHashMap<>();
  private final Map<String, Stored> tensors = new LinkedHashMap<>();
  private final Set<String> unused = new LinkedHashSet<>();

  /** Windows of 2 GiB by file and number; each begins 1 GiB after the one before. */
  private final Map<String, ByteBuffer> windows = new HashMap<>();

  private Checkpoint(Path directory) {
    this.directory = directory;
  }

  /** Reads the heads of all files. */
  public static Checkpoint open(Path directory) throws IOException {
    Checkpoint checkpoint = new Checkpoint(directory);
    try {
      checkpoint.read();
    } catch (IOException | RuntimeException e) {
      checkpoint.close();
      throw e;
    }
    return checkpoint;
  }

  private void read() throws IOException {
    Path index = directory.resolve(INDEX);
    if (Files.exists(index)) {
      readShards(index);
    } else if (Files.exists(directory.resolve(SINGLE))) {
      readFile(SINGLE);
    } else {
      throw new ModelFormatException(
          directory + ": neither " + SINGLE + " nor " + INDEX + " is there");
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
    Path file = directory.resolve(name);
    FileChannel channel = FileChannel.open(file);
    channels.put(file, channel);
    Map<String, SafetensorsFile.Entry> found = SafetensorsFile.read(file, channel).tensors();
    for (Map.Entry<String, SafetensorsFile.Entry> tensor : found.entrySet()) {
      Stored other = tensors.put(tensor.getKey(), new Stored(file, tensor.getValue()));
      if (other != null) {
        throw new ModelFormatException(
            String.format(
                "%s: tensor %s is in two files: %s and %s",
                directory, tensor.getKey(), other.file.getFileName(), name));
      }
    }
    return found.keySet();
  }

  /** The files, in an order that their names fix. */
  public Set<Path> files() {
    return channels.keySet();
  }

  public boolean has(String tensor) {
    return tensors.containsKey(tensor);
  }

  /** Names of tensors that were not asked for. */
  public Set<String> unused() {
    return unused;
  }

  /** A tensor that must be there. */
  public SafetensorsFile.Entry entry(String tensor) {
    return stored(tensor).entry;
  }

  /** The file of a tensor, open. */
  public FileChannel channel(String tensor) {
    return channels.get(stored(tensor).file);
  }

  /** An error about a tensor. */
  public ModelFormatException error(String tensor, String what) {
    return new ModelFormatException(where(tensor) + what);
  }

  /** The name of a tensor in errors. */
  public String where(String tensor) {
    return stored(tensor).file + ": tensor " + tensor;
  }

  private Stored stored(String tensor) {
    Stored stored = tensors.get(tensor);
    if (stored == null) {
      throw new ModelFormatException(directory + ": tensor " + tensor + " is missing");
    }
    unused.remove(tensor);
    return stored;
  }

  /** Maps all bytes of a tensor, at most 1 GiB. */
  public ByteBuffer bytes(String tensor) throws IOException {
    return bytes(tensor, 0, entry(tensor).bytes());
  }

  /** Maps some bytes of a tensor, at most 1 GiB, that lie within it. */
  public ByteBuffer bytes(String tensor, long offset, long count) throws IOException {
    Stored stored = stored(tensor);
    if (count > MappedTensor.WINDOW_BYTES) {
      throw error(tensor, ": " + count + " bytes in one piece; at most 1 GiB are read");
    }
    long position = stored.entry.position() + offset;
    long number = position / MappedTensor.WINDOW_BYTES;
    long start = number * MappedTensor.WINDOW_BYTES;
    String key = number + " " + stored.file;
    ByteBuffer window = windows.get(key);
    if (window == null) {
      FileChannel channel = channels.get(stored.file);
      long size = Math.min(Integer.MAX_VALUE, channel.size() - start);
      window = channel.map(FileChannel.MapMode.READ_ONLY, start, size);
      windows.put(key, window);
    }
    return window.slice((int) (position - start), (int) count).order(ByteOrder.LITTLE_ENDIAN);
  }

  @Override
  public void close() throws IOException {
    for (FileChannel channel : channels.values()) {
      channel.close();
    }
  }
}
