package io.radixflow.kernels.model.file;

import io.radixflow.kernels.model.ModelFormatException;
import io.radixflow.kernels.model.Tensor;
import io.radixflow.kernels.model.tensor.MappedTensor;
import io.radixflow.kernels.model.tensor.Mxfp4Tensor;
import io.radixflow.kernels.model.tensor.StoredPart;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * The experts of a checkpoint in MXFP4: gathers the stored tensors of codes and of exponents, which
 * may be in different files, and makes the graph's tensors of them.
 */
final class Mxfp4Experts {

  private static final String CODES = "_blocks";
  private static final String EXPONENTS = "_scales";

  private record Stored(Path file, long position) {}

  /** Parts of the graph, by canonical name; stored as {@code NAME_blocks}, {@code NAME_scales}. */
  private final Map<String, StoredPart> parts = new HashMap<>();

  private final Map<String, long[]> shapes = new HashMap<>();
  private final Map<String, Stored> stored = new HashMap<>();

  /** Takes the parts that are experts' matrices out of {@code all}. */
  Mxfp4Experts(Map<String, StoredPart> all) {
    for (Map.Entry<String, StoredPart> entry : all.entrySet()) {
      StoredPart part = entry.getValue();
      if (part.name().endsWith(CODES)) {
        parts.put(entry.getKey(), part);
        long[] shape = part.shape();
        shapes.put(part.name(), shape);
        shapes.put(exponents(part), Arrays.copyOf(shape, shape.length - 1));
      }
    }
    all.keySet().removeAll(parts.keySet());
  }

  private static String exponents(StoredPart part) {
    return part.name().substring(0, part.name().length() - CODES.length()) + EXPONENTS;
  }

  /** Returns whether a stored tensor belongs to experts; remembers where it is. */
  boolean accept(Path file, String name, SafetensorsFile.Entry entry) {
    long[] shape = shapes.get(name);
    if (shape == null) {
      return false;
    }
    long bytes = 1;
    for (long size : shape) {
      bytes *= size;
    }
    boolean fits = Arrays.equals(shape, entry.shape()) && entry.bytes() == bytes;
    if (!fits || !entry.type().equals("U8")) {
      throw new ModelFormatException(
          String.format(
              "%s: tensor %s is %s of %s; expected U8 of %s",
              file, name, entry.type(), Arrays.toString(entry.shape()), Arrays.toString(shape)));
    }
    if (stored.put(name, new Stored(file, entry.position())) != null) {
      throw new ModelFormatException(file + ": tensor " + name + " is in two files");
    }
    return true;
  }

  /** Maps all experts into {@code tensors}. */
  void map(Path directory, Map<String, Tensor> tensors) throws IOException {
    Map<Path, FileChannel> channels = new HashMap<>();
    try {
      for (Map.Entry<String, StoredPart> entry : parts.entrySet()) {
        StoredPart part = entry.getValue();
        ByteBuffer codes = bytes(directory, channels, part, part.name());
        ByteBuffer exponents = bytes(directory, channels, part, exponents(part));
        tensors.put(entry.getKey(), new Mxfp4Tensor(entry.getKey(), part, codes, exponents));
      }
    } finally {
      for (FileChannel channel : channels.values()) {
        channel.close();
      }
    }
  }

  /** Maps one expert's share of a stored tensor. */
  private ByteBuffer bytes(
      Path directory, Map<Path, FileChannel> channels, StoredPart part, String name)
      throws IOException {
    Stored where = stored.get(name);
    if (where == null) {
      throw new ModelFormatException(directory + ": tensor " + name + " is missing");
    }
    FileChannel channel = channels.get(where.file);
    if (channel == null) {
      channel = FileChannel.open(where.file);
      channels.put(where.file, channel);
    }
    long[] shape = shapes.get(name);
    long size = 1;
    for (int i = 1; i < shape.length; i++) {
      size *= shape[i];
    }
    if (size > MappedTensor.WINDOW_BYTES) {
      throw new ModelFormatException(
          directory + ": tensor " + name + " has experts of " + size + " bytes; at most 1 GiB");
    }
    long expert = part.place().columnStride();
    return channel.map(FileChannel.MapMode.READ_ONLY, where.position + expert * size, size);
  }
}
