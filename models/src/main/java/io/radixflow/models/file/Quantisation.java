package io.radixflow.models.file;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.models.ModelFormatException;
import io.radixflow.models.tensor.ByteMatrix.Block;
import java.util.Iterator;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * The part of {@code quantization_config} in a {@code config.json} that says how weights are
 * stored. Quantisation of activations is ignored; they stay floats, which is more accurate.
 *
 * @param method which tensors replace a matrix
 * @param bits bits per integer code; 0 if the method has only one format
 * @param group columns per scale; 0 for all columns
 * @param added a number to add to stored zero points: 1 in the first format of GPTQ, or the zero
 *     point itself if none are stored
 * @param block rows and columns per scale of 8-bit floats; null for one scale, or one scale per row
 */
record Quantisation(Method method, int bits, int group, int added, Block block) {

  /** A way of storing quantised matrices. */
  enum Method {
    /** {@code weight} in floats. */
    NONE,
    /** Experts of gpt_oss: {@code _blocks} and {@code _scales}. */
    MXFP4,
    /** {@code weight} in 8-bit floats or integers with {@code weight_scale} or its inverse. */
    BYTES,
    /** {@code qweight}, {@code qzeros} and {@code scales}. */
    AWQ,
    /** As in AWQ, but packed differently, and {@code g_idx}. */
    GPTQ,
    /** {@code weight_packed}, {@code weight_scale} and {@code weight_zero_point}. */
    PACKED
  }

  private static final String FIELD = "quantization_config";
  private static final String READ =
      "supported are fp8, fbgemm_fp8, awq, gptq, compressed-tensors, and mxfp4 of gpt_oss";
  private static final Set<String> GPTQ_FORMATS = Set.of("gptq", "gptq_v2");

  /**
   * @param config the whole of {@code config.json}
   * @throws ModelFormatException if it names a quantisation that is not supported
   */
  static Quantisation read(ConfigFields config, HuggingFaceFamily family) {
    String field = config.has(FIELD) ? FIELD : "compression_config";
    if (!config.has(field)) {
      return new Quantisation(Method.NONE, 0, 0, 0, null);
    }
    ConfigFields fields = config.object(field);
    String method = fields.text("quant_method", "");
    return switch (method) {
      case "mxfp4" -> {
        if (family != HuggingFaceFamily.GPT_OSS) {
          throw refused(config, "mxfp4 of " + family.type());
        }
        yield new Quantisation(Method.MXFP4, 4, 32, 0, null);
      }
      case "fp8" -> {
        only(fields, "fmt", "e4m3", "float8_e4m3fn");
        yield new Quantisation(
            Method.BYTES, 8, 0, 0, block(fields.get("weight_block_size"), fields));
      }
      case "fbgemm_fp8" -> new Quantisation(Method.BYTES, 8, 0, 0, null);
      case "awq" -> awq(fields);
      case "gptq" -> gptq(fields);
      case "compressed-tensors" -> compressed(fields);
      default -> throw refused(config, method.isEmpty() ? "without a quant_method" : method);
    };
  }

  private static ModelFormatException refused(ConfigFields config, String what) {
    return config.error(
        FIELD
            + ": "
            + ModelFormatException.printable(what)
            + " is not supported; "
            + READ
            + "; there may be a GGUF file of this model");
  }

  private static void only(ConfigFields fields, String field, String... values) {
    JsonNode value = fields.get(field);
    if (ConfigFields.present(value)
        && !Set.of(values).contains(value.asText().toLowerCase(Locale.ROOT))) {
      String shown =
          value.isValueNode() ? ModelFormatException.printable(value.asText()) : "a value";
      throw fields.error(
          String.format(
              "%s.%s: %s is not supported, only %s; there may be a GGUF file of this model",
              FIELD, field, shown, String.join(" or ", values)));
    }
  }

  private static Quantisation awq(ConfigFields fields) {
    only(fields, "bits", "4");
    only(fields, "version", "gemm");
    only(fields, "zero_point", "true");
    return new Quantisation(Method.AWQ, 4, group(fields, "group_size"), 0, null);
  }

