package io.radixflow.models.file;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * A model whose projections are random in a quantised format of safetensors, and the same model
 * with the floats that the format's formula yields. It packs element by element and shares no code
 * with the readers.
 */
public final class QuantisedCopy {

  /** Formats that the copy may have. */
  public enum Format {
    AWQ("{'quant_method':'awq','bits':4,'group_size':32,'version':'gemm','zero_point':true}"),
    AWQ_ALL("{'quant_method':'awq','bits':4,'group_size':-1,'version':'gemm'}"),
    GPTQ("{'quant_method':'gptq','bits':4,'group_size':32,'desc_act':false,'sym':false}"),
    GPTQ_V2("{'quant_method':'gptq','bits':4,'group_size':32,'checkpoint_format':'gptq_v2'}"),
    GPTQ_TWO("{'quant_method':'gptq','bits':2,'group_size':32,'sym':false}"),
    PACKED_TWO(compressed("pack-quantized", "'num_bits':2,'strategy':'group','group_size':32")),
    GPTQ_8(
        "{'quant_method':'gptq','bits':8,'group_size':32,'sym':false,'dynamic':{'-:.*gate':{}}}"),
    GPTQ_8_SYMMETRIC("{'quant_method':'gptq','bits':8,'group_size':32,'sym':true}"),
    GPTQ_ACTIVATION_ORDER("{'quant_method':'gptq','bits':4,'group_size':32,'desc_act':true}"),
    PACKED(compressed("pack-quantized", "'num_bits':4,'strategy':'group','group_size':32")),
    PACKED_ASYMMETRIC(
        compressed(
            "pack-quantized", "'num_bits':4,'strategy':'group','group_size':32,'symmetric':false")),
    PACKED_8(compressed("pack-quantized", "'num_bits':8,'strategy':'channel'")),
    INT8(compressed("int-quantized", "'num_bits':8,'type':'int','strategy':'channel'")),
    FP8_ROWS(compressed("float-quantized", "'num_bits':8,'type':'float','strategy':'channel'")),
    FP8_ONE("{'quant_method':'fp8','activation_scheme':'static'}"),
    FP8("{'quant_method':'fp8','fmt':'e4m3','weight_block_size':[32,32]}"),
    FP8_128("{'quant_method':'fp8','fmt':'e4m3','weight_block_size':[128,128]}");

    private final String config;

    Format(String config) {
      this.config = config.replace('\'', '"');
    }

    private static String compressed(String format, String weights) {
      return "{'quant_method':'compressed-tensors','format':'"
          + format
          + "','config_groups':{'group_0':{'targets':['Linear'],'weights':{"
          + weights
          + "}}}}";
    }

    private boolean is(String prefix) {
      return name().startsWith(prefix);
    }
  }

  /** A tensor to be written. */
  record Stored(String type, long[] shape, byte[] bytes) {}

  private final Format format;
  private final Random random = new Random(7);
  private final Map<String, Stored> quantised = new LinkedHashMap<>();
  private final Map<String, Stored> dense = new LinkedHashMap<>();

  private QuantisedCopy(Format format) {
    this.format = format;
  }

  /**
   * Writes both models.
   *
   * @param source a directory with {@code config.json} and {@code model.safetensors}
   */
  public static void write(Path source, Format format, Path quantised, Path dense)
      throws IOException {
    QuantisedCopy copy = new QuantisedCopy(format);
    read(source.resolve("model.safetensors")).forEach(copy::add);
    String config = Files.readString(source.resolve("config.json"));
    Files.createDirectories(dense);
    Files.createDirectories(quantised);
    Files.writeString(dense.resolve("config.json"), config);
    ObjectMapper mapper = new ObjectMapper();
    ObjectNode changed = (ObjectNode) mapper.readTree(config);
    changed.set("quantization_config", mapper.readTree(format.config));
    Files.writeString(quantised.resolve("config.json"), changed.toString());
    write(dense, copy.dense);
    write(quantised, copy.quantised);
  }

  static Map<String, Stored> read(Path file) throws IOException {
    ByteBuffer all = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
    byte[] head = new byte[(int) all.getLong()];
    all.get(head);
    ByteBuffer data = all.slice();
    Map<String, Stored> tensors = new LinkedHashMap<>();
    ObjectMapper mapper = new ObjectMapper();
    for (Map.Entry<String, JsonNode> field : mapper.readTree(head).properties()) {
      if (!field.getKey().equals("__metadata__")) {
        JsonNode node = field.getValue();
        int begin = node.get("data_offsets").get(0).intValue();
        byte[] bytes = new byte[node.get("data_offsets").get(1).intValue() - begin];
        data.get(begin, bytes);
        long[] shape = mapper.convertValue(node.get("shape"), long[].class);
        tensors.put(field.getKey(), new Stored(node.get("dtype").textValue(), shape, bytes));
      }
    }
    return tensors;
  }

