package io.radixflow.lab.workload;

import io.radixflow.jobs.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;

/**
 * Reads a workload from JSON lines, plain or gzip. The first record shows which format it is; all
 * files of a workload have the same.
 */
public final class WorkloadReader {

  /** A file to read. */
  public interface Source {
    /** Its name, for errors. */
    String name();

    /** Opens it; called once. */
    InputStream open() throws IOException;
  }

  /** Receives how many records were read. */
  @FunctionalInterface
  public interface Listener {
    void read(long records);
  }

  private final WorkloadOptions options;
  private final Listener listener;

  public WorkloadReader(WorkloadOptions options, Listener listener) {
    this.options = options;
    this.listener = listener;
  }

  /**
   * Reads all files of a workload.
   *
   * @throws WorkloadException if one is no workload; the message has file, line and what is
   *     expected
   */
  public Workload read(List<Source> sources) throws IOException {
    WorkloadFormat format = null;
    long records = 0;
    for (Source source : sources) {
      try (InputStream input = source.open()) {
        WorkloadLines lines = new WorkloadLines(source.name(), input);
        for (WorkloadLine line = lines.next(); line != null; line = lines.next()) {
          if (format == null) {
            format = formatOf(line);
          }
          add(format, line);
          listener.read(++records);
        }
      }
    }
    if (format == null) {
      throw new WorkloadException(sources.get(0).name() + ": there is no record in it");
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
    if (MooncakeFormat.recognises(record)) {
      return new MooncakeFormat(options);
    }
    if (AgentFormat.recognises(record)) {
      return new AgentFormat(options);
    }
    if (ConversationFormat.recognises(record)) {
      return new ConversationFormat(options);
    }
    throw line.error(
        "not a known workload: a record has hash_ids (request trace with block ids), session, t"
            + " and ranges (agent trace), or is an event or a reply of the job's topics");
  }
}