  private static Quantisation gptq(ConfigFields fields) {
    String format = fields.text("checkpoint_format", fields.text("format", "gptq"));
    if (!GPTQ_FORMATS.contains(format)) {
      throw fields.unsupported(
          FIELD + ".checkpoint_format", ModelFormatException.printable(format));
    }
    for (Iterator<String> names = fields.get("dynamic").fieldNames(); names.hasNext(); ) {
      String pattern = names.next();
      if (!pattern.startsWith("-:")) {
        throw fields.unsupported(
            FIELD + ".dynamic", "the pattern '" + ModelFormatException.printable(pattern) + "'");
      }
    }
    only(fields, "pack_dtype", "int32");
    int added = format.equals("gptq") ? 1 : 0;
    return new Quantisation(
        Method.GPTQ, bits(fields, "bits"), group(fields, "group_size"), added, null);
  }

  private static int bits(ConfigFields fields, String field) {
    int bits = fields.size(field);
    if (bits != 2 && bits != 4 && bits != 8) {
      throw fields.error(
          String.format(
              "%s.%s: %s bits are not supported; 2, 4 and 8 are; there may be a GGUF file of this"
                  + " model, or one with another width",
              FIELD, field, bits));
    }
    return bits;
  }

  /** Columns per group. An absent field, null and -1 mean all columns. */
  private static int group(ConfigFields fields, String field) {
    return fields.get(field).asInt(0) == -1 ? 0 : fields.size(field, 0);
  }

  private static Block block(JsonNode sizes, ConfigFields fields) {
    if (!ConfigFields.present(sizes)) {
      return null;
    }
    int rows = sizes.path(0).asInt();
    int columns = sizes.path(1).asInt();
    if (!sizes.isArray() || sizes.size() != 2 || rows < 1 || columns < 1) {
      throw fields.error(FIELD + ": a block of weights has two positive sizes");
    }
    return new Block(rows, columns);
  }

  private static Quantisation compressed(ConfigFields fields) {
    only(fields.object("sparsity_config"), "format", "dense");
    if (fields.get("transform_config").size() > 0) {
      throw fields.unsupported(FIELD + ".transform_config", "a value");
    }
    Quantisation all = null;
    for (Map.Entry<String, JsonNode> group : fields.get("config_groups").properties()) {
      ConfigFields own = fields.of(group.getValue());
      String format = own.text("format", fields.text("format", ""));
      Quantisation read = compressed(format, own.object("weights"));
      if (all != null && !all.equals(read)) {
        throw fields.unsupported(FIELD + ".config_groups", "a mixture of formats");
      }
      all = read;
    }
    if (all == null) {
      throw fields.error(FIELD + ".config_groups is missing");
    }
    return all;
  }

  private static Quantisation compressed(String format, ConfigFields weights) {
    String type = weights.text("type", "int");
    String strategy = weights.text("strategy", "tensor");
    int bits = bits(weights, "num_bits");
    boolean bytes =
        switch (format) {
          case "pack-quantized" -> false;
          case "float-quantized", "int-quantized", "naive-quantized" -> true;
          default ->
              throw weights.unsupported(FIELD + ".format", ModelFormatException.printable(format));
        };
    boolean known = Set.of("tensor", "channel", "group", "block").contains(strategy);
    if (!known || type.equals("float") && !bytes || bytes && bits != 8) {
      throw weights.unsupported(
          FIELD + ".weights",
          String.format(
              "%s, %s of %s bits by %s",
              format,
              ModelFormatException.printable(type),
              bits,
              ModelFormatException.printable(strategy)));
    }
    int group = strategy.equals("group") ? group(weights, "group_size") : 0;
    if (!bytes) {
      return new Quantisation(Method.PACKED, bits, group, 1 << bits - 1, null);
    }
    if (!weights.flag("symmetric", true)) {
      throw weights.unsupported(FIELD + ".weights.symmetric", "false with " + format);
    }
    Block block =
        strategy.equals("group")
            ? new Block(1, Math.max(1, group))
            : block(weights.get("block_structure"), weights);
    return new Quantisation(Method.BYTES, 8, group, 0, block);
  }
}
