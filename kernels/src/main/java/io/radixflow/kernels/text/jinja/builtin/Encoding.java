package io.radixflow.kernels.text.jinja.builtin;

import io.radixflow.kernels.text.jinja.value.Arguments;
import io.radixflow.kernels.text.jinja.value.Budget;
import io.radixflow.kernels.text.jinja.value.Bytes;
import io.radixflow.kernels.text.jinja.value.Invocable;
import io.radixflow.kernels.text.jinja.value.JinjaException;
import io.radixflow.kernels.text.jinja.value.Values;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Map;

/** Python's {@code str.encode} and the methods of its result. */
final class Encoding {
  /** Methods of bytes. */
  static final Map<String, Invocable> OF_BYTES =
      Map.of("decode", Encoding::decode, "hex", Encoding::hex);

  private Encoding() {}

  static Object encode(Budget budget, Arguments arguments) {
    Object[] a = arguments.bind("encode", 1, "self", "encoding", "errors");
    String text = Values.text(a[0]);
    budget.chars(2L * text.length());
    CodingErrorAction action = action(a[2]);
    try {
      ByteBuffer bytes =
          charset(a[1])
              .newEncoder()
              .onMalformedInput(action)
              .onUnmappableCharacter(action)
              .encode(CharBuffer.wrap(text));
      byte[] values = new byte[bytes.remaining()];
      bytes.get(values);
      return new Bytes(values);
    } catch (CharacterCodingException e) {
      throw JinjaException.of("UnicodeEncodeError", "a character cannot be encoded");
    }
  }

  private static Object decode(Budget budget, Arguments arguments) {
    Object[] a = arguments.bind("decode", 1, "self", "encoding", "errors");
    Bytes bytes = (Bytes) a[0];
    budget.chars(bytes.length());
    CodingErrorAction action = action(a[2]);
    try {
      return charset(a[1])
          .newDecoder()
          .onMalformedInput(action)
          .onUnmappableCharacter(action)
          .decode(ByteBuffer.wrap(bytes.values()))
          .toString();
    } catch (CharacterCodingException e) {
      throw JinjaException.of("UnicodeDecodeError", "a byte cannot be decoded");
    }
  }

  private static Object hex(Budget budget, Arguments arguments) {
    Bytes bytes = (Bytes) arguments.bindPositions("hex", 1, 1)[0];
    budget.chars(2L * bytes.length());
    return HexFormat.of().formatHex(bytes.values());
  }

  private static Charset charset(Object name) {
    String given = name == Arguments.MISSING ? "utf-8" : StringMethods.text("encode", name);
    return switch (given.toLowerCase(Locale.ROOT).replace('_', '-')) {
      case "utf-8", "utf8" -> StandardCharsets.UTF_8;
      case "ascii", "us-ascii" -> StandardCharsets.US_ASCII;
      case "latin-1", "latin1", "iso-8859-1" -> StandardCharsets.ISO_8859_1;
      default -> throw JinjaException.of("LookupError", "unknown encoding: " + given);
    };
  }

  private static CodingErrorAction action(Object errors) {
    String given = errors == Arguments.MISSING ? "strict" : StringMethods.text("encode", errors);
    return switch (given) {
      case "strict" -> CodingErrorAction.REPORT;
      case "ignore" -> CodingErrorAction.IGNORE;
      case "replace" -> CodingErrorAction.REPLACE;
      default -> throw JinjaException.of("LookupError", "unknown error handler name: " + given);
    };
  }
}
