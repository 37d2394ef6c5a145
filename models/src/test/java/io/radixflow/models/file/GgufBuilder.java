package io.radixflow.models.file;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Writes small GGUF files, right or wrong: by default a llama of one layer and width 32. */
final class GgufBuilder {

  /**
   * @param dimensions columns first
   * @param type ggml's number
   * @param offset in the data; negative for the next free one
   */
  record TensorEntry(String name, long[] dimensions, int type, long offset, int bytes) {}

  /** A value written as it is, after its type number. */
  record Raw(int type, byte[] bytes) {}

  final Map<String, Object> metadata = new LinkedHashMap<>();
  final List<TensorEntry> tensors = new ArrayList<>();
  private final Map<String, byte[]> contents = new HashMap<>();
  int magic = 0x46554747;
  int version = 3;
  long tensorCount = -1;
  long entryCount = -1;

  static GgufBuilder llama() {
    GgufBuilder builder = new GgufBuilder();
    builder.metadata.put("general.architecture", "llama");
    builder.metadata.put("llama.context_length", 64);
    builder.metadata.put("llama.embedding_length", 32);
    builder.metadata.put("llama.block_count", 1);
    builder.metadata.put("llama.feed_forward_length", 64);
    builder.metadata.put("llama.attention.head_count", 2);
    builder.metadata.put("llama.attention.head_count_kv", 1);
    builder.metadata.put("llama.attention.layer_norm_rms_epsilon", 1e-5f);
    builder.floats("token_embd.weight", 32, 8);
    builder.floats("blk.0.attn_norm.weight", 32);
    builder.floats("blk.0.attn_q.weight", 32, 32);
    builder.floats("blk.0.attn_k.weight", 32, 16);
    builder.floats("blk.0.attn_v.weight", 32, 16);
    builder.floats("blk.0.attn_output.weight", 32, 32);
    builder.floats("blk.0.ffn_norm.weight", 32);
    builder.floats("blk.0.ffn_gate.weight", 32, 64);
    builder.floats("blk.0.ffn_up.weight", 32, 64);
    builder.floats("blk.0.ffn_down.weight", 64, 32);
    builder.floats("output_norm.weight", 32);
    return builder;
  }

  GgufBuilder floats(String name, long... dimensions) {
    long bytes = 4;
    for (long dimension : dimensions) {
      bytes *= dimension;
    }
    tensors.add(new TensorEntry(name, dimensions, 0, -1, (int) bytes));
    return this;
  }

  /** Adds a tensor of a type that ggml has this number for, with its bytes. */
  GgufBuilder tensor(String name, int type, byte[] content, long... dimensions) {
    tensors.add(new TensorEntry(name, dimensions, type, -1, content.length));
    contents.put(name, content);
    return this;
  }

  /** Joins the gate and up projections of experts in one tensor, expert by expert. */
  GgufBuilder joinGatesOfExperts() {
    for (TensorEntry gate : List.copyOf(tensors)) {
      String up = gate.name().replace("ffn_gate_exps.weight", "ffn_up_exps.weight");
      if (!up.equals(gate.name())) {
        int experts = (int) gate.dimensions()[2];
        int size = gate.bytes() / experts;
        byte[] both = new byte[2 * gate.bytes()];
        for (int i = 0; i < 2 * experts; i++) {
          byte[] from = contents.get(i % 2 == 0 ? gate.name() : up);
          System.arraycopy(from, i / 2 * size, both, i * size, size);
        }
        without(gate.name()).without(up);
        String name = gate.name().replace("ffn_gate_exps", "ffn_gate_up_exps");
        tensor(name, gate.type(), both, gate.dimensions()[0], 2 * gate.dimensions()[1], experts);
      }
    }
    return this;
  }

  GgufBuilder without(String tensor) {
    tensors.removeIf(entry -> entry.name().equals(tensor));
    return this;
  }

  GgufBuilder with(String key, Object value) {
    metadata.put(key, value);
    return this;
  }

  GgufBuilder replace(String tensor, long[] dimensions, int type, long offset, int bytes) {
    tensors.replaceAll(
        entry ->
            entry.name().equals(tensor)
                ? new TensorEntry(tensor, dimensions, type, offset, bytes)
                : entry);
    return this;
  }

  Path write(Path file) throws IOException {
    return Files.write(file, bytes());
  }

  byte[] bytes() {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(ints(magic, version));
    out.writeBytes(longs(tensorCount >= 0 ? tensorCount : tensors.size()));
    out.writeBytes(longs(entryCount >= 0 ? entryCount : metadata.size()));
    metadata.forEach(
        (key, value) -> {
          out.writeBytes(string(key));
          out.writeBytes(value(value));
        });
    long next = 0;
    for (TensorEntry tensor : tensors) {
      out.writeBytes(string(tensor.name()));
      out.writeBytes(ints(tensor.dimensions().length));
      out.writeBytes(longs(tensor.dimensions()));
      out.writeBytes(ints(tensor.type()));
      out.writeBytes(longs(tensor.offset() >= 0 ? tensor.offset() : next));
      next += (tensor.bytes() + 31) / 32 * 32;
    }
    out.writeBytes(new byte[(32 - out.size() % 32) % 32]);
    for (TensorEntry tensor : tensors) {
      byte[] content = contents.getOrDefault(tensor.name(), new byte[0]);
      out.writeBytes(Arrays.copyOf(content, (tensor.bytes() + 31) / 32 * 32));
    }
    return out.toByteArray();
  }

  static byte[] value(Object value) {
    if (value instanceof Raw raw) {
      return join(ints(raw.type()), raw.bytes());
    }
    if (value instanceof String text) {
      return join(ints(8), string(text));
    }
    if (value instanceof Float real) {
      return join(ints(6), ints(Float.floatToIntBits(real)));
    }
    if (value instanceof Boolean flag) {
      return join(ints(7), new byte[] {(byte) (flag ? 1 : 0)});
    }
    if (value instanceof List<?> list) {
      byte[][] elements = list.stream().map(GgufBuilder::value).toArray(byte[][]::new);
      boolean integers = elements.length > 0 && list.get(0) instanceof Integer;
      byte[] type =
          elements.length == 0 ? ints(8) : integers ? ints(5) : Arrays.copyOf(elements[0], 4);
      byte[] head = join(ints(9), type, longs(elements.length));
      for (int i = 0; i < elements.length; i++) {
        elements[i] = Arrays.copyOfRange(elements[i], 4, elements[i].length);
      }
      return join(head, join(elements));
    }
    return join(ints(4), ints((Integer) value));
  }

  static byte[] string(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return join(longs(bytes.length), bytes);
  }

  static byte[] ints(int... values) {
    ByteBuffer buffer = ByteBuffer.allocate(values.length * 4).order(ByteOrder.LITTLE_ENDIAN);
    buffer.asIntBuffer().put(values);
    return buffer.array();
  }

  static byte[] longs(long... values) {
    ByteBuffer buffer = ByteBuffer.allocate(values.length * 8).order(ByteOrder.LITTLE_ENDIAN);
    buffer.asLongBuffer().put(values);
    return buffer.array();
  }

  static byte[] join(byte[]... parts) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      out.writeBytes(part);
    }
    return out.toByteArray();
  }
}
