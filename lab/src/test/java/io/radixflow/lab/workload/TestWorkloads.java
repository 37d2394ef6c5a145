package io.radixflow.lab.workload;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Workloads from resources and from texts. */
public final class TestWorkloads {
  private TestWorkloads() {}

  /** Bytes under a name. */
  record Named(String name, byte[] bytes) implements WorkloadReader.Source {
    @Override
    public InputStream open() {
      return new ByteArrayInputStream(bytes);
    }
  }

  public static Workload resource(String name, WorkloadOptions options) throws IOException {
    try (InputStream input =
        TestWorkloads.class.getResourceAsStream("/workloads/" + name + ".jsonl.gz")) {
      return read(options, new Named(name, input.readAllBytes()));
    }
  }

  public static Workload text(WorkloadOptions options, String... files) throws IOException {
    Named[] sources = new Named[files.length];
    for (int i = 0; i < files.length; i++) {
      sources[i] = new Named("file" + (i + 1), files[i].getBytes(StandardCharsets.UTF_8));
    }
    return read(options, sources);
  }

  static Workload read(WorkloadOptions options, WorkloadReader.Source... sources)
      throws IOException {
    return new WorkloadReader(options, records -> {}).read(List.of(sources));
  }
}
