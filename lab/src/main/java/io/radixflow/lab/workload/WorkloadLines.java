package io.radixflow.lab.workload;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.json.LineReader;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/**
 * The lines of a file, plain or gzip by its first bytes, each one JSON object. Empty lines are
 * skipped. A line may begin with the time that Kafka's console consumer prints with {@code
 * print.timestamp=true}: {@code CreateTime:1700000000000}, then a tab.
 */
public final class WorkloadLines {
  private static final int MAX_LINE_BYTES = 64 << 20;
  private static final Pattern TIME = Pattern.compile("(?:CreateTime|LogAppendTime):(\\d{1,18})\t");
  private static final ObjectReader JSON =
      JsonMapper.builder()
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build()
          .readerFor(JsonNode.class);

  private final String file;
  private final LineReader lines;
  private long number;

  /**
   * @param file its name, for errors
   * @param input its bytes; closed by the caller
   */
  public WorkloadLines(String file, InputStream input) throws IOException {
    this.file = file;
    BufferedInputStream plain = new BufferedInputStream(input);
    plain.mark(2);
    boolean gzip = plain.read() == 0x1F && plain.read() == 0x8B;
    plain.reset();
    try {
      this.lines =
          new LineReader(gzip ? new GZIPInputStream(plain, 1 << 16) : plain, MAX_LINE_BYTES);
    } catch (EOFException | ZipException e) {
      throw new WorkloadException(file + ": the gzip header is damaged or cut");
    }
  }

  /** The next record, or null after the last. */
  public WorkloadLine next() throws IOException {
    byte[] bytes = nextBytes();
    while (bytes != null && isBlank(bytes)) {
      bytes = nextBytes();
    }
    return bytes == null ? null : parse(bytes);
  }

  private byte[] nextBytes() throws IOException {
    number++;
    try {
      return lines.next();
    } catch (InvalidInputException e) {
      throw error(e.getMessage());
    } catch (EOFException | ZipException e) {
      throw error("the gzip stream is damaged or cut: " + e.getMessage());
    }
  }

  private WorkloadLine parse(byte[] bytes) throws IOException {
    Matcher time = TIME.matcher(head(bytes));
    boolean timed = time.lookingAt();
    byte[] json = timed ? Arrays.copyOfRange(bytes, time.end(), bytes.length) : bytes;
    JsonObject fields;
    try {
      fields = JsonObject.of(JSON.readValue(json), "the line");
    } catch (InvalidInputException e) {
      throw error(e.getMessage());
    } catch (JsonProcessingException e) {
      throw error("not valid JSON: " + e.getOriginalMessage().lines().findFirst().orElse(""));
    }
    return new WorkloadLine(file, number, timed ? Long.parseLong(time.group(1)) : -1, json, fields);
  }

  private static String head(byte[] bytes) {
    return new String(bytes, 0, Math.min(bytes.length, 64), StandardCharsets.ISO_8859_1);
  }

  private static boolean isBlank(byte[] bytes) {
    for (byte b : bytes) {
      if (b != ' ' && b != '\t') {
        return false;
      }
    }
    return true;
  }

  private WorkloadException error(String message) {
    return new WorkloadException(file + ", line " + number + ": " + message);
  }
}
