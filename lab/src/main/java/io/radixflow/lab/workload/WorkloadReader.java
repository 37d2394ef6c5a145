package io.radixflow.lab.workload;

import io.radixflow.protocol.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.function.LongConsumer;

/**
 * Reads a workload from JSON lines, plain or gzip. The first record determines the format; all
 * files of a workload have the same format.
 *
 * @param listener receives the number of read records after each record
 */
public record WorkloadReader(WorkloadOptions options, LongConsumer listener) {

  /** Opens the files of a workload. */
  @FunctionalInterface
  public interface Opener {
    /** Opens a file by its name; called once. */
    InputStream open(String name) throws IOException;
  }

  /**
   * Reads all files of a workload.
   *
   * @throws WorkloadException if a file is not a workload; the message has file, line and the
   *     expected content
   */
  public Workload read(List<String> files, Opener opener) throws IOException {
    WorkloadFormat format = null;
    long records = 0;
    for (String file : files) {
      try (InputStream input = opener.open(file)) {
        WorkloadLines lines = new WorkloadLines(file, input);
        for (WorkloadLine line = lines.next(); line != null; line = lines.next()) {
          if (format == null) {
            format = formatOf(line);
          }
          add(format, line);
          listener.accept(++records);
        }
      }
    }
    if (format == null) {
      throw new WorkloadException(files.get(0) + ": the file does not contain a record");
    }
    return finish(format);
  }

  private static void add(WorkloadFormat format, WorkloadLine line) throws IOException {
    try {
      format.add(line);
    } catch (IllegalArgumentException e) {
      throw line.error(e.getMessage());
    }
  }

  private static Workload finish(WorkloadFormat format) throws IOException {
    try {
      return format.finish();
    } catch (IllegalArgumentException e) {
      throw new WorkloadException(e.getMessage());
    }
  }

  private WorkloadFormat formatOf(WorkloadLine line) throws WorkloadException {
    JsonObject record = line.fields();
    if (record.has("hash_ids")) {
      return new BlockIdsFormat(options, record.has("chat_id"));
    }
    if (AgentFormat.recognises(record)) {
      return new AgentFormat(options);
    }
    if (WekaFormat.recognises(record)) {
      return new WekaFormat(options);
    }
    if (TraceLabFormat.recognises(record)) {
      return new TraceLabFormat(options);
    }
    if (ConversationFormat.recognises(record)) {
      return new ConversationFormat(options);
    }
    throw line.error(
        "not a known workload: a record has hash_ids (Mooncake), chat_id and hash_ids"
            + " (Qwen-Bailian), requests (Weka), session_id and input_tokens_total (TraceLab),"
            + " session, t and ranges (agent trace), or is an event or a reply of the job's"
            + " topics");
  }
}