  static void write(Path directory, Map<String, Stored> tensors) throws IOException {
    ObjectMapper mapper = new ObjectMapper();
    ObjectNode head = mapper.createObjectNode();
    int at = 0;
    for (Map.Entry<String, Stored> tensor : tensors.entrySet()) {
      ObjectNode node = head.putObject(tensor.getKey());
      node.put("dtype", tensor.getValue().type);
      node.set("shape", mapper.valueToTree(tensor.getValue().shape));
      int length = tensor.getValue().bytes.length;
      node.putArray("data_offsets").add(at).add(at + length);
      at += length;
    }
    byte[][] parts = new byte[tensors.size() + 2][];
    parts[1] = mapper.writeValueAsBytes(head);
    parts[0] = GgufBuilder.longs(parts[1].length);
    int part = 2;
    for (Stored tensor : tensors.values()) {
      parts[part++] = tensor.bytes;
    }
    Files.write(directory.resolve("model.safetensors"), GgufBuilder.join(parts));
  }

  private void add(String name, Stored tensor) {
    if (!name.matches(".*_proj(_with_mqa)?\\.weight") || !fillsWords(tensor)) {
      quantised.put(name, tensor);
      dense.put(name, tensor);
      return;
    }
    int rows = (int) tensor.shape[0];
    int columns = (int) tensor.shape[1];
    float[] values = new float[rows * columns];
    String stem = name.substring(0, name.length() - "weight".length());
    if (format.is("FP8") || format.is("INT8")) {
      addBytes(stem + "weight", rows, columns, values);
    } else {
      addIntegers(stem, rows, columns, values);
    }
    ByteBuffer bytes = buffer(values.length * 4);
    for (float value : values) {
      bytes.putFloat(value);
    }
    dense.put(name, new Stored("F32", tensor.shape, bytes.array()));
  }

  /** Sixteen codes of 2 bits fill a word; other formats take any of our matrices. */
  private boolean fillsWords(Stored tensor) {
    return !format.name().endsWith("TWO") || tensor.shape[0] % 16 == 0 && tensor.shape[1] % 16 == 0;
  }

  private void addBytes(String name, int rows, int columns, float[] values) {
    int height = format == Format.FP8 ? 32 : format == Format.FP8_128 ? 128 : 1;
    int width = format.is("FP8_ROWS") || format.is("INT8") ? columns : height;
    if (format == Format.FP8_ONE) {
      height = rows;
      width = columns;
    }
    int across = (columns + width - 1) / width;
    float[] scales = new float[(rows + height - 1) / height * across];
    ByteBuffer stored = buffer(4 * scales.length);
    for (int i = 0; i < scales.length; i++) {
      scales[i] = (format.is("INT8") ? 0x1p-10f : 0x1p-7f) * (1 + random.nextFloat());
      stored.putFloat(scales[i]);
    }
    byte[] codes = new byte[values.length];
    for (int i = 0; i < codes.length; i++) {
      double code = random.nextInt(256) - 128;
      codes[i] = (byte) code;
      if (format.is("FP8")) {
        int exponent = random.nextInt(9);
        int mantissa = random.nextInt(8);
        boolean negative = random.nextBoolean();
        codes[i] = (byte) (exponent << 3 | mantissa | (negative ? 128 : 0));
        code = exponent == 0 ? mantissa / 512.0 : (8 + mantissa) * Math.pow(2, exponent - 10);
        code = negative ? -code : code;
      }
      values[i] = (float) (code * scales[i / columns / height * across + i % columns / width]);
    }
    quantised.put(
        name, new Stored(format.is("INT8") ? "I8" : "F8_E4M3", sizes(rows, columns), codes));
    long[] shape =
        format == Format.FP8_ONE ? new long[0] : sizes((rows + height - 1) / height, across);
    boolean inverse = format == Format.FP8 || format == Format.FP8_128;
    quantised.put(
        name + (inverse ? "_scale_inv" : "_scale"), new Stored("F32", shape, stored.array()));
    if (format == Format.FP8_ONE) {
      String input = name.replaceFirst("weight$", "input_scale");
      quantised.put(input, new Stored("F32", new long[0], new byte[4]));
    }
  }

