package io.radixflow.models.file.format;

import io.radixflow.models.ModelFormatException;
import io.radixflow.models.tensor.OpenFile;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The open GGUF file of a model, or the files into which it was split: {@code
 * NAME-00001-of-00003.gguf} and so on. The first file has the metadata. Each file describes the
 * tensors that it contains.
 */
public final class GgufFiles implements Closeable {
  private static final Pattern NAME = Pattern.compile("(.*-)00001-of-(\\d{5})\\.gguf");
  private static final int MAX_FILES = 256;
  private static final String COUNT = "split.count";
  private static final String NUMBER = "split.no";

  private final Path first;
  private final List<OpenFile> open = new ArrayList<>();
  private final Map<String, GgufTensor> tensors = new LinkedHashMap<>();
  private final Map<String, OpenFile> files = new HashMap<>();
  private GgufMetadata metadata;

  private GgufFiles(Path first) {
    this.first = first;
  }

  /**
   * Opens a file. If it is the first part of a split model, opens the other parts too.
   *
   * @throws ModelFormatException if a file is missing, corrupt or does not belong to the others
   */
  public static GgufFiles open(Path path) throws IOException {
    GgufFiles files = new GgufFiles(path);
    try {
      files.read();
      return files;
    } catch (IOException | RuntimeException | Error e) {
      files.close();
      throw e;
    }
  }

  /**
   * Size of a file in bytes. For the first file of a split model, adds the sizes of the other files
   * that exist.
   */
  public static long bytes(Path first) throws IOException {
    long bytes = Files.size(first);
    Matcher name = NAME.matcher(String.valueOf(first.getFileName()));
    int count = name.matches() ? Math.min(MAX_FILES, Integer.parseInt(name.group(2))) : 1;
    for (int number = 1; number < count; number++) {
      Path other = first.resolveSibling(other(name, number));
      bytes += Files.exists(other) ? Files.size(other) : 0;
    }
    return bytes;
  }

  /** The name of a file other than the first. */
  private static String other(Matcher first, int number) {
    return String.format("%s%05d-of-%s.gguf", first.group(1), number + 1, first.group(2));
  }

  /** The metadata of the first file and the tensors of all files. */
  public GgufFile merged() {
    return new GgufFile(metadata, tensors);
  }

  public List<Path> paths() {
    return open.stream().map(OpenFile::path).toList();
  }

  public OpenFile file(String tensor) {
    return files.get(tensor);
  }

  private void read() throws IOException {
    metadata = add(first);
    long count = metadata.has(COUNT) ? metadata.integer(COUNT) : 1;
    if (count <= 1) {
      return;
    }
    if (metadata.has(NUMBER) && metadata.integer(NUMBER) != 0) {
      throw new ModelFormatException(
          String.format(
              "%s: this is part %s of %s; open the first part, whose name ends with"
                  + " -00001-of-%05d.gguf",
              first, metadata.integer(NUMBER) + 1, count, count));
    }
    Matcher name = NAME.matcher(String.valueOf(first.getFileName()));
    if (count > MAX_FILES || !name.matches() || Integer.parseInt(name.group(2)) != count) {
      throw new ModelFormatException(
          String.format(
              "%s: metadata %s: the file is the first of %s; at most %s are supported, with names"
                  + " that end with -00001-of-%05d.gguf",
              first, COUNT, count, MAX_FILES, count));
    }
    for (int number = 1; number < count; number++) {
      GgufMetadata part = part(first.resolveSibling(other(name, number)));
      if (part.integer(NUMBER) != number || part.integer(COUNT) != count) {
        throw new ModelFormatException(
            String.format(
                "%s: metadata %s: part %s of %s; expected %s of %s",
                part.file(), NUMBER, part.integer(NUMBER), part.integer(COUNT), number, count));
      }
    }
  }

  private GgufMetadata part(Path path) throws IOException {
    try {
      return add(path);
    } catch (NoSuchFileException e) {
      throw new ModelFormatException(first + ": its part " + path.getFileName() + " is missing", e);
    }
  }

  private GgufMetadata add(Path path) throws IOException {
    OpenFile file = OpenFile.open(path);
    open.add(file);
    GgufFile head = GgufFile.read(path, file.channel());
    for (Map.Entry<String, GgufTensor> tensor : head.tensors().entrySet()) {
      if (tensors.put(tensor.getKey(), tensor.getValue()) != null) {
        throw new ModelFormatException(
            path + ": tensor " + tensor.getKey() + " is also in another part");
      }
      files.put(tensor.getKey(), file);
    }
    return head.metadata();
  }

  @Override
  public void close() throws IOException {
    for (OpenFile file : open) {
      file.close();
    }
  }
}
