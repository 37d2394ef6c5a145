package io.radixflow.models.file;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** Damages files, as a number says: the same number does the same damage. */
final class Mutations {
  private static final ObjectMapper JSON = new ObjectMapper();

  private static final long[] NUMBERS = {
    0,
    1,
    2,
    3,
    8,
    9,
    255,
    4096,
    1 << 16,
    1 << 22,
    1L << 31,
    (1L << 31) - 1,
    1L << 32,
    1L << 40,
    Long.MAX_VALUE,
    Long.MIN_VALUE,
    -1,
    -2,
    0x7f800000L,
    0x7fc00000L,
    0x7c007c00L,
    0xff80ff80L
  };

  private static final String[] VALUES = {
    "null",
    "true",
    "false",
    "-1",
    "0",
    "1",
    "2",
    "3",
    "7",
    "64",
    "1.5",
    "1e-300",
    "1e308",
    "1e999",
    "4096",
    "2147483647",
    "2147483648",
    "4294967296",
    "9223372036854775807",
    "99999999999999999999",
    "\"\"",
    "\"a\"",
    "\"F64\"",
    "\"U8\"",
    "\"BF16\"",
    "\"F8_E4M3\"",
    "\"silu\"",
    "\"linear\"",
    "\"yarn\"",
    "\"sliding_attention\"",
    "\"Unigram\"",
    "\"(a*)*b\"",
    "\"[\"",
    "[]",
    "{}",
    "[1]",
    "[[\"a\", 1]]",
    "[4294967296, 4294967296]",
    "[-1, 5]",
    "{\"type\": \"Sequence\"}",
    "{\"rope_type\": \"yarn\", \"factor\": 4}",
    "{\"Regex\": \"(a|b\"}"
  };

  private final Random random;

  Mutations(long number) {
    random = new Random(number);
  }

  /**
   * Flips bits, writes other numbers, cuts, inserts, doubles or leaves out bytes, once to four
   * times.
   *
   * @param head bytes at the start that half of the damage goes to
   */
  byte[] bytes(byte[] file, int head) {
    byte[] damaged = file.clone();
    for (int i = random.nextInt(4); i >= 0 && damaged.length > 8; i--) {
      int end = random.nextBoolean() ? Math.min(head, damaged.length) : damaged.length;
      damaged = damage(damaged, random.nextInt(end));
    }
    return damaged;
  }

  private byte[] damage(byte[] file, int at) {
    int kind = random.nextInt(20);
    if (kind < 8) {
      file[at] ^= (byte) (1 << random.nextInt(8));
      return file;
    }
    if (kind < 16) {
      return number(file, at);
    }
    if (kind == 16) {
      return Arrays.copyOf(file, at);
    }
    int length = Math.min(1 + random.nextInt(64), file.length - at);
    byte[] head = Arrays.copyOf(file, at);
    byte[] middle = Arrays.copyOfRange(file, at, at + length);
    byte[] tail = Arrays.copyOfRange(file, at + length, file.length);
    return switch (kind) {
      case 17 -> GgufBuilder.join(head, tail);
      case 18 -> GgufBuilder.join(head, middle, middle, tail);
      default -> {
        random.nextBytes(middle);
        yield GgufBuilder.join(head, middle, tail);
      }
    };
  }

  private byte[] number(byte[] file, int at) {
    long value = NUMBERS[random.nextInt(NUMBERS.length)];
    int width = Math.min(1 << random.nextInt(4), file.length - at);
    byte[] bytes = GgufBuilder.longs(value);
    System.arraycopy(bytes, 0, file, at, width);
    return file;
  }

  /** Puts other values into a JSON text once to four times, or damages its bytes. */
  byte[] json(byte[] text) throws JsonProcessingException {
    if (random.nextInt(4) == 0) {
      return bytes(text, text.length);
    }
    JsonNode root = JSON.readTree(new String(text, StandardCharsets.UTF_8));
    for (int i = random.nextInt(4); i >= 0; i--) {
      change(root);
    }
    return JSON.writeValueAsBytes(root);
  }

  /** Damages the head of a safetensors file as JSON, or the whole as bytes. */
  byte[] safetensors(byte[] file) throws JsonProcessingException {
    int head = (int) ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN).getLong();
    if (random.nextInt(3) == 0) {
      return bytes(file, 8 + head);
    }
    byte[] json = json(Arrays.copyOfRange(file, 8, 8 + head));
    byte[] data = Arrays.copyOfRange(file, 8 + head, file.length);
    return GgufBuilder.join(GgufBuilder.longs(json.length), json, data);
  }

  private void change(JsonNode root) throws JsonProcessingException {
    JsonNode node = root;
    while (true) {
      List<JsonNode> inner = new ArrayList<>();
      node.forEach(inner::add);
      inner.removeIf(JsonNode::isEmpty);
      if (inner.isEmpty() || random.nextInt(4) == 0) {
        break;
      }
      node = inner.get(random.nextInt(inner.size()));
    }
    if (node.isEmpty()) {
      return;
    }
    JsonNode value = JSON.readTree(VALUES[random.nextInt(VALUES.length)]);
    int kind = random.nextInt(6);
    if (node instanceof ArrayNode array) {
      int at = random.nextInt(array.size());
      if (kind == 0) {
        array.remove(at);
      } else {
        array.set(at, kind == 1 ? array.get(random.nextInt(array.size())) : value);
      }
      return;
    }
    ObjectNode object = (ObjectNode) node;
    List<String> names = new ArrayList<>();
    object.fieldNames().forEachRemaining(names::add);
    String name = names.get(random.nextInt(names.size()));
    if (kind == 0) {
      object.remove(name);
    } else {
      object.set(name, kind == 1 ? object.get(names.get(random.nextInt(names.size()))) : value);
    }
  }
}