  private void addIntegers(String stem, int rows, int columns, float[] values) {
    int bits = format.name().contains("8") ? 8 : format.name().contains("TWO") ? 2 : 4;
    int size = format == Format.AWQ_ALL || format == Format.PACKED_8 ? columns : 32;
    int groups = (columns + size - 1) / size;
    boolean symmetric =
        List.of(Format.PACKED, Format.PACKED_TWO, Format.PACKED_8, Format.GPTQ_8_SYMMETRIC)
            .contains(format);
    int[][] zeros = new int[groups][rows];
    short[][] scales = new short[groups][rows];
    boolean shuffled = format == Format.GPTQ_ACTIVATION_ORDER && groups > 1;
    int[] group = new int[columns];
    for (int column = 0; column < columns; column++) {
      group[column] = shuffled ? random.nextInt(groups) : column / size;
    }
    for (int g = 0; g < groups; g++) {
      for (int row = 0; row < rows; row++) {
        zeros[g][row] = symmetric ? 1 << bits - 1 : random.nextInt(1 << bits);
        scales[g][row] = (short) ((bits == 8 ? 5 : 9) << 10 | random.nextInt(1024));
      }
    }
    int[][] codes = new int[rows][columns];
    for (int row = 0; row < rows; row++) {
      for (int column = 0; column < columns; column++) {
        codes[row][column] = random.nextInt(1 << bits);
        int g = group[column];
        int scaleBits = scales[g][row];
        double scale = (1 + (scaleBits & 1023) / 1024.0) * Math.pow(2, (scaleBits >> 10) - 15);
        double value = (codes[row][column] - zeros[g][row]) * scale;
        values[row * columns + column] = (float) (shuffled ? toHalf(value) : value);
      }
    }
    store(stem, codes, zeros, scales, group, bits);
  }

  /** Rounds to 11 significant bits, ties to even. */
  private static double toHalf(double value) {
    if (value == 0) {
      return 0;
    }
    double unit = Math.pow(2, Math.max(Math.getExponent(value), -14) - 10);
    return Math.rint(value / unit) * unit;
  }

  private void store(
      String stem, int[][] codes, int[][] zeros, short[][] scales, int[] group, int bits) {
    int rows = codes.length;
    int columns = codes[0].length;
    int groups = zeros.length;
    int each = 32 / bits;
    if (format.is("PACKED")) {
      int[] words = new int[rows * columns / each];
      for (int i = 0; i < rows * columns; i++) {
        words[i / each] |= codes[i / columns][i % columns] << i % each * bits;
      }
      put(stem + "weight_packed", words, rows, columns / each);
      if (format == Format.PACKED_ASYMMETRIC) {
        int[] zeroWords = new int[(rows + each - 1) / each * groups];
        for (int row = 0; row < rows; row++) {
          for (int g = 0; g < groups; g++) {
            zeroWords[row / each * groups + g] |= zeros[g][row] << row % each * bits;
          }
        }
        put(stem + "weight_zero_point", zeroWords, (rows + each - 1) / each, groups);
      }
      putScales(stem + "weight_scale", scales, true);
      ByteBuffer shape = buffer(16).putLong(rows).putLong(columns);
      quantised.put(stem + "weight_shape", new Stored("I64", new long[] {2}, shape.array()));
      return;
    }
    int[] order =
        format.is("AWQ") ? new int[] {0, 2, 4, 6, 1, 3, 5, 7} : IntStream.range(0, each).toArray();
    int less = format.is("AWQ") || format == Format.GPTQ_V2 ? 0 : 1;
    int[] zeroWords = new int[groups * rows / each];
    for (int i = 0; i < zeroWords.length; i++) {
      for (int k = 0; k < each; k++) {
        int row = i % (rows / each) * each + order[k];
        int zero = zeros[i / (rows / each)][row] - less;
        zeroWords[i] |= (zero & (1 << bits) - 1) << k * bits;
      }
    }
    put(stem + "qzeros", zeroWords, groups, rows / each);
    int[] words = new int[rows * columns / each];
    for (int i = 0; i < words.length; i++) {
      for (int k = 0; k < each; k++) {
        int code =
            format.is("AWQ")
                ? codes[i % (rows / each) * each + order[k]][i / (rows / each)]
                : codes[i % rows][i / rows * each + k];
        words[i] |= code << k * bits;
      }
    }
    if (format.is("AWQ")) {
      put(stem + "qweight", words, columns, rows / each);
    } else {
      put(stem + "qweight", words, columns / each, rows);
      put(stem + "g_idx", group, columns);
      quantised.put(stem + "bias", new Stored("F16", sizes(rows), new byte[2 * rows]));
    }
    putScales(stem + "scales", scales, false);
  }

  private void putScales(String name, short[][] scales, boolean rowsFirst) {
    int groups = scales.length;
    int rows = scales[0].length;
    ByteBuffer bytes = buffer(2 * groups * rows);
    for (int i = 0; i < groups * rows; i++) {
      bytes.putShort(rowsFirst ? scales[i % groups][i / groups] : scales[i / rows][i % rows]);
    }
    long[] shape = rowsFirst ? sizes(rows, groups) : sizes(groups, rows);
    quantised.put(name, new Stored("F16", shape, bytes.array()));
  }

  private void put(String name, int[] words, long... shape) {
    quantised.put(name, new Stored("I32", shape, GgufBuilder.ints(words)));
  }

  private static long[] sizes(long... sizes) {
    return sizes;
  }

  private static ByteBuffer buffer(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }
}
